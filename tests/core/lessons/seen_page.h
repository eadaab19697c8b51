// A page as somebody sees it after an edit,
// with its numbers computed by plain loops from the tensors before them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/lessons/page_words.h"

namespace headwise::lessons_test {

struct SeenPage {
  const Scenario& scenario;
  const ScenarioInputs& inputs;
  const Trace& trace;
  std::string text = {};  // of the part that makes the claim

  const TraceTensors& t() const { return trace.tensors; }
  const AttentionOptions& options() const { return trace.options; }
  // An index below 0 counts from the end. Nothing, or NaN, where there is no such cell.
  std::optional<Index> offset(const TensorPtr& tensor, std::vector<Index> index) const;
  double at(const TensorPtr& tensor, std::vector<Index> index) const;
  Index size(const TensorPtr& tensor, Index axis) const;

  Index heads() const { return options().num_heads; }
  Index queries() const;
  Index keys() const;  // S′
  bool is_module() const { return options().op == Op::multi_head_attention; }
  bool is_frozen(Index head) const;

  double score(Index head, Index query, Index key) const;  // Σ q·k, of batch 0
  double scaled(Index head, Index query, Index key) const;
  double masked(Index head, Index query, Index key) const;
  const std::vector<double>& masked_row(Index head, Index query) const;
  double weight(Index head, Index query, Index key) const;  // of a row's softmax, or as held
  double head_output(Index head, Index query, Index column) const;
  double output(Index query, Index column) const;  // of the module
  bool blocked(Index head, Index query, Index key) const;
  Index blocked_pairs() const;  // of all batches and heads
  double weights_sum(Index head, Index query, Index from, Index to) const;
  double largest_weight(Index head, Index query) const;
  double smallest_weight(Index head, Index query) const;
  // Of the sums of the first products of all scores
  double spread(Index products) const;

  mutable std::map<std::pair<Index, Index>, std::vector<double>> masked_rows = {}, weight_rows = {};
  mutable std::map<Index, double> spreads = {};
  mutable Index blocked_count = -1;

  // Whether the text says this word, or a number as it is printed, as a word of its own.
  bool says(const std::string& word) const;
  bool says(double number) const;
};

}  // namespace headwise::lessons_test
