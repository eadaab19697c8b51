// The rows of the options, and the way from a score to its scaled score, which follows from them.
#include "core/attention/attention_options.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/score_scale.h"

using namespace headwise;

TEST_CASE("what is set is told apart from defaults, by trait and in order") {
  AttentionOptions options;
  for (const OptionTrait trait : {set_by_layer, module_only, not_in_pytorch, read_last})
    CHECK(set_options(options, trait).empty());
  options.softcap = 30.0;
  options.temperature = 2.0;
  options.layer_norm = options.is_causal = true;
  options.need_weights = false;
  using Keys = std::vector<std::string>;
  const auto keys = [&](OptionTrait trait) {
    const std::vector<const char*> found = set_options(options, trait);
    return Keys(found.begin(), found.end());
  };
  CHECK(keys(set_by_layer) == Keys{"softcap", "is_causal"});
  CHECK(keys(module_only) == Keys{"layer_norm"});
  CHECK(keys(not_in_pytorch) == Keys{"softcap", "temperature"});
  CHECK(keys(read_last) == Keys{"need_weights", "layer_norm"});
  const PositionOptions& positions = options;
  CHECK(set_options(positions, set_by_layer).size() == 1);
}

TEST_CASE("a scaled score, its derivative and both formulas follow from the steps") {
  AttentionOptions options;
  options.head_dim = 16;
  CHECK(is_default_scale(options));
  CHECK(score_scale(options).brief() == "× 0.25");
  options.scale = 0.5;
  options.temperature = 2.0;
  options.softcap = 3.0;
  CHECK_FALSE(is_default_scale(options));
  const ScoreScale scale = score_scale(options);
  CHECK(scale.factor() == 0.25);
  CHECK(scale.cap() == 3.0);
  CHECK(scale.brief() == "× 0.25, capped");
  for (const double score : {-40.0, -5.0, 0.0, 0.3, 7.0}) {
    CAPTURE(score);
    constexpr double step = 1e-5;
    const double slope = (scale.scaled(score + step) - scale.scaled(score - step)) / (2.0 * step);
    CHECK(scale.gradient(1.5, score) == doctest::Approx(1.5 * slope).epsilon(1e-6));
  }
  const ScoreNotation notation{[](double number) { return fmt::format("{}", number); }};
  CHECK(scale.text("x", notation) == "3 · tanh(x · 0.5 / 2 / 3)");
  CHECK(scale.gradient_text("g", "x", notation) == "g · 0.5 / 2 · (1 − tanh²(x · 0.5 / 2 / 3))");
}
