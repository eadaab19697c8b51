// Which heads of a model are worth inspecting on a text: their scores, measured in the background on first
// request, and the effect of muting each of them on the prediction,
// which takes longer and starts only on request.
#pragma once

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
  void rest();
};

}  // namespace headwise
