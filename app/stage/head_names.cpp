#include "app/stage/head_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/widgets/ui_probe.h"
#include "core/answers/head_statistics.h"
#include "core/model/heads/head_scores.h"

namespace headwise {
namespace {

constexpr Index longest_named_text = 128;

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
  if (context.hides_heads()) return none;
  const TensorPtr& weights = context.trace.tensors.attn_weights;
  const Index batch = context.selection.batch;
  if (weights && weights_.lock() == weights && batch_ == batch) return names_;
  names_.clear();
  weights_ = weights;
  batch_ = batch;
  if (!weights) return names_;
  if (weights->shape().size(2) > longest_named_text) return names_;
  work_probe("head names");
  for (Index head = 0; head < weights->shape().size(1); ++head) {
    const auto scores = traced_habits(context.trace, context.scenario, context.inputs, batch, head);
    if (!scores) break;
    names_.push_back(named(*scores));
  }
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
