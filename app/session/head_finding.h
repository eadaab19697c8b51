// Which heads of a model are worth looking at in a text: their scores, measured in the background as soon as somebody asks,
// and what muting each of them does to the prediction, which takes longer and begins only when it is asked for.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/asked_work.h"
#include "core/model/heads/head_muting.h"
#include "core/model/heads/head_survey.h"
#include "core/scenario/scenario.h"

namespace headwise {

struct HeadQuestion {
  std::string model;  // its path
  std::string text;
  friend bool operator==(const HeadQuestion&, const HeadQuestion&) = default;
};
// None where the scenario has no trained model, or no text for it.
std::optional<HeadQuestion> head_question(const Scenario& scenario);

struct FoundHeads {
  std::string model;  // its name
  std::shared_ptr<const HeadSurvey> survey;
  std::vector<std::string> tokens;  // labels
  bool empty = false;               // there is no word in the text: nothing was measured
  std::string notice;               // what of the text was not measured, a sentence; empty: all was
  std::string no_words;             // why nothing can be said of muting, a sentence; empty: it can
};

struct MutedHeads {
  std::shared_ptr<const HeadMuting> muting;
  std::vector<std::string> changes;  // of each head the largest: "animal 0.99 → street 0.61 at it (9)"
};

// The answers, here and now. Throw Error(input) where text cannot go into the model, Error(memory), Error(cancelled).
FoundHeads find_heads(const HeadQuestion& question);
MutedHeads mute_heads(const HeadQuestion& question);

struct HeadFinding {
  // `wake` is called from other threads when there is something new; it may be empty.
  explicit HeadFinding(const std::function<void()>& wake = {});

  AskedWork<HeadQuestion, FoundHeads> survey;
  AskedWork<HeadQuestion, MutedHeads> muting;
  std::optional<HeadQuestion> to_mute;  // asked for, and not yet there

  // Nobody looks: what is under way is given up, what is known is kept.
  void rest();
};

}  // namespace headwise
