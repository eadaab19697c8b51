#include "app/stage/head_words.h"

#include <fmt/format.h>

#include <cmath>

#include "app/content/cell_terms.h"
#include "app/widgets/work_probe.h"
#include "core/picture/number_text.h"

namespace headwise {
namespace {

std::string strongest_pair(const PanelContext& context, const HeadStatistics& head) {
  return fmt::format("{} → {}", token_at(context.inputs.labels.query, head.query, "q "),
                     token_at(context.inputs.labels.key, head.key, "k "));
}

// Means over rows, as short as two of them can be told apart: what rounding left of a 0 is a 0.
std::string rounded(double mean, int decimals) {
  return fmt::format("{:.{}f}", std::abs(mean), decimals);
}

// The direction in which a head attends, if it is mostly one direction.
std::string distance_text(const HeadStatistics& head) {
  if (head.distance < 0.05) return "looks at itself";
  const char* way = std::abs(head.back) < 0.5 * head.distance ? "away" : head.back > 0 ? "back" : "ahead";
  return fmt::format("looks {} {}", rounded(head.distance, 1), way);
}

}  // namespace

const std::vector<HeadStatistics>& HeadFigures::of(const Trace& trace, Index batch) {
  const TensorPtr& weights = trace.tensors.attn_weights;
  if (weights && weights_.lock() == weights && batch_ == batch) return heads_;
  heads_.clear();
  weights_ = weights;
  work_probe("head statistics");
  batch_ = batch;
  if (!weights || batch < 0 || batch >= weights->shape().size(0)) return heads_;
  for (Index head = 0; head < weights->shape().size(1); ++head)
    heads_.push_back(head_statistics(trace, batch, head));
  return heads_;
}

std::vector<std::string> head_words(const PanelContext& context, const HeadStatistics& head) {
  if (head.rows == 0) return {"no finite row"};
  std::vector<std::string> words{
      fmt::format("entropy {} of {}", rounded(head.entropy, 2), rounded(head.most_entropy, 2)),
      distance_text(head)};
  // The strongest pair might be the answer; its line keeps its place.
  if (head.query >= 0)
    words.push_back(context.points_at_heads ? ""
                                            : fmt::format("{} {}", strongest_pair(context, head),
                                                          cell_number(head.strongest, 2, true)));
  return words;
}

std::string head_sentence(const PanelContext& context, const HeadStatistics& head) {
  if (head.rows == 0) return "its attention has no finite row";
  const std::string pair = head.query < 0
                               ? "no row has a choice of keys"
                               : fmt::format("strongest pair, among rows with a choice: {}, {}",
                                             strongest_pair(context, head), decimal_text(head.strongest, 2));
  return fmt::format(
      "mean row entropy {} nats (uniform over all unmasked keys: {}); mean distance to the attended key {} "
      "tokens; {}",
      rounded(head.entropy, 2), rounded(head.most_entropy, 2), rounded(head.distance, 1), pair);
}

}  // namespace headwise
