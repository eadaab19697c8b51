// What moves from one step to the next follows from the rules, and the line of all steps from the clock.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "app/content/motion.h"
#include "core/attention/reference_backend.h"
#include "tests/app/stage/stage_trace.h"

using namespace headwise;

namespace {
const std::vector<Step> shown = shown_steps({});
}

TEST_CASE("a motion runs from one step to the one behind it, and nowhere else") {
  MotionState motion;
  begin_motion(motion, shown, Step::scores, Step::scale);
  CHECK(motion.running);
  CHECK(motion.progress == 0.0);
  CHECK(advance_motion(motion, motion_seconds / 2, 1.0));
  CHECK(motion.progress == doctest::Approx(0.5));
  CHECK_FALSE(advance_motion(motion, motion_seconds, 1.0));
  CHECK(motion.progress == 1.0);
  begin_motion(motion, shown, Step::scale, Step::scores);
  CHECK(motion.progress == 1.0);
  CHECK_FALSE(motion.running);
  begin_motion(motion, shown, Step::inputs, Step::output);
  CHECK_FALSE(motion.running);
}

TEST_CASE("twice the speed is half the time") {
  MotionState motion;
  begin_motion(motion, shown, Step::scores, Step::scale);
  advance_motion(motion, motion_seconds / 4, 2.0);
  CHECK(motion.progress == doctest::Approx(0.5));
}

TEST_CASE("a place on the line of steps goes there and back, and snaps to a step that is near") {
  for (double position = 0.0; position <= static_cast<double>(shown.size() - 1); position += 0.1) {
    const TimelinePlace place = timeline_place(shown, position);
    CHECK(std::abs(timeline_position(shown, place.step, place.progress) - position) < 1e-9);
  }
  CHECK(timeline_place(shown, 2.98).step == Step::scores);
  CHECK(timeline_place(shown, 2.98).progress == 1.0);
  CHECK(timeline_place(shown, -5.0).step == Step::inputs);
  CHECK(timeline_place(shown, 99.0).step == Step::output);
  CHECK(timeline_place(shown, 99.0).progress == 1.0);
}

TEST_CASE("blocks that move cover the result once, and carry its very numbers") {
  const TracedScenario given = traced({"attention.num_heads=4", "attention.num_kv_heads=2",
                                       "attention.embed_dim=24", "attention.v_head_dim=3", "inputs.batch=2"});
  for (const TensorId id : {TensorId::q_heads, TensorId::k_heads, TensorId::v_heads, TensorId::concat}) {
    const Rule rule = declared_rule(*given.trace, {id});
    CHECK(making_of(rule) == Making::blocks);
    const TensorPtr result = given.trace->tensor(id);
    const std::vector<MovingBlock> blocks = moving_blocks(*given.trace, rule, 1);
    CHECK(blocks.size() == static_cast<std::size_t>(id == TensorId::k_heads || id == TensorId::v_heads ? 2 : 4));
    std::set<Index> covered;
    for (const MovingBlock& block : blocks) {
      const TensorPtr source = given.trace->tensor(block.from.tensor);
      // Cells in order, along the rows of both boxes.
      std::vector<double> from, to;
      const auto collect = [](const Tensor& tensor, const BoxRef& box, std::vector<double>& values) {
        for (Index i = 0; i < tensor.size(); ++i) {
          const std::vector<Index> index = tensor.shape().index_of(i);
          bool inside = true;
          for (std::size_t a = 0; a < index.size(); ++a)
            inside = inside && box.begin[a] <= index[a] && index[a] < box.end[a];
          if (inside) values.push_back(tensor.flat(i));
        }
      };
      collect(*source, block.from, from);
      collect(*result, block.to, to);
      CHECK(!to.empty());
      CHECK(from == to);
      for (Index i = 0; i < result->size(); ++i) {
        const std::vector<Index> index = result->shape().index_of(i);
        bool inside = true;
        for (std::size_t a = 0; a < index.size(); ++a)
          inside = inside && block.to.begin[a] <= index[a] && index[a] < block.to.end[a];
        if (inside) CHECK(covered.insert(i).second);
      }
    }
    CHECK(static_cast<Index>(covered.size()) == result->size() / 2);  // all of batch 1
  }
}

TEST_CASE("each step is made in the way of its rule") {
  const TracedScenario given =
      traced({"mask.is_causal=true", "attention.dropout=0.25", "attention.layer_norm=true"});
  const auto making = [&](TensorId id) { return making_of(declared_rule(*given.trace, {id})); };
  CHECK(making(TensorId::q) == Making::sweep);
  CHECK(making(TensorId::scores) == Making::sweep);
  CHECK(making(TensorId::scaled_scores) == Making::morph);
  CHECK(making(TensorId::masked_scores) == Making::fall);
  CHECK(making(TensorId::attn_weights) == Making::settle);
  CHECK(making(TensorId::dropped_weights) == Making::morph);
  CHECK(making(TensorId::head_output) == Making::sweep);
  CHECK(making(TensorId::output) == Making::sweep);
  CHECK(making(TensorId::layer_norm_output) == Making::morph);
}

TEST_CASE("a sweep goes through every cell once, the first row as slowly as all others together") {
  const Index rows = 5, cols = 7;
  double before = -1.0;
  for (int i = 0; i <= 100; ++i) {
    const SweepFront front = sweep_front(i / 100.0, rows, cols);
    const double made = static_cast<double>(front.row * cols) + front.column;
    CHECK(made >= before);
    CHECK(front.column <= cols);
    before = made;
  }
  CHECK(sweep_front(0.0, rows, cols).row == 0);
  CHECK(sweep_front(0.49, rows, cols).row == 0);
  CHECK(sweep_front(1.0, rows, cols).row == rows);
  CHECK(sweep_front(1.0, 1, cols).row == 1);
  CHECK(sweep_front(0.5, 0, cols).row == 0);
}

TEST_CASE("what is written while colours change are the numbers before or after, paler towards the middle") {
  CHECK_FALSE(written_numbers(0.0).after);
  CHECK(written_numbers(0.0).opacity == 1.0);
  CHECK_FALSE(written_numbers(0.4).after);
  CHECK(written_numbers(0.4).opacity == doctest::Approx(0.2));
  CHECK(written_numbers(0.5).opacity == 0.0);
  CHECK(written_numbers(0.6).after);
  CHECK(written_numbers(1.0).after);
  CHECK(written_numbers(1.0).opacity == 1.0);
}

TEST_CASE("numbers on their way lie between, and the exponentials are those of the row") {
  const TensorPtr a =
      std::make_shared<const Tensor>(Shape{{"L", 1}, {"S", 3}}, std::vector<double>{0, 4, -INFINITY});
  const TensorPtr b = std::make_shared<const Tensor>(Shape{{"L", 1}, {"S", 3}}, std::vector<double>{8, 4, 0});
  const TensorPtr half = between(matrix_view(a), matrix_view(b), 0.25);
  CHECK(half->flat(0) == 2.0);
  CHECK(half->flat(1) == 4.0);
  CHECK(half->flat(2) == -INFINITY);
  const TensorPtr exponentials = row_exponentials(matrix_view(a));
  CHECK(exponentials->flat(0) == doctest::Approx(std::exp(-4.0)));
  CHECK(exponentials->flat(1) == 1.0);
  CHECK(exponentials->flat(2) == 0.0);
}
