// Attention at full size in the window: what is run, what it tells,
// and the maps from the whole to the single cell.
#include <chrono>
#include <cmath>
#include <thread>

#include "app/panels/full_size_sheet.h"
#include "core/attention/reference_backend.h"
#include "tests/app/window_bench.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

FullSizeRequest small_request(BackendId backend = BackendId::fused) {
  return {.model = 0, .length = 150, .is_causal = true, .hand_made = true, .backend = backend};
}

void wait_for_result(WindowBench& bench) {
  for (int i = 0; bench.state().document.full_size_runs.running() && i < 3000; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  bench.ui->run_frames(3);
}

std::string shown_label(const MapPart& part, const FullSizeResult& result) {
  return map_cell_text(result, part, 0, 0);
}

}  // namespace

TEST_CASE("zooming keeps what is under the mouse, and never leaves the map") {
  const MapZoom whole = within({}, 4096, 4096);
  CHECK(whole.side == 4096.0);
  const MapZoom closer = zoomed(whole, 4.0, 0.25, 0.75, 4096, 4096);
  CHECK(closer.side == 1024.0);
  CHECK(closer.col + 0.25 * closer.side == doctest::Approx(1024.0));
  CHECK(closer.row + 0.75 * closer.side == doctest::Approx(3072.0));
  CHECK(zoomed(closer, 0.25, 0.25, 0.75, 4096, 4096) == whole);
  MapZoom zoom = whole;
  for (int i = 0; i < 40; ++i) zoom = zoomed(zoom, 1.5, 1.0, 1.0, 4096, 4096);
  CHECK(zoom.side == MapZoom::least_side);
  CHECK(visible_rows(zoom, 4096, 4096) == CellRange{4088, 4096});
  CHECK(visible_cols(moved(zoom, 5.0, 0.0, 4096, 4096), 4096, 4096) == CellRange{4088, 4096});
  CHECK(visible_cols(moved(zoom, -1e9, 0.0, 4096, 4096), 4096, 4096) == CellRange{0, 8});
  // A map that is not square, and one smaller than the closest look.
  CHECK(visible_rows({}, 10, 300) == CellRange{0, 10});
  CHECK(visible_cols({}, 10, 300) == CellRange{0, 300});
  CHECK(within(zoomed({}, 100.0, 0.5, 0.5, 3, 3), 3, 3).side == 3.0);
}

TEST_CASE("a run tells the weights of the reference, by blocks from far away and one by one from near") {
  const FullSizeResultPtr result = full_size_run(small_request());
  REQUIRE(result->error.empty());
  const ScenarioInputs inputs = make_scenario_inputs(full_size_scenario(result->request), DType::f32);
  const TracePtr reference = reference_forward(inputs.attention);
  const Tensor& weights = *reference->tensors.attn_weights;
  REQUIRE(weights.shape().sizes() == std::vector<Index>{1, 8, 150, 150});
  CHECK(result->agreement.max_abs_diff < 1e-4);
  CHECK(result->forward.seconds > 0.0);
  CHECK(result->inputs.labels.query.size() == 150);
  CHECK(result->inputs.heads.size() == 8);

  const MapPart near = map_part(*result, 3, {40, 60}, {30, 50}, BlockStatistic::largest, 800, Theme::dark);
  CHECK(near.block == 1);
  for (Index r = 0; r < 20; ++r)
    for (Index c = 0; c < 20; ++c)
      CHECK(near.spec.values.value(r, c) ==
            doctest::Approx(weights.flat((3 * 150 + 40 + r) * 150 + 30 + c)).epsilon(1e-4));
  CHECK_CONTAINS(map_cell_text(*result, near, 0, 5), "query 40");
  CHECK_CONTAINS(map_cell_text(*result, near, 0, 5), "key 35");
}

TEST_CASE("from far away no spike is lost, and a block says which cells it stands for") {
  FullSizeRequest request = small_request();
  request.length = 1300;
  const FullSizeResultPtr result = full_size_run(request);
  REQUIRE(result->error.empty());
  const MapPart far = map_part(*result, 0, {0, 1300}, {0, 1300}, BlockStatistic::largest, 100, Theme::dark);
  REQUIRE(far.block == 8);
  std::vector<float> row(1300);
  result->tiles->tile(0, 0, {777, 778}, {0, 1300}, row.data());
  const auto strongest = std::ranges::max_element(row) - row.begin();
  CHECK(far.spec.values.value(777 / 8, strongest / 8) >= row[static_cast<std::size_t>(strongest)] - 1e-6);
  CHECK_CONTAINS(map_cell_text(*result, far, 1, 2), "queries 8 … 15 → keys 16 … 23");
  const MapPart mean = map_part(*result, 0, {0, 1300}, {0, 1300}, BlockStatistic::mean, 100, Theme::dark);
  const MapPart least = map_part(*result, 0, {0, 1300}, {0, 1300}, BlockStatistic::least, 100, Theme::dark);
  for (Index r = 0; r < far.spec.values.rows; r += 7)
    for (Index c = 0; c < far.spec.values.cols; c += 5) {
      CHECK(least.spec.values.value(r, c) <= mean.spec.values.value(r, c));
      CHECK(mean.spec.values.value(r, c) <= far.spec.values.value(r, c));
    }
  // A part that begins and ends within blocks is widened to whole ones.
  const MapPart part = map_part(*result, 0, {5, 1270}, {9, 1300}, BlockStatistic::mean, 100, Theme::dark);
  CHECK(part.rows == CellRange{0, 1272});
  CHECK(part.cols == CellRange{8, 1300});
}

TEST_CASE("the sheet says of each backend whether it stores the weights, as its run turns out") {
  for (const Backend& backend : backends()) {
    const FullSizeResultPtr result = full_size_run(small_request(backend.id));
    REQUIRE(result->error.empty());
    const Backend& used = backend_of(result->forward.backend);  // without OpenGL 4.3 another one
    CAPTURE(used.name);
    const bool stores = result->forward.trace->tensors.attn_weights != nullptr;
    CHECK(used.keeps_every_tensor == stores);
    const std::string told = full_size_introduction(used);
    CHECK((told.find(stores ? "backend stores all weights" : "backend stores no weights") != std::string::npos));
    CHECK(full_size_figures(*result).end()[-3].first ==
          (stores ? "of it attn_weights" : "storing attn_weights would add"));
  }
}

TEST_CASE("fused and reference give the same maps; what does not fit says so and takes nothing") {
  const FullSizeResultPtr fused = full_size_run(small_request());
  const FullSizeResultPtr reference = full_size_run(small_request(BackendId::reference));
  REQUIRE(reference->error.empty());
  const std::vector<float>& a = fused->pyramid->levels(0, 2).front().mean;
  const std::vector<float>& b = reference->pyramid->levels(0, 2).front().mean;
  REQUIRE(a.size() == b.size());
  float worst = 0.0f;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  CHECK(worst < 1e-4f);
  // Four projections of 512 × 512, and of 8 heads the pairs that the causal mask leaves, twice 64 wide.
  CHECK(fused->multiply_adds == 150.0 * 512 * 512 * 4 + 150.0 * 151 / 2 * 8 * 2 * 64);
  FullSizeRequest huge{.model = 8, .length = 32768, .hand_made = false, .backend = BackendId::reference};
  const FullSizeResultPtr none = full_size_run(huge);
  CHECK_CONTAINS(none->error, "memory");
}

TEST_CASE("a run with another mask keeps q, k and v of the one before, and tells what its own would") {
  FullSizeRuns runs;
  const auto wait = [&] {
    while (runs.running()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return runs.result();
  };
  FullSizeRequest request = small_request();
  request.is_causal = false;
  runs.start(request);
  const FullSizeResultPtr first = wait();
  CHECK_FALSE(first->forward.kept_projections);
  request.is_causal = true;
  runs.start(request);
  const FullSizeResultPtr second = wait();
  REQUIRE(second->error.empty());
  CHECK(second->forward.kept_projections);
  CHECK(second->forward.trace->tensors.q == first->forward.trace->tensors.q);
  const FullSizeResultPtr alone = full_size_run(request);
  CHECK(identical(*second->forward.trace->tensors.output, *alone->forward.trace->tensors.output));
  CHECK(second->pyramid->levels(0, 3).front().max == alone->pyramid->levels(0, 3).front().max);
  CHECK(second->multiply_adds == alone->multiply_adds - 3.0 * 150 * 512 * 512);
  // Who runs the same again wants the whole pass. Other tokens are other arrays,
  // and the reference keeps nothing.
  runs.start(request);
  const FullSizeResultPtr again = wait();
  CHECK_FALSE(again->forward.kept_projections);
  CHECK(again->inputs.attention.tensors.query == first->inputs.attention.tensors.query);
  request.length = 140;
  runs.start(request);
  CHECK_FALSE(wait()->forward.kept_projections);
  request.is_causal = false;
  request.backend = BackendId::reference;
  runs.start(request);
  CHECK_FALSE(wait()->forward.kept_projections);
}

TEST_CASE("the sheet runs what is chosen, shows figures and all maps, and a head can be looked at closely") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  bench.ui->key("Z");
  bench.ui->run_frames(6);  // the sheet finds its size
  REQUIRE(bench.ui->has("overlay/full_size"));
  FullSizeState& state = bench.state().dialogs.full_size;
  CHECK(bench.state().document.full_size_runs.running());  // nobody comes to an empty page
  bench.ui->click("full_size/cancel").click("full_size/model/4");
  CHECK(state.request.length == 1024);
  CHECK(state.request.is_causal);
  bench.ui->click("full_size/model/0");
  CHECK(state.request.length == 512);
  CHECK_FALSE(state.request.is_causal);
  state.request = small_request();
  bench.ui->click("full_size/run");
  wait_for_result(bench);
  REQUIRE(bench.ui->has("full_size/figures"));
  for (int h = 0; h < 8; ++h) CHECK(bench.ui->has("full_size/map/" + std::to_string(h)));
  // The model of these sizes has no such heads: the title says that they are made up.
  CHECK(bench.ui->has("says/head 0 hand-made: previous word"));
  // Another run is another picture, wherever its result lies in memory.
  CHECK(state.maps.parts.at(6).spec.values.value(0, 149) == 0.0);
  state.request.is_causal = false;
  bench.ui->click("full_size/run");
  wait_for_result(bench);
  CHECK(state.maps.parts.at(6).spec.values.value(0, 149) > 0.0);
  state.request.is_causal = true;
  bench.ui->click("full_size/run");
  wait_for_result(bench);
  CHECK(state.maps.parts.at(6).spec.values.value(0, 149) == 0.0);
  // What belongs to the choice before is dimmed until the present one is run.
  CHECK_FALSE(bench.ui->has("full_size/previous/maps"));
  state.request.is_causal = false;
  bench.ui->run_frames(2);
  bench.ui->check_shown({"full_size/previous/maps", "full_size/previous/figures"});
  state.request.is_causal = true;
  bench.ui->run_frames(2);
  CHECK_FALSE(bench.ui->has("full_size/previous/figures"));
  bench.ui->move_to("full_size/map/2");
  CHECK(bench.ui->has("full_size/told"));
  CHECK(bench.ui->has("full_size/whose"));  // whose weights the maps are of
  bench.ui->click("full_size/map/2");
  REQUIRE(state.maps.head == 2);
  bench.ui->run_frames(2);
  const UiRect map = bench.ui->rect("full_size/head");
  bench.ui->move_to(map.min.x + 2, map.min.y + 2);
  for (int i = 0; i < 30; ++i) bench.ui->wheel(1);
  CHECK(state.maps.zoom.side == MapZoom::least_side);
  CHECK(state.maps.zoom.row < 1.0);
  CHECK(state.maps.parts.front().block == 1);
  CHECK_CONTAINS(shown_label(state.maps.parts.front(), *bench.state().document.full_size_runs.result()),
                 "The (query 0)");
  bench.ui->drag(map.min.x + 200, map.min.y + 200, map.min.x + 100, map.min.y + 150);
  CHECK(state.maps.zoom.col > 0.0);
  CHECK(state.maps.zoom.row > 0.0);
  const ValueRange before = state.maps.parts.front().spec.range;
  CHECK(state.maps.top == doctest::Approx(std::pow(10.0, -0.75)));  // some 32/150: most weights are small
  bench.ui->click("full_size/top");
  CHECK(state.maps.top < 0.05);
  CHECK(state.maps.parts.front().spec.range == before);  // colours are no new picture
  bench.ui->click("full_size/whole");
  CHECK(visible_rows(state.maps.zoom, 150, 150) == CellRange{0, 150});
  bench.ui->click("full_size/after");
  CHECK(state.maps.head == 3);
  bench.ui->click("full_size/all");
  CHECK_FALSE(state.maps.head);
  bench.ui->key("Escape").run_frames(2);
  CHECK_FALSE(bench.ui->has("overlay/full_size"));
  CHECK_FALSE(bench.state().document.full_size_runs.result());  // it may be most of the memory
}

TEST_CASE("in a small window every control of a head that is looked into is in sight") {
  WINDOW_OR_SKIP(bench, open_window(900, 600));
  bench.ui->key("Z");
  bench.ui->run_frames(6);  // the sheet finds its size
  bench.ui->click("full_size/cancel");
  bench.state().dialogs.full_size.request = small_request();
  bench.ui->click("full_size/run");
  wait_for_result(bench);
  bench.ui->click("full_size/map/1");  // of the longest name
  bench.ui->run_frames(2);
  const UiRect sheet = bench.ui->rect("overlay/full_size");
  for (const char* control : {"full_size/all", "full_size/whole", "full_size/statistic", "full_size/top"})
    CHECK(bench.ui->rect(control).max.x <= sheet.max.x - 10);
}

TEST_CASE("a run that takes long shows how far it has come and is given up at once") {
  WINDOW_OR_SKIP(bench, open_window(1280, 720));
  bench.ui->key("Z");
  bench.ui->run_frames(6);  // the sheet finds its size
  FullSizeState& state = bench.state().dialogs.full_size;
  bench.state().document.full_size_runs.cancel();  // what it begins with
  bench.ui->run_frames(2);
  state.request = {
      .model = 8, .length = 4096, .is_causal = true, .hand_made = false, .backend = BackendId::fused};
  bench.ui->click("full_size/run");
  CHECK(bench.ui->has("full_size/progress"));
  CHECK(bench.ui->result().wake_after <= seconds_between_words);
  bench.ui->click("full_size/cancel");
  CHECK_FALSE(bench.state().document.full_size_runs.running());
  CHECK_FALSE(bench.state().document.full_size_runs.result());
  bench.ui->run_frames(2);
  CHECK(bench.ui->has("full_size/run"));
}
