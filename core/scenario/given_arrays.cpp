#include "core/scenario/given_arrays.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr std::array<std::string_view, 19> names{
    "query",           "key",           "value",     "in_proj_weight",   "q_proj_weight", "k_proj_weight",
    "v_proj_weight",   "in_proj_bias",  "bias_k",    "bias_v",           "static_k",      "static_v",
    "out_proj.weight", "out_proj.bias", "attn_mask", "key_padding_mask", "valid_lens",    "frozen_weights",
    "grad_output"};

[[noreturn]] void wrong_rank(const std::string& name, const Tensor& array, const std::string& expected) {
  throw Error(ExitStatus::input, {.where = name,
                                  .what = "the number of axes is wrong",
                                  .got = array.shape().sizes_text(),
                                  .expected = expected});
}

// The numbers in `dtype`; adds a note if finite ones do not fit into f32.
Tensor with_dtype(const std::string& name, const Tensor& array, DType dtype, std::vector<std::string>& notes) {
  if (array.dtype() == dtype) return array;
  Tensor converted = array.converted(dtype);
  if (dtype != DType::f32) return converted;
  Index overflows = 0;
  const auto before = array.values<double>();
  const auto after = converted.values<float>();
  for (std::size_t i = 0; i < before.size(); ++i)
    overflows += std::isinf(after[i]) && std::isfinite(before[i]);
  if (overflows > 0) {
    notes.push_back(
        fmt::format("{}: {} of {} numbers are beyond f32 and became infinite; --dtype f64 keeps them", name,
                    overflows, before.size()));
  }
  return converted;
}

Shape renamed(const Shape& shape, const std::vector<const char*>& letters) {
  std::vector<Axis> axes;
  for (Index axis = 0; axis < shape.rank(); ++axis) {
    axes.push_back({letters[static_cast<std::size_t>(axis)], shape.size(axis)});
  }
  return Shape(std::move(axes));
}

// (L,N,E) → (N,L,E)
template <class T>
void copy_batch_first(const Tensor& from, Tensor& to) {
  const Index length = from.shape().size(0), batch = from.shape().size(1), width = from.shape().size(2);
  const auto source = from.values<T>();
  const auto target = to.values<T>();
  for (Index l = 0; l < length; ++l) {
    for (Index n = 0; n < batch; ++n) {
      std::copy_n(source.begin() + (l * batch + n) * width, width, target.begin() + (n * length + l) * width);
    }
  }
}

Tensor sequence(const Tensor& array, const char* length_axis, const char* width_axis, bool batch_first) {
  const Shape& shape = array.shape();
  if (shape.rank() == 2) {
    return array.reshaped({{"N", 1}, {length_axis, shape.size(0)}, {width_axis, shape.size(1)}});
  }
  if (batch_first) return array.reshaped(renamed(shape, {"N", length_axis, width_axis}));
  Tensor moved({{"N", shape.size(1)}, {length_axis, shape.size(0)}, {width_axis, shape.size(2)}},
               array.dtype());
  if (array.dtype() == DType::f64)
    copy_batch_first<double>(array, moved);
  else
    copy_batch_first<float>(array, moved);
  return moved;
}

// (1,1,width) or (width) → (width)
Tensor appended_row(const std::string& name, const Tensor& array, const char* axis) {
  const Shape& shape = array.shape();
  const Index rank = shape.rank();
  const bool leading_ones = rank == 3 && shape.size(0) == 1 && shape.size(1) == 1;
  if (rank != 1 && !leading_ones) wrong_rank(name, array, "(1,1,E) or (E)");
  return array.reshaped({{axis, shape.size(rank - 1)}});
}

// (N·G,S,width) → (N,G,S,width)
Tensor static_heads(const std::string& name, const Tensor& array, Index batch, Index heads,
                    const char* width_axis) {
  const Shape& shape = array.shape();
  if (shape.rank() == 4) return array.reshaped(renamed(shape, {"N", "G", "S", width_axis}));
  const Index slices = checked_multiply(batch, heads, name);
  if (shape.size(0) != slices) {
    throw Error(ExitStatus::input,
                {.where = name,
                 .what = "its first axis is not N·H",
                 .got = shape.sizes_text(),
                 .expected = fmt::format("({},S,width): N = {}, key/value heads = {}", slices, batch, heads),
                 .remedy = "slice n·H + h is head h of batch n"});
  }
  return array.reshaped({{"N", batch}, {"G", heads}, {"S", shape.size(1)}, {width_axis, shape.size(2)}});
}

Shape mask_shape(const Shape& shape, Op op) {
  switch (shape.rank()) {
    case 2:
      return renamed(shape, {"L", "S"});
    case 3:
      return renamed(shape, {op == Op::multi_head_attention ? "N·H" : "H", "L", "S"});
    case 4:
      return renamed(shape, {"N", "H", "L", "S"});
    default:
      return shape;
  }
}

Tensor in_trace_layout(const std::string& name, const Tensor& array, const AttentionOptions& o, Index batch,
                       bool batch_first) {
  const Shape& shape = array.shape();
  const Index rank = shape.rank();
  const bool sdpa = o.op == Op::scaled_dot_product_attention;
  if (name == "query" || name == "grad_output") {
    const char* width = name == "query" ? "D" : "Dv";
    if (sdpa && rank != 4) wrong_rank(name, array, name == "query" ? "(N,H,L,D)" : "(N,H,L,Dv)");
    if (!sdpa && rank != 2 && rank != 3) wrong_rank(name, array, "(N,L,E), or (L,E) unbatched");
    return sdpa ? array.reshaped(renamed(shape, {"N", "H", "L", width}))
                : sequence(array, "L", "E", batch_first);
  }
  if (name == "key" || name == "value") {
    const bool key = name == "key";
    if (sdpa) return array.reshaped(renamed(shape, {"N", "G", "S", key ? "D" : "Dv"}));
    return sequence(array, "S", key ? "kdim" : "vdim", batch_first);
  }
  if (name == "in_proj_weight") return array.reshaped(renamed(shape, {"H·D+G·D+G·Dv", "E"}));
  if (name == "q_proj_weight") return array.reshaped(renamed(shape, {"H·D", "E"}));
  if (name == "k_proj_weight") return array.reshaped(renamed(shape, {"G·D", "kdim"}));
  if (name == "v_proj_weight") return array.reshaped(renamed(shape, {"G·Dv", "vdim"}));
  if (name == "out_proj.weight") return array.reshaped(renamed(shape, {"E", "H·Dv"}));
  if (name == "out_proj.bias") return array.reshaped(renamed(shape, {"E"}));
  if (name == "in_proj_bias") {
    if (rank != 1) wrong_rank(name, array, "(3E): the biases of q, k and v concatenated");
    return array.reshaped(renamed(shape, {"H·D+G·D+G·Dv"}));
  }
  if (name == "bias_k") return appended_row(name, array, "G·D");
  if (name == "bias_v") return appended_row(name, array, "G·Dv");
  if (name == "static_k") return static_heads(name, array, batch, o.num_kv_heads, "D");
  if (name == "static_v") return static_heads(name, array, batch, o.num_kv_heads, "Dv");
  if (name == "attn_mask") return array.reshaped(mask_shape(shape, o.op));
  if (name == "frozen_weights") {
    if (rank != 4) wrong_rank(name, array, "(N,F,L,S): a map for each frozen head");
    return array.reshaped(renamed(shape, {"N", "F", "L", "S"}));
  }
  if (name == "key_padding_mask") {
    return rank == 1 ? array.reshaped({{"N", 1}, {"S", shape.size(0)}})
                     : array.reshaped(renamed(shape, {"N", "S"}));
  }
  // valid_lens: a single number is one sentence's length.
  return rank == 0 ? array.reshaped({{"N", 1}}) : array.reshaped(renamed(shape, {"N", "L"}));
}

}  // namespace

std::span<const std::string_view> given_array_names() {
  return names;
}

Tensor given_tensor(const std::string& name, const Tensor& array, const AttentionOptions& options,
                    Index batch, bool batch_first, DType dtype, std::vector<std::string>& notes) {
  const bool number = array.dtype() == DType::f32 || array.dtype() == DType::f64;
  const bool converts = number && name != "frozen_weights";  // frozen_weights keep their type
  return in_trace_layout(name, converts ? with_dtype(name, array, dtype, notes) : array, options, batch,
                         batch_first);
}

}  // namespace headwise
