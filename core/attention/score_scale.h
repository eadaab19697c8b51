// From a score to its scaled score, as a list of steps. The function itself, its derivative and how formulas
// and programs write both follow from the list: an option more is a step more. Sources: "Attention Is All You
// Need", 3.2.1; ONNX Attention, opset 23 (softcap).
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/attention_options.h"

namespace headwise {

// How a text writes numbers, products and functions.
struct ScoreNotation {
  std::function<std::string(double)> number;
  std::string_view times = "·";
  std::function<std::string(const std::string&)> tanh = [](const std::string& x) { return "tanh(" + x + ")"; };
};

struct ScoreStep {
  enum class Kind { times, over, cap };  // x·c, x/c, c·tanh(x/c)
  Kind kind;
  const char* option;  // that c is the value of
  double number;       // c

  bool is_linear() const { return kind != Kind::cap; }
  double slope(double x) const;  // of a step that is not linear
  // Of a number, or of an Eigen array of them.
  template <class X>
  void apply(X& x) const {
    using std::tanh;
    const double c = number;
    switch (kind) {
      case Kind::times:
        x = x * c;
        return;
      case Kind::over:
        x = x / c;
        return;
      case Kind::cap:
        x = c * tanh(x / c);
        return;
    }
  }
  std::string text(const std::string& x, const ScoreNotation& notation) const;
};

struct ScoreScale {
  std::vector<ScoreStep> steps;

  // Scores become scaled scores.
  template <class X>
  void apply(X& x) const {
    for (const ScoreStep& step : steps) step.apply(x);
  }
  double scaled(double score) const { return apply(score), score; }
  double gradient(double of_scaled, double score) const;  // d score from d scaled score
  bool is_linear() const;                                 // then the score itself is not in its gradient
  // f(name, number) for the factors of the derivative at a score that are no constants: "1 − tanh²".
  template <class F>
  void each_slope(double score, F&& f) const {
    for (const ScoreStep& step : steps) {
      if (!step.is_linear()) f("1 − tanh²", step.slope(score));
      if (&step != &steps.back()) step.apply(score);
    }
  }

  double linear(double x) const;  // only the steps that are
  // All that backends in f32 know of them: scale / temperature, and the bound of a cap; 0: none.
  double factor() const { return linear(1.0); }
  double cap() const;
  std::vector<double> choices() const;  // all that the result depends on, for the stage cache

  // "scores[0,0,8,1] · 0.25 / 2"; its gradient; and what stands between two maps: "× 0.125, capped".
  std::string text(std::string score, const ScoreNotation& notation) const;
  std::string gradient_text(std::string gradient, std::string score, const ScoreNotation& notation) const;
  std::string brief() const;
};

// 1/√D, where D is options.head_dim: the scale if none is given.
double derived_scale(const AttentionOptions& options);
// options.scale, or that. 0 and negative numbers are valid.
double attention_scale(const AttentionOptions& options);
ScoreScale score_scale(const AttentionOptions& options);
// Whether scores are only divided by √D, which no option has to say.
bool is_default_scale(const AttentionOptions& options);

}  // namespace headwise
