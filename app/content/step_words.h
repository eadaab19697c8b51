// The formula and the sentence for what the stage shows. Most pictures are told by their step
// (core/trace/steps.h); the further ones of a step, add & norm after the output say, have words of their own
// here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/content/step_facts.h"
#include "core/trace/steps.h"

namespace headwise {

struct StepWords {
  std::vector<std::string> formulas;  // a line each
  std::string sentence;
};

// With these facts: a step that they change says so.
StepWords step_words(Step step, const StepPicture& picture, const StepFacts& facts = {});
// How the gradient comes back through a step; none for a picture that is not the step's own (add & norm).
std::optional<StepWords> backward_words(Step step, const StepPicture& picture, const StepFacts& facts);
// The question beside the step's name.
std::string step_question(Step step, const AttentionOptions& options = {});

}  // namespace headwise
