#include "core/attention/score_scale.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace headwise {

double derived_scale(const AttentionOptions& options) {
  return 1.0 / std::sqrt(static_cast<double>(options.head_dim));
}

double attention_scale(const AttentionOptions& options) {
  return options.scale.value_or(derived_scale(options));
}

ScoreScale score_scale(const AttentionOptions& o) {
  using Kind = ScoreStep::Kind;
  ScoreScale scale{{{Kind::times, "scale", attention_scale(o)}}};
  if (o.temperature != 1.0) scale.steps.push_back({Kind::over, "temperature", o.temperature});
  if (o.softcap > 0.0) scale.steps.push_back({Kind::cap, "softcap", o.softcap});
  return scale;
}

bool is_default_scale(const AttentionOptions& options) {
  return !options.scale && score_scale(options).steps.size() == 1;
}

double ScoreStep::slope(double x) const {
  const double squashed = std::tanh(x / number);
  return 1.0 - squashed * squashed;
}

std::string ScoreStep::text(const std::string& x, const ScoreNotation& notation) const {
  const std::string c = notation.number(number);
  switch (kind) {
    case Kind::times:
      return fmt::format("{} {} {}", x, notation.times, c);
    case Kind::over:
      return fmt::format("{} / {}", x, c);
    case Kind::cap:
      return fmt::format("{} {} {}", c, notation.times, notation.tanh(fmt::format("{} / {}", x, c)));
  }
  return x;
}

bool ScoreScale::is_linear() const {
  return std::ranges::all_of(steps, &ScoreStep::is_linear);
}

double ScoreScale::gradient(double of_scaled, double score) const {
  if (!is_linear()) each_slope(score, [&](const char*, double slope) { of_scaled *= slope; });
  return linear(of_scaled);
}

double ScoreScale::linear(double x) const {
  for (const ScoreStep& step : steps)
    if (step.is_linear()) step.apply(x);
  return x;
}

double ScoreScale::cap() const {
  const auto found = std::ranges::find(steps, ScoreStep::Kind::cap, &ScoreStep::kind);
  return found == steps.end() ? 0.0 : found->number;
}

std::vector<double> ScoreScale::choices() const {
  std::vector<double> all;
  for (const ScoreStep& step : steps) all.insert(all.end(), {static_cast<double>(step.kind), step.number});
  return all;
}

std::string ScoreScale::text(std::string score, const ScoreNotation& notation) const {
  for (const ScoreStep& step : steps) score = step.text(score, notation);
  return score;
}

std::string ScoreScale::gradient_text(std::string gradient, std::string score,
                                      const ScoreNotation& notation) const {
  std::string slopes;
  for (const ScoreStep& step : steps) {
    if (step.is_linear())
      gradient = step.text(gradient, notation);
    else
      slopes += fmt::format(" · (1 − tanh²({} / {}))", score, notation.number(step.number));
    score = step.text(score, notation);
  }
  return gradient + slopes;
}

std::string ScoreScale::brief() const {
  return fmt::format("× {:.4g}{}", factor(), is_linear() ? "" : ", capped");
}

}  // namespace headwise
