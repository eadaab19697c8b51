#include "core/compare/tensor_readings.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/core/attention/random_inputs.h"

using namespace headwise;
using namespace headwise::test;
using Id = TensorId;

namespace {

// What a program that keeps `ours` in another order has in memory.
TensorPtr stored_in(const Tensor& ours, const AxisOrder& order) {
  std::vector<Axis> axes;
  for (const Index size : order_sizes(ours.shape(), order)) axes.push_back({"axis", size});
  Tensor stored(Shape(std::move(axes)), ours.dtype());
  // Read back, every number has to be where it was: the inverse is found cell by cell.
  Tensor places(stored.shape(), DType::f64);
  for (Index i = 0; i < places.size(); ++i) places.set_flat(i, static_cast<double>(i));
  const Tensor place = in_our_order(places, ours.shape(), order);
  for (Index i = 0; i < ours.size(); ++i) stored.set_flat(static_cast<Index>(place.flat(i)), ours.flat(i));
  return std::make_shared<const Tensor>(std::move(stored));
}

const Shape heads_shape{{"N", 2}, {"H", 4}, {"L", 5}, {"D", 3}};
const Shape sequence_shape{{"N", 2}, {"L", 5}, {"E", 12}};

void check_read_as(TensorName name, const Shape& shape, const AxisOrder& order, const std::string& text,
                   bool batch_first = true) {
  CAPTURE(text);
  const TensorPtr ours = random_tensor(shape, "ours");
  const auto readings = tensor_readings(name, shape, stored_in(*ours, order), batch_first);
  REQUIRE(readings.size() >= 1);
  const auto found = std::ranges::find(readings, text, &TensorReading::reading);
  REQUIRE(found != readings.end());
  CHECK(identical(*found->tensor, *ours));
}

}  // namespace

TEST_CASE("an order of the axes puts each number where an independent index says") {
  const TensorPtr ours = random_tensor(heads_shape, "ours");
  const TensorPtr stored = stored_in(*ours, {{{2}, {0, 1}, {3}}});  // (L,N·H,D)
  CHECK(stored->shape().sizes() == std::vector<Index>{5, 8, 3});
  CHECK(stored->at({3, 1 * 4 + 2, 1}) == ours->at({1, 2, 3, 1}));
  CHECK(order_text(heads_shape, {{{2}, {0, 1}, {3}}}) == "(L,N·H,D)");
}

TEST_CASE("an array in the trace's own sizes is taken as it is, even where another order would fit") {
  const Shape square{{"N", 2}, {"H", 4}, {"L", 4}, {"D", 4}};
  const TensorPtr stored = random_tensor(square, "stored");
  const auto readings = tensor_readings({Id::q_heads}, square, stored, true);
  REQUIRE(readings.size() == 1);
  CHECK(readings[0].reading.empty());
  CHECK(identical(*readings[0].tensor, *stored));
}

TEST_CASE("heads folded into the batch, after the length or side by side are told by their sizes") {
  check_read_as({Id::q_heads}, heads_shape, {{{0, 1}, {2}, {3}}}, "(N·H,L,D)");
  check_read_as({Id::q_heads}, heads_shape, {{{0}, {2}, {1}, {3}}}, "(N,L,H,D)");
  check_read_as({Id::q_heads}, heads_shape, {{{2}, {0, 1}, {3}}}, "(L,N·H,D)");
  check_read_as({Id::q_heads}, heads_shape, {{{0}, {2}, {1, 3}}}, "(N,L,H·D)");
  check_read_as({Id::head_output, true}, heads_shape, {{{2}, {0}, {1}, {3}}}, "(L,N,H,D)");
  check_read_as({Id::k_heads}, heads_shape, {{{0}, {1}, {3}, {2}}}, "(N,H,D,L)");
  check_read_as({Id::scores}, heads_shape, {{{0, 1}, {2}, {3}}}, "(N·H,L,D)");
  check_read_as({Id::static_k}, heads_shape, {{{0, 1}, {2}, {3}}}, "(N·H,L,D)");
}

TEST_CASE("scores are never transposed to make them fit") {
  const TensorPtr ours = random_tensor(heads_shape, "ours");
  const TensorPtr transposed = stored_in(*ours, {{{0}, {1}, {3}, {2}}});
  CHECK(tensor_readings({Id::scores}, heads_shape, transposed, true).empty());
  const auto orders = transposed_orders(heads_shape, transposed->shape().sizes());
  REQUIRE(orders.size() == 1);
  CHECK(order_text(heads_shape, orders[0]) == "(N,H,D,L)");
}

TEST_CASE(
    "outputs are read as (L,N,E), with a remark where batch_first is true, as is what PyTorch keeps inside") {
  const AxisOrder length_first{{{1}, {0}, {2}}};
  check_read_as({Id::output}, sequence_shape, length_first, "(L,N,E)", false);
  check_read_as({Id::query, true}, sequence_shape, length_first, "(L,N,E)", false);
  check_read_as({Id::q}, sequence_shape, length_first, "(L,N,E)", true);
  check_read_as({Id::output}, sequence_shape, length_first, "(L,N,E), as with batch_first=False", true);
  check_read_as({Id::concat}, sequence_shape, {{{1, 0}, {2}}}, "(L·N,E)", true);
}

TEST_CASE("where N = L and batch_first is false both layouts are offered, the trace's first") {
  const Shape square{{"N", 3}, {"L", 3}, {"E", 4}};
  const auto readings = tensor_readings({Id::output}, square, random_tensor(square, "stored"), false);
  REQUIRE(readings.size() == 2);
  CHECK(readings[0].reading.empty());
  CHECK(readings[1].reading == "(L,N,E)");
}

TEST_CASE("axes of size 1 come and go: unbatched arrays, bias_k as (1,1,E)") {
  const Shape one{{"N", 1}, {"L", 5}, {"E", 12}};
  const TensorPtr unbatched = random_tensor({{"a", 5}, {"b", 12}}, "stored");
  auto readings = tensor_readings({Id::output}, one, unbatched, true);
  REQUIRE(readings.size() == 1);
  CHECK(readings[0].tensor->shape() == one);
  CHECK(readings[0].reading == "(L,E)");
  readings =
      tensor_readings({Id::bias_k}, {{"G·D", 12}}, random_tensor({{"a", 1}, {"b", 1}, {"c", 12}}, "b"), true);
  REQUIRE(readings.size() == 1);
  CHECK(readings[0].reading == "(1,1,G·D)");
}

TEST_CASE("heads in groups of five axes and a mask with its heads apart are the same numbers") {
  const TensorPtr grouped = random_tensor({{"N", 2}, {"G", 2}, {"R", 2}, {"L", 5}, {"D", 3}}, "grouped");
  CHECK(tensor_readings({Id::scores}, heads_shape, grouped, true).size() == 1);
  const TensorPtr swapped = random_tensor({{"N", 2}, {"G", 3}, {"R", 2}, {"L", 5}, {"D", 3}}, "swapped");
  CHECK(tensor_readings({Id::scores}, heads_shape, swapped, true).empty());
  const TensorPtr apart = random_tensor({{"N", 2}, {"H", 4}, {"L", 5}, {"S", 3}}, "mask");
  CHECK(tensor_readings({Id::attn_mask}, {{"N·H", 8}, {"L", 5}, {"S", 3}}, apart, true).size() == 1);
}

TEST_CASE("an array of no size at all is read, and one of other numbers of cells is not") {
  const Shape empty{{"N", 2}, {"L", 0}, {"E", 12}};
  CHECK(tensor_readings({Id::output}, empty, random_tensor(empty, "none"), true).size() == 1);
  CHECK(tensor_readings({Id::output}, empty, random_tensor({{"L", 0}, {"N", 2}, {"E", 12}}, "none"), false)
            .size() == 1);
  CHECK(tensor_readings({Id::output}, sequence_shape, random_tensor({{"E", 12}}, "few"), true).empty());
}
