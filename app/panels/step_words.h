// The formula and the sentence for what the stage shows. Most pictures are told by their step
// (core/trace/steps.h); the further ones of a step, add & norm after the output say, have words of their own
// here.
#pragma once

#include <string_view>
#include <vector>

#include "core/trace/steps.h"

namespace headwise {

struct StepWords {
  std::vector<std::string_view> formulas;  // a line each
  std::string_view sentence;
};

StepWords step_words(Step step, const StepPicture& picture);

}  // namespace headwise
