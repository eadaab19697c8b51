#include "app/stage/stage_header.h"

#include <imgui.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "app/content/step_words.h"
#include "app/platform/fonts.h"
#include "app/session/commands.h"
#include "app/session/frozen_heads.h"
#include "app/session/token_predictions.h"
#include "app/stage/head_thumbnails.h"
#include "app/stage/stage_choice.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/fitted_clauses.h"
#include "app/widgets/segmented_control.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr std::array<std::string_view, 5> brushes{"look", "paint", "row", "column", "box"};
constexpr const char* frozen_words = ", frozen weights";

float width_of(ImFont* font, const std::string& text) {
  return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, text.c_str()).x;
}

// "queries as | rows | columns", where there is room; the key does it everywhere.
void draw_turn(const PanelContext& context, Selection& selection, float end) {
  constexpr std::array<std::string_view, 2> ways{"rows", "columns"};
  ImFont* sans = context.fonts.sans;
  const std::string caption = "queries as";
  const ImVec2 last = ImGui::GetItemRectMax(), first = ImGui::GetItemRectMin();
  const ImVec2 size = segmented_control_size(context.widgets(), ways);
  const float u = context.scale, x = last.x + 16.0f * u, label = width_of(sans, caption) + 8.0f * u;
  // Beside it stands the head and what it does.
  if (x + label + size.x + 150.0f * u > end) return;
  ImGui::GetWindowDrawList()->AddText(sans, sans->FontSize, ImVec2(x, first.y + (size.y - sans->FontSize) / 2),
                                      im_color(context.palette.text_dim), caption.c_str());
  ImGui::SetCursorScreenPos(ImVec2(x + label, first.y));
  int way = selection.queries_as_columns ? 1 : 0;
  if (stage_choice(context, "turn", ways, way)) selection.queries_as_columns = way == 1;
  tooltip(context.widgets(), fmt::format("whether queries are the rows or the columns of a map ({}): papers "
                                         "and libraries use both. No number changes.",
                                         first_key_text(CommandId::turn_maps)));
}

// As long as a layer is shown that is not all of what its model computes, it says so over the numbers.
void draw_not_computed(const PanelContext& context, float width) {
  const std::vector<std::string>& told = context.inputs.not_computed;
  if (told.empty()) return;
  ImFont* font = context.fonts.small;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const std::string more = told.size() > 1 ? fmt::format("  (+{} more)", told.size() - 1) : "";
  const std::string line =
      fitted_text("Not as the model computes it: " + told.front(), font, width - width_of(font, more)) + more;
  ImGui::GetWindowDrawList()->AddText(font, font->FontSize, at, im_color(context.palette.warning),
                                      line.c_str());
  ImGui::Dummy({width_of(font, line), font->FontSize});
  tooltip(context.widgets(), fmt::format("{}", fmt::join(told, "\n\n")));
  ui_probe_item("stage/not_computed");
}

}  // namespace

Selection draw_stage_header(const PanelContext& context, const StageContent& content, int& brush) {
  Selection selection = context.selection;
  const StepEntry& entry = step_entries()[static_cast<std::size_t>(selection.step)];
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, u = context.scale;
  ImDrawList* list = ImGui::GetWindowDrawList();

  ImFont* title = context.fonts.title;
  const std::string name(selection.view == StageView::prediction ? "Prediction" : entry.name);
  list->AddText(title, title->FontSize, origin, im_color(context.palette.text), name.c_str());
  ImFont* sans = context.fonts.sans;
  const float x = width_of(title, name) + 14.0f * u;
  std::vector<std::string_view> names;
  for (const StepPicture& picture : content.pictures) names.push_back(tensor_entry(picture.result).name);
  const bool chooses_picture = names.size() > 1 && !context.picture;
  const ImVec2 names_size = segmented_control_size(context.widgets(), names);
  const float beside = chooses_picture ? names_size.x + 12.0f * u : 0.0f;
  // What only a model has is offered with a model.
  const auto offered = static_cast<std::size_t>(
      offers_prediction(context.scenario) || selection.view == StageView::prediction ? stage_view_count
                                                                                     : stage_view_count - 1);
  const std::span<const std::string_view> view_names = std::span(stage_view_names).first(offered);
  // Beside the views stand the tensors of the step; where there is no room for that, at the end of the title's line.
  const float views_width = segmented_control_least_width(context.widgets(), view_names);
  const bool one_line = segmented_control_size(context.widgets(), view_names).x + beside <= width;
  const bool in_title_line = !one_line && chooses_picture && views_width <= width && x + names_size.x <= width;
  // So do the brushes.
  const bool paints = selection.step == Step::mask && selection.view == StageView::one_head && !context.picture;
  const ImVec2 brushes_size = segmented_control_size(context.widgets(), brushes);
  const bool paints_in_title_line =
      paints && !in_title_line && x + brushes_size.x <= width &&
      segmented_control_size(context.widgets(), view_names).x + beside + 12.0f * u + brushes_size.x > width;
  const float at_title = in_title_line ? names_size.x : paints_in_title_line ? brushes_size.x : 0.0f;

  const bool backward = selection.view == StageView::gradients;
  const std::string question = fitted_clauses(
      backward ? "how much does the loss change with each number? start at Output and step back with ←"
      : selection.view == StageView::prediction
          ? "through the rest of the model: which words does it predict?"
          : step_question(selection.step, context.trace.options),
      sans, width - x - (at_title > 0.0f ? at_title + 12.0f * u : 0.0f));
  list->AddText(sans, sans->FontSize,
                ImVec2(origin.x + x, origin.y + title->FontSize * 0.8f - sans->FontSize * 0.8f),
                im_color(context.palette.text_dim), question.c_str());

  const auto choose_picture = [&](float room) {
    int chosen = content.picture < names.size() ? static_cast<int>(content.picture) : -1;
    if (stage_choice(context, "picture", names, chosen, room))
      selection.tensor = content.pictures[static_cast<std::size_t>(chosen)].result;
    tooltip(context.widgets(), "which of this step's tensors to show");
  };
  const auto choose_brush = [&] {
    stage_choice(context, "brush", brushes, brush);
    tooltip(context.widgets(),
            "paint attn_mask on the map: a stroke that starts on an unblocked pair blocks pairs, one that "
            "starts on a blocked pair unblocks them. row and column: all keys of a query, all queries of a "
            "key; box: drag a rectangle");
  };
  ImGui::SetCursorScreenPos(ImVec2(origin.x, origin.y + title->FontSize + 8.0f * u));
  if (context.picture) {
    std::string place;
    if (content.head_map) {
      const auto description = head_description(context, selection.head);
      place = fmt::format("head {}{}{}", selection.head, description ? ": " + description->name : "",
                          is_frozen(context.scenario, selection.head) ? frozen_words : "");
    }
    list->AddText(sans, sans->FontSize, ImGui::GetCursorScreenPos(), im_color(context.palette.text_dim),
                  fitted_text(place, sans, width).c_str());
    ImGui::Dummy({1, place.empty() ? 1.0f : sans->FontSize});
    draw_not_computed(context, width);
    return selection;
  }
  if (at_title > 0.0f) {
    const ImVec2 next = ImGui::GetCursorScreenPos();
    ImGui::SetCursorScreenPos(ImVec2(std::floor(origin.x + width - at_title),
                                     std::floor(origin.y + 0.5f * (title->FontSize - names_size.y))));
    if (in_title_line) choose_picture(at_title);
    if (paints_in_title_line) choose_brush();
    ImGui::SetCursorScreenPos(next);
  }
  constexpr std::array<std::string_view, stage_view_count> short_views{"one",   "all",   "tok.", "q∘k",
                                                                       "grad.", "comp.", "mem.", "pred."};
  const bool whole = one_line || in_title_line || (!chooses_picture && views_width <= width);
  int view = static_cast<int>(selection.view);
  if (stage_choice(context, "view", whole ? view_names : std::span(short_views).first(offered), view, width))
    selection.view = static_cast<StageView>(view);
  tooltip(context.widgets(),
          fmt::format("ways to look at this step: one head with its operands, all heads side by side, tokens "
                      "joined by lines, q ∘ k number by number, each tensor beside its gradient, beside "
                      "another scenario, where each float lies, the words that the model predicts ({})",
                      first_key_text(CommandId::toggle_view)));
  if (chooses_picture && !in_title_line) {
    ImGui::SameLine(0.0f, 12.0f * u);
    choose_picture(origin.x + width - ImGui::GetCursorScreenPos().x);
  }
  const TensorPtr any = content.result ? content.result->matrix.view.tensor : nullptr;
  const Index batches = any && any->shape().rank() >= 3 ? any->shape().size(0) : 1;
  if (batches > 1) {
    constexpr std::array<std::string_view, 2> ways{"‹", "›"};
    int way = -1;
    ImGui::SameLine(0.0f, 12.0f * u);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const std::string text = fmt::format("batch {} of {}", selection.batch, batches);
    const float line = segmented_control_size(context.widgets(), ways).y;
    list->AddText(sans, sans->FontSize, ImVec2(at.x, at.y + (line - sans->FontSize) / 2),
                  im_color(context.palette.text_dim), text.c_str());
    ImGui::SetCursorScreenPos(ImVec2(at.x + width_of(sans, text) + 8.0f * u, at.y));
    if (stage_choice(context, "batch", ways, way)) {
      selection.batch = std::clamp<Index>(selection.batch + (way == 0 ? -1 : 1), 0, batches - 1);
      if (selection.pinned && selection.pinned->index.size() >= 3)
        selection.pinned->index[0] = selection.batch;
    }
    tooltip(context.widgets(), "which of the N sequences in the batch to show");
  }
  if (paints && !paints_in_title_line) {
    ImGui::SameLine(0.0f, 12.0f * u);
    if (brushes_size.x <= width) {
      if (brushes_size.x > origin.x + width - ImGui::GetCursorScreenPos().x) ImGui::NewLine();
      choose_brush();
    } else {
      ImGui::NewLine();
    }
  }
  if (selection.view != StageView::tokens && selection.view != StageView::elementwise &&
      selection.view != StageView::prediction && content.result && is_pair_map(content.result->matrix)) {
    draw_turn(context, selection, origin.x + width);
  }
  if (content.head_map) {
    ImGui::SameLine(0.0f, 16.0f * u);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float line = ImGui::GetItemRectSize().y;
    const auto description = head_description(context, selection.head);
    const std::string number = fmt::format("head {}", selection.head);
    std::string head = number + (description ? ": " + description->name : "");
    if (is_frozen(context.scenario, selection.head)) head += frozen_words;
    const float room = origin.x + width - at.x;
    if (width_of(sans, head) > room) head = number;  // half a name says nothing
    if (width_of(sans, head) <= room) {
      list->AddText(sans, sans->FontSize, ImVec2(at.x, at.y + (line - sans->FontSize) / 2),
                    im_color(context.palette.text_dim), head.c_str());
    }
    ImGui::NewLine();
  }
  draw_not_computed(context, width);
  return selection;
}

}  // namespace headwise
