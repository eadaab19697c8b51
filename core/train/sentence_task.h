// The task it-and-the-noun: which noun "it" stands for, in sentences of the built-in model.
#pragma once

#include <string>
#include <vector>

#include "core/train/train_task.h"

namespace headwise {

// How many nouns of each kind there are: animals, places, things and what things are put into.
inline constexpr Index least_sentence_nouns = 4, most_sentence_nouns = 12;
// Tokens of a sentence: "the animal did not cross the street because it was too tired . what ?".
inline constexpr Index sentence_task_length = 15;

// The texts of all tokens, for that many nouns of each kind.
std::vector<std::string> sentence_task_texts(Index nouns);

// TrainTask::example: asks at the last token, "?", for the noun. It is asked there and not at "it", where a
// causal model has not read the adjective yet, which decides. A fifth of the pairs of nouns are held out: no
// sentence that is trained on has both, in that order.
decltype(TrainTask::example) sentence_task_example(Index nouns);

}  // namespace headwise
