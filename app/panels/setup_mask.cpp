#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "app/panels/setup_rows.h"
#include "app/session/cell_editing.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/ui_probe.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/score_scale.h"
#include "core/scenario/mask_presets.h"
#include "core/scenario/scenario_schema.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr std::array<std::string_view, 2> alignments{"top-left", "bottom-right"};
constexpr std::array<std::string_view, 2> fully_masked{"NaN", "0"};
constexpr float preset_width = 112.0f;  // design units: "document:0,6" fits

// A name with numbers can be typed in files only; here each preset comes with numbers that show its effect.
void draw_preset(SetupRows& rows) {
  MaskSpec& mask = rows.scenario().mask;
  const TensorPtr& scores = rows.context().trace.tensors.scores;
  const Index keys = scores ? scores->shape().size(3) : 0;
  const bool painted = std::ranges::any_of(rows.scenario().edits,
                                           [](const CellEdit& edit) { return edit.tensor == "attn_mask"; });
  const std::string now = mask.preset.value_or(painted ? "painted" : "none");
  // Always as wide: the button stays under the mouse that chooses.
  const float room = rows.widgets().px(preset_width - 36.0f);
  const std::string label = fitted_text(now, rows.widgets().fonts.small, room) + "  …";
  const std::array<std::string_view, 1> labels{label};
  int chosen = -1;
  if (choice_row(rows.widgets(),
                 {"setup/preset", "pattern", "",
                  "A named mask, merged with the others: causal, a window, a prefix visible to all, separate "
                  "documents, dilated, padding."},
                 labels, chosen, true, preset_width)) {
    ImGui::OpenPopup("mask presets");
  }
  ui_probe_item("setup/preset/" + now);
  if (ImGui::BeginPopup("mask presets")) {
    const auto entry = [&](const std::optional<std::string>& preset, const std::string& what) {
      if (ImGui::MenuItem(what.c_str(), nullptr, preset == mask.preset)) {
        mask.preset = preset;
        rows.edited("setup/preset", "mask pattern " + preset.value_or("none"), false);
      }
      ui_probe_item("setup/preset/" + preset.value_or("none"));
    };
    entry(std::nullopt, "none");
    for (const MaskPresetEntry& each : mask_presets()) {
      // Omitted numbers take their defaults; documents have none: two halves.
      const std::string name(each.form.substr(0, each.form.find(':')));
      const bool has_defaults = read_mask_preset(name, keys).preset.has_value();
      entry(has_defaults ? name : fmt::format("{}:0,{}", name, std::max<Index>(keys / 2, 1)),
            fmt::format("{}: {}", name, each.what));
    }
    ImGui::EndPopup();
  }
  rows.draw_errors("setup/preset", "");
}

void draw_alibi(SetupRows& rows) {
  MaskSpec& mask = rows.scenario().mask;
  if (!rows.rare("setup/alibi", mask.alibi)) return;
  rows.choice(setup_row("setup/alibi"), off_on, mask.alibi, "ALiBi ");
  if (!mask.alibi) return;
  rows.number(setup_setting("setup/alibi_scale"), mask.alibi_scale);
}

void draw_relative_bias(SetupRows& rows) {
  std::optional<RelativeBias>& bias = rows.scenario().attention.relative_bias;
  if (!rows.rare("setup/relative_bias", bias.has_value())) return;
  constexpr std::array<std::string_view, 3> kinds{"off", "back", "both"};
  int kind = !bias ? 0 : bias->bidirectional ? 2 : 1;
  if (!rows.choice(setup_row("setup/relative_bias"), kinds, kind)) return;
  if (kind == 0) {
    bias.reset();
  } else {
    RelativeBias chosen = bias.value_or(RelativeBias{});
    chosen.bidirectional = kind == 2;
    bias = chosen;
  }
  rows.edited("setup/relative_bias", fmt::format("relative bias {}", kinds[static_cast<std::size_t>(kind)]),
              false);
}

// How many keys the indexer keeps; typed where there is none, a small one appears.
void draw_indexer(SetupRows& rows) {
  std::optional<Indexer>& indexer = rows.scenario().mask.indexer;
  if (!rows.rare("setup/indexer", indexer.has_value())) return;
  std::optional<Index> k;
  if (indexer) k = indexer->k;
  rows.optional_integer(setup_row("setup/indexer"), k, "none", {.drag_least = 1, .drag_most = 4096});
  if (!rows.changed() || rows.state().edited_row != "setup/indexer") return;
  if (!k) return indexer.reset();
  if (!indexer) {
    const AttentionOptions& o = rows.context().trace.options;
    const Index rotated = has_rotary_embedding(o) ? 2 * rotation_of(o).count() : 0;
    indexer = Indexer{2, std::max<Index>(8, rotated), *k};
  }
  indexer->k = *k;
}

void draw_fully_masked_rows(SetupRows& rows) {
  MaskSpec& mask = rows.scenario().mask;
  if (!rows.rare("setup/fully_masked_rows", mask.fully_masked_rows.has_value())) return;
  const FullyMaskedRows by_default = projects(rows.scenario().op) && rows.scenario().attention.need_weights
                                         ? FullyMaskedRows::nan
                                         : FullyMaskedRows::zero;
  FullyMaskedRows now = mask.fully_masked_rows.value_or(by_default);
  if (rows.choice(setup_row("setup/fully_masked_rows"), fully_masked, now, "set fully masked rows to "))
    mask.fully_masked_rows = now;
}

void draw_convention(SetupRows& rows) {
  const MaskConvention now = rows.context().selection.mask_convention;
  if (!rows.rare("setup/mask_convention", now != MaskConvention::added)) return;
  int reading = static_cast<int>(now);
  if (rows.choice(setup_row("setup/mask_convention", "shown as"), mask_convention_names, reading)) {
    Selection selection = rows.context().selection;
    selection.mask_convention = static_cast<MaskConvention>(reading);
    rows.look(std::move(selection));
  }
}

// Always there: nothing below it moves when the causal mask comes and goes.
void draw_alignment(SetupRows& rows) {
  MaskSpec& mask = rows.scenario().mask;
  if (!mask.is_causal) {
    rows.idle_choice(
        {"setup/alignment", "aligned", "",
         "Where the diagonal of the causal mask starts when L and S differ. Turn causal on to choose."},
        alignments, -1);
  } else {
    rows.choice(setup_row("setup/alignment"), alignments, mask.causal_alignment, "causal, aligned ");
  }
}

void draw_qk_norm(SetupRows& rows) {
  AttentionSpec& a = rows.scenario().attention;
  if (!setup_setting("setup/qk_norm").is_there(rows.scenario()) ||
      !rows.rare("setup/qk_norm", a.qk_norm.has_value()))
    return;
  constexpr std::array<std::string_view, 4> places{"off", "head", "whole", "after RoPE"};
  int place = a.qk_norm ? 1 + static_cast<int>(*a.qk_norm) : 0;
  if (rows.choice(setup_row("setup/qk_norm"), places, place)) {
    a.qk_norm.reset();
    if (place > 0) a.qk_norm = static_cast<QkNorm>(place - 1);
    rows.edited("setup/qk_norm", a.qk_norm ? "q and k normalised" : "q and k not normalised", false);
  }
  if (!a.qk_norm) return;
  constexpr std::array<std::string_view, 3> kinds{"RMS", "layer", "L2"};
  rows.choice(setup_row("setup/qk_norm_kind"), kinds, a.qk_norm_kind, "QK-norm by ");
}

void draw_rotary_pairs(SetupRows& rows) {
  const SetupSetting& setting = setup_setting("setup/rotary_pairs");
  if (!setting.is_there(rows.scenario())) return;
  constexpr std::array<std::string_view, 2> kinds{"halves", "neighbours"};
  rows.choice(setup_row("setup/rotary_pairs"), kinds, rows.scenario().attention.rotary_pairs, "RoPE rotates ");
}

// The kinds that need no list of numbers, which only a file gives.
void draw_rotary_scaling(SetupRows& rows) {
  AttentionSpec& a = rows.scenario().attention;
  if (!setup_setting("setup/rotary_scaling").is_there(rows.scenario())) return;
  constexpr std::array<std::string_view, 6> kinds{"off", "linear", "NTK", "Llama 3", "YaRN", "longrope"};
  constexpr auto longrope = static_cast<int>(RotaryScalingKind::longrope) + 1;
  int kind = a.rotary_scaling ? static_cast<int>(a.rotary_scaling->kind) + 1 : 0;
  const std::span<const std::string_view> shown = std::span(kinds).first(kind == longrope ? 6 : 5);
  if (rows.choice(setup_row("setup/rotary_scaling"), shown, kind)) {
    RotaryScaling scaling = a.rotary_scaling.value_or(RotaryScaling{});
    scaling.kind = static_cast<RotaryScalingKind>(std::max(kind - 1, 0));
    // What the kind needs and nothing says: the text is then as long as the positions that are reached.
    if (!scaling.factor) scaling.factor = 4.0;
    const Index keys = attention_sizes(rows.context().trace.options, rows.context().trace.tensors).keys;
    if (scaling.kind != RotaryScalingKind::linear && !scaling.original_max_position_embeddings)
      scaling.original_max_position_embeddings = std::ceil(static_cast<double>(keys) / *scaling.factor);
    a.rotary_scaling.reset();
    if (kind > 0) a.rotary_scaling = scaling;
    rows.edited("setup/rotary_scaling", fmt::format("RoPE scaling {}", kinds[static_cast<std::size_t>(kind)]),
                false);
  }
  if (!a.rotary_scaling) return;
  RotaryScaling& scaling = *a.rotary_scaling;
  rows.number(setup_setting("setup/rotary_scaling_factor"), scaling.factor, "", true);
  if (scaling.kind != RotaryScalingKind::linear)
    rows.number(setup_setting("setup/rotary_scaling_length"), scaling.original_max_position_embeddings, "",
                true);
}

void draw_output_gate(SetupRows& rows) {
  AttentionSpec& a = rows.scenario().attention;
  if (rows.scenario().op == Op::scaled_dot_product_attention || !rows.rare("setup/output_gate", a.output_gate))
    return;
  int on = a.output_gate ? 1 : 0;
  if (!rows.choice(setup_row("setup/output_gate"), off_on, on)) return;
  a.output_gate = on == 1;
  rows.edited("setup/output_gate", a.output_gate ? "output gated" : "output not gated", false);
}

}  // namespace

void draw_setup_mask(SetupRows& rows) {
  section_caption(rows.widgets(), "MASK");
  MaskSpec& mask = rows.scenario().mask;
  rows.choice(setup_row("setup/causal"), off_on, mask.is_causal, "causal mask ");
  draw_alignment(rows);
  draw_preset(rows);

  // One number for the whole batch; values that a file gives per sequence or query are kept until typed over.
  std::optional<std::int64_t> valid_length;
  const Trace& trace = rows.context().trace;
  std::string derived = trace.tensors.q_heads
                            ? std::to_string(attention_sizes(trace.options, trace.tensors).keys)
                            : std::string();
  if (mask.valid_lens && !mask.valid_lens_per_query && !mask.valid_lens->empty() &&
      !mask.valid_lens->front().empty()) {
    const std::vector<std::int64_t>& first = mask.valid_lens->front();
    bool same = true;
    for (const auto& lens : *mask.valid_lens) same = same && lens == first;
    if (same) valid_length = first.front();
  }
  if (mask.valid_lens && !valid_length) derived = "varies";
  rows.optional_integer(setup_row("setup/valid_length"), valid_length, derived,
                        {.drag_least = 0, .drag_most = 4096});
  if (rows.changed() && rows.state().edited_row == "setup/valid_length") {
    mask.valid_lens_per_query = false;
    mask.valid_lens.reset();
    if (valid_length)
      mask.valid_lens.emplace(setup_list_size(rows.scenario().inputs.batch),
                              std::vector<std::int64_t>{*valid_length});
  }

  rows.optional_integer({"setup/window", "window", "w",
                         "Sliding window: query i sees the keys with |i − j| < w, itself included; with the "
                         "causal mask, only itself and earlier keys. Empty: no window."},
                        mask.sliding_window, "none", {.drag_least = 1, .drag_most = 4096});
  for (const auto& [id, side] : {std::pair("setup/window_left", &MaskSpec::window_left),
                                 {"setup/window_right", &MaskSpec::window_right}})
    if (rows.rare(id, (mask.*side).has_value()))
      rows.optional_integer(setup_row(id), mask.*side, "all", {.drag_least = 0, .drag_most = 4096});

  draw_alibi(rows);
  draw_relative_bias(rows);
  draw_indexer(rows);
  if (rows.rare("setup/fill", mask.value.has_value()))
    rows.number(setup_setting("setup/fill"), mask.value, "−∞");
  draw_fully_masked_rows(rows);
  draw_convention(rows);
}

void draw_setup_scale(SetupRows& rows) {
  section_caption(rows.widgets(), "SCALE AND DROPOUT");
  AttentionSpec& a = rows.scenario().attention;
  const bool sdpa = rows.scenario().op == Op::scaled_dot_product_attention;
  const bool listed = a.rotary_inverse_frequencies.has_value();
  const auto draw = [&]<class T>(const SetupSetting& setting, const OptionRow& row, T& value, bool unusual) {
    const bool rotary = setting.option() == "rotary_base", scale = setting.option() == "scale";
    if (std::string_view(row.key).starts_with("qk_norm") && !a.qk_norm) return;
    if (row.key == std::string_view("rotary_factor") && !setting.is_there(rows.scenario())) return;
    const bool of_latents = (row.traits & latent_only) != 0 || is_latent(rows.scenario().op);
    if (of_latents && !setting.is_there(rows.scenario())) return;
    if (setting.rare && !rows.rare(setting.id.c_str(), unusual || (rotary && listed))) return;
    if (sdpa && (row.traits & module_only) != 0)
      return rows.idle_value({setting.id.c_str(), setting.name, "", not_in_sdpa}, "none");
    rows.number(setting, value,
                scale              ? fmt::format("{:.4g}", derived_scale(rows.context().trace.options))
                : rotary && listed ? "given"
                : setting.option() == "sink" && rows.context().trace.tensors.sinks ? "given"
                                                                                   : "none");
    if (!rotary) return;
    if (a.rotary_base) a.rotary_inverse_frequencies.reset();  // a typed base replaces them
    if (!a.rotary_base) a.rotary_scaling.reset();
    if (a.rotary_inverse_frequencies)
      dim_text(rows.widgets(), fmt::format("{} frequencies are given; a base replaces them",
                                           a.rotary_inverse_frequencies->size()));
  };
  for (const SetupSetting& setting : all_setup_settings()) {
    if (setting.id == "setup/qk_norm") draw_qk_norm(rows);
    if (setting.id == "setup/rotary_pairs") draw_rotary_pairs(rows);
    if (setting.id == "setup/rotary_scaling") draw_rotary_scaling(rows);
    if (setting.id == "setup/output_gate") draw_output_gate(rows);
    visit_layer_options([&](const OptionRow& row, auto member, const auto&...) {
      if constexpr (requires { rows.number(setting, a.*member, ""); })
        if (!setting.tooltip.empty() && setting.option() == row.key)
          draw(setting, row, a.*member, is_set(a, member));
    });
  }
  if (a.dropout > 0.0) {
    auto seed = static_cast<std::int64_t>(a.dropout_seed);
    rows.integer(setup_row("setup/dropout_seed", "dropout seed"), seed, {.least = 0});
    a.dropout_seed = static_cast<std::uint64_t>(seed);
  }
}

void draw_setup_operator(SetupRows& rows) {
  std::vector<OperatorSwitch>& made = rows.state().operator_switches;
  const Op now = rows.scenario().op;
  constexpr std::array<std::string_view, 3> operators{"MHA", "SDPA", "MLA"};  // in the order of Op
  std::string what =
      "MHA: multi_head_attention, with its input and output projections (torch.nn.MultiheadAttention). SDPA: "
      "scaled_dot_product_attention alone, on the query, key and value of each head "
      "(F.scaled_dot_product_attention). MLA: multi_head_latent_attention, whose keys and values are made "
      "from a latent, as in DeepSeek-V3.";
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const Op other = static_cast<Op>(i);
    const std::vector<std::string> lost = dropped_by_operator(rows.scenario(), other);
    if (other != now && std::ranges::any_of(made, [&](const auto& each) { return each.before.op == other; }))
      what += fmt::format(" Switching back to {} restores its settings.", operators[i]);
    else if (other != now && !lost.empty())
      what +=
          fmt::format(" {} drops {}; switching back restores what it drops.", operators[i], join(lost, ", "));
  }
  int chosen = static_cast<int>(now);
  if (!rows.choice({"setup/op", "operator", "", what}, operators, chosen)) return;
  rows.scenario() = with_operator(rows.scenario(), static_cast<Op>(chosen), made);
  rows.edited("setup/op", std::string(choice_name(rows.scenario().op)), false);
}

}  // namespace headwise
