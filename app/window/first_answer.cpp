#include "app/window/first_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "app/content/cell_terms.h"
#include "app/content/stage_content.h"
#include "core/tensor/join.h"
#include "core/trace/rules.h"

namespace headwise {
namespace {

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

}  // namespace

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

}  // namespace headwise
