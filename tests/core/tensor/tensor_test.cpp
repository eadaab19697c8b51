#include "core/tensor/tensor.h"

#include <cmath>

#include "core/tensor/eigen_maps.h"
#include "core/tensor/error.h"
#include "core/tensor/memory.h"
#include "tests/checks.h"

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
  try {
    Tensor tensor(Shape{{"L", terabyte}}, DType::f64);
    FAIL("8 TiB were granted");
  } catch (const Error& error) {
    CHECK(error.status() == ExitStatus::memory);
    CHECK_CONTAINS(std::string(error.what()), "8.0 TiB");
  }
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
