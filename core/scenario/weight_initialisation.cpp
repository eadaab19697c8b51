#include "core/scenario/weight_initialisation.h"

#include <cmath>

#include "core/tensor/float_dispatch.h"
#include "core/tensor/random.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

// How the numbers of one matrix are distributed.
struct Distribution {
  enum class Kind { uniform, normal, uniform01, identity } kind;
  double width = 0.0;  // uniform: ±width; normal: deviation
};

template <class T>
void fill(Tensor& tensor, const Distribution& distribution, const CounterRandom& random, Index first_number) {
  const std::span<T> values = tensor.values<T>();
  const Index rank = tensor.shape().rank();
  const Index cols = tensor.shape().size(rank - 1);
  const auto number_of = [&](Index i) {
    const std::uint64_t number = static_cast<std::uint64_t>(first_number) + static_cast<std::uint64_t>(i);
    switch (distribution.kind) {
      case Distribution::Kind::uniform:
        return distribution.width * (2.0 * random.uniform(number) - 1.0);
      case Distribution::Kind::normal:
        return distribution.width * random.normal(number);
      case Distribution::Kind::uniform01:
        return random.uniform(number);
      case Distribution::Kind::identity:
        break;
    }
    return rank == 2 && i / cols == i % cols ? 1.0 : 0.0;
  };
  for_ranges(tensor.size(), cost_of_random, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) values[static_cast<std::size_t>(i)] = static_cast<T>(number_of(i));
  });
}

// `first_number` is the counter of the first cell: a slice of a larger matrix continues that matrix's
// numbers.
Tensor made(Shape shape, DType dtype, const Distribution& distribution, std::uint64_t seed,
            const char* stream, Index first_number = 0) {
  Tensor tensor(std::move(shape), dtype);
  const CounterRandom random(seed, stream);
  dispatch_float(dtype, [&]<class T>() { fill<T>(tensor, distribution, random, first_number); });
  return tensor;
}

Distribution normal(double fan_sum) {
  return {Distribution::Kind::normal, std::sqrt(2.0 / fan_sum)};
}

// For a projection with these fans; `head_width` is D for q and k and Dv for v.
Distribution projection_distribution(Initialisation init, Index fan_in, Index fan_out, Index head_width) {
  const double fan_sum = static_cast<double>(fan_in) + static_cast<double>(fan_out);
  switch (init) {
    case Initialisation::xavier_uniform:
      return {Distribution::Kind::uniform, std::sqrt(6.0 / fan_sum)};
    case Initialisation::xavier_normal:
      return normal(fan_sum);
    case Initialisation::normal_dk:
      return normal(static_cast<double>(fan_in) + static_cast<double>(head_width));
    case Initialisation::uniform01:
      return {Distribution::Kind::uniform01};
    case Initialisation::identity:
      break;
  }
  return {Distribution::Kind::identity};
}

Distribution appended_row_distribution(Initialisation init, Index width) {
  if (init == Initialisation::uniform01) return {Distribution::Kind::uniform01};
  if (init == Initialisation::identity) return {Distribution::Kind::identity};
  // xavier_normal_ of a (1,1,E) tensor: fan_in = fan_out = E.
  return normal(2.0 * static_cast<double>(width));
}

// Where each projection is in the packed matrix, and its own sizes.
struct Slice {
  Index first_row, rows, cols, head_width;
  const char *stream, *axis, *column_axis;
};

Slice slice_of(Projection which, const AttentionOptions& o) {
  const ProjectionRows rows = projection_rows(o);
  const Slice slices[] = {{0, rows.q, o.embed_dim, o.head_dim, "q_proj_weight", "H·D", "E"},
                          {rows.q, rows.k, o.kdim, o.head_dim, "k_proj_weight", "G·D", "kdim"},
                          {rows.q + rows.k, rows.v, o.vdim, o.v_head_dim, "v_proj_weight", "G·Dv", "vdim"}};
  return slices[static_cast<std::size_t>(which)];
}

}  // namespace

ProjectionRows projection_rows(const AttentionOptions& o) {
  return {checked_multiply(o.num_heads, o.head_dim, "q_proj_weight"),
          checked_multiply(o.num_kv_heads, o.head_dim, "k_proj_weight"),
          checked_multiply(o.num_kv_heads, o.v_head_dim, "v_proj_weight")};
}

Tensor random_projection_weight(Projection which, const AttentionOptions& o, Initialisation init,
                                std::uint64_t seed, DType dtype) {
  const Slice slice = slice_of(which, o);
  const ProjectionRows rows = projection_rows(o);
  const bool packed = o.kdim == o.embed_dim && o.vdim == o.embed_dim;
  const Distribution distribution = projection_distribution(
      init, slice.cols, packed ? rows.q + rows.k + rows.v : slice.rows, slice.head_width);
  return made({{slice.axis, slice.rows}, {slice.column_axis, slice.cols}}, dtype, distribution, seed,
              packed ? "in_proj_weight" : slice.stream,
              packed ? checked_multiply(slice.first_row, slice.cols, "in_proj_weight") : 0);
}

Tensor random_out_weight(const AttentionOptions& o, Initialisation init, std::uint64_t seed, DType dtype) {
  const Index fan_in = checked_multiply(o.num_heads, o.v_head_dim, "out_proj.weight");
  Distribution distribution = projection_distribution(init, fan_in, o.embed_dim, o.v_head_dim);
  if (init == Initialisation::xavier_uniform) {
    distribution.width = 1.0 / std::sqrt(static_cast<double>(fan_in));  // nn.Linear: kaiming_uniform_(a = √5)
  }
  if (init == Initialisation::normal_dk) distribution = normal(static_cast<double>(fan_in + o.embed_dim));
  return made({{"E", o.embed_dim}, {"H·Dv", fan_in}}, dtype, distribution, seed, "out_proj.weight");
}

Tensor random_latent_weight(TensorId id, const AttentionOptions& o, const AttentionSizes& sizes,
                            Initialisation init, std::uint64_t seed, DType dtype) {
  const Shape shape = computed_shape(id, o, sizes);
  const Index rows = shape.size(0);
  const bool of_heads = id == TensorId::q_proj_weight || id == TensorId::q_b_weight;
  const Index head_width = of_heads                      ? o.head_dim
                           : id == TensorId::kv_b_weight ? sizes.nope + o.v_head_dim
                                                         : rows;
  return made(shape, dtype, projection_distribution(init, shape.size(1), rows, head_width), seed,
              tensor_entry(id).name.data());
}

Tensor random_gate_weight(const AttentionOptions& o, Initialisation init, std::uint64_t seed, DType dtype) {
  const Index rows = checked_multiply(o.num_heads, o.v_head_dim, "output_gate.weight");
  return made({{"H·Dv", rows}, {"E", o.embed_dim}}, dtype,
              projection_distribution(init, o.embed_dim, rows, o.v_head_dim), seed, "output_gate.weight");
}

Tensor random_relative_weight(const AttentionOptions& o, std::uint64_t seed, DType dtype) {
  return made({{"buckets", o.relative_bias.value().buckets}, {"H", o.num_heads}}, dtype, normal(2.0), seed,
              "relative_attention_bias.weight");
}

Tensor random_indexer_weight(const char* name, const Shape& shape, Index width, Initialisation init,
                             std::uint64_t seed, DType dtype) {
  return made(shape, dtype, projection_distribution(init, shape.size(1), shape.size(0), width), seed, name);
}

Tensor random_bias_k(const AttentionOptions& o, Initialisation init, std::uint64_t seed, DType dtype) {
  const Index width = projection_rows(o).k;
  return made({{"G·D", width}}, dtype, appended_row_distribution(init, width), seed, "bias_k");
}

Tensor random_bias_v(const AttentionOptions& o, Initialisation init, std::uint64_t seed, DType dtype) {
  const Index width = projection_rows(o).v;
  return made({{"G·Dv", width}}, dtype, appended_row_distribution(init, width), seed, "bias_v");
}

}  // namespace headwise
