// The claims of the pages whose models are trained when they open.
#include <fmt/format.h>

#include <cmath>

#include "tests/core/lessons/page_claims.h"
#include "tests/core/lessons/page_measures.h"

namespace headwise::lessons_test {
namespace {

Index last(See s) {
  return s.queries() - 1;
}

// The key with the largest weight, the first if tied; −1 if one is not a number.
Index brightest(See s, Index head, Index query) {
  Index best = 0;
  for (Index j = 0; j < s.keys(); ++j) {
    if (std::isnan(s.weight(head, query, j))) return -1;
    if (s.weight(head, query, j) > s.weight(head, query, best)) best = j;
  }
  return best;
}

// The largest weight of a query on one key, in any head.
double most_on(See s, Index query, Index key) {
  double most = 0.0;
  for (Index h = 0; h < s.heads(); ++h) most = std::max(most, s.weight(h, query, key));
  return most;
}

double most_of_all(See s, Index query) {
  double most = 0.0;
  for (Index h = 0; h < s.heads(); ++h) most = std::max(most, s.largest_weight(h, query));
  return most;
}

// The largest difference of the maps of heads 0 and 1.
double apart(See s) {
  double most = 0.0;
  for (Index i = 0; i < s.queries(); ++i)
    for (Index j = 0; j < s.keys(); ++j)
      most = std::max(most, std::abs(s.weight(0, i, j) - s.weight(1, i, j)));
  return most;
}

// Whether no mask blocks the pair in head 0, or it has weight all the same.
bool sees(See s, Index query, Index key) {
  return !s.blocked(0, query, key) || s.weight(0, query, key) > 0.0;
}

// Mean weight on what came after the same word before, over the queries that have such a word.
double induction_of_head_0(See s) {
  const std::vector<std::string>& words = s.inputs.labels.query;
  double sum = 0.0, queries = 0.0;
  for (Index i = 0; i < s.queries(); ++i) {
    double weight = 0.0;
    bool counts = false;
    for (Index j = 0; j + 1 < i; ++j)
      if (words[static_cast<std::size_t>(j)] == words[static_cast<std::size_t>(i)] && sees(s, i, j + 1)) {
        counts = s.weights_sum(0, i, 0, s.keys()) > 0;  // neither NaN nor zeros
        weight += s.weight(0, i, j + 1);
      }
    if (!counts) continue;
    sum += weight;
    ++queries;
  }
  return sum / queries;
}

bool looks_at(See s, Index head, const std::string& word) {
  return s.says(word) && key(s, brightest(s, head, last(s))) == word;
}

// The page names a key with the head's largest weight in the last row. Of weights that are the same but for
// rounding, as where a softcap levels them, it may be any.
bool names_brightest(See s, Index head) {
  const Index best = brightest(s, head, last(s));
  for (Index j = 0; best >= 0 && j < s.keys(); ++j)
    if (s.weight(head, last(s), j) > s.weight(head, last(s), best) - 1e-6 && s.says(key(s, j))) return true;
  return false;
}

}  // namespace

std::vector<PageClaim> training_claims() {
  return {
      {"A little to many words: no weight",
       [](See s) {
         return most_of_all(s, last(s)) < 0.3 && s.says(most_of_all(s, last(s))) &&
                s.says(1.0 / static_cast<double>(s.queries()));
       }},
      {"The largest weight in the last row is", [](See s) { return s.says(most_of_all(s, last(s))); }},
      {"No: in the last row head 0",
       [](See s) {
         return names_brightest(s, 0) && names_brightest(s, 3) &&
                brightest(s, 0, last(s)) != brightest(s, 3, last(s));
       }},
      {"Yes: in the last row both",
       [](See s) {
         return looks_at(s, 0, key(s, brightest(s, 0, last(s)))) &&
                brightest(s, 0, last(s)) == brightest(s, 3, last(s));
       }},
      {"no head of this layer attends to",
       [](See s) { return most_on(s, last(s), 11) < 0.1 && s.says(key(s, 11)); }},
      {"No head gives ", [](See s) { return most_on(s, last(s), 11) < 0.1 && s.says(most_on(s, last(s), 11)); }},
      {"The most that a head gives to", [](See s) { return s.says(most_on(s, last(s), 11)); }},
      {"The adjective says which", [](See s) { return key(s, 11) == "'wild'" && brightest(s, 0, 14) == 11; }},
      {"Heads 0 and 2 attend to",
       [](See s) {
         return s.heads() == 4 && s.weight(0, last(s), 11) > 0.5 && s.weight(2, last(s), 11) > 0.5 &&
                s.weight(1, last(s), 6) > 0.5 && s.weight(3, last(s), 6) > 0.5 && s.says(key(s, 11)) &&
                s.says(key(s, 6));
       }},
      {"It has become an induction head",
       [](See s) { return induction_of_head_0(s) > 0.5 && s.says(induction_of_head_0(s)); }},
      {"At words that stood before",
       [](See s) { return induction_of_head_0(s) < 0.501 && s.says(induction_of_head_0(s)); }},
      {"Not at all.", [](See s) { return apart(s) < 1.1e-5; }},
      {"Their weights differ by up to", [](See s) { return s.says(apart(s)); }},
      {"Yes: somewhere in their maps, weights of heads 0 and 1",
       [](See s) { return apart(s) > 0.099 && s.says(apart(s)); }},
      {"Weights of heads 0 and 1 differ", [](See s) { return s.says(apart(s)); }},
  };
}

}  // namespace headwise::lessons_test
