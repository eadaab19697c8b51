#include "app/stage/stage_header.h"

#include <imgui.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "app/content/stage_views.h"
#include "app/content/step_words.h"
#include "app/session/commands.h"
#include "app/session/head_gains.h"
#include "app/stage/head_thumbnails.h"
#include "app/stage/stage_choice.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr std::array<std::string_view, 5> brush_names{"look", "paint", "row", "column", "box"};

constexpr std::array<std::string_view, 2> turn_names{"rows", "columns"};
constexpr const char* turn_caption = "queries as";

float turn_width(const PanelContext& context) {
  return width_of(context.fonts.sans, turn_caption) + 8.0f * context.scale +
         segmented_control_size(context, turn_names).x;
}

// "head 5: previous token, frozen weights"
std::string head_line(const PanelContext& context, Index head) {
  const auto description = head_description(context, head);
  return fmt::format("head {}{}{}", head, description ? ": " + description->name : "",
                     is_frozen(context.scenario, head) ? ", frozen weights" : "");
}

// "queries as | rows | columns", as wide as turn_width; the key works everywhere.
void draw_turn(const PanelContext& context, Selection& selection, ImVec2 at) {
  ImFont* sans = context.fonts.sans;
  const ImVec2 size = segmented_control_size(context, turn_names);
  context.painter().text(sans, {at.x, at.y + (size.y - sans->FontSize) / 2}, context.palette.text_dim,
                         turn_caption);
  ImGui::SetCursorScreenPos(ImVec2(at.x + turn_width(context) - size.x, at.y));
  int way = selection.queries_as_columns ? 1 : 0;
  if (stage_choice(context, "turn", turn_names, way)) selection.queries_as_columns = way == 1;
  tooltip(context, fmt::format("whether queries are the rows or the columns of a map ({}): papers "
                               "and libraries use both. No number changes.",
                               first_key_text(CommandId::turn_maps)));
}

// While the current layer does not reproduce everything its model computes, says so above the numbers.
void draw_not_computed(const PanelContext& context, float width) {
  const std::vector<std::string>& reasons = context.inputs.not_computed;
  if (reasons.empty()) return;
  ImFont* font = context.fonts.small;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const std::string more = reasons.size() > 1 ? fmt::format("  (+{} more)", reasons.size() - 1) : "";
  const std::string line =
      fitted_text("Not as the model computes it: " + reasons.front(), font, width - width_of(font, more)) +
      more;
  context.painter().text(font, at, context.palette.warning, line);
  ImGui::Dummy({width_of(font, line), font->FontSize});
  named_item(context, "stage/not_computed", join(reasons, "\n\n"));
}

// Title and question, below them the line of controls. If that line has no room for the tensors of the step,
// or for the brushes, they go to the end of the title's line.
class Header {
 public:
  Header(const PanelContext& context, const StageContent& content, int& brush, const std::string& title)
      : context_(context), content_(content), selection_(context.selection), brush_(brush), page_title_(title) {
    for (const StepPicture& picture : content.pictures)
      pictures_.push_back(tensor_entry(picture.result).name);
    for (const StageView view : offered_) {
      view_names_.push_back(stage_view_entry(view).name);
      short_names_.push_back(stage_view_entry(view).short_name);
    }
    place();
  }

  Selection draw() {
    draw_title();
    ImGui::SetCursorScreenPos(ImVec2(origin_.x, origin_.y + context_.fonts.title->FontSize + 8.0f * unit_));
    if (context_.picture) {
      draw_picture_header();
    } else {
      draw_beside_title();
      choose_view();
      if (chooses_picture_ && !picture_at_title_) {
        ImGui::SameLine(0.0f, 12.0f * unit_);
        choose_picture(room());
      }
      choose_batch();
      draw_brushes();
      draw_turn_in_line();
      if (names_head_) draw_head();
    }
    draw_not_computed(context_, width_);
    return selection_;
  }

 private:
  void place() {
    chooses_picture_ = pictures_.size() > 1 && !context_.picture;
    const float pictures = size_of(pictures_).x, brushes = size_of(brush_names).x;
    const float views = size_of(view_names_).x + (chooses_picture_ ? pictures + 12.0f * unit_ : 0.0f);
    const bool views_fit = segmented_control_least_width(context_, view_names_) <= width_;
    const bool one_line = views <= width_;
    picture_at_title_ = !one_line && chooses_picture_ && views_fit && question_x_ + pictures <= width_;
    brushes_at_title_ = paints_ && !picture_at_title_ && question_x_ + brushes <= width_ &&
                        views + 12.0f * unit_ + brushes > width_;
    // The whole question is worth more than this choice, which has a key.
    const std::string question = entry_.question.empty()
                                     ? step_question(selection_.step, context_.trace.options)
                                     : std::string(entry_.question);
    const float turn = turn_width(context_),
                whole_question = width_of(context_.fonts.sans, question) + 12.0f * unit_;
    turn_at_title_ = turns_ && !picture_at_title_ && !brushes_at_title_ &&
                     views + 16.0f * unit_ + turn + head_room_ * unit_ > width_ &&
                     question_x_ + whole_question + turn <= width_;
    at_title_ = picture_at_title_ ? pictures : brushes_at_title_ ? brushes : turn_at_title_ ? turn : 0.0f;
    whole_names_ = one_line || picture_at_title_ || (!chooses_picture_ && views_fit);
  }

  void draw_title() {
    ImFont* title = title_font_;
    ImFont* sans = context_.fonts.sans;
    context_.painter().text(title, origin_, context_.palette.text, fitted_text(title_, title, width_));
    const float beside = at_title_ > 0.0f ? at_title_ + 12.0f * unit_ : 0.0f;
    const std::string question = titled_ ? own_title_
                                 : entry_.question.empty()
                                     ? step_question(selection_.step, context_.trace.options)
                                     : std::string(entry_.question);
    write({origin_.x + question_x_, origin_.y + title->FontSize * 0.8f - sans->FontSize * 0.8f},
          fitted_clauses(question, sans, width_ - question_x_ - beside));
  }

  // In a picture there is nothing to click: the line says which head it shows.
  void draw_picture_header() {
    ImFont* sans = context_.fonts.sans;
    const std::string head = names_head_ ? head_line(context_, selection_.head) : "";
    write(ImGui::GetCursorScreenPos(), fitted_text(head, sans, width_));
    ImGui::Dummy({1, head.empty() ? 1.0f : sans->FontSize});
  }

  void draw_beside_title() {
    if (at_title_ <= 0.0f) return;
    const ImVec2 next = ImGui::GetCursorScreenPos();
    const float above = 0.5f * (context_.fonts.title->FontSize - size_of(pictures_).y);
    ImGui::SetCursorScreenPos({std::floor(origin_.x + width_ - at_title_), std::floor(origin_.y + above)});
    if (picture_at_title_) choose_picture(at_title_);
    if (brushes_at_title_) choose_brush();
    if (turn_at_title_) draw_turn(context_, selection_, ImGui::GetCursorScreenPos());
    ImGui::SetCursorScreenPos(next);
  }

  void choose_view() {
    int chosen = static_cast<int>(std::ranges::find(offered_, selection_.view) - offered_.begin());
    if (stage_choice(context_, "view", whole_names_ ? view_names_ : short_names_, chosen, width_))
      selection_.view = offered_[static_cast<std::size_t>(chosen)];
    tooltip(context_, fmt::format("ways to look at this step: {} ({})", list_of_views(),
                                  first_key_text(CommandId::toggle_view)));
  }

  void choose_picture(float room) {
    int chosen = content_.picture < pictures_.size() ? static_cast<int>(content_.picture) : -1;
    if (stage_choice(context_, "picture", pictures_, chosen, room))
      selection_.tensor = content_.pictures[static_cast<std::size_t>(chosen)].result;
    tooltip(context_, "which of this step's tensors to show");
  }

  // "sequence 0 of 3 | ‹ | › |", if there are several.
  void choose_batch() {
    const TensorPtr any = content_.result ? content_.result->matrix.view.tensor : nullptr;
    const Index batches = any && any->shape().rank() >= 3 ? any->shape().size(0) : 1;
    if (batches <= 1) return;
    constexpr std::array<std::string_view, 2> ways{"‹", "›"};
    int way = -1;
    ImGui::SameLine(0.0f, 12.0f * unit_);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImFont* sans = context_.fonts.sans;
    const std::string text = fmt::format("sequence {} of {}", selection_.batch, batches);
    write({at.x, at.y + (size_of(ways).y - sans->FontSize) / 2}, text);
    ImGui::SetCursorScreenPos({at.x + width_of(sans, text) + 8.0f * unit_, at.y});
    if (stage_choice(context_, "batch", ways, way)) {
      selection_.batch = std::clamp<Index>(selection_.batch + (way == 0 ? -1 : 1), 0, batches - 1);
      if (selection_.pinned && selection_.pinned->index.size() >= 3)
        selection_.pinned->index[0] = selection_.batch;
    }
    tooltip(context_, "which of the N sequences in the batch to show");
  }

  void choose_brush() {
    stage_choice(context_, "brush", brush_names, brush_);
    tooltip(context_,
            "paint attn_mask on the map: a stroke that starts on an unblocked pair blocks pairs, one that "
            "starts on a blocked pair unblocks them. row and column: all keys of a query, all queries of a "
            "key; box: drag a rectangle. A painted pair is blocked in every head");
  }

  void draw_brushes() {
    if (!paints_ || brushes_at_title_) return;
    const float needed = size_of(brush_names).x;
    ImGui::SameLine(0.0f, 12.0f * unit_);
    if (needed > width_ || needed > room()) ImGui::NewLine();
    if (needed <= width_) choose_brush();
  }

  // After the other choices, if there is room for it and for the head that follows.
  void draw_turn_in_line() {
    if (!turns_ || turn_at_title_) return;
    const ImVec2 last = ImGui::GetItemRectMax(), first = ImGui::GetItemRectMin();
    const float x = last.x + 16.0f * unit_;
    if (x + turn_width(context_) + head_room_ * unit_ <= origin_.x + width_)
      draw_turn(context_, selection_, {x, first.y});
  }

  void draw_head() {
    ImGui::SameLine(0.0f, 16.0f * unit_);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float line = ImGui::GetItemRectSize().y;
    ImFont* sans = context_.fonts.sans;
    // A dot in the head's hue, as under its thumbnail.
    const float dot = 4.0f * unit_, words = 2 * dot + 6.0f * unit_;
    std::string head = head_line(context_, selection_.head);
    if (words + width_of(sans, head) > room())
      head = fmt::format("head {}", selection_.head);  // a truncated name says nothing
    if (words + width_of(sans, head) <= room()) {
      context_.painter().dot({at.x + dot, std::round(at.y + line / 2)}, dot,
                             head_hue(context_.palette, selection_.head));
      write({at.x + words, at.y + (line - sans->FontSize) / 2}, head);
    }
    ImGui::NewLine();
  }

  ImVec2 size_of(std::span<const std::string_view> names) const {
    return segmented_control_size(context_, names);
  }

  // Pixels from the cursor to the end of the line.
  float room() const { return origin_.x + width_ - ImGui::GetCursorScreenPos().x; }

  void write(ImVec2 at, const std::string& text) const {
    context_.painter().text(context_.fonts.sans, at, context_.palette.text_dim, text);
  }

  const PanelContext& context_;
  const StageContent& content_;
  Selection selection_;
  int& brush_;
  const StageViewEntry& entry_ = stage_view_entry(context_.selection.view);
  const StepEntry& step_ = step_entries()[static_cast<std::size_t>(context_.selection.step)];
  const std::string own_title_{entry_.title.empty() ? step_.name : entry_.title};
  const std::string page_title_;  // empty: none, and where it only repeats the step's name
  const bool titled_ = !page_title_.empty() && page_title_ != own_title_;
  const std::string& title_ = titled_ ? page_title_ : own_title_;
  const std::vector<StageView> offered_ = offered_views(context_.scenario, context_.selection.view);
  std::vector<std::string_view> view_names_, short_names_, pictures_;

  // of the head and what it does, at the end of the line, in units
  static constexpr float head_room_ = 150.0f;
  const ImVec2 origin_ = ImGui::GetCursorScreenPos();
  const float width_ = ImGui::GetContentRegionAvail().x, unit_ = context_.scale;
  ImFont* const title_font_ =
      width_of(context_.fonts.title, title_) <= width_ ? context_.fonts.title : context_.fonts.bold;
  const float question_x_ = width_of(title_font_, title_) + 14.0f * unit_;
  const bool paints_ =
      selection_.step == Step::mask && selection_.view == StageView::one_head && !context_.picture &&
      !(context_.veil && context_.veil->mask);  // the answer is painted then, not the page's mask
  const bool names_head_ = content_.head_map && !context_.points_at_heads;
  bool chooses_picture_ = false;
  bool whole_names_ = false;  // the views have room for their names
  const bool turns_ = stage_view_entry(selection_.view).turns && content_.result &&
                      is_pair_map(content_.result->matrix) && !context_.picture;
  bool picture_at_title_ = false, brushes_at_title_ = false, turn_at_title_ = false;
  float at_title_ = 0.0f;  // width of what is placed there
};

}  // namespace

void draw_presented_head(const PanelContext& context) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = 16.0f * context.scale;
  ImGui::Dummy({1, height});
  if (context.points_at_heads || !shows_one_head(context.trace, context.selection)) return;
  const float width = ImGui::GetContentRegionAvail().x;
  const std::string head = head_line(context, context.selection.head);
  const Type type = type_at(context.fonts, context.scale, 18.0f, head);
  const std::string shown = fitted_text(head, type.font, width * type.font->FontSize / type.size);
  context.painter().text(type, at, context.palette.text, shown);
  ui_probe("stage/hall_head", at, {at.x + width_in(type, shown), at.y + type.size});
  ui_text_probe(head, at);
}

Selection draw_stage_header(const PanelContext& context, const StageContent& content, int& brush,
                            const std::string& title) {
  return Header(context, content, brush, title).draw();
}

}  // namespace headwise
