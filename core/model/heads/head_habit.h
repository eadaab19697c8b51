// What one head mostly does on one text, in a word: the score of head_scores.h that stands out most.
#pragma once

#include <optional>
#include <string>

#include "core/model/heads/head_scores.h"

namespace headwise {

struct HeadHabit {
  HeadScore score = HeadScore::entropy;
  double value = 0.0;    // the score: a mean weight, 0 … 1; for entropy, normalised entropy
  double uniform = 0.0;  // the value of a head that attends to all keys equally
  Index queries = 0;     // over which `value` is a mean
};

// A score stands out if it is at least this far above its value for uniform attention …
inline constexpr double habit_above_uniform = 0.25;
// … over at least this share of the queries that choose among keys: one repeated word is not a habit.
inline constexpr double habit_share_of_queries = 0.25;
// Otherwise, from this normalised entropy on, the head attends to all keys about equally.
inline constexpr double even_entropy = 0.95;

// Returns the score furthest above uniform, entropy for a head that attends evenly, nullopt for a head without either.
std::optional<HeadHabit> head_habit(const HeadScores& scores);

// "previous token", or in few letters "previous"; "even" for entropy.
std::string habit_name(HeadScore score);
std::string short_habit_name(HeadScore score);

}  // namespace headwise
