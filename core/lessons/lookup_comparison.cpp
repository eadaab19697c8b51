#include "core/lessons/lookup_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/heads.h"
#include "core/attention/score_path.h"
#include "core/attention/softmax.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// One query of one head, and its accesses to the trace.
struct LookupRow {
  const Trace& trace;
  Index batch, head, query;

  void check() const {
    const Shape& shape = trace.tensors.masked_scores->shape();
    const auto inside = [&](const char* name, Index index, Index size) {
      if (index >= 0 && index < size) return;
      throw Error(ExitStatus::usage, {name, "the index is out of range", fmt::format("{}", index),
                                      fmt::format("0 to {}", size - 1), ""});
    };
    inside("batch", batch, shape.size(0));
    inside("head", head, shape.size(1));
    inside("query", query, shape.size(2));
  }
  Index keys() const { return trace.tensors.masked_scores->shape().size(3); }           // S′
  Index width() const { return values_of_sum(trace.tensors)->shape().sizes().back(); }  // Dv
  double score(Index key) const { return trace.tensors.masked_scores->at({batch, head, query, key}); }
  double value(Index key, Index w) const {
    const Tensor& v = *values_of_sum(trace.tensors);
    if (v.shape().rank() == 3) return v.at({batch, key, w});  // a latent
    const Index heads = trace.tensors.masked_scores->shape().size(1);
    return v.at({batch, kv_head_of(head, heads, v.shape().size(1)), key, w});
  }
};

// The key with the largest score; −1 if there is none, every key is blocked, or a score is NaN or +inf.
Index winner_of(const LookupRow& row) {
  Index winner = -1;
  double largest = -infinity;
  for (Index key = 0; key < row.keys(); ++key) {
    const double score = row.score(key);
    if (std::isnan(score) || score == infinity) return -1;
    if (score > largest) {
      largest = score;
      winner = key;
    }
  }
  return winner;
}

// Like core/attention/softmax: the maximum is subtracted first,
// and the options decide about a fully blocked row.
std::vector<double> softened(const LookupRow& row, double temperature) {
  const AttentionOptions& o = row.trace.options;
  const std::vector<double> sinks = sinks_of_heads(o, row.trace.tensors, o.num_heads);
  double largest = -infinity;
  bool undefined = false;
  for (Index key = 0; key < row.keys(); ++key) {
    undefined = undefined || std::isnan(row.score(key)) || row.score(key) == infinity;
    largest = std::max(largest, row.score(key));
  }
  std::vector<double> weights(static_cast<std::size_t>(row.keys()), 0.0);
  if (undefined || largest == -infinity) {
    const bool zero = !undefined && (!sinks.empty() || o.fully_masked_rows == FullyMaskedRows::zero);
    std::ranges::fill(weights, zero ? 0.0 : std::numeric_limits<double>::quiet_NaN());
    return weights;
  }
  // No temperature reaches a sink.
  double sum =
      sinks.empty() ? 0.0 : std::exp(sinks[static_cast<std::size_t>(row.head)] - largest / temperature);
  for (Index key = 0; key < row.keys(); ++key)
    sum += weights[static_cast<std::size_t>(key)] = std::exp((row.score(key) - largest) / temperature);
  for (double& weight : weights) weight /= sum;
  return weights;
}

SoftLookup soft_lookup(const LookupRow& row, double temperature, Index winner) {
  SoftLookup soft;
  soft.temperature = temperature;
  soft.weights = softened(row, temperature);
  soft.result.assign(static_cast<std::size_t>(row.width()), 0.0);
  for (Index w = 0; w < row.width(); ++w) {
    double& cell = soft.result[static_cast<std::size_t>(w)];
    for (Index key = 0; key < row.keys(); ++key)
      cell += soft.weights[static_cast<std::size_t>(key)] * row.value(key, w);
    if (winner < 0) continue;
    const double difference = std::abs(cell - row.value(winner, w));
    soft.difference = std::isnan(difference) ? infinity : std::max(soft.difference, difference);
  }
  if (winner >= 0) soft.winner_weight = soft.weights[static_cast<std::size_t>(winner)];
  return soft;
}

std::string no_winner_reason(const LookupRow& row) {
  if (row.keys() == 0) return "there is no key to look up";
  for (Index key = 0; key < row.keys(); ++key) {
    if (std::isnan(row.score(key))) return fmt::format("the score of key {} is NaN", key);
    if (row.score(key) == infinity) return fmt::format("the score of key {} is infinite", key);
  }
  return "every key is blocked for this query";
}

std::vector<std::string> lookup_comparison_words(const LookupComparison& c) {
  if (!c.possible()) return {fmt::format("There is no hard look-up here: {}.", c.impossible_reason)};
  std::vector<std::string> sentences{
      fmt::format("A dictionary would return the value of key {} alone. Attention takes {:.1f} % of its "
                  "weight from it and the rest from the other keys: max |soft − hard| is {:.3g}.",
                  c.winner, 100.0 * c.soft.winner_weight, c.soft.difference)};
  std::string cooling = "At lower temperatures the soft look-up approaches the hard one:";
  for (const SoftLookup& soft : c.cooler)
    cooling += fmt::format("{} at temperature {:g} the winner has {:.1f} % and |Δ| is {:.1g}",
                           &soft == &c.cooler.front() ? "" : ",", soft.temperature,
                           100.0 * soft.winner_weight, soft.difference);
  sentences.push_back(cooling + ".");
  if (c.equals > 1)
    sentences.push_back(
        fmt::format("{} keys share the largest score, so lowering the temperature leads to the mean of their "
                    "values, not to one of them.",
                    c.equals));
  return sentences;
}

}  // namespace

SoftLookup soft_lookup(const Trace& trace, Index batch, Index head, Index query, double temperature) {
  const LookupRow row{trace, batch, head, query};
  row.check();
  return soft_lookup(row, temperature, winner_of(row));
}

LookupComparison compare_lookups(const Trace& trace, Index batch, Index head, Index query) {
  const LookupRow row{trace, batch, head, query};
  row.check();
  LookupComparison c;
  c.batch = batch;
  c.head = head;
  c.query = query;
  c.winner = winner_of(row);
  for (Index key = 0; key < row.keys(); ++key) c.scores.push_back(row.score(key));
  c.soft = soft_lookup(row, 1.0, c.winner);
  if (std::ranges::find(trace.options.frozen_heads, head) != trace.options.frozen_heads.end()) {
    c.impossible_reason = fmt::format("head {} is frozen: its weights are fixed and not looked up", head);
  } else if (c.winner < 0) {
    c.impossible_reason = no_winner_reason(row);
  } else {
    c.equals = std::ranges::count(c.scores, row.score(c.winner));
    for (Index w = 0; w < row.width(); ++w) c.hard_result.push_back(row.value(c.winner, w));
    for (const double temperature : lookup_temperatures)
      c.cooler.push_back(soft_lookup(row, temperature, c.winner));
  }
  c.sentences = lookup_comparison_words(c);
  return c;
}

}  // namespace headwise
