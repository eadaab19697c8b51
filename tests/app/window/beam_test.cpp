// The window as a beam shows it, 1280 × 720 in the theme for a projector: words are whole, or not there.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cfloat>
#include <string>
#include <string_view>

#include "app/content/stage_views.h"
#include "app/widgets/text_layout.h"
#include "tests/app/window_bench.h"

using namespace headwise;

namespace {

bool overlap(const UiRect& a, const UiRect& b) {
  return a.min.x < b.max.x && b.min.x < a.max.x && a.min.y < b.max.y && b.min.y < a.max.y;
}

WindowBench open_beam(std::string_view preset) {
  WindowBench bench = open_unpainted(1280, 720, preset_scenario(preset));
  if (!bench.ui) return bench;
  bench.state().view.settings.theme = Theme::projector;
  bench.state().view.settings.reduce_motion = true;
  bench.ui->run_until_still();
  return bench;
}

}  // namespace

TEST_CASE("a sentence in less room loses its last clauses, and no word is cut") {
  WINDOW_OR_SKIP(bench, open_unpainted(640, 480));
  const ImFont* font = bench.ui->fonts().sans;
  const auto width = [&](const std::string& text) {
    return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, text.c_str()).x;
  };
  const auto shorter = [&](const std::string& text, const std::string& room_of) {
    return fitted_clauses(text, font, width(room_of) + 1.0f);
  };
  const std::string split = "when are the heads split? here, after the projection, and no number changes";
  CHECK(shorter(split, split) == split);
  CHECK(shorter(split, split.substr(0, split.size() - 2)) == "when are the heads split?");
  CHECK(shorter(split, "when are") == "");
  const std::string scores = "every query meets every key: how alike are they, in this head's columns?";
  CHECK(shorter(scores, scores.substr(0, scores.size() - 4)) ==
        "every query meets every key: how alike are they?");
  CHECK(shorter(scores, "every query meets every key: how") == "every query meets every key");
  // Half of a list would say something else.
  CHECK(shorter("each row is read three times: as a query, as a key and as a value",
                "each row is read three times: as a query, as a") == "each row is read three times");
  CHECK(shorter("attn_weights, all heads", "attn_weights, all he") == "attn_weights");
  const std::string inputs = "one row of numbers for each token: who asks, and who is asked?";
  CHECK(shorter(inputs, inputs.substr(0, inputs.size() - 3)) == "one row of numbers for each token");
}

TEST_CASE("on a beam every view has its whole name at every step, and stands clear of the step's tensors") {
  for (const char* preset : {"welcome", "hand_made"}) {
    WINDOW_OR_SKIP(bench, open_beam(preset));
    const std::size_t offered = preset == std::string_view("welcome") ? stage_view_count : stage_view_count - 1;
    for (const StepEntry& entry : step_entries()) {
      bench.selection().step = entry.step;
      bench.selection().tensor.reset();
      bench.ui->run_until_still();
      CAPTURE(preset);
      CAPTURE(entry.name);
      const UiRect stage = bench.ui->rect("panel/stage");
      for (std::size_t view = 0; view < offered; ++view) {
        const std::string name = fmt::format("stage/view/{}", stage_views()[view].name);
        REQUIRE(bench.ui->has(name));
        CHECK(bench.ui->rect(name).max.x <= stage.max.x);
        for (const std::string& other : bench.ui->names()) {
          if (!other.starts_with("stage/picture/") && !other.starts_with("stage/brush/")) continue;
          CAPTURE(other);
          CHECK_FALSE(overlap(bench.ui->rect(name), bench.ui->rect(other)));
          CHECK(bench.ui->rect(other).max.x <= stage.max.x);
        }
      }
    }
  }
}
