#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "app/session/operator_switch.h"
#include "app/setup/setup_rows.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/ui_probe.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/scenario/mask_presets.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr std::array<std::string_view, 2> alignments{"top-left", "bottom-right"};
constexpr std::array<std::string_view, 2> fully_masked{"NaN", "0"};
constexpr float preset_width = 112.0f;  // design units: "document:0,6" fits

// A name with numbers can be typed in files only; here each preset comes with numbers that show its effect.
void draw_preset(SetupRows& rows) {
  MaskSpec& mask = rows.scenario().mask;
  const TensorPtr k = rows.context().trace.tensors.k_heads;
  const Index keys = k ? k->shape().size(2) : 0;
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
  int alibi = mask.alibi ? 1 : 0;
  if (rows.choice(
          {"setup/alibi", "ALiBi", "",
           "Attention with linear biases: −mₕ·(i − j) is added to the scores, with a separate slope for each "
           "head, mₕ = 2^(−8(h+1)/H) for H a power of two. Distance is penalised, so no position encoding is "
           "needed."},
          off_on, alibi)) {
    mask.alibi = alibi == 1;
    rows.edited("setup/alibi", alibi == 1 ? "ALiBi on" : "ALiBi off", false);
  }
  rows.draw_errors("setup/alibi", "");
  if (!mask.alibi) return;
  std::optional<double> scale = mask.alibi_scale;
  const FieldResult field = number_row(
      rows.widgets(),
      {"setup/alibi_scale", "ALiBi scale", "", "Multiplies every ALiBi bias. 1 in BLOOM, 1/√D in Falcon."},
      scale, {.wrong = rows.is_wrong("setup/alibi_scale"), .required = true, .drag_step = 0.05});
  if (field.changed && scale) {
    mask.alibi_scale = *scale;
    rows.edited("setup/alibi_scale", "ALiBi scale", true);
  }
  rows.draw_errors("setup/alibi_scale", field.error);
}

void draw_fill(SetupRows& rows) {
  MaskSpec& mask = rows.scenario().mask;
  if (!rows.rare("setup/fill", mask.value.has_value())) return;
  rows.number({"setup/fill", "mask value", "",
               "What a blocked score becomes. Empty: −∞ is added, as in torch. A finite number replaces the "
               "score, as in d2l (−1e6), the Annotated Transformer (−1e9) and Keras: a row whose keys are "
               "all blocked then attends to all of them equally."},
              mask.value, "−∞");
}

void draw_fully_masked_rows(SetupRows& rows) {
  MaskSpec& mask = rows.scenario().mask;
  if (!rows.rare("setup/fully_masked_rows", mask.fully_masked_rows.has_value())) return;
  const FullyMaskedRows by_default =
      rows.scenario().op == Op::multi_head_attention && rows.scenario().attention.need_weights
          ? FullyMaskedRows::nan
          : FullyMaskedRows::zero;
  int row = mask.fully_masked_rows.value_or(by_default) == FullyMaskedRows::nan ? 0 : 1;
  if (rows.choice(
          {"setup/fully_masked_rows", "fully masked rows", "",
           "What softmax returns for a query whose keys are all blocked. NaN: torch.nn.MultiheadAttention "
           "with need_weights. 0: F.scaled_dot_product_attention since 2.5, and ONNX."},
          fully_masked, row)) {
    mask.fully_masked_rows = row == 0 ? FullyMaskedRows::nan : FullyMaskedRows::zero;
    rows.edited("setup/fully_masked_rows", fmt::format("set fully masked rows to {}", row == 0 ? "NaN" : "0"),
                false);
  }
  rows.draw_errors("setup/fully_masked_rows", "");
}

void draw_convention(SetupRows& rows) {
  const MaskConvention now = rows.context().selection.mask_convention;
  if (!rows.rare("setup/mask_convention", now != MaskConvention::added)) return;
  int reading = static_cast<int>(now);
  if (rows.choice({"setup/mask_convention", "shown as", "",
                   "How masks are written on the map, in the line of code and in Copy mask as booleans: as "
                   "the numbers added to the scores, or as booleans. In torch.nn.MultiheadAttention True "
                   "means blocked; in F.scaled_dot_product_attention, ONNX, Keras and Flax True means takes "
                   "part. No result changes."},
                  mask_convention_names, reading)) {
    Selection selection = rows.context().selection;
    selection.mask_convention = static_cast<MaskConvention>(reading);
    rows.look(std::move(selection));
  }
}

// Always there: nothing below it moves when the causal mask comes and goes.
void draw_alignment(SetupRows& rows) {
  MaskSpec& mask = rows.scenario().mask;
  int alignment = mask.causal_alignment == CausalAlignment::top_left ? 0 : 1;
  if (!mask.is_causal) {
    rows.idle_choice(
        {"setup/alignment", "aligned", "",
         "Where the diagonal of the causal mask starts when L and S differ. Turn causal on to choose."},
        alignments, -1);
  } else if (rows.choice(
                 {"setup/alignment", "aligned", "",
                  "Where the diagonal starts when L and S differ. Top-left: j ≤ i. Bottom-right: j ≤ i + "
                  "S − L, so that the last query sees every key."},
                 alignments, alignment)) {
    mask.causal_alignment = alignment == 0 ? CausalAlignment::top_left : CausalAlignment::bottom_right;
    rows.edited("setup/alignment",
                fmt::format("causal, aligned {}", alignment == 0 ? "top-left" : "bottom-right"), false);
  }
  rows.draw_errors("setup/alignment", "");
}

constexpr std::array<std::string_view, 2> operators{"MHA", "SDPA"};

}  // namespace

void draw_setup_mask(SetupRows& rows) {
  section_caption(rows.widgets(), "MASK");
  MaskSpec& mask = rows.scenario().mask;
  int causal = mask.is_causal ? 1 : 0;
  if (rows.choice({"setup/causal", "causal", "",
                   "On: query i sees only keys j ≤ i, so no token sees later ones. Blocked cells are grey, "
                   "with × or −∞. In torch.nn.MultiheadAttention True means blocked, in "
                   "F.scaled_dot_product_attention True means takes part."},
                  off_on, causal)) {
    mask.is_causal = causal == 1;
    rows.edited("setup/causal", fmt::format("causal mask {}", off_on[static_cast<std::size_t>(causal)]), false);
  }
  rows.draw_errors("setup/causal", "");
  draw_alignment(rows);
  draw_preset(rows);

  // One number for the whole batch; values that a file gives per sequence or query are kept until typed over.
  std::optional<std::int64_t> valid_length;
  std::string derived = rows.context().trace.tensors.k_heads
                            ? std::to_string(rows.context().trace.tensors.k_heads->shape().size(2))
                            : std::string();
  if (mask.valid_lens && !mask.valid_lens_per_query && !mask.valid_lens->empty() &&
      !mask.valid_lens->front().empty()) {
    const std::vector<std::int64_t>& first = mask.valid_lens->front();
    bool same = true;
    for (const auto& lens : *mask.valid_lens) same = same && lens == first;
    if (same) valid_length = first.front();
  }
  if (mask.valid_lens && !valid_length) derived = "varies";
  rows.optional_integer(
      {"setup/valid_length", "valid length", "",
       "Padding: keys from this position on are blocked for every query (key_padding_mask; d2l's valid_lens: "
       "key j takes part if j < length). Padded queries are not masked. Empty: all keys are valid."},
      valid_length, derived, {.drag_least = 0, .drag_most = 4096});
  if (rows.changed() && rows.state().edited_row == "setup/valid_length") {
    mask.valid_lens_per_query = false;
    mask.valid_lens.reset();
    if (valid_length) {
      mask.valid_lens.emplace(setup_list_size(rows.scenario().inputs.batch),
                              std::vector<std::int64_t>{*valid_length});
    }
  }

  rows.optional_integer({"setup/window", "window", "w",
                         "Sliding window: query i sees the keys with |i − j| < w, itself included; with the "
                         "causal mask, only itself and earlier keys. Empty: no window."},
                        mask.sliding_window, "none", {.drag_least = 1, .drag_most = 4096});

  draw_alibi(rows);
  draw_fill(rows);
  draw_fully_masked_rows(rows);
  draw_convention(rows);
}

void draw_setup_scale(SetupRows& rows) {
  section_caption(rows.widgets(), "SCALE AND DROPOUT");
  AttentionSpec& a = rows.scenario().attention;
  const double derived = derived_scale(rows.context().trace.options);
  rows.number(
      {"setup/scale", "scale", "1/√D",
       "Every score is multiplied by this before masking: scaled_scores = scale · scores. Empty: 1/√D, so "
       "that wide heads do not get larger scores than narrow ones. 0 makes attention uniform."},
      a.scale, fmt::format("{:.4g}", derived), {.drag_step = 0.01});
  const auto plain_number = [&](const RowLabel& label, double& value, FieldOptions drag) {
    std::optional<double> typed = value;
    drag.wrong = rows.is_wrong(label.id);
    drag.required = true;
    const FieldResult field = number_row(rows.widgets(), label, typed, drag);
    if (field.changed && typed) {
      value = *typed;
      rows.edited(label.id, std::string(label.name), true);
    }
    rows.draw_errors(label.id, field.error);
  };
  plain_number(
      {"setup/temperature", "temperature", "t",
       "Scaled scores are divided by t > 0: below 1 attention sharpens towards the best key, above 1 it "
       "flattens towards uniform."},
      a.temperature, {.drag_step = 0.05, .drag_least = 0.05});
  if (rows.rare("setup/softcap", a.softcap != 0.0)) {
    plain_number({"setup/softcap", "softcap", "c",
                  "c > 0: scaled scores become c·tanh(x/c), which never exceeds ±c; 0: none. Applied before "
                  "masking, as in ONNX's Attention and Gemma."},
                 a.softcap, {.drag_step = 0.5});
  }
  const bool clips = rows.rare("setup/clip_qkv", a.clip_qkv.has_value());
  if (clips && rows.scenario().op == Op::scaled_dot_product_attention) {
    rows.idle_value({"setup/clip_qkv", "clip_qkv", "", not_in_sdpa}, "none");
  } else if (clips) {
    rows.number({"setup/clip_qkv", "clip_qkv", "",
                 "Every number of q, k and v is clipped to [−c, c] where the heads are split, as in OLMo. "
                 "Empty: none."},
                a.clip_qkv, "none", {.drag_step = 0.1, .drag_least = 0.1});
  }
  const bool listed = a.rotary_inverse_frequencies.has_value();
  if (rows.rare("setup/rotary_base", a.rotary_base || listed)) {
    rows.number({"setup/rotary_base", "rotary base", "θ",
                 "Rotary position embedding (RoPE): before the scores every pair of columns j, j + D/2 of q "
                 "and k is rotated by position · base^(−2j/D), so that a score depends on how far apart two "
                 "tokens are. 10000 in the first Llama models (rope_theta). Empty: none. D must be even."},
                a.rotary_base, listed ? "given" : "none");
    if (a.rotary_base) a.rotary_inverse_frequencies.reset();  // a typed base replaces them
    if (a.rotary_inverse_frequencies)
      dim_text(rows.widgets(), fmt::format("{} frequencies are given; a base replaces them",
                                           a.rotary_inverse_frequencies->size()));
  }
  std::optional<double> dropout = a.dropout;
  const FieldResult field = number_row(
      rows.widgets(),
      {"setup/dropout", "dropout", "p",
       "Each attention weight becomes 0 with probability p, and the survivors are divided by 1 − p. In "
       "[0,1]; 0 outside training. Rows of dropped_weights need not sum to 1."},
      dropout,
      {.wrong = rows.is_wrong("setup/dropout"), .required = true, .drag_step = 0.05, .drag_most = 1.0});
  if (field.changed && dropout) {
    a.dropout = *dropout;
    rows.edited("setup/dropout", "dropout", true);
  }
  rows.draw_errors("setup/dropout", field.error);
  if (a.dropout > 0.0) {
    std::optional<std::int64_t> seed = static_cast<std::int64_t>(a.dropout_seed);
    const FieldResult seeded = integer_row(
        rows.widgets(),
        {"setup/dropout_seed", "dropout seed", "",
         "Determines which weights are dropped. The same seed drops the same weights on every machine."},
        seed, {.wrong = rows.is_wrong("setup/dropout_seed"), .required = true, .least = 0});
    if (seeded.changed && seed) {
      a.dropout_seed = static_cast<std::uint64_t>(*seed);
      rows.edited("setup/dropout_seed", "dropout seed", true);
    }
    rows.draw_errors("setup/dropout_seed", seeded.error);
  }
}

void draw_setup_operator(SetupRows& rows) {
  std::optional<OperatorSwitch>& left = rows.state().operator_switch;
  const bool sdpa = rows.scenario().op == Op::scaled_dot_product_attention;
  std::string what =
      "MHA: multi_head_attention, with its input and output projections (torch.nn.MultiheadAttention). SDPA: "
      "scaled_dot_product_attention alone, on the query, key and value of each head "
      "(F.scaled_dot_product_attention).";
  if (sdpa && left) {
    what += " Switching back to MHA restores its settings.";
  } else if (const std::vector<std::string> lost = left_by_switch(rows.scenario()); !sdpa && !lost.empty()) {
    what += " SDPA drops " + join(lost, ", ") + "; switching back to MHA restores what it drops.";
  }
  int chosen = sdpa ? 1 : 0;
  if (rows.choice({"setup/op", "operator", "", what}, operators, chosen)) {
    const Scenario before = rows.scenario();
    if (chosen == 1) {
      rows.scenario() = as_scaled_dot_product_attention(before);
      left = OperatorSwitch{before, rows.scenario()};
    } else {
      rows.scenario() = as_multi_head_attention(before, left);
    }
    rows.edited("setup/op", chosen == 1 ? "scaled_dot_product_attention" : "multi_head_attention", false);
  }
  rows.draw_errors("setup/op", "");
}

}  // namespace headwise
