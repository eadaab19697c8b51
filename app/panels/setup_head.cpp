#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "app/panels/setup_rows.h"
#include "app/session/commands.h"
#include "app/session/head_gains.h"
#include "app/widgets/controls.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/attention/score_path.h"
#include "core/compare/trace_compare.h"
#include "core/files/file_paths.h"
#include "core/lessons/operation_counts.h"
#include "core/lessons/traced_inputs.h"
#include "core/model/files/model_files.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/text_inputs.h"

namespace headwise {
namespace {

std::string bytes_text(double bytes) {
  if (bytes < 1024.0) return fmt::format("{:.0f} B", bytes);
  if (bytes < 1024.0 * 1024.0) return fmt::format("{:.1f} KiB", bytes / 1024.0);
  return fmt::format("{:.1f} MiB", bytes / (1024.0 * 1024.0));
}

// What a decoder caches for this layer between two tokens: k and v of every key, per key/value head.
// Always one line.
void draw_cache(SetupRows& rows) {
  const Trace& trace = rows.context().trace;
  const TraceTensors& t = trace.tensors;
  const TensorPtr latents = trace.tensor(latents_of_heads(trace.options));
  const TensorPtr k_rot = trace.tensor(rotated_keys_of_heads(trace.options));
  if (is_latent(trace.options) && latents && k_rot) {
    const auto numbers = static_cast<double>(latents->size() + k_rot->size());
    dim_text(rows.widgets(), fmt::format("KV cache: {} in f16", bytes_text(2.0 * numbers)));
    return named_item(
        rows.widgets(), "setup/cache",
        fmt::format("What a decoder keeps of this layer: compressed_kv and k_rot of every key, N·{}·(C + R) "
                    "= {:.0f} numbers, whatever the number of heads.",
                    trace.options.past_length ? "(P + S)" : "S", numbers));
  }
  if (!t.k_heads || !t.v_heads) return dim_text(rows.widgets(), "no keys to cache");
  const Tensor &k = t.present_key ? *t.present_key : *t.k_heads,
               &v = t.present_value ? *t.present_value : *t.v_heads;
  const auto numbers = static_cast<double>(k.size() + v.size());
  const Index groups = t.k_heads->shape().rank() > 1 ? t.k_heads->shape().size(1) : 0;
  const Index sharing = groups > 0 ? trace.options.num_heads / groups : 0;
  dim_text(rows.widgets(), fmt::format("KV cache: {} in f16", bytes_text(2.0 * numbers)));
  named_item(
      rows.widgets(), "setup/cache",
      fmt::format(
          "What a decoder keeps of this layer: k and v of every key, N·{}·G·(D + Dv) = {:.0f} numbers. {} "
          "query {} each key/value head.",
          t.present_key ? "(P + S)" : "S", numbers, sharing, sharing == 1 ? "head uses" : "heads share"));
}

// While a page asks for a head, the one that is shown might be the answer.
std::string head_words(const SetupRows& rows, Index head) {
  return rows.context().points_at_heads ? "this head" : fmt::format("head {}", head);
}

// The effect of all gains together on the output; what the last edit did stands at the bottom of the window.
std::string gain_text(const TensorChange& change) {
  if (change.mismatches > 0)
    return fmt::format("the gains make {} output cells differ (not finite)", change.mismatches);
  const std::optional<double> share = change.relative();
  if (!share) return fmt::format("the gains change the output by up to {:.3g}", change.largest);
  return fmt::format("the gains change the output by {} (relative norm)", percent_text(*share));
}

// In one line: the parenthesis is left out where there is no room for it.
std::string in_one_line(const WidgetContext& widgets, std::string text) {
  if (width_of(widgets.fonts.small, text) > ImGui::GetContentRegionAvail().x)
    text.resize(std::min(text.rfind(" ("), text.size()));
  return text;
}

void draw_gain(SetupRows& rows) {
  const Index head = rows.context().selection.head;
  double gain = head_gain_of(rows.scenario(), head);
  const std::string name = "gain of " + head_words(rows, head);
  if (rows.scenario().op == Op::scaled_dot_product_attention) {
    rows.idle_slider({"setup/gain", name, "", not_in_sdpa}, 1.0, "–",
                     {.least = 0.0, .most = 2.0, .normal = 1.0});
    return dim_text(rows.widgets(), "no gains");
  }
  const SliderResult moved =
      slider_row(rows.widgets(), setup_row("setup/gain", name), gain, fmt::format("{:.2f}", gain),
                 {.least = 0.0, .most = 2.0, .step = 0.05, .normal = 1.0});
  if (moved.changed) {
    // Hundredths: the value shown is the value used.
    const HeadEdit edit = set_head_gain(rows.scenario(), head, std::round(gain * 100.0) / 100.0);
    rows.scenario() = edit.scenario;
    rows.edited("setup/gain", edit.label, true);
  }
  rows.draw_errors("setup/gain", "");
  // Always one line: nothing moves under the mouse that drags the gain.
  const auto change = rows.state().unmuted.change(rows.context().trace);
  const auto& gains = rows.scenario().head_gain;
  const std::string unchanged =
      gains && std::ranges::count(*gains, 0.0) > 0 ? "output unchanged" : "no head muted";
  dim_text(rows.widgets(), change ? in_one_line(rows.widgets(), gain_text(*change)) : unchanged);
  if (change)
    named_item(rows.widgets(), "setup/gain_effect",
               "How far the output is from the output with every gain at 1, as a relative norm: ‖Δoutput‖ / "
               "‖output‖.");
}

// Every operator has heads that can be frozen.
void draw_freeze(SetupRows& rows) {
  constexpr std::string_view states[]{"live", "frozen"};
  const Index head = rows.context().selection.head;
  int chosen = is_frozen(rows.scenario(), head) ? 1 : 0;
  const std::string name = "attention of " + head_words(rows, head);
  if (rows.choice(setup_row("setup/freeze", name), states, chosen)) {
    HeadEdit edit = toggle_freeze(rows.scenario(), rows.context().trace, head);
    if (!edit.label.empty()) {
      rows.scenario() = std::move(edit.scenario);
      rows.edited("setup/freeze", edit.label, false);
    }
  }
}

void draw_groups(SetupRows& rows) {
  if (is_latent(rows.scenario().op)) return draw_cache(rows);
  AttentionSpec& a = rows.scenario().attention;
  const std::vector<std::int64_t> choices = group_choices(rows);
  const std::int64_t now = a.num_kv_heads.value_or(a.num_heads);
  if (choices.size() < 2) {
    rows.idle_slider(
        {"setup/groups", "KV heads", "",
         "From multi-query through grouped-query to multi-head attention. There is nothing to choose here: "
         "one head, or a model whose keys and values allow this number only."},
        1.0, std::to_string(now), {});
    return draw_cache(rows);
  }
  const auto at = std::ranges::find(choices, now);
  double stop = static_cast<double>(at == choices.end() ? choices.size() - 1
                                                        : static_cast<std::size_t>(at - choices.begin()));
  const char* kind = now == a.num_heads ? "MHA" : now == 1 ? "MQA" : "GQA";
  const SliderResult moved =
      slider_row(rows.widgets(), setup_row("setup/groups", "", kind), stop, std::to_string(now),
                 {.least = 0.0,
                  .most = static_cast<double>(choices.size() - 1),
                  .step = 1.0,
                  .stops = static_cast<int>(choices.size()),
                  .normal = static_cast<double>(choices.size() - 1)});
  if (moved.changed) {
    const std::int64_t chosen = choices[static_cast<std::size_t>(std::lround(stop))];
    a.num_kv_heads.reset();
    if (chosen != a.num_heads) a.num_kv_heads = chosen;
    rows.edited("setup/groups", "key/value heads", true);
  }
  rows.draw_errors("setup/groups", "");
  draw_cache(rows);
}

constexpr std::array<std::string_view, 3> parameter_sources{"random", "hand-made", "model"};

constexpr std::array parameter_choices{ParameterSource::random, ParameterSource::hand_made,
                                       ParameterSource::model};

constexpr std::array<std::string_view, 3> parameter_edits{"random parameters", "hand-made heads",
                                                          "parameters of the model"};

constexpr std::array<std::string_view, 3> layouts{"packed", "3", "3·H"};

constexpr const char* layout_edits[] = {"in_proj packed", "in_proj as 3 matrices",
                                        "in_proj as 3·H small matrices"};

// Three layouts with this many multiply-adds take a few milliseconds on one core of 2020:
// little enough for every edit.
constexpr Index multiply_adds_at_once = 4'000'000;

// "same output in all three", or "output differs by 0, 0, 2e-07", in the order of the choice; always one
// line, which keeps the rows below in place. Recomputed for every trace.
void draw_layout_differences(SetupRows& rows) {
  const Trace& trace = rows.context().trace;
  SetupState& state = rows.state();
  const TensorPtr& output = trace.tensors.output;
  if (!output || output->size() == 0) return dim_text(rows.widgets(), "no output to compare");
  if (state.layouts_of.lock() != output) {
    state.layouts_of = output;
    work_probe("layout differences");
    state.layouts = {};
    const bool small = operation_counts(traced_inputs(trace)).multiply_adds <= multiply_adds_at_once;
    if (small) state.layouts = compare_layouts(trace);
    if (!small) state.layouts.not_asked = "large";
  }
  if (!state.layouts.not_asked.empty()) {
    dim_text(rows.widgets(), "not compared: many numbers");
    tooltip(rows.widgets(),
            "The three layouts are compared at every edit in small scenarios only. For larger ones use Help, "
            "Is it the same?");
    return ui_probe_item("setup/layout_differences");
  }
  const auto same = [](const LayoutAnswer& answer) {
    return answer.possible() && answer.output_difference == 0.0;
  };
  std::string text = "same output in all three";
  if (!std::ranges::all_of(state.layouts.layouts, same)) {
    text = "output differs by";
    for (std::size_t i = 0; i < layouts.size(); ++i) {
      const LayoutAnswer& answer = state.layouts.layouts[i];
      text += fmt::format("{}{}", i == 0 ? " " : ", ",
                          answer.possible() ? fmt::format("{:.2g}", answer.output_difference) : "–");
    }
  }
  dim_text(rows.widgets(), text);
  named_item(
      rows.widgets(), "setup/layout_differences",
      fmt::format(
          "The output was computed with the projection packed, as 3 and as 3·H matrices, and "
          "each was compared with the first, in this order: no number differs by more than shown here; "
          "the largest number of the output is {:.3g}. – means that a layout is not possible.",
          largest_magnitude(*output)));
}

// Which layer of the opened model.
void draw_layer(SetupRows& rows) {
  const ModelInput* const input = rows.context().inputs.model_input.get();
  const std::string& path = *rows.scenario().parameters.file;
  std::string description = model_name(path);
  std::string of;
  if (input) {
    const std::size_t layers = input->model->layers().layers.size();
    description +=
        fmt::format(": {} layers × {} heads", layers, input->model->transformer()->config().num_heads);
    of = fmt::format("0 to {}", layers - 1);
  }
  dim_text(rows.widgets(), description);
  named_item(rows.widgets(), "setup/model", path);
  if (is_stored(path)) {
    constexpr std::string_view words = "How it was trained";
    const float end = ImGui::GetItemRectMax().x + rows.widgets().px(10);
    if (end + text_link_width(rows.widgets(), words) <=
        ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x)
      ImGui::SameLine(0.0f, rows.widgets().px(10));
    if (text_link(rows.widgets(), "setup/training", words,
                  "Read on which texts this model was trained, and for how long."))
      rows.perform(CommandId::model_training);
  }
  rows.integer(setup_row("setup/layer", "", of), rows.scenario().parameters.layer,
               {.drag_step = 0.1, .drag_least = 0});
}

}  // namespace

void draw_setup_head(SetupRows& rows) {
  section_caption(rows.widgets(), "HEADS");
  draw_gain(rows);
  draw_freeze(rows);
  draw_groups(rows);
}

void draw_setup_parameters(SetupRows& rows) {
  section_caption(rows.widgets(), "PARAMETERS");
  ParametersSpec& parameters = rows.scenario().parameters;
  if (rows.scenario().op == Op::scaled_dot_product_attention) {
    const bool has_model = names_a_model(rows.scenario());
    rows.idle_choice({"setup/parameters", "heads", "", not_in_sdpa},
                     std::span(parameter_sources).first(has_model ? 3 : 2), -1);
    rows.idle_choice({"setup/layout", "in_proj as", "", not_in_sdpa}, layouts, -1);
    return dim_text(rows.widgets(), "no parameters: MHA has them");
  }
  const auto chosen = std::ranges::find(parameter_choices, parameters.source);
  int heads = chosen == parameter_choices.end() ? -1 : static_cast<int>(chosen - parameter_choices.begin());
  // One can return to a model as long as the scenario names it.
  const bool has_model = names_a_model(rows.scenario());
  const std::size_t offered = is_latent(rows.scenario().op) ? 1 : has_model ? 3 : 2;
  if (rows.choice(setup_row("setup/parameters"), std::span(parameter_sources).first(offered), heads)) {
    const auto at = static_cast<std::size_t>(heads);
    parameters.source = parameter_choices[at];
    rows.edited("setup/parameters", std::string(parameter_edits[at]), false);
  }
  if (is_of_model(rows.scenario())) draw_layer(rows);

  if (!setup_setting("setup/layout").is_there(rows.scenario())) return;
  int layout = static_cast<int>(rows.scenario().parameters.layout);
  if (rows.choice(setup_row("setup/layout"), layouts, layout)) {
    rows.scenario().parameters.layout = static_cast<ProjectionLayout>(layout);
    rows.edited("setup/layout", layout_edits[layout], false);
  }
  draw_layout_differences(rows);
}

}  // namespace headwise
