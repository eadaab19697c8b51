// Which heads of a model are worth inspecting on a text: their scores, measured in the background on first
// request, and the effect of muting each of them on the prediction,
// which takes longer and starts only on request.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/async_query.h"
#include "core/model/heads/head_survey.h"
#include "core/scenario/scenario.h"

namespace headwise {

struct HeadQuestion {
  std::string model;  // its path
  std::string text;
  friend bool operator==(const HeadQuestion&, const HeadQuestion&) = default;
};
// None if the scenario has no trained model, or no text for it.
std::optional<HeadQuestion> head_question(const Scenario& scenario);

struct FoundHeads {
  std::string model;  // its name
  std::shared_ptr<const HeadSurvey> survey;
  std::vector<std::string> tokens;  // labels
  bool empty = false;               // the text has no tokens: nothing was measured
  std::string notice;               // which part of the text was not measured, a sentence; empty: all was
  std::string no_words;             // why muting cannot be measured, a sentence; empty: it can
};

struct MutedHeads {
  std::shared_ptr<const HeadMuting> muting;
  std::vector<std::string> changes;  // the largest of each head: "animal 0.99 → street 0.61 at it (9)"
};

// The answers, computed synchronously. Throw Error(input) if the text cannot go into the model,
// Error(memory), Error(cancelled).
FoundHeads find_heads(const HeadQuestion& question);
MutedHeads mute_heads(const HeadQuestion& question);

struct HeadFinding {
  // `wake` is called from other threads when there is something new; it may be empty.
  explicit HeadFinding(const std::function<void()>& wake = {});

  AsyncQuery<HeadQuestion, FoundHeads> survey;
  AsyncQuery<HeadQuestion, MutedHeads> muting;
  std::optional<HeadQuestion> to_mute;  // requested, and not yet available

  // Nothing is needed: cancels the work under way and keeps what is known.
  void suspend();
};

// The heads of a model ordered by a column of their table.

// The scores come in the order of HeadScore.
enum class HeadColumn : int {
  head,  // layer.head
  first_score,
  effect = first_score + static_cast<int>(head_score_count),
  words_changed,
  largest_change,
};
inline constexpr int head_column_count = static_cast<int>(HeadColumn::largest_change) + 1;

constexpr HeadColumn column_of(HeadScore score) {
  return static_cast<HeadColumn>(static_cast<int>(HeadColumn::first_score) + static_cast<int>(score));
}
// None if the column is not a score.
std::optional<HeadScore> score_of(HeadColumn column);

struct HeadOrder {
  HeadColumn column = HeadColumn::head;
  bool descending = false;
  friend bool operator==(const HeadOrder&, const HeadOrder&) = default;
};
// After a click on a column header: largest first, but layer.head ascending from 0.0;
// a second click reverses the order.
HeadOrder clicked(const HeadOrder& order, HeadColumn column);

// The number in a column for head number `i`; none: unknown, or the score has no meaning in this text.
// `muting` may be null.
std::optional<double> number_in(const HeadSurvey& survey, const HeadMuting* muting, std::size_t i,
                                HeadColumn column);

// Head numbers. Ties keep the order of layer.head; heads without a value come last in either direction.
std::vector<std::size_t> ordered_heads(const HeadSurvey& survey, const HeadMuting* muting,
                                       const HeadOrder& order);

// The head with the largest number in each column, the first in a tie; none: no value is known, or all are 0.
using LargestHeads = std::array<std::optional<std::size_t>, head_column_count>;  // by HeadColumn
LargestHeads largest_heads(const HeadSurvey& survey, const HeadMuting* muting);

}  // namespace headwise
