#include "app/window/answer_editor.h"

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
#include "app/session/answer_check.h"
#include "app/widgets/button.h"
#include "app/widgets/measure.h"
#include "app/widgets/segmented_control.h"
#include "app/widgets/text_field.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/playlist/answer_key.h"
#include "core/tensor/join.h"
#include "core/trace/rules.h"

namespace headwise {
namespace {

// Proposes what a page's question is answered with: a key from what the window shows, which is right at once and can be
// changed.

// The map that the page's question is about: of the pinned cell, else the step's result.
TensorId asked_tensor(const PanelContext& context, const PlaylistPage& page) {
  if (page.pin && !page.pin->tensor.gradient) return page.pin->tensor.id;
  const std::optional<StepPicture> picture = shown_picture(context.trace, context.selection);
  return picture ? picture->result : TensorId::attn_weights;
}

// "0,3,8" of a map's pinned row, with the head that is shown; ends before the columns.
std::vector<Index> asked_row(const PanelContext& context, const PlaylistPage& page, TensorId id) {
  if (page.pin && page.pin->tensor == TensorName{id} && page.pin->index.size() >= 2)
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

// The pinned row of a map of queries and keys, where its keys have words: what a question about its largest number chooses
// from.
struct PinnedRow {
  std::string key;               // "argmax attn_weights[0,7,9,:] = ", to be followed by a number
  std::vector<Index> strongest;  // the keys of its finite numbers, the largest first
};

std::optional<PinnedRow> pinned_row(const PanelContext& context, const PlaylistPage& page) {
  if (!page.pin || page.pin->tensor.gradient || page.pin->index.size() != 4) return std::nullopt;
  const TensorPtr tensor = context.trace.tensor(page.pin->tensor.id);
  if (!tensor || tensor->shape().rank() != 4 || !tensor->shape().name(3).starts_with("S"))
    return std::nullopt;
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
  // A word that occurs more than once has its place beside it, as in the inspector.
  return {token_at(context.inputs.labels.key, key, ""), fmt::format("{}{}", row.key, key), "", ""};
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

// An answer of this kind, with its key: of the pinned cell, else of the step's result. A choice about a pinned row of
// queries and keys offers its strongest keys, by their words.
PageAnswer first_answer(const PanelContext& context, const PlaylistPage& page, AnswerKind kind) {
  PageAnswer answer;
  answer.kind = kind;
  const TensorId id = asked_tensor(context, page);
  const std::string_view name = tensor_entry(id).name;
  const std::vector<Index> row = asked_row(context, page, id);
  const bool pinned = page.pin && page.pin->tensor == TensorName{id};
  const std::string cell =
      pinned ? fmt::format("{}[{}]", name, join(page.pin->index, ",")) : fmt::format("max {}", name);
  switch (kind) {
    case AnswerKind::number:
      answer.is = cell;
      answer.within_share = PageAnswer::usual_share;
      break;
    case AnswerKind::choice:
      if (const auto words = pinned_row(context, page); words && words->strongest.size() >= 2)
        answer.options = first_options(context, *words);
      else
        answer.options = {{"yes", cell + " > 0", "", ""}, {"no", cell + " ≤ 0", "", ""}};
      break;
    case AnswerKind::shape:
      answer.is = fmt::format("shape {}", name);
      break;
    case AnswerKind::head:
      // Of the pinned pair, where one is pinned.
      answer.is = fmt::format("argmax attn_weights[{},:,{},{}]", page.batch, row.back(),
                              pinned && page.pin->index.size() == 4 ? page.pin->index.back() : 0);
      break;
    case AnswerKind::tensor:
      // Exactly one of them holds, until what makes it right is written.
      answer.options.push_back({std::string(name), fmt::format("finite {} > 0", name), "", ""});
      for (const TensorId other : others_shown(context, id))
        answer.options.push_back({std::string(tensor_entry(other).name),
                                  fmt::format("finite {} = 0", tensor_entry(other).name), "", ""});
      break;
    case AnswerKind::weights:
      answer.is = fmt::format("attn_weights[{},{},{},:]", page.batch, page.head,
                              asked_row(context, page, TensorId::attn_weights).back());
      answer.within = PageAnswer::usual_misplaced;
      break;
    case AnswerKind::mask:
      answer.is = context.trace.tensors.mask_bias
                      ? fmt::format("mask_bias[{},{},:,:] = -inf", page.batch, page.head)
                      : fmt::format("attn_weights[{},{},:,:] = 0", page.batch, page.head);
      break;
    case AnswerKind::cell:
      answer.tensor = id;
      answer.row = std::to_string(row.back());
      answer.column = fmt::format("argmax {}[{},:]", name, join(row, ","));
      break;
  }
  return answer;
}

// One more option for page.answer, a choice: of a pinned row the strongest key that is not offered yet, where the last
// option is about that row; else an empty one.
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

struct Field {
  const char* id;
  const char* placeholder;
  const char* explained;
  float share;  // of the line
};

bool draw_field(const WidgetContext& widgets, const Field& field, const std::string& id, std::string& text,
                float line) {
  const TextFieldResult typed = text_field(
      widgets, id.c_str(), text, {.width = std::floor(field.share * line), .placeholder = field.placeholder});
  ui_probe_item(id.c_str());
  tooltip(widgets, field.explained);
  ImGui::SameLine(0, widgets.px(gap));
  return typed.changed;
}

constexpr Field key_field{"is", "max scores[0,0,8,:]",
                          "is: the right answer, an expression over the computed numbers", 0.62f};

bool draw_options_editor(const PanelContext& context, PlaylistPage& page, float wrap) {
  const WidgetContext widgets = context.widgets();
  PageAnswer& answer = *page.answer;
  const bool tensor = answer.kind == AnswerKind::tensor;
  const std::array<Field, 4> fields{
      {tensor ? Field{"text", "a tensor", "tensor: the name of a tensor that can be clicked", 0.2f}
              : Field{"text", "an option", "text: what can be chosen, with live numbers", 0.2f},
       {"is", "when it is right", "is: the condition under which it is right; exactly one must hold", 0.33f},
       {"why", "why it is wrong (optional)", "why: said to whoever chose it, when it is wrong", 0.22f},
       {"see", "page to see (optional)",
        "see: the title of a page that explains it, in this playlist or a built-in lesson; a link to it "
        "appears "
        "beside the verdict",
        0.16f}}};
  const bool two_lines = wrap < widgets.px(one_line_from);
  constexpr std::array<float, 4> share_of_line{0.27f, 0.6f, 0.42f, 0.45f};
  bool changed = false;
  std::optional<std::size_t> removed;
  for (std::size_t i = 0; i < answer.options.size(); ++i) {
    AnswerOption& option = answer.options[i];
    const std::array<std::string*, 4> texts{&option.text, &option.is, &option.why, &option.see};
    const auto put = [&](std::size_t f) {
      Field field = fields[f];
      if (two_lines) field.share = share_of_line[f];
      const std::string id = fmt::format("answer/{}/{}", i + 1, field.id);
      changed = draw_field(widgets, field, id, *texts[f], wrap) || changed;
    };
    put(0);
    put(1);
    if (!two_lines) {
      put(2);
      put(3);
    }
    const std::string id = fmt::format("answer/{}/remove", i + 1);
    if (text_button(widgets, id.c_str(), "×", ButtonLook::plain,
                    answer.options.size() > PageAnswer::least_options))
      removed = i;
    ui_probe_item(id.c_str());
    tooltip(widgets, "removes this option; a choice has at least two");
    if (two_lines) {
      put(2);
      put(3);
      ImGui::NewLine();
    }
  }
  if (removed) answer.options.erase(answer.options.begin() + static_cast<std::ptrdiff_t>(*removed));
  const bool more = answer.options.size() < PageAnswer::most_options;
  if (text_button(widgets, "answer/add", tensor ? "add a tensor" : "add an option", ButtonLook::filled, more)) {
    answer.options.push_back(next_option(context, page));
    changed = true;
  }
  ui_probe_item("answer/add");
  tooltip(widgets, "at most nine, one for each digit");
  return changed || removed.has_value();
}

std::size_t rows_of(const PlaylistPage& page, bool two_lines) {
  // The line of a key keeps its place without one, so that the kinds do not move under the mouse.
  const std::size_t options = page.answer && page.answer->chooses() ? page.answer->options.size() : 0;
  return 2 + (two_lines ? 2 : 1) * options;
}

}  // namespace

float answer_editor_height(float scale, float wrap, const PlaylistPage& page) {
  const std::size_t rows = rows_of(page, wrap < one_line_from * scale);
  return page.ask.empty() ? 0.0f : std::round(row_height * scale * static_cast<float>(rows));
}

bool draw_answer_editor(const PanelContext& context, PlaylistPage& page, float wrap) {
  if (page.ask.empty()) return false;
  const WidgetContext widgets = context.widgets();
  bool changed = false;
  std::vector<std::string_view> kinds = answer_kind_names();
  kinds.insert(kinds.begin(), "none");
  int kind = page.answer ? 1 + static_cast<int>(page.answer->kind) : 0;
  if (segmented_control(widgets, "answer/kind", kinds, kind)) {
    page.answer.reset();
    if (kind > 0) page.answer = first_answer(context, page, static_cast<AnswerKind>(kind - 1));
    if (page.answer && page.answer->kind == AnswerKind::mask) {  // is painted on the veil
      page.veil = true;
      page.ask_step.reset();
      page.ask_view.reset();
    }
    changed = true;
  }
  ui_probe_item("answer/kind");
  tooltip(widgets,
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
    changed = true;
  }
  ui_probe_item("caption/veil");
  tooltip(widgets,
          "veil: whether the result of this step, and what follows from it, is hidden while the page asks");
  if (!page.answer) return changed;
  PageAnswer& answer = *page.answer;
  if (answer.chooses()) return draw_options_editor(context, page, wrap) || changed;
  if (answer.kind == AnswerKind::cell) {
    constexpr Field row{"row", "any row", "row: the right row, a number or an expression; empty: any", 0.3f},
        column{"column", "any column", "column: the right column, a number or an expression; empty: any", 0.4f};
    changed = draw_field(widgets, row, "answer/row", answer.row, wrap) || changed;
    changed = draw_field(widgets, column, "answer/column", answer.column, wrap) || changed;
  } else {
    Field key = key_field;
    if (answer.kind == AnswerKind::number) key.share = 0.42f;
    changed = draw_field(widgets, key, "answer/is", answer.is, wrap) || changed;
  }
  if (answer.kind == AnswerKind::number) {
    constexpr Field unit{"unit", "unit", "unit: a word after the number (optional)", 0.12f},
        why{"why", "why (a fixed number needs it)",
            "why: said with the verdict. A fixed number, as 3, is accepted as the key only with its reason",
            0.36f};
    changed = draw_field(widgets, unit, "answer/unit", answer.unit, wrap) || changed;
    changed = draw_field(widgets, why, "answer/why", answer.why, wrap) || changed;
  }
  ImGui::NewLine();
  return changed;
}

std::string answer_problem(const PanelContext& context, const Playlist& playlist, const PlaylistPage& page) {
  if (!page.answer || page.ask.empty()) return "";
  if (std::string problem = written_problem(*page.answer); !problem.empty()) return problem;
  if (std::string problem = answer_page_problem(page); !problem.empty()) return problem;
  for (const AnswerOption& option : page.answer->options)
    if (!option.see.empty() && !page_titled(playlist, option.see))
      return fmt::format("there is no page with the title “{}”, here or in a built-in lesson", option.see);
  return answer_key(*page.answer, LiveSubject(context.trace, &context.scenario, &context.inputs),
                    LiveAnswers::quick)
      .problem;
}

}  // namespace headwise
