// "What is a soft look-up?" For one query of one head: a dictionary would return the value of the best key;
// attention returns all values, weighted. Computed both ways, and at lower temperatures, at which the soft
// one becomes the hard one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/attention/trace.h"

namespace headwise {

// The soft look-up at one temperature: softmax(masked_scores / temperature) · v, for this query's row only.
struct SoftLookup {
  double temperature = 1.0;     // 1 is the operator's own row, before dropout
  std::vector<double> weights;  // S′
  std::vector<double> result;   // Dv
  double winner_weight = 0.0;   // of the key chosen by the hard look-up
  double difference = 0.0;      // max |result − hard result|
};

struct LookupComparison {
  Index batch = 0, head = 0, query = 0;
  std::string impossible_reason;    // why there is no hard look-up: no key, every key blocked, NaN in the row
  Index winner = -1;                // the key with the largest masked score, the first if tied
  Index equals = 0;                 // how many keys have that score; more than 1: the limit is their mean
  std::vector<double> scores;       // masked_scores of the row, S′
  std::vector<double> hard_result;  // v_heads of the winner, Dv
  SoftLookup soft;                  // at temperature 1
  std::vector<SoftLookup> cooler;   // at lookup_temperatures
  std::vector<std::string> sentences;

  bool possible() const { return impossible_reason.empty(); }
};

// The temperatures of `cooler`. They divide the input of the softmax, masks included, so that every row ends
// at its largest score; without float masks, ALiBi and a cap that equals attention.temperature.
inline constexpr double lookup_temperatures[] = {0.5, 0.1, 0.01};

// One temperature, finite and > 0; in double. Throws Error(usage)
// for a position that the trace does not have.
SoftLookup soft_lookup(const Trace& trace, Index batch, Index head, Index query, double temperature);

// Throws Error(usage) for a position that the trace does not have.
LookupComparison compare_lookups(const Trace& trace, Index batch, Index head, Index query);

}  // namespace headwise
