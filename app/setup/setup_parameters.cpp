#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "app/session/commands.h"
#include "app/setup/setup_rows.h"
#include "app/widgets/text_link.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/answers/operation_counts.h"
#include "core/answers/traced_inputs.h"
#include "core/files/file_paths.h"
#include "core/model/files/model_files.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/text_inputs.h"

namespace headwise {
namespace {

constexpr std::array<std::string_view, 3> parameter_sources{"random", "hand-made", "model"};
constexpr std::array parameter_choices{ParameterSource::random, ParameterSource::hand_made,
                                       ParameterSource::model};
constexpr std::array<std::string_view, 3> parameter_edits{"random parameters", "hand-made heads",
                                                          "parameters of the model"};
constexpr std::array<std::string_view, 3> layouts{"packed", "3", "3·H"};
constexpr const char* layout_edits[] = {"in_proj packed", "in_proj as 3 matrices",
                                        "in_proj as 3·H small matrices"};

// Three layouts with this many multiply-adds take a few milliseconds on one core of 2020: little enough for every edit.
constexpr Index multiply_adds_at_once = 4'000'000;

double largest_of(const Tensor& tensor) {
  double largest = 0.0;
  for (Index i = 0; i < tensor.size(); ++i) {
    const double value = std::abs(tensor.flat(i));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  return largest;
}

// "same output in all three", or "output differs by 0, 0, 2e-07", in the order of the choice; always one line, which keeps the
// rows below in place. Recomputed for every trace.
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
            "Is it "
            "the same?");
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
  tooltip(rows.widgets(),
          fmt::format(
              "The output was computed with the projection packed, as 3 and as 3·H matrices, and "
              "each was compared with the first, in this order: no number differs by more than shown here; "
              "the largest number of the output is {:.3g}. – means that a layout is not possible.",
              largest_of(*output)));
  ui_probe_item("setup/layout_differences");
}

// Which layer of the opened model.
void draw_layer(SetupRows& rows) {
  const ModelInput* const input = rows.context().inputs.model_input.get();
  const std::string& path = *rows.scenario().parameters.file;
  std::string told = model_name(path);
  std::string of;
  if (input) {
    const std::size_t layers = input->model->layers().layers.size();
    told += fmt::format(": {} layers × {} heads", layers, input->model->transformer()->config().num_heads);
    of = fmt::format("0 to {}", layers - 1);
  }
  dim_text(rows.widgets(), told);
  tooltip(rows.widgets(), path);
  ui_probe_item("setup/model");
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
  rows.integer({"setup/layer", "layer", of.c_str(),
                "The model layer that the parameters are taken from, counted from 0. Type it, or drag."},
               rows.scenario().parameters.layer, {.drag_step = 0.1, .drag_least = 0});
}

}  // namespace

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
  if (rows.choice({"setup/parameters", "heads", "",
                   "Where W_q, W_k, W_v and W_O come from. Hand-made heads have a purpose that can be read "
                   "off W_q and W_k: the previous token, the same word, the first token, itself, the "
                   "average. Random parameters are those of a newly created module."},
                  std::span(parameter_sources).first(has_model ? 3 : 2), heads)) {
    const auto at = static_cast<std::size_t>(heads);
    parameters.source = parameter_choices[at];
    rows.edited("setup/parameters", std::string(parameter_edits[at]), false);
  }
  rows.draw_errors("setup/parameters", "");
  if (is_of_model(rows.scenario())) draw_layer(rows);

  int layout = static_cast<int>(rows.scenario().parameters.layout);
  if (rows.choice(
          {"setup/layout", "in_proj as", "",
           "How W_q, W_k and W_v are stored: packed in one in_proj_weight, as three matrices, or as a small "
           "matrix for each head. The numbers are the same either way, as Help, Is it the same? shows."},
          layouts, layout)) {
    rows.scenario().parameters.layout = static_cast<ProjectionLayout>(layout);
    rows.edited("setup/layout", layout_edits[layout], false);
  }
  rows.draw_errors("setup/layout", "");
  draw_layout_differences(rows);
}

}  // namespace headwise
