#include "app/session/followed_pin.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace headwise {
namespace {

// Tokenizers differ in how they treat capitals.
bool same_word(const std::string& a, const std::string& b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// The new position of the occurrence of a word that was at `at`.
std::optional<Index> followed(Index at, const std::vector<std::string>& before,
                              const std::vector<std::string>& now) {
  if (at < 0 || at >= static_cast<Index>(before.size())) return {};
  const std::string& word = before[static_cast<std::size_t>(at)];
  const auto is_word = [&](const std::string& other) { return same_word(other, word); };
  auto earlier = std::ranges::count_if(before.begin(), before.begin() + at, is_word);
  for (std::size_t i = 0; i < now.size(); ++i)
    if (is_word(now[i]) && earlier-- == 0) return static_cast<Index>(i);
  return {};
}

std::optional<CellRef> followed(const CellRef& pin, const TokenLabels& before, const TokenLabels& now,
                                const Trace& trace) {
  const TensorPtr tensor = trace.tensor(pin.tensor.id);  // a gradient has the axes of its tensor
  if (!tensor || tensor->shape().rank() != static_cast<Index>(pin.index.size())) return {};
  CellRef result = pin;
  for (std::size_t axis = 0; axis < pin.index.size(); ++axis) {
    const std::string& name = tensor->shape().name(static_cast<Index>(axis));
    const bool of_queries = name == "L", of_keys = name == "S" || name == "S′";
    if (!of_queries && !of_keys) continue;
    const auto at = of_queries ? followed(pin.index[axis], before.query, now.query)
                               : followed(pin.index[axis], before.key, now.key);
    if (!at) return {};
    result.index[axis] = *at;
  }
  return result;
}

// Back to the head that was lost, unless another one has been chosen since.
void regain_head(Selection& after, Index heads_before, Index heads) {
  if (!after.lost_head) return;
  const LostHead lost = *after.lost_head;
  if (after.head != heads_before - 1)
    after.lost_head.reset();
  else if (lost.head < heads) {
    after.head = lost.head;
    if (lost.pinned && (!after.pinned || same_but_for_head(*after.pinned, *lost.pinned)))
      after.pinned = lost.pinned;
    after.lost_head.reset();
  }
}

}  // namespace

Selection selection_after(const Selection& selection, const Computation& before, const Computation& now) {
  Selection after = selection;
  const InputsSpec &a = before.scenario.inputs, &b = now.scenario.inputs;
  const bool same_text = a.source == b.source && a.text == b.text && a.key_text == b.key_text;
  const TokenLabels &were = before.inputs.labels, &are = now.inputs.labels;
  const bool same_tokens = were.query == are.query && were.key == are.key;
  if (after.pinned && same_text && !same_tokens)
    after.pinned = followed(*after.pinned, were, are, *now.trace);
  const Index heads = now.trace->options.num_heads;
  regain_head(after, before.trace->options.num_heads, heads);
  const Selection within = selection_within(after, *now.trace);
  if (within.head == after.head || after.lost_head) return within;
  Selection fewer = within;
  fewer.lost_head = LostHead{after.head, within.pinned == after.pinned ? std::nullopt : after.pinned};
  return fewer;
}

}  // namespace headwise
