// The stage as it is drawn, held against pictures of it that somebody has looked at.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "app/platform/driver.h"
#include "core/files/atomic_file.h"
#include "core/files/input_file.h"
#include "tests/app/window_bench.h"
#include "tests/core/export/read_png.h"

using namespace headwise;

namespace {

// Between two runs not a byte differs, nor between widths of llvmpipe's vectors. The tolerance is for other
// versions of Mesa, which may round otherwise, and is less than what two letters of the smallest text make
// that have changed places.
constexpr int strong_difference = 16;         // of 255, in any channel
constexpr double most_strong_share = 0.0001;  // of the pixels
constexpr double most_mean_difference = 1.5;  // of 255, over all channels of all pixels

constexpr int window_width = 1280, window_height = 720;

const std::filesystem::path golden_folder =
    std::filesystem::path(HEADWISE_SOURCE_DIR) / "tests/golden/frames";
const std::filesystem::path failure_folder = std::filesystem::path(HEADWISE_PROGRAM).parent_path() / "frames";

struct Page {
  const char* name;  // of the file
  Step step = Step::softmax;
  StageView view = StageView::one_head;
  Theme theme = Theme::dark;
  bool causal = false;
};

constexpr Page pages[] = {
    {"one_head_inputs", Step::inputs},
    {"one_head_project", Step::project},
    {"one_head_split_heads", Step::split_heads},
    {"one_head_scores", Step::scores},
    {"one_head_mask_causal", Step::mask, StageView::one_head, Theme::dark, true},
    {"one_head_softmax", Step::softmax},
    {"one_head_weighted_sum", Step::weighted_sum},
    {"one_head_output", Step::output},
    {"all_heads", Step::softmax, StageView::all_heads},
    {"tokens", Step::softmax, StageView::tokens},
    {"rows", Step::softmax, StageView::head_rows},
    {"query_key_plane", Step::softmax, StageView::query_key_plane},
    {"elementwise", Step::softmax, StageView::elementwise},
    {"gradients", Step::softmax, StageView::gradients},
    {"compare", Step::softmax, StageView::compare},
    {"memory_split_heads", Step::split_heads, StageView::memory},
    {"memory_concat", Step::concat, StageView::memory, Theme::light},
    {"light", Step::softmax, StageView::one_head, Theme::light, true},
    {"projector", Step::softmax, StageView::one_head, Theme::projector, true},
};

std::size_t offset(const Image& image, int x, int y) {
  return 4 *
         (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(x));
}

Image crop(const Image& image, const UiRect& rect) {
  const int x = static_cast<int>(rect.min.x), y = static_cast<int>(rect.min.y);
  Image part{static_cast<int>(rect.max.x) - x, static_cast<int>(rect.max.y) - y, {}};
  for (int row = 0; row < part.height; ++row) {
    const auto from = image.rgba.begin() + static_cast<std::ptrdiff_t>(offset(image, x, y + row));
    part.rgba.insert(part.rgba.end(), from, from + 4 * static_cast<std::ptrdiff_t>(part.width));
  }
  return part;
}

// Every pixel the mean of 2 by 2: a quarter of the bytes to keep.
Image halved(const Image& image) {
  Image half{image.width / 2, image.height / 2, {}};
  for (int y = 0; y < half.height; ++y) {
    for (int x = 0; x < half.width; ++x) {
      for (std::size_t channel = 0; channel < 4; ++channel) {
        int sum = 2;
        for (const auto& [dx, dy] : {std::pair{0, 0}, {1, 0}, {0, 1}, {1, 1}})
          sum += image.rgba[offset(image, 2 * x + dx, 2 * y + dy) + channel];
        half.rgba.push_back(static_cast<std::uint8_t>(sum / 4));
      }
    }
  }
  return half;
}

struct Difference {
  double strong_share = 0.0, mean = 0.0;
  int most = 0, worst_x = 0, worst_y = 0;  // the pixel that differs most, the first of such
  Image amplified;                         // eight times the difference, on black

  bool tolerable() const { return strong_share <= most_strong_share && mean <= most_mean_difference; }
};

// Of two pictures of one size.
Difference difference(const Image& got, const Image& expected) {
  Difference result;
  result.amplified = {got.width, got.height, {}};
  const double pixels = static_cast<double>(got.width) * got.height;
  for (int y = 0; y < got.height; ++y) {
    for (int x = 0; x < got.width; ++x) {
      int most = 0;
      for (std::size_t channel = 0; channel < 3; ++channel) {
        const std::size_t at = offset(got, x, y) + channel;
        const int apart = std::abs(got.rgba[at] - expected.rgba[at]);
        result.mean += apart / (3.0 * pixels);
        result.amplified.rgba.push_back(static_cast<std::uint8_t>(std::min(255, 8 * apart)));
        most = std::max(most, apart);
      }
      result.amplified.rgba.push_back(255);
      if (most > strong_difference) result.strong_share += 1.0 / pixels;
      if (most > result.most) {
        result.most = most;
        result.worst_x = x;
        result.worst_y = y;
      }
    }
  }
  return result;
}

void write_png(const std::filesystem::path& path, const Image& image) {
  std::filesystem::create_directories(path.parent_path());
  const std::vector<std::uint8_t> png = to_png(image);
  write_file_atomically(path.string(), {reinterpret_cast<const char*>(png.data()), png.size()});
}

Image read_golden(const std::filesystem::path& path) {
  const InputFile file(path.string());
  const std::string text = file.read_text(0, file.size());
  return decoded_png({text.begin(), text.end()});
}

WindowBench open_page(const Page& page) {
  Scenario scenario = preset_scenario("hand_made");
  scenario.mask.is_causal = page.causal;
  WindowBench bench = open_window(window_width, window_height, scenario);
  if (!bench.ui) return bench;
  WindowState& state = bench.state();
  state.view.settings.theme = page.theme;
  state.view.settings.reduce_motion = true;
  state.view.selection.step = page.step;
  state.view.selection.view = page.view;
  if (page.view == StageView::compare) {
    bench.ui->key("P");  // what is pinned attends to all, what is present only backwards
    bench.ui->key("C");
  }
  // Gradients are computed beside the window.
  for (int i = 0; i < 2000 && page.view == StageView::gradients; ++i) {
    bench.ui->run_frames(1);
    if (state.document.trace_at_hand().grad.scores) break;
  }
  bench.ui->run_frames(3, 10.0);  // what was told by the way is gone
  REQUIRE(bench.ui->becomes_still());
  return bench;
}

bool drawn_by_llvmpipe() {
  const std::string renderer = gl::renderer_name();
  if (renderer.starts_with("llvmpipe")) return true;
  MESSAGE("SKIPPED: the golden frames are of llvmpipe, here draws " << renderer);
  return false;
}

// Empty where the stage is as it was looked at; else what differs, with pictures to look at.
std::string complaint_of(const Page& page, const Image& got) {
  const std::filesystem::path golden = golden_folder / fmt::format("{}.png", page.name);
  const std::string renewed =
      "Where it is meant: HEADWISE_RENEW_FRAMES=1 headwise_app_tests -tc='*golden frames*'";
  if (!std::filesystem::exists(golden)) return fmt::format("{} is missing. {}", golden.string(), renewed);
  const Image expected = read_golden(golden);
  const auto failure = [&](const char* what) {
    return failure_folder / fmt::format("{}.{}.png", page.name, what);
  };
  const bool same_size = got.width == expected.width && got.height == expected.height;
  const Difference found = same_size ? difference(got, expected) : Difference{};
  if (same_size && found.tolerable()) return "";
  write_png(failure("got"), got);
  write_png(failure("expected"), expected);
  if (!same_size) {
    return fmt::format("{}: {} by {} pixels, expected {} by {}. See {}. {}", page.name, got.width, got.height,
                       expected.width, expected.height, failure("got").string(), renewed);
  }
  write_png(failure("difference"), found.amplified);
  return fmt::format(
      "{}: {:.3f} % of the pixels differ by more than {} (at most {:.3f} %), the mean difference is {:.3f} "
      "(at most {}), the worst is {} at x {}, y {} of the picture. See {}, {} and {}. {}",
      page.name, 100.0 * found.strong_share, strong_difference, 100.0 * most_strong_share, found.mean,
      most_mean_difference, found.most, found.worst_x, found.worst_y, failure("difference").string(),
      failure("got").string(), failure("expected").string(), renewed);
}

}  // namespace

TEST_CASE("the stage looks in every view as in the golden frames") {
  const char* renew = std::getenv("HEADWISE_RENEW_FRAMES");
  for (const Page& page : pages) {
    const WindowBench bench = open_page(page);
    if (!bench.ui || !drawn_by_llvmpipe()) return;
    const Image stage = halved(crop(bench.ui->pixels(), bench.ui->rect("panel/stage")));
    if (renew != nullptr && std::string_view(renew) == "1") {
      write_png(golden_folder / fmt::format("{}.png", page.name), stage);
      MESSAGE("renewed " << std::string(page.name));
      continue;
    }
    CHECK(complaint_of(page, stage) == "");
  }
}

TEST_CASE("a title two pixels aside, a cell of another colour and a paler stage are no golden frame") {
  WINDOW_OR_SKIP(bench, open_page({"", Step::softmax}));
  const Image window = bench.ui->pixels();
  const UiRect stage = bench.ui->rect("panel/stage"), map = bench.ui->rect("stage/result");
  const Image golden = halved(crop(window, stage));
  const auto changed = [&](const UiRect& part, const auto& change) {
    Image image = window;
    for (int y = static_cast<int>(part.min.y); y < static_cast<int>(part.max.y); ++y) {
      for (int x = static_cast<int>(part.min.x); x < static_cast<int>(part.max.x); ++x) {
        for (std::size_t channel = 0; channel < 3; ++channel)
          image.rgba[offset(image, x, y) + channel] = static_cast<std::uint8_t>(change(x, y, channel));
      }
    }
    return difference(halved(crop(image, stage)), golden);
  };
  const auto was = [&](int x, int y, std::size_t channel) -> int {
    return window.rgba[offset(window, x, y) + channel];
  };
  CHECK(changed(stage, was).most == 0);

  const UiRect title{{map.min.x, map.min.y - 20}, {map.max.x, map.min.y - 1}};
  const Difference moved =
      changed(title, [&](int x, int y, std::size_t channel) { return was(x - 2, y, channel); });
  CHECK_FALSE(moved.tolerable());
  CHECK(moved.worst_y < (map.min.y - stage.min.y) / 2);

  const float width = (map.max.x - map.min.x) / 12, height = (map.max.y - map.min.y) / 12;
  const UiRect cell{{map.min.x + 8 * width, map.min.y + 2 * height},
                    {map.min.x + 9 * width, map.min.y + 3 * height}};
  CHECK_FALSE(changed(cell, [&](int x, int y, std::size_t channel) {
                return was(x, y, (channel + 1) % 3);
              }).tolerable());

  const auto paler = [&](int by) {
    return [&was, by](int x, int y, std::size_t channel) { return std::min(255, was(x, y, channel) + by); };
  };
  CHECK_FALSE(changed(stage, paler(3)).tolerable());
  CHECK(changed(stage, paler(1)).tolerable());  // another rounding
}
