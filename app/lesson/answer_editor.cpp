#include "app/lesson/page_answers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <imgui.h>

#include "app/content/cell_terms.h"
#include "app/content/stage_content.h"
#include "app/lesson/answer_kinds.h"
#include "app/session/answer_check.h"
#include "app/widgets/controls.h"
#include "app/widgets/painter.h"
#include "app/widgets/text_field.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/attention/rules.h"
#include "core/lessons/answer_key.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

// Proposes what a page's question is answered with: a key from what the window shows, which is right at once
// and can be changed.

// The map that the page's question is about: of the pinned cell where the stage shows its tensor, else the
// step's result.
TensorId asked_tensor(const PanelContext& context, const PlaylistPage& page) {
  const bool rows =
      context.selection.view == StageView::head_rows || context.selection.view == StageView::tokens;
  const std::optional<StepPicture> picture =
      rows ? std::nullopt : shown_picture(context.trace, context.selection);
  const TensorId result = picture ? picture->result : TensorId::attn_weights;
  if (!page.pin || page.pin->tensor.gradient || !picture) return result;
  const TensorId pinned = page.pin->tensor.id;
  return picture->left == pinned || picture->above == pinned ? pinned : result;
}

// "0,3,8" of a map's pinned row, with the head that is shown; ends before the columns.
std::vector<Index> asked_row(const PanelContext& context, const PlaylistPage& page, TensorId id) {
  const bool other_head = page.pin && page.pin->index.size() == 4 && page.pin->index[1] != page.head;
  if (page.pin && page.pin->tensor == TensorName{id} && page.pin->index.size() >= 2 && !other_head)
    return {page.pin->index.begin(), page.pin->index.end() - 1};
  const TensorPtr tensor = context.trace.tensor(id);
  const Index rank = tensor ? tensor->shape().rank() : 2;
  std::vector<Index> row(static_cast<std::size_t>(std::max<Index>(1, rank - 1)), 0);
  if (rank == 4) row[1] = page.head;
  return row;
}

// The operands of what the stage shows, or q and k.
std::vector<TensorId> others_shown(const PanelContext& context, TensorId id) {
  std::vector<TensorId> others;
  const auto add = [&](std::optional<TensorId> other) {
    if (other && *other != id && context.trace.tensor(*other) &&
        std::ranges::find(others, *other) == others.end())
      others.push_back(*other);
  };
  if (const std::optional<StepPicture> picture = shown_picture(context.trace, context.selection)) {
    add(picture->left);
    add(picture->above);
  }
  if (others.empty()) {
    add(TensorId::q_heads);
    add(TensorId::k_heads);
  }
  return others;
}

// The pinned row of a map of queries and keys, where its keys have words: what a question about its largest
// number chooses from.
struct PinnedRow {
  std::string key;               // "argmax attn_weights[0,7,9,:] = ", to be followed by a number
  std::vector<Index> strongest;  // the keys of its finite numbers, the largest first
};

std::optional<PinnedRow> pinned_row(const PanelContext& context, const PlaylistPage& page) {
  if (!page.pin || page.pin->tensor != TensorName{asked_tensor(context, page)} || page.pin->index.size() != 4)
    return std::nullopt;
  const TensorPtr tensor = context.trace.tensor(page.pin->tensor.id);
  if (!tensor || tensor->shape().rank() != 4 || !is_key_axis(tensor->shape().name(3))) return std::nullopt;
  const Index keys = tensor->shape().size(3);
  if (keys != static_cast<Index>(context.inputs.labels.key.size())) return std::nullopt;
  std::vector<Index> index = page.pin->index;
  for (std::size_t axis = 0; axis < index.size(); ++axis)
    if (index[axis] < 0 || index[axis] >= tensor->shape().size(static_cast<Index>(axis))) return std::nullopt;
  std::vector<std::pair<double, Index>> values;
  for (index[3] = 0; index[3] < keys; ++index[3]) {
    const double value = tensor->at(index);
    if (std::isnan(value)) return std::nullopt;
    if (std::isfinite(value)) values.emplace_back(value, index[3]);
  }
  std::ranges::stable_sort(values, std::ranges::greater{}, &std::pair<double, Index>::first);
  PinnedRow row;
  row.key = fmt::format("argmax {}[{},:] = ", tensor_entry(page.pin->tensor.id).name,
                        join(std::vector<Index>(page.pin->index.begin(), page.pin->index.end() - 1), ","));
  for (const auto& value : values) row.strongest.push_back(value.second);
  return row;
}

AnswerOption option_of(const PanelContext& context, const PinnedRow& row, Index key) {
  // Whatever the sentence is; a word that occurs more than once has its place beside it.
  const std::vector<std::string>& words = context.inputs.labels.key;
  const bool again = std::ranges::count(words, words[static_cast<std::size_t>(key)]) > 1;
  return {fmt::format("{{key {}}}", key) + (again ? fmt::format(" ({})", key) : ""),
          fmt::format("{}{}", row.key, key), "", ""};
}

// In the order of the sentence: the right one is not always the first.
std::vector<AnswerOption> first_options(const PanelContext& context, const PinnedRow& row) {
  std::vector<Index> keys(row.strongest.begin(),
                          row.strongest.begin() + std::min<std::ptrdiff_t>(3, std::ssize(row.strongest)));
  std::ranges::sort(keys);
  std::vector<AnswerOption> options;
  for (const Index key : keys) options.push_back(option_of(context, row, key));
  return options;
}

// The tensor and others, exactly one of which holds, until what makes it right is written.
std::vector<AnswerOption> first_tensors(const PanelContext& context, TensorId id) {
  const auto option = [](TensorId each, const char* count) {
    const std::string name(tensor_entry(each).name);
    return AnswerOption{name, fmt::format("finite {} {}", name, count), "", ""};
  };
  std::vector<AnswerOption> options{option(id, "> 0")};
  for (const TensorId other : others_shown(context, id)) options.push_back(option(other, "= 0"));
  return options;
}

// An answer of this kind, with its key: of the pinned cell, else of the step's result. A choice about a
// pinned row of queries and keys offers its strongest keys, by their words.
PageAnswer first_answer(const PanelContext& context, const PlaylistPage& page, AnswerKind kind) {
  PageAnswer answer = blank_answer(kind);
  const TensorId id = asked_tensor(context, page);
  const std::string_view name = tensor_entry(id).name;
  const std::vector<Index> row = asked_row(context, page, id);
  const bool pinned = page.pin && page.pin->tensor == TensorName{id};
  const std::string cell =
      pinned ? fmt::format("{}[{}]", name, join(page.pin->index, ",")) : fmt::format("max {}", name);
  const std::string blocked =
      fmt::format(fmt::runtime(context.trace.tensors.mask_bias ? "mask_bias[{},{},:,:] = -inf"
                                                               : "attn_weights[{},{},:,:] = 0"),
                  page.batch, page.head);
  for (const EditedText& text : view_of(answer).texts)
    answer.*text.text =
        fmt::format(fmt::runtime(text.first), fmt::arg("cell", cell), fmt::arg("name", name),
                    fmt::arg("batch", page.batch), fmt::arg("head", page.head),
                    fmt::arg("row", join(row, ",")), fmt::arg("query", row.back()),
                    // Of the pinned pair, where one is pinned.
                    fmt::arg("key", pinned && page.pin->index.size() == 4 ? page.pin->index.back() : 0),
                    fmt::arg("attending", asked_row(context, page, TensorId::attn_weights).back()),
                    fmt::arg("blocked", blocked));
  if (!answer.row.empty()) answer.tensor = id;
  if (answer.is_tensor())
    answer.options = first_tensors(context, id);
  else if (const auto words = pinned_row(context, page);
           answer.chooses() && words && words->strongest.size() >= 2)
    answer.options = first_options(context, *words);
  else if (answer.chooses())
    answer.options = {{"yes", cell + " > 0", "", ""}, {"no", cell + " ≤ 0", "", ""}};
  return answer;
}

// One more option for page.answer, a choice: of a pinned row the strongest key that is not offered yet, where
// the last option is about that row; else an empty one.
AnswerOption next_option(const PanelContext& context, const PlaylistPage& page) {
  const std::vector<AnswerOption>& options = page.answer->options;
  const std::optional<PinnedRow> row = pinned_row(context, page);
  if (!row || options.empty() || !options.back().is.starts_with(row->key)) return {};
  for (const Index key : row->strongest) {
    AnswerOption next = option_of(context, *row, key);
    if (std::ranges::find(options, next.is, &AnswerOption::is) == options.end()) return next;
  }
  return {};
}

constexpr float row_height = 32, gap = 6;  // design units
constexpr float one_line_from = 700;       // design units: a narrower option takes two lines

bool draw_text(const WidgetContext& widgets, const EditedText& edited, float share, const std::string& id,
               std::string& text, float line, bool wrong = false) {
  const TextFieldResult typed =
      text_field(widgets, id.c_str(), text,
                 {.width = std::floor(share * line), .wrong = wrong, .placeholder = edited.placeholder});
  named_item(widgets, id.c_str(), edited.explained);
  ImGui::SameLine(0, widgets.px(gap));
  return typed.changed;
}

// One option of page.answer, in one line or two. `removed` once that was asked for.
bool draw_option(const PageDrawing& drawing, PlaylistPage& page, std::size_t i, float wrap, bool two_lines,
                 std::optional<std::size_t>& removed) {
  const WidgetContext widgets = drawing.context;
  const bool tensor = page.answer->is_tensor();
  const std::array<EditedText, 4> fields{
      {tensor ? EditedText{nullptr, "text", "a tensor", "tensor: the name of a tensor that can be clicked", 0.2f}
              : EditedText{nullptr, "text", "an option", "text: what can be chosen, with live numbers", 0.2f},
       {nullptr, "is", "when it is right", "is: the condition under which it is right; exactly one must hold",
        0.33f},
       {nullptr, "why", "why it is wrong", "why: said to whoever chose it, when it is wrong (optional)", 0.22f},
       {nullptr, "see", "page to see",
        "see: the title of a page that explains it, in this playlist or a built-in lesson; a link to it "
        "appears beside the verdict (optional)",
        0.16f}}};
  constexpr std::array<float, 4> share_of_line{0.27f, 0.6f, 0.42f, 0.45f};
  AnswerOption& option = page.answer->options[i];
  const std::array<std::string*, 4> texts{&option.text, &option.is, &option.why, &option.see};
  bool changed = false;
  const auto put = [&](std::size_t from) {
    for (std::size_t f = from; f < from + 2; ++f) {
      const std::string id = fmt::format("answer/{}/{}", i + 1, fields[f].id);
      const float share = two_lines ? share_of_line[f] : fields[f].share;
      const bool leads_nowhere =
          f == 3 && !option.see.empty() && !page_titled(drawing.walk.playlist, option.see);
      changed = draw_text(widgets, fields[f], share, id, *texts[f], wrap, leads_nowhere) || changed;
    }
  };
  put(0);
  if (!two_lines) put(2);
  const std::string id = fmt::format("answer/{}/remove", i + 1);
  if (text_button(widgets, id.c_str(), "×", ButtonLook::plain,
                  page.answer->options.size() > PageAnswer::least_options))
    removed = i;
  named_item(widgets, id.c_str(), "removes this option; a choice has at least two");
  if (two_lines) {
    put(2);
    ImGui::NewLine();
  }
  return changed;
}

bool draw_another_option(const PanelContext& context, PlaylistPage& page) {
  const bool more = page.answer->options.size() < PageAnswer::most_options;
  const char* words = page.answer->is_tensor() ? "add a tensor" : "add an option";
  const bool pressed = text_button(context, "answer/add", words, ButtonLook::filled, more);
  if (pressed) page.answer->options.push_back(next_option(context, page));
  named_item(context, "answer/add", "at most nine, one for each digit");
  return pressed;
}

// What the question is answered with, and whether the page hides its result.
bool draw_kind(const PanelContext& context, PlaylistPage& page, float wrap) {
  const WidgetContext widgets = context.widgets();
  bool changed = false;
  std::vector<std::string_view> kinds = answer_kind_names();
  kinds.insert(kinds.begin(), "none");
  int kind = page.answer ? 1 + static_cast<int>(page.answer->kind) : 0;
  if (segmented_control(widgets, "answer/kind", kinds, kind)) {
    if (page.asks_for_head() && page.ask_view == StageView::all_heads) page.ask_view.reset();
    page.answer.reset();
    if (kind > 0) page.answer = first_answer(context, page, static_cast<AnswerKind>(kind - 1));
    // A mask is painted on the veil, and a row of weights stands on the stage.
    if (page.answer && (page.answer->is_mask() || page.answer->is_weights())) {
      page.veil = true;
      page.ask_step.reset();
      page.ask_view.reset();
    }
    ask_at_all_heads(page);
    changed = true;
  }
  named_item(widgets, "answer/kind",
             "answer: what the question is answered with. The right answer is computed from the page, never "
             "stored.");
  ImGui::SameLine(0, widgets.px(12));
  // In full where it fits; what is pressed says how it is now.
  std::string state = page.veil ? "the result is hidden until the answer" : "the result is shown while it asks";
  const float left = wrap - (ImGui::GetItemRectMax().x - ImGui::GetItemRectMin().x) - widgets.px(12 + 2 * 12);
  if (width_of(context.fonts.small, state) > left) state = page.veil ? "result hidden" : "result shown";
  if (text_button(widgets, "caption/veil", state, ButtonLook::filled)) {
    page.veil = !page.veil;
    page.ask_step.reset();
    page.ask_view.reset();
    ask_at_all_heads(page);
    changed = true;
  }
  named_item(
      widgets, "caption/veil",
      "veil: whether the result of this step, and what follows from it, is hidden while the page asks");
  return changed;
}

}  // namespace

bool put_answer_editor(PageFlow& flow, const PlaylistWalk& walk) {
  if (walk.shown()->ask.empty()) return false;
  const float wrap = flow.wrap;
  PlaylistPage* page = flow.drawing ? &flow.drawing->walk.playlist.pages[*walk.page] : nullptr;
  bool changed = page && draw_kind(flow.drawing->context, *page, wrap);
  flow.keep_more(flow.px(row_height));
  const std::optional<PageAnswer>& answer = walk.shown()->answer;
  if (answer && answer->chooses()) {
    const bool two_lines = wrap < flow.px(one_line_from);
    std::optional<std::size_t> removed;
    for (std::size_t i = 0; i < answer->options.size(); ++i) {
      changed = (page && draw_option(*flow.drawing, *page, i, wrap, two_lines, removed)) || changed;
      flow.keep_more(flow.px(two_lines ? 2 * row_height : row_height));
    }
    if (removed)
      page->answer->options.erase(page->answer->options.begin() + static_cast<std::ptrdiff_t>(*removed));
    changed = (page && draw_another_option(flow.drawing->context, *page)) || removed || changed;
  } else if (page && answer) {
    for (const EditedText& text : view_of(*answer).texts)
      changed = draw_text(flow.drawing->context, text, text.share, fmt::format("answer/{}", text.id),
                          (*page->answer).*text.text, wrap) ||
                changed;
    ImGui::NewLine();
  }
  // The line of a key keeps its place without one, so that the kinds do not move under the mouse.
  flow.keep_more(flow.px(row_height));
  return changed;
}

std::string answer_problem(const Playlist& playlist, const PlaylistPage& page, const LiveSubject& subject) {
  if (!page.answer || page.ask.empty()) return "";
  if (std::string problem = written_problem(*page.answer); !problem.empty()) return problem;
  if (std::string problem = answer_page_problem(page); !problem.empty()) return problem;
  for (const AnswerOption& option : page.answer->options)
    if (!option.see.empty() && !page_titled(playlist, option.see))
      return fmt::format("there is no page with the title “{}”, here or in a built-in lesson", option.see);
  return answer_key(*page.answer, subject, LiveAnswers::quick).problem;
}

}  // namespace headwise
