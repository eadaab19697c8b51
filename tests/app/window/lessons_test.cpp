// Every page of every lesson in the windows that it is shown in: the beam of a class room, and a desk.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "app/window/page_turns.h"
#include "core/lessons/lessons.h"
#include "tests/app/window_bench.h"

using namespace headwise;

namespace {

struct Room {
  int width, height;
  Theme theme;
  float lowest_map, lowest_operand;  // pixels: what is told of, and what it is made from
};
constexpr std::array rooms{Room{1280, 720, Theme::projector, 44, 36}, Room{1600, 1000, Theme::light, 150, 150}};

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

bool overlap(const UiRect& a, const UiRect& b) {
  return a.min.x < b.max.x && b.min.x < a.max.x && a.min.y < b.max.y && b.min.y < a.max.y;
}

// Draws the page with its answer; as a picture too where pictures are asked for.
void turn_to(WindowBench& bench, const Playlist& playlist, std::size_t page, const std::string& picture) {
  bench.ui->rasterise(false);
  start_walk(bench.state(), playlist, "", page);
  bench.ui->run_frames(3);
  if (!bench.walk().answered) bench.ui->key("PageDown");
  bench.ui->move_to(2, 2).run_until_still();
  if (std::getenv("HEADWISE_TEST_PICTURES") == nullptr) return;
  bench.ui->rasterise(true);
  bench.ui->forget_picture();
  bench.ui->run_frames(3, 10.0).save_png(picture);
}

}  // namespace

TEST_CASE("every page of every lesson shows its maps, high enough to be seen, on a beam and on a desk") {
  for (const Room& room : rooms) {
    WINDOW_OR_SKIP(bench, open_window(room.width, room.height));
    WindowState& state = bench.state();
    state.view.settings.theme = room.theme;
    state.view.settings.reduce_motion = true;
    for (const Lesson& lesson : lessons()) {
      const Playlist& playlist = lesson_playlist(lesson.name);
      for (std::size_t page = 0; page < playlist.pages.size(); ++page) {
        const std::string name = fmt::format("{}_{}_{:02}", room.width, lesson.name, page + 1);
        CAPTURE(name);
        turn_to(bench, playlist, page, name);
        int maps = 0;
        for (const std::string& part : bench.ui->names()) {
          const bool map = part.starts_with("stage/map/") ||
                           is_one_of(part, {"stage/result", "stage/other", "stage/difference",
                                            "head_rows/cells", "stage/memory/right", "stage/memory/misread"});
          const bool operand = is_one_of(part, {"stage/left", "stage/above"});
          if (!map && !operand) continue;
          maps += map ? 1 : 0;
          CAPTURE(part);
          const UiRect rect = bench.ui->rect(part);
          CHECK(rect.max.y - rect.min.y >= (map ? room.lowest_map : room.lowest_operand));
          CHECK(rect.max.y <= bench.ui->rect("panel/stage").max.y);
        }
        CHECK(maps > 0);
        if (bench.ui->has("stage/reason") && bench.ui->has("stage/bias_name"))
          CHECK_FALSE(overlap(bench.ui->rect("stage/reason"), bench.ui->rect("stage/bias_name")));
      }
    }
  }
}

TEST_CASE("in a low window the question of a page makes room for its answer, and the stage does not jump") {
  for (const auto& [height, stays] : {std::pair{600, false}, {1000, true}}) {
    WINDOW_OR_SKIP(bench, open_window(1280, height));
    start_walk(bench.state(), lesson_playlist("questions"), "", 0);
    bench.ui->run_frames(3);
    REQUIRE(bench.ui->has("caption/ask"));
    const UiRect before = bench.ui->rect("panel/stage");
    CHECK(bench.ui->rect("caption/answer").max.y <= bench.ui->rect("panel/caption").max.y);
    bench.ui->key("PageDown").run_until_still();
    CHECK(bench.ui->has("caption/ask") == stays);
    CHECK(bench.ui->has("caption/words"));
    CHECK(bench.ui->rect("panel/stage").max.y == before.max.y);
  }
}

TEST_CASE("a comparison in a low stage names the values of a cell in the place of its sentence") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  bench.state().view.settings.theme = Theme::projector;
  const Playlist& playlist = lesson_playlist("questions");
  std::size_t page = 0;
  while (playlist.pages[page].view != StageView::compare) ++page;
  turn_to(bench, playlist, page, "low_compare");
  CHECK(bench.ui->has("stage/compare/sentence"));
  CHECK_FALSE(bench.ui->has("stage/compare/values"));
  const UiRect map = bench.ui->rect("stage/result");
  bench.ui->move_to("stage/result").run_frames(2);
  CHECK(bench.ui->has("stage/compare/values"));
  CHECK_FALSE(bench.ui->has("stage/compare/sentence"));
  CHECK(bench.ui->rect("stage/result").min.y == map.min.y);
}
