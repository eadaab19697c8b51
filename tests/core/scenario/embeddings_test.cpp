#include "core/scenario/embeddings.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace headwise;

namespace {

Tensor embed(std::string_view text, Index width, bool positions = true, std::uint64_t seed = 0,
             Index batch = 1) {
  return text_embeddings(tokenise(text), batch, embedding_layout(width), seed, positions, DType::f64, "L",
                         "E");
}

double dot(const Tensor& x, Index a, Index b, Index first, Index last) {
  double sum = 0.0;
  for (Index c = first; c < last; ++c) sum += x.at({0, a, c}) * x.at({0, b, c});
  return sum;
}

}  // namespace

TEST_CASE("the layout divides the columns: words, positions, a constant, at every width") {
  const EmbeddingLayout layout = embedding_layout(128);
  CHECK(layout.word_pairs == 32);
  CHECK(layout.position_pairs == 31);
  CHECK(layout.position_column() == 64);
  CHECK(layout.constant_column() == 127);
  for (Index width = 0; width < 600; ++width) {
    const EmbeddingLayout l = embedding_layout(width);
    CHECK(l.word_pairs + l.position_pairs + l.constant_pairs == width / 2);
    CHECK(l.word_pairs >= l.position_pairs);
  }
}

TEST_CASE(
    "equal words have equal codes wherever they stand and however they are written, other words have "
    "others") {
  const Tensor x = embed("The cat the CAFÉ cafe\u0301", 128);
  for (Index c = 0; c < 64; ++c) {
    CHECK(x.at({0, 0, c}) == x.at({0, 2, c}));
    CHECK(x.at({0, 3, c}) == x.at({0, 4, c}));
  }
  CHECK(dot(x, 0, 2, 0, 64) == doctest::Approx(32.0));
  CHECK(std::abs(dot(x, 0, 1, 0, 64)) < 16.0);
  CHECK(x.at({0, 0, 0}) != embed("The", 128, true, 1).at({0, 0, 0}));
}

TEST_CASE("positions are the sinusoids of the paper, and switching them off leaves zeros") {
  const Tensor x = embed("a b c d", 128);
  for (Index position = 0; position < 4; ++position) {
    for (Index p = 0; p < 31; ++p) {
      const double angle =
          static_cast<double>(position) / std::pow(10000.0, 2.0 * static_cast<double>(p) / 62.0);
      CHECK(x.at({0, position, 64 + 2 * p}) == doctest::Approx(std::sin(angle)));
      CHECK(x.at({0, position, 65 + 2 * p}) == doctest::Approx(std::cos(angle)));
    }
    CHECK(x.at({0, position, 126}) == 0.0);
    CHECK(x.at({0, position, 127}) == 1.0);
  }
  const Tensor off = embed("a b c d", 128, false);
  for (Index c = 64; c < 126; ++c) CHECK(off.at({0, 2, c}) == 0.0);
  CHECK(off.at({0, 2, 0}) == x.at({0, 2, 0}));
}

TEST_CASE("each batch entry holds the same sentence; narrow and odd widths work") {
  const Tensor x = embed("a b", 10, true, 0, 3);
  CHECK(x.shape().sizes_text() == "(3,2,10)");
  for (Index c = 0; c < 10; ++c) CHECK(x.at({0, 1, c}) == x.at({2, 1, c}));
  for (const Index width : {1, 2, 3, 4, 5, 7}) {
    const Tensor narrow = embed("a b", width);
    CHECK(narrow.at({0, 0, 0}) != narrow.at({0, 1, 0}));
    if (width > 1 && width % 2 == 1) CHECK(narrow.at({0, 1, width - 1}) == 0.0);
  }
  CHECK(embed("", 8).shape().sizes_text() == "(1,0,8)");
}

TEST_CASE("the position kernel depends on the distance alone, and its sharpness gives the asked share") {
  const Tensor x = embed("a b c d e f g h", 128);
  const PositionKernel kernel = PositionKernel::strided(8, 1, 31);
  for (const Index distance : {0, 1, 3}) {
    CHECK(dot(x, 0, distance, 64, 80) == doctest::Approx(kernel.value(distance)));
    CHECK(dot(x, 4, 4 + distance, 64, 80) == doctest::Approx(kernel.value(distance)));
  }
  CHECK(kernel.value(0) == kernel.peak());
  CHECK(kernel.largest_beside(512) < kernel.peak());
  const double sharpness = kernel.sharpness(512, 0.9, 1e6);
  double sum = 0.0;
  for (Index d = -511; d <= 511; ++d) sum += std::exp(sharpness * (kernel.value(d) - kernel.peak()));
  CHECK(1.0 / sum == doctest::Approx(0.9));
  CHECK(kernel.sharpness(512, 0.9, 0.5 * sharpness) == 0.5 * sharpness);
}
