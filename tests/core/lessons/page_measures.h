// What the claims about a page measure on it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/core/lessons/seen_page.h"

namespace headwise::lessons_test {

using See = const SeenPage&;

// Whether the two differ by at most this share of the larger.
bool near(double a, double b, double share = 2e-3);
bool module(See s);
Index width(See s);        // D
Index value_width(See s);  // Dv
Index groups(See s);       // G
bool hand_made(See s);
bool sums_to_one(See s, Index head, Index query);
bool row_blocked(See s, Index head, Index query);
// Whether the masks block exactly those pairs of a head for which `rule` is true.
bool blocked_exactly(See s, Index head, const std::function<bool(Index query, Index key)>& rule);
double largest_weight_of_all(See s);  // in any head; rows of NaN do not count
Index finite_scores(See s, Index head, Index query);
Index open_keys(See s, Index head, Index query);
Index pairs(See s);  // of all batches and heads
bool all_zero(const TensorPtr& tensor);
bool has(const TensorPtr& tensor);
bool ends_in_nan(See s);   // the output, of the last query in the last column
double fill(See s);        // what blocked scores become
double scale(See s);       // over the temperature
bool follows_root(See s);  // the spread of the scores follows √D
// Negative positions count from the end.
const std::string& word(const std::vector<std::string>& words, Index at);
std::string key(See s, Index at);  // in quotes

}  // namespace headwise::lessons_test
