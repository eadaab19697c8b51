// The formula and the sentence for what the stage shows. Most pictures take theirs from their step
// (steps.h); additional pictures of a step, such as add & norm after the output, and the way back
// have their own in assets/words/steps.txt.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/content/stage_matrix.h"
#include "app/session/selection.h"
#include "core/attention/steps.h"
#include "core/attention/trace.h"
#include "core/files/word_rows.h"
#include "core/scenario/scenario_inputs.h"

namespace headwise {

// What the text of a step depends on, derived from what was computed: a layer without biases adds none, a
// finite fill blocks nothing, a row without a key sums to nothing.

struct StepFacts {
  AttentionOptions options;
  bool projection_bias = true, output_bias = true, norm_weights = true, sinks = false;
  bool latent_bias = true, gate_bias = true;
  // Of the mask over the current map: whether pairs are blocked,
  // and whether others are given a nonzero number.
  bool masked = true, blocks = true, adds = false;
  // Rows of the current weights that have no unblocked key: NaN, or 0 where that is the rule.
  Index nan_rows = 0, zero_rows = 0;
};

// For the map of this sequence and head; only what the text of this step mentions is counted.
StepFacts step_facts(const Trace& trace, Step step, Index batch, Index head);

struct StepWords {
  std::vector<std::string> formulas;  // one per line
  std::string sentence;
};

// assets/words/steps.txt: "k", or "Project: grad q", and formulas and a sentence.
std::span<const WordRow> step_rows();

// Takes these facts into account: a step that they affect says so.
StepWords step_words(Step step, const StepPicture& picture, const StepFacts& facts = {});
// How the gradient flows back through a step; none for a picture that is not the step's own (add & norm).
std::optional<StepWords> backward_words(Step step, const StepPicture& picture, const StepFacts& facts);
// The question next to the step's name.
std::string step_question(Step step, const AttentionOptions& options = {});

}  // namespace headwise
