#include "core/scenario/embeddings.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/tensor/random.h"

namespace headwise {

double sinusoid_frequency(Index pair, Index pairs) {
  constexpr double base = 10000.0;
  return std::pow(base, -static_cast<double>(pair) / static_cast<double>(pairs));
}

PositionKernel PositionKernel::strided(Index count, Index stride, Index of) {
  PositionKernel kernel;
  for (Index i = 0; i < count; ++i) {
    kernel.pairs.push_back(i * stride);
    kernel.frequencies.push_back(sinusoid_frequency(i * stride, of));
  }
  return kernel;
}

double PositionKernel::value(Index distance) const {
  double sum = 0.0;
  for (const double frequency : frequencies) sum += std::cos(frequency * static_cast<double>(distance));
  return sum;
}

double PositionKernel::largest_beside(Index reach) const {
  double largest = -peak();
  for (Index distance = 1; distance < reach; ++distance) largest = std::max(largest, value(distance));
  return largest;
}

double PositionKernel::smallest(Index reach) const {
  double least = peak();
  for (Index distance = 1; distance < reach; ++distance) least = std::min(least, value(distance));
  return least;
}

double PositionKernel::sharpness(Index reach, double share, double most) const {
  // Σ over one side of exp(β·(K(δ) − K(0))) decreases with β: bisection.
  const double allowed = (1.0 / share - 1.0) / 2.0;
  if (std::exp(-most * (peak() - value(1))) > allowed) return most;  // the adjacent one alone takes too much
  std::vector<double> gaps;
  for (Index distance = 1; distance < reach; ++distance) gaps.push_back(peak() - value(distance));
  double low = 0.0, high = most;
  for (int step = 0; step < 50; ++step) {
    const double beta = (low + high) / 2.0;
    double beside = 0.0;
    for (auto gap = gaps.begin(); gap != gaps.end() && beside <= allowed; ++gap)
      beside += std::exp(-beta * *gap);
    (beside <= allowed ? high : low) = beta;
  }
  return high;
}

namespace {

std::string word_stream(std::string_view lookup) {
  return "word:" + std::string(lookup);
}

double angle(const CounterRandom& random, Index pair) {
  return 2.0 * std::numbers::pi * random.uniform(static_cast<std::uint64_t>(pair));
}

void set_pair(std::vector<double>& row, Index column, double radians) {
  row[static_cast<std::size_t>(column)] = std::sin(radians);
  row[static_cast<std::size_t>(column) + 1] = std::cos(radians);
}

template <class T>
void fill(Tensor& tensor, const std::vector<Token>& tokens, Index batch, const EmbeddingLayout& layout,
          std::uint64_t seed, bool positions) {
  const std::span<T> values = tensor.values<T>();
  auto out = values.begin();
  std::vector<double> row(static_cast<std::size_t>(layout.width));
  for (std::size_t position = 0; position < tokens.size(); ++position) {
    const CounterRandom random(seed, word_stream(tokens[position].lookup));
    std::ranges::fill(row, 0.0);
    if (layout.width == 1) row[0] = std::cos(angle(random, 0));
    for (Index p = 0; p < layout.word_pairs; ++p) set_pair(row, 2 * p, angle(random, p));
    for (Index p = 0; positions && p < layout.position_pairs; ++p) {
      set_pair(row, layout.position_column() + 2 * p,
               static_cast<double>(position) * sinusoid_frequency(p, layout.position_pairs));
    }
    if (layout.constant_pairs == 1) set_pair(row, layout.constant_column() - 1, 0.0);
    out = std::ranges::transform(row, out, [](double value) { return static_cast<T>(value); }).out;
  }
  const auto sentence = static_cast<std::size_t>(static_cast<Index>(tokens.size()) * layout.width);
  for (Index n = 1; n < batch; ++n) {
    out = std::copy_n(values.begin(), sentence, out);
  }
}

}  // namespace

EmbeddingLayout embedding_layout(Index width) {
  EmbeddingLayout layout{.width = width};
  const Index pairs = width / 2;
  layout.constant_pairs = pairs >= 3 ? 1 : 0;
  layout.position_pairs = (pairs - layout.constant_pairs) / 2;
  layout.word_pairs = pairs - layout.constant_pairs - layout.position_pairs;
  return layout;
}

double word_angle(std::uint64_t seed, std::string_view lookup, Index pair) {
  return angle(CounterRandom(seed, word_stream(lookup)), pair);
}

Tensor text_embeddings(const std::vector<Token>& tokens, Index batch, const EmbeddingLayout& layout,
                       std::uint64_t seed, bool positions, DType dtype, const char* length_axis,
                       const char* width_axis) {
  Tensor tensor({{"N", batch}, {length_axis, static_cast<Index>(tokens.size())}, {width_axis, layout.width}},
                dtype);
  if (batch == 0) return tensor;
  if (dtype == DType::f64)
    fill<double>(tensor, tokens, batch, layout, seed, positions);
  else
    fill<float>(tensor, tokens, batch, layout, seed, positions);
  return tensor;
}

}  // namespace headwise
