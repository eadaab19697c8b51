#include "core/tensor/tensor.h"

#include <cmath>
#include <limits>

#include "core/tensor/eigen_maps.h"
#include "core/tensor/error.h"
#include "core/tensor/memory.h"
#include "core/tensor/random.h"
#include "core/tensor/shape.h"
#include "tests/checks.h"
#include "tests/refusals.h"

using namespace headwise;

TEST_CASE("a tensor starts as zeros and reads back what was set, in every type") {
  for (const DType dtype : {DType::f32, DType::f64, DType::boolean, DType::i64}) {
    Tensor tensor(Shape{{"L", 2}, {"S", 3}}, dtype);
    CHECK(tensor.dtype() == dtype);
    CHECK(tensor.at({1, 2}) == 0.0);
    tensor.set_flat(5, 1.0);
    CHECK(tensor.at({1, 2}) == 1.0);
    CHECK(tensor.bytes() == 6 * dtype_bytes(dtype));
  }
}

TEST_CASE("values that do not fill the shape are refused") {
  CHECK_THROWS_AS(Tensor(Shape{{"L", 2}}, std::vector<float>(3)), Error);
}

TEST_CASE("a tensor that would not fit in memory is refused before memory is taken") {
  const Index terabyte = Index{1} << 40;
  test::refused_with(
      [&] {
        Tensor tensor(Shape{{"L", terabyte}}, DType::f64);
      },
      {"8.0 TiB"}, ExitStatus::memory);
}

TEST_CASE("values begin at a cache line, whatever their type and number, in copies too") {
  const auto begins_at_a_line = [](const Tensor& tensor) {
    const void* const at =
        tensor.dtype() == DType::f32   ? static_cast<const void*>(tensor.values<float>().data())
        : tensor.dtype() == DType::f64 ? tensor.values<double>().data()
        : tensor.dtype() == DType::i64 ? tensor.values<std::int64_t>().data()
                                       : static_cast<const void*>(tensor.values<std::uint8_t>().data());
    return reinterpret_cast<std::uintptr_t>(at) % 64 == 0;
  };
  for (const DType dtype : {DType::f32, DType::f64, DType::boolean, DType::i64}) {
    for (const Index count : {Index{1}, Index{7}, Index{1000}, Index{9} << 20}) {
      const Tensor tensor(Shape{{"x", count}}, dtype);
      CHECK(begins_at_a_line(tensor));
      const Tensor copy = tensor;
      CHECK(begins_at_a_line(copy));
      CHECK(copy.flat(count - 1) == 0.0);
    }
  }
}

TEST_CASE("reshaping keeps the numbers, converting keeps the values") {
  const Tensor tensor(Shape{{"L", 2}, {"E", 2}}, std::vector<double>{1, 2, 3, 4});
  CHECK(tensor.reshaped(Shape{{"E", 4}}).at({3}) == 4.0);
  CHECK(tensor.converted(DType::f32).values<float>()[2] == 3.0f);
  CHECK_THROWS_AS(tensor.reshaped(Shape{{"E", 3}}), Error);
}

TEST_CASE("identical compares bits: NaN equals itself, names count") {
  const double nan = std::nan("");
  const Tensor a(Shape{{"E", 1}}, std::vector<double>{nan});
  CHECK(identical(a, a));
  CHECK_FALSE(identical(a, Tensor(Shape{{"L", 1}}, std::vector<double>{nan})));
  CHECK_FALSE(identical(Tensor(Shape{{"E", 1}}, std::vector<double>{0.0}),
                        Tensor(Shape{{"E", 1}}, std::vector<double>{-0.0})));
}

TEST_CASE("matrix maps the last two axes without a copy") {
  Tensor tensor(Shape{{"N", 2}, {"L", 2}, {"E", 3}}, DType::f32);
  matrix<float>(tensor, 1)(1, 2) = 7.0f;
  CHECK(tensor.at({1, 1, 2}) == 7.0);
}

TEST_CASE("bytes are written in the largest fitting unit") {
  CHECK(bytes_text(512) == "512 bytes");
  CHECK(bytes_text(3 * (Index{1} << 30)) == "3.0 GiB");
}

TEST_CASE("a shape counts its cells row-major, the last axis contiguous") {
  const Shape shape{{"N", 2}, {"H", 3}, {"L", 4}};
  CHECK(shape.element_count() == 24);
  CHECK(shape.strides() == std::vector<Index>{12, 4, 1});
  CHECK(shape.offset(std::vector<Index>{1, 2, 3}) == 23);
  for (Index i = 0; i < 24; ++i) CHECK(shape.offset(shape.index_of(i)) == i);
}

TEST_CASE("a shape prints its letters and its sizes") {
  const Shape shape{{"N", 1}, {"S′", 12}};
  CHECK(shape.letters() == "(N,S′)");
  CHECK(shape.sizes_text() == "(1,12)");
  CHECK(shape.to_string() == "(N=1, S′=12)");
  CHECK(Shape{}.element_count() == 1);
}

TEST_CASE("an index outside its axis is an error that shows the shape") {
  const Shape shape{{"L", 2}, {"S", 2}};
  CHECK_THROWS_WITH_AS(shape.offset(std::vector<Index>{0, 2}), doctest::Contains("(L=2, S=2)"), Error);
  CHECK_THROWS_AS(shape.offset(std::vector<Index>{0}), Error);
  CHECK_THROWS_AS(shape.offset(std::vector<Index>{-1, 0}), Error);
}

TEST_CASE("sizes that are negative or overflow are refused, also beside a zero") {
  const Index huge = std::numeric_limits<Index>::max() / 2;
  CHECK_THROWS_AS((Shape{{"N", -1}}), Error);
  CHECK_THROWS_AS((Shape{{"N", huge}, {"L", 3}}), Error);
  CHECK_THROWS_AS((Shape{{"N", huge}, {"L", 0}, {"E", 3}}), Error);
  CHECK(Shape{{"N", 0}, {"L", 3}}.element_count() == 0);
}

TEST_CASE("the same seed, tensor and index give the same number; another of each gives another") {
  const CounterRandom a(1, "query");
  CHECK(a.bits(5) == CounterRandom(1, "query").bits(5));
  CHECK(a.bits(5) != a.bits(6));
  CHECK(a.bits(5) != CounterRandom(2, "query").bits(5));
  CHECK(a.bits(5) != CounterRandom(1, "key").bits(5));
}

TEST_CASE("uniform numbers fill [0,1), normal numbers have mean 0 and deviation 1") {
  const CounterRandom random(7, "check");
  double sum = 0, normal_sum = 0, normal_squares = 0;
  constexpr int count = 20000;
  for (int i = 0; i < count; ++i) {
    const double u = random.uniform(i), z = random.normal(i);
    REQUIRE(u >= 0.0);
    REQUIRE(u < 1.0);
    sum += u, normal_sum += z, normal_squares += z * z;
  }
  CHECK(std::abs(sum / count - 0.5) < 0.01);
  CHECK(std::abs(normal_sum / count) < 0.03);
  CHECK(std::abs(normal_squares / count - 1.0) < 0.04);
}
