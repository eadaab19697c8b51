// The formula and the sentence for what the stage shows. Most pictures take theirs from their step (core/trace/steps.h);
// additional pictures of a step, such as add & norm after the output, have their own here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/content/step_facts.h"
#include "core/trace/steps.h"

namespace headwise {

struct StepWords {
  std::vector<std::string> formulas;  // one per line
  std::string sentence;
};

// Takes these facts into account: a step that they affect says so.
StepWords step_words(Step step, const StepPicture& picture, const StepFacts& facts = {});
// How the gradient flows back through a step; none for a picture that is not the step's own (add & norm).
std::optional<StepWords> backward_words(Step step, const StepPicture& picture, const StepFacts& facts);
// The question next to the step's name.
std::string step_question(Step step, const AttentionOptions& options = {});

}  // namespace headwise
