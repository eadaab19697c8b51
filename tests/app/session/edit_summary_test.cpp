#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "app/session/edit_summary.h"
#include "app/session/selection.h"

using namespace headwise;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TensorPtr tensor(std::vector<Index> sizes, std::vector<float> values) {
  std::vector<Axis> axes;
  for (const Index size : sizes) axes.push_back({"x", size});
  return std::make_shared<Tensor>(Shape(std::move(axes)), std::move(values));
}

// 1 batch, 4 heads of width 2, 2 tokens; the output is (1,2,2).
Trace small_trace() {
  Trace trace;
  trace.options.num_heads = trace.options.num_kv_heads = 4;
  trace.options.embed_dim = 8;
  trace.options.head_dim = trace.options.v_head_dim = 2;
  trace.tensors.q_heads = tensor({1, 4, 2, 2}, std::vector<float>(16, 1.0f));
  trace.tensors.attn_weights = tensor({1, 4, 2, 2}, std::vector<float>(16, 0.5f));
  trace.tensors.output = tensor({1, 2, 2}, {3, 0, 0, 4});
  return trace;
}

Scenario with_gain(std::vector<double> gain) {
  Scenario scenario;
  scenario.attention.num_heads = 4;
  scenario.head_gain = std::move(gain);
  return scenario;
}

}  // namespace

TEST_CASE("a muted head is named with its columns, how far the output moved, and what stayed") {
  const Trace before = small_trace();
  Trace after = before;
  after.tensors.output = tensor({1, 2, 2}, {3, 0, 0, 3.635f});  // 0.365 / 5 = 7.3 %
  CHECK(edit_summary("mute head 1", with_gain({1, 1, 1, 1}), before, with_gain({1, 0, 1, 1}), after) ==
        "Head 1 muted: concat[:, 2:4] is 0, the output changed by 7.3 % (relative norm). The attention "
        "weights did not change.");
}

TEST_CASE("gains that are written out as 1 are no change") {
  const Trace trace = small_trace();
  Scenario plain = with_gain({});
  plain.head_gain.reset();
  CHECK(edit_summary("heads", plain, trace, with_gain({1, 1, 1, 1}), trace) ==
        "Heads: the output did not change. The attention weights did not change.");
}

TEST_CASE("several gains are told together") {
  const Trace trace = small_trace();
  const auto told = [&](std::vector<double> from, std::vector<double> to) {
    const std::string line =
        edit_summary("x", with_gain(std::move(from)), trace, with_gain(std::move(to)), trace);
    return line.substr(0, line.find(", the output"));
  };
  CHECK(told({1, 1, 1, 1}, {0, 1, 0, 1}) == "Heads 0 and 2 muted: their columns of concat are 0");
  CHECK(told({1, 1, 1, 1}, {0, 0, 1, 0}) == "Only head 2 is unmuted: all other columns of concat are 0");
  CHECK(told({0, 0, 1, 0}, {1, 1, 1, 1}).starts_with("All heads are unmuted: the output"));
  CHECK(told({0, 0, 1, 1}, {0, 1, 1, 1}).starts_with("Heads 1 unmuted") == false);
  CHECK(told({0, 0, 1, 1}, {0, 1, 1, 1}).starts_with("Head 1 unmuted: the output"));
  CHECK(told({1, 1, 1, 1}, {1, 0.5, 1, 1}).starts_with("Head 1 at gain 0.5: "));
}

TEST_CASE("a mask edit says which share of the pairs is blocked") {
  const Trace before = small_trace();
  Trace after = before;
  std::vector<float> bias(16, 0.0f);
  for (std::size_t i = 1; i < 16; i += 4) bias[i] = -std::numeric_limits<float>::infinity();
  after.tensors.mask_bias = tensor({1, 4, 2, 2}, bias);
  std::vector<float> weights(16, 0.5f);
  weights[0] = 0.75f;
  after.tensors.attn_weights = tensor({1, 4, 2, 2}, weights);
  Scenario causal;
  causal.mask.is_causal = true;
  CHECK(edit_summary("causal mask on", Scenario{}, before, causal, after) ==
        "Causal mask on: 25 % of the pairs are blocked, the output did not change. The attention weights "
        "changed by up to 0.25.");
  CHECK(edit_summary("causal mask off", causal, after, Scenario{}, before)
            .starts_with("Causal mask off: no pair is blocked, the output did not change."));
  // What was taken back is named, and what is said of it is true now.
  CHECK(undo_summary("causal mask on", causal, after, Scenario{}, before)
            .starts_with("Undone: causal mask on. No pair is blocked now, the output did not change."));
  CHECK(undo_summary("causal mask off", Scenario{}, before, causal, after)
            .starts_with("Undone: causal mask off. 25 % of the pairs are blocked now, the output did not"));
}

TEST_CASE("only cells that the mask closes count as blocked, whatever number it fills them with") {
  Trace trace = small_trace();
  trace.tensors.mask_bias = tensor({1, 1, 2, 2}, {0, -std::numeric_limits<float>::infinity(), -3, 0});
  Scenario filled;
  filled.mask.value = 0.0;
  CHECK(
      edit_summary("fill", Scenario{}, trace, filled, trace).starts_with("Fill: 25 % of the pairs are blocked"));
}

TEST_CASE("another length is told in tokens, and the output by its new shape") {
  const Trace before = small_trace();
  Trace after = before;
  after.tensors.q_heads = tensor({1, 4, 3, 2}, std::vector<float>(24, 1.0f));
  after.tensors.attn_weights = tensor({1, 4, 3, 3}, std::vector<float>(36, 1.0f / 3));
  after.tensors.output = tensor({1, 3, 2}, std::vector<float>(6, 1.0f));
  Scenario longer;
  longer.inputs.text = "a b c";
  CHECK(edit_summary("text", Scenario{}, before, longer, after) ==
        "Text: 3 tokens instead of 2, the output is now (1,3,2).");
  CHECK(undo_summary("text", longer, after, Scenario{}, before) ==
        "Undone: text. 2 tokens instead of 3, the output is now (1,2,2).");
  after.tensors.q_heads = tensor({1, 4, 1, 2}, std::vector<float>(8, 1.0f));
  CHECK(edit_summary("text", Scenario{}, before, longer, after).starts_with("Text: 1 token instead of 2, "));
}

TEST_CASE("the key that was edited is told, whatever had to follow it") {
  const Trace trace = small_trace();
  Scenario before = with_gain({1, 1, 0, 1}), after = with_gain({1, 1, 0, 1, 1, 1, 1, 1});
  after.attention.num_heads = 8;
  CHECK(edit_summary("num_heads", before, trace, after, trace)
            .starts_with("num_heads 4 → 8: the output did not change."));
  CHECK(undo_summary("num_heads", after, trace, before, trace)
            .starts_with("Undone. num_heads 8 → 4: the output did not change."));
}

TEST_CASE("numbers that are no longer numbers are counted") {
  const Trace before = small_trace();
  Trace after = before;
  after.tensors.output = tensor({1, 2, 2}, {NAN, 0, static_cast<float>(infinity), 4});
  CHECK(edit_summary("x", Scenario{}, before, Scenario{}, after)
            .starts_with("X: 2 of 4 output numbers are now NaN or infinite."));
  // NaN before and after, at the same place: nothing moved.
  CHECK(edit_summary("x", Scenario{}, after, Scenario{}, after).starts_with("X: the output did not change."));
}

TEST_CASE("what was NaN and is a number again is counted, and not said to have moved by 0") {
  const Trace after = small_trace();
  Trace before = after;
  before.tensors.output = tensor({1, 2, 2}, {NAN, NAN, NAN, NAN});
  before.tensors.attn_weights = tensor({1, 4, 2, 2}, std::vector<float>(16, NAN));
  CHECK(edit_summary("x", Scenario{}, before, Scenario{}, after) ==
        "X: 4 output numbers are finite again. 16 attention weights are no longer NaN.");
  before.tensors.output = tensor({1, 2, 2}, {NAN, 0, 0, 2});
  CHECK(edit_summary("x", Scenario{}, before, Scenario{}, after)
            .starts_with("X: 1 output number is finite again, the others changed by 100 %."));
}

TEST_CASE("an output that was all zero has moved by an amount, not by a share") {
  Trace before = small_trace();
  before.tensors.output = tensor({1, 2, 2}, {0, 0, 0, 0});
  Trace after = small_trace();
  CHECK(
      edit_summary("x", Scenario{}, before, Scenario{}, after).starts_with("X: the output changed by up to 4."));
}

TEST_CASE("a selection is kept inside another trace's sizes") {
  const Trace trace = small_trace();
  Selection selection;
  selection.step = Step::softmax;
  selection.batch = 3;
  selection.head = 7;
  selection.pinned = CellRef{{TensorId::attn_weights}, {0, 3, 1, 1}};
  selection.hovered = CellRef{{TensorId::attn_weights}, {0, 3, 1, 2}};
  selection.tensor = TensorId::concat;
  const Selection within = selection_within(selection, trace);
  CHECK(within.step == Step::softmax);
  CHECK(within.batch == 0);
  CHECK(within.head == 3);
  CHECK(within.pinned.has_value());
  CHECK_FALSE(within.hovered.has_value());
  selection.pinned->index[1] = 7;  // of a head that is there no more
  CHECK(selection_within(selection, trace).pinned == CellRef{{TensorId::attn_weights}, {0, 3, 1, 1}});
  selection.pinned->index[3] = 90;
  CHECK_FALSE(selection_within(selection, trace).pinned);
  CHECK_FALSE(within.tensor.has_value());
}

TEST_CASE("of the edits since a step, those that still make a difference are told, each setting once") {
  const auto with = [](std::int64_t heads, bool causal, std::vector<double> gain) {
    Scenario scenario = with_gain(std::move(gain));
    scenario.attention.num_heads = heads;
    scenario.mask.is_causal = causal;
    return scenario;
  };
  const Scenario page = with(4, false, {1, 1, 1, 1});
  const auto is_page = [&](const Scenario& each) { return each == page; };
  History history(with(2, false, {1, 1}));
  CHECK(edits_since(history, is_page).empty());
  history.push(page, "page 1");
  CHECK(edits_since(history, is_page).empty());
  history.push(with(4, true, {1, 1, 1, 1}), "causal mask on");
  history.push(with(4, true, {1, 0, 1, 1}), "mute head 1");
  history.push(with(4, true, {1, 0, 0, 1}), "mute head 2");
  CHECK(edits_since(history, is_page) == "causal mask on, mute head 1, mute head 2");
  history.push(with(4, false, {1, 0, 0, 1}), "causal mask off");
  CHECK(edits_since(history, is_page) == "mute head 1, mute head 2");
  history.push(with(4, true, {1, 0, 0, 1}), "causal mask on");
  CHECK(edits_since(history, is_page) == "mute head 1, mute head 2, causal mask on");
  history.push(with(3, true, {1, 0, 0, 1}), "num_heads");
  history.push(with(8, true, {1, 0, 0, 1}), "num_heads");
  CHECK(edits_since(history, is_page) == "mute head 2, causal mask on, num_heads 4 → 8 and 1 more");
  history.undo();
  history.undo();
  history.undo();
  CHECK(edits_since(history, is_page) == "mute head 1, mute head 2");
  history.push(page, "page 1");
  CHECK(edits_since(history, is_page).empty());
  history.push(with(2, true, {1, 1, 1, 1}), restored_label);
  CHECK(edits_since(history, is_page) == "is_causal false → true, num_heads 4 → 2");
  history.push(page, "page 1");
  history.push(with(4, true, {1, 1, 1, 1}), "causal mask on");
  history.turn_page(with(8, true, {1, 1, 1, 1}), "page 2", 1);
  CHECK(edits_since(history, is_page).empty());  // what came before is another page's
  history.push(with(8, false, {1, 1, 1, 1}), "causal mask off");
  CHECK(edits_since(history, is_page).empty());
}
