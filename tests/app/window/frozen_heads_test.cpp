// A head that is frozen by its key or in the setup, and what the window then shows of it.
#include "app/session/head_gains.h"
#include "core/scenario/scenario_json.h"
#include "tests/app/window_bench.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

bool same_weights(const Trace& a, const Trace& b, Index head) {
  const Tensor &x = *a.tensors.attn_weights, &y = *b.tensors.attn_weights;
  for (Index i = 0; i < x.size(); ++i) {
    if (x.shape().index_of(i)[1] == head && x.flat(i) != y.flat(i)) return false;
  }
  return x.shape() == y.shape();
}

}  // namespace

TEST_CASE("H freezes the head that is looked at: a new word reaches its answer through the values alone") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1250));
  const TracePtr before = bench.session().trace_ptr();
  bench.ui->key("6");  // of random parameters: its weights follow the words
  bench.ui->key("H");
  CHECK(is_frozen(bench.scenario(), 6));
  CHECK(bench.session().last_edit().starts_with("Head 6 frozen: it keeps its 12 × 12 weights"));
  CHECK(identical(*bench.trace().tensors.output, *before->tensors.output));

  const char* sentence = "inputs.text=The animal didn't cross the street although it was too tired";
  bench.window->state().document.session.edit(with_setting(bench.scenario(), sentence), "text");
  bench.ui->run_frames(3);
  CHECK(same_weights(bench.trace(), *before, 6));
  CHECK_FALSE(identical(*bench.trace().tensors.head_output, *before->tensors.head_output));
  const ComputationPtr free = compute(with_setting(preset_scenario("hand_made"), sentence), nullptr);
  CHECK_FALSE(identical(*bench.trace().tensors.output, *free->trace->tensors.output));

  bench.ui->key("H");
  CHECK_FALSE(bench.scenario().frozen_heads);
  CHECK(identical(*bench.trace().tensors.output, *free->trace->tensors.output));
  bench.ui->key("Ctrl+Z");
  bench.ui->key("Ctrl+Z");
  bench.ui->key("Ctrl+Z");
  CHECK(bench.scenario() == preset_scenario("hand_made"));
}

TEST_CASE("the setup freezes the head that is looked at by a click, and a lock marks its map in every view") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1250));
  bench.ui->key("4");
  CHECK_FALSE(bench.ui->has("lock"));
  bench.ui->click("setup/freeze/frozen");
  CHECK(is_frozen(bench.scenario(), 4));
  for (const StageView view : {StageView::one_head, StageView::all_heads}) {
    bench.window->state().view.selection.view = view;
    bench.window->state().view.selection.step = Step::softmax;
    bench.ui->run_frames(3);
    CHECK(bench.ui->has("lock"));
    if (view != StageView::one_head) continue;
    const UiRect lock = bench.ui->rect("lock"), map = bench.ui->rect("stage/result");
    CHECK(lock.min.x > map.min.x);  // the large map, behind the thumbnails
    CHECK(lock.max.x <= map.max.x);
    CHECK(lock.min.y >= map.min.y);
    CHECK(lock.max.y < map.max.y);
  }
  bench.ui->click("setup/freeze/live");
  CHECK_FALSE(bench.scenario().frozen_heads);
  bench.ui->key("Ctrl+Z");
  CHECK(is_frozen(bench.scenario(), 4));
}

TEST_CASE("an edit of the sizes lets the head go in one step of undo") {
  WINDOW_OR_SKIP(bench, open_window(1600, 1250));
  bench.ui->key("H");
  const Scenario frozen = bench.scenario();
  bench.window->state().document.session.edit(with_setting(frozen, "attention.num_heads=4"), "num_heads");
  bench.ui->run_frames(2);
  CHECK(bench.session().error().empty());
  CHECK_FALSE(bench.scenario().frozen_heads);
  CHECK_CONTAINS(bench.session().last_edit(), "no longer frozen");
  bench.ui->key("Ctrl+Z");
  CHECK(bench.scenario() == frozen);
}
