#include "core/attention/memory_order.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/attention/reference_backend.h"
#include "core/tensor/random.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;

namespace {

struct Sizes {
  Index batch, queries, keys, heads, kv_heads, head_dim;
};

TracePtr traced(const Sizes& s) {
  return reference_forward(test::random_inputs(test::small_options(s.heads, s.kv_heads, s.head_dim),
                                               {s.batch, s.queries, s.keys}));
}

// H is a multiple of G.
Sizes drawn_sizes(std::uint64_t seed) {
  const CounterRandom random(seed, "sizes");
  const auto below = [&](std::uint64_t place, Index count) {
    return 1 + static_cast<Index>(random.bits(place) % static_cast<std::uint64_t>(count));
  };
  const Index groups = below(3, 3);
  return {below(0, 3), below(1, 5), below(2, 5), groups * below(4, 2), groups, below(5, 4)};
}

template <class Visit>
void each_cell(const Shape& shape, const Visit& visit) {
  for (Index i = 0; i < shape.element_count(); ++i) visit(shape.index_of(i));
}

std::string strides(const std::vector<MemoryState>& states) {
  std::string text;
  for (const MemoryState& state : states) text += state.code + " " + state.layout.strides_text() + "\n";
  return text;
}

}  // namespace

TEST_CASE(
    "the split shows at every cell the float of q that index arithmetic finds, in both layouts of the "
    "batch") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const Sizes s = drawn_sizes(seed);
    const TracePtr trace = traced(s);
    for (const bool batch_first : {true, false}) {
      for (const auto& [heads, joined, count, rows] :
           {std::tuple{TensorId::q_heads, TensorId::q, s.heads, s.queries},
            {TensorId::k_heads, TensorId::k, s.kv_heads, s.keys},
            {TensorId::v_heads, TensorId::v, s.kv_heads, s.keys}}) {
        const MemoryOrder order = memory_order(*trace, Step::split_heads, heads, batch_first);
        REQUIRE(order.source.tensor == joined);
        REQUIRE(order.heads == count);
        const TensorPtr before = trace->tensor(joined), after = trace->tensor(heads);
        each_cell(after->shape(), [&](const std::vector<Index>& cell) {
          const Index n = cell[0], h = cell[1], t = cell[2], d = cell[3];
          const Index width = count * s.head_dim;
          const Index row = batch_first ? n * rows + t : t * s.batch + n;
          const Index expected = row * width + h * s.head_dim + d;
          REQUIRE(float_of(order.states, order.last(), to_layout(order.result, cell)) == expected);
          const auto source = from_layout(order.source, cell_of(order.states, 0, expected));
          REQUIRE(source == std::vector<Index>{n, t, h * s.head_dim + d});
          REQUIRE(before->at(source) == after->at(cell));
          REQUIRE(head_of_float(order, expected) == h);
          REQUIRE(cell_of(order.states, order.last(), expected) == to_layout(order.result, cell));
          // The wrong view counts row by row through (N,H,L,D).
          const Index wrong = ((n * count + h) * rows + t) * s.head_dim + d;
          REQUIRE(float_of(order.wrong, order.wrong.size() - 1, cell) == wrong);
        });
      }
    }
  }
}

TEST_CASE("no operation of the split moves a float, and the copy of the concatenation moves each once") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const Sizes s = drawn_sizes(seed);
    const TracePtr trace = traced(s);
    for (const bool batch_first : {true, false}) {
      for (const MemoryState& state :
           memory_order(*trace, Step::split_heads, TensorId::q_heads, batch_first).states)
        CHECK_FALSE(state.copied);
      const MemoryOrder order = memory_order(*trace, Step::concat, TensorId::concat, batch_first);
      const TensorPtr heads = trace->tensors.head_output, concat = trace->tensors.concat;
      std::set<Index> seen;
      each_cell(heads->shape(), [&](const std::vector<Index>& cell) {
        const Index n = cell[0], h = cell[1], l = cell[2], d = cell[3];
        const Index first = heads->shape().offset(cell);
        const Index width = s.heads * s.head_dim, column = h * s.head_dim + d;
        const Index row = batch_first ? n * s.queries + l : l * s.batch + n;
        CHECK(place_of(order.states, order.last(), first) == row * width + column);
        const auto joined = from_layout(order.result, cell_of(order.states, order.last(), first));
        REQUIRE(joined == std::vector<Index>{n, l, column});
        REQUIRE(concat->at(joined) == heads->at(cell));
        REQUIRE(float_of(order.states, order.last(), to_layout(order.result, joined)) == first);
        CHECK(head_of_float(order, first) == h);
        seen.insert(place_of(order.states, order.last(), first));
      });
      CHECK(static_cast<Index>(seen.size()) == heads->size());
      // Where PyTorch refuses a view, .contiguous() copies; and one row, or one head, batch first,
      // needs neither.
      const bool copies = std::ranges::any_of(order.states, &MemoryState::copied);
      if (!order.refusal.empty()) CHECK(copies);
      if (batch_first) CHECK(copies == (s.queries > 1 && s.heads > 1));
    }
  }
}

TEST_CASE("the strides of the welcome sizes are those that PyTorch prints") {
  const TracePtr trace = traced({1, 12, 12, 8, 8, 16});
  const MemoryOrder split = memory_order(*trace, Step::split_heads, TensorId::q_heads);
  CHECK(strides(split.states) ==
        "q (1536,128,1)\n.view(1, 12, 8, 16) (1536,128,16,1)\n.transpose(1, 2) (1536,16,128,1)\n");
  CHECK(split.states.back().layout.offset_letters() == "h·D + l·E + d");
  CHECK(split.wrong_code == "q.view(1, 8, 12, 16)");
  CHECK(split.wrong.back().layout.strides_text() == "(1536,192,16,1)");
  CHECK(split.refusal.empty());

  const MemoryOrder keys = memory_order(*trace, Step::scores, TensorId::scores);
  CHECK(keys.result.tensor == TensorId::k_heads);
  CHECK(keys.states.back().layout.strides_text() == "(1536,16,1,128)");
  CHECK(keys.refused_code == "k_heads.view(1, 8, 16, 12)");
  CHECK(keys.wrong_code == "k_heads.reshape(1, 8, 16, 12)");
  CHECK(keys.wrong[keys.wrong.size() - 2].copied);

  const MemoryOrder concat = memory_order(*trace, Step::concat, TensorId::concat);
  CHECK(strides(concat.states) ==
        "head_output (1536,192,16,1)\n.transpose(1, 2) (1536,16,192,1)\n.contiguous() (1536,128,16,1)\n"
        ".view(1, 12, 128) (1536,128,1)\n");
  CHECK(concat.refused_code == ".transpose(1, 2).view(1, 12, 128)");
  CHECK(concat.refusal.starts_with("view size is not compatible with input tensor's size and stride"));

  const TracePtr two = traced({2, 3, 3, 4, 4, 2});
  const MemoryOrder folded = memory_order(*two, Step::split_heads, TensorId::q_heads, false);
  CHECK(strides(folded.states) ==
        "q (16,8,1)\n.view(3, 8, 2) (16,2,1)\n.transpose(0, 1) (2,16,1)\n.view(2, 4, 3, 2) (8,2,16,1)\n");
}

TEST_CASE("a turned k that is reshaped instead has other floats in its cells") {
  const TracePtr trace = traced({1, 2, 3, 2, 2, 4});
  const MemoryOrder order = memory_order(*trace, Step::scores, TensorId::scores);
  // Row d, column s of kᵀ is k[s,d]; reshape counts on through k's rows instead: d·S + s.
  for (Index h = 0; h < 2; ++h) {
    for (Index d = 0; d < 4; ++d) {
      for (Index s = 0; s < 3; ++s) {
        const std::vector<Index> cell{0, h, d, s};
        CHECK(float_of(order.states, order.last(), cell) == s * 8 + h * 4 + d);
        const Index place = d * 3 + s;
        CHECK(float_of(order.wrong, order.wrong.size() - 1, cell) == (place / 4) * 8 + h * 4 + place % 4);
      }
    }
  }
}

TEST_CASE("what no view makes lies row-major, and its heads are still told apart") {
  const TracePtr trace = traced({2, 3, 5, 4, 2, 2});
  const MemoryOrder scores = memory_order(*trace, Step::scale, TensorId::scaled_scores);
  CHECK(scores.states.size() == 1);
  CHECK(scores.wrong.empty());
  CHECK(scores.states[0].layout.strides_text() == "(60,15,5,1)");
  CHECK(head_of_float(scores, 60 + 15 + 1) == 1);
  const MemoryOrder k = memory_order(*trace, Step::project, TensorId::k, false);
  CHECK(k.states[0].layout.shape().letters() == "(S,N,G·D)");
  CHECK(head_of_float(k, 3) == 1);
  CHECK_FALSE(head_of_float(memory_order(*trace, Step::output, TensorId::output), 0));
}
