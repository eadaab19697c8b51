#include "app/stage/head_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/platform/fonts.h"
#include "app/widgets/measure.h"
#include "app/widgets/work_probe.h"
#include "core/model/heads/head_habit.h"
#include "core/scenario/text_inputs.h"

namespace headwise {
namespace {

constexpr Index longest_named_text = 128;

// Labels that are equal stand for the same word, if they are words at all.
std::vector<ScoredToken> tokens_of(const PanelContext& context) {
  if (context.inputs.model_input) return scored_tokens(context.inputs.model_input->text.tokens);
  const std::vector<std::string>& labels = context.inputs.labels.query;
  const bool words = context.scenario.inputs.source == InputSource::text;
  std::vector<EncodedToken> tokens;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto same = std::ranges::find(labels, labels[i]) - labels.begin();
    tokens.push_back({static_cast<TokenId>(same), labels[i], i, i + 1, false, !words});
  }
  return scored_tokens(tokens);
}

HeadName named(const HeadScores& scores) {
  const auto habit = head_habit(scores);
  if (!habit) return {};
  const std::string name = habit_name(habit->score), value = fmt::format("{:.2f}", habit->value);
  HeadName head{
      fmt::format("{} {}", name, value), fmt::format("{} {}", short_habit_name(habit->score), value), {}};
  head.reason =
      habit->score == HeadScore::entropy
          ? fmt::format("in this text it attends almost evenly: entropy {} of its maximum, over {} queries",
                        value, habit->queries)
          : fmt::format("in this text, {}: {} on average over {} queries (uniform attention: {:.2f})", name,
                        value, habit->queries, habit->uniform);
  return head;
}

}  // namespace

const std::vector<HeadName>& HeadNames::of(const PanelContext& context) {
  static const std::vector<HeadName> none;
  if (context.points_at_heads) return none;  // a name might be the answer
  const TensorPtr& weights = context.trace.tensors.attn_weights;
  const Index batch = context.selection.batch;
  if (weights && weights_.lock() == weights && batch_ == batch) return names_;
  names_.clear();
  weights_ = weights;
  batch_ = batch;
  if (!weights) return names_;
  const Shape& shape = weights->shape();
  const Index length = shape.size(2);
  const auto labels = static_cast<Index>(context.inputs.labels.query.size());
  const bool self = context.scenario.inputs.self_attention && shape.size(3) == length;
  if (!self || labels != length || length > longest_named_text || batch >= shape.size(0)) return names_;
  const std::vector<ScoredToken> tokens = tokens_of(context);
  if (static_cast<Index>(tokens.size()) != length) return names_;
  work_probe("head names");
  const AttentionOptions& options = context.trace.options;
  const SeenKeys seen{options.is_causal, options.sliding_window};
  for (Index head = 0; head < shape.size(1); ++head)
    names_.push_back(named(head_scores(*weights, batch, head, tokens, seen)));
  return names_;
}

std::vector<double> head_name_widths(const PanelContext& context, const std::vector<HeadName>& names) {
  if (context.veil && context.veil->hides({TensorId::attn_weights})) return {};
  // Names side by side are apart from each other.
  const double apart = std::round(0.6 * static_cast<double>(context.fonts.small->FontSize));
  double full = 0.0, brief = 0.0;
  for (const HeadName& name : names) {
    full = std::max(full, static_cast<double>(width_of(context.fonts.small, name.full)));
    brief = std::max(brief, static_cast<double>(width_of(context.fonts.small, name.brief)));
  }
  if (full <= 0.0) return {};
  return {full + apart, brief + apart};
}

}  // namespace headwise
