// A picture in the window: dropped on a model, drawn with its patches, and where they look.
#include "app/window/window_files.h"
#include "app/window/window_pictures.h"
#include "core/model/transformer/text_model.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/run_record.h"
#include "tests/app/window_bench.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

const std::string window_vit = HEADWISE_SOURCE_DIR "/tests/golden/models/vit";
const std::string window_photo = HEADWISE_SOURCE_DIR "/tests/golden/pictures/photo.png";

bool has_sentence(const WindowBench& bench, std::string_view part) {
  for (const auto& notice : bench.state().view.notices.notices)
    if (notice.text.find(part) != std::string::npos) return true;
  return false;
}

// A window on the ViT with its picture; null where there is no EGL.
WindowBench open_vit(int width = 1280, int height = 900) {
  WindowBench bench = open_window(width, height, scenario_of_file(window_vit));
  if (bench.ui) bench.ui->push(FilesDropped{{window_photo}}).run_until_still();
  return bench;
}

}  // namespace

TEST_CASE("a PNG that is dropped on a model of pictures becomes its input, and undo takes it out") {
  WINDOW_OR_SKIP(bench, open_vit());
  CHECK(bench.scenario().inputs.source == InputSource::picture);
  CHECK(bench.scenario().inputs.picture == window_photo);
  CHECK(bench.session().inputs().labels.query.at(1) == "r0 c0");
  CHECK(bench.trace().tensors.attn_weights->shape().size(2) == 17);
  CHECK(has_sentence(bench, "its patches are the tokens"));
  CHECK(bench.ui->has("setup/picture"));
  bench.ui->key("Ctrl+Z").run_until_still();
  CHECK(bench.scenario().inputs.source == InputSource::random);
}

TEST_CASE("a PNG that is dropped on another model is refused with one sentence") {
  WINDOW_OR_SKIP(bench, open_window());
  const TracePtr before = bench.session().trace_ptr();
  bench.ui->push(FilesDropped{{window_photo}}).run_frames(2);
  CHECK(bench.session().trace_ptr() == before);
  CHECK(has_sentence(bench, "a picture needs a model that reads pictures"));
}

TEST_CASE("the tokens of a picture are its patches: the one under the mouse shows where it looks") {
  WINDOW_OR_SKIP(bench, open_vit());
  bench.show(Step::softmax, StageView::tokens);
  REQUIRE(bench.ui->has("patches/weights"));
  const UiRect queries = bench.ui->rect("stage/queries"), keys = bench.ui->rect("stage/keys");
  CHECK(keys.min.x > queries.max.x);
  const float patch = (queries.max.x - queries.min.x) / 4.0f;
  bench.ui->move_to(queries.min.x + 2.5f * patch, queries.min.y + 1.5f * patch).run_frames(2);
  REQUIRE(bench.selection().hovered);
  CHECK(bench.selection().hovered->index.at(2) == 1 + 4 + 2);  // r1 c2
  bench.ui->move_to(keys.min.x + 0.5f * patch, keys.min.y + 3.5f * patch).run_frames(2);
  REQUIRE(bench.selection().hovered);
  CHECK(bench.selection().hovered->index.at(3) == 1 + 12);  // r3 c0
  const Index head = bench.selection().head;
  bench.ui->key("2").run_frames(2);
  CHECK(bench.ui->has("patches/keys"));
  CHECK(head >= 0);
}

TEST_CASE("the inspector has the picture at the inputs, and its weights at later steps") {
  WINDOW_OR_SKIP(bench, open_vit(1280, 1200));
  bench.show(Step::inputs, StageView::one_head);
  CHECK(bench.ui->has("patches/picture"));
  const auto plain = bench.ui->pixels();
  bench.show(Step::softmax, StageView::one_head);
  CHECK(bench.ui->has("patches/picture"));
}

TEST_CASE("a picture of the stage has the patches, also as vectors") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_vit());
  bench.show(Step::softmax, StageView::tokens);
  for (const char* const name : {"stage.png", "stage.svg", "stage.pdf"}) {
    CAPTURE(name);
    write_stage_picture(bench.state(), folder.file(name), Theme::light);
    CHECK(content_of(folder.file(name)).size() > 5000);
  }
  CHECK_CONTAINS(content_of(folder.file("stage.svg")), "[CLS]");
}

TEST_CASE("the prediction of a picture is its class, by name") {
  WINDOW_OR_SKIP(bench, open_vit());
  bench.show(Step::output, StageView::prediction);
  CHECK(bench.ui->has("prediction/what"));
  CHECK(bench.ui->has("prediction/row/0"));
  CHECK_FALSE(bench.ui->has("prediction/row/1"));
}
