#include "core/scenario/given_arrays.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "core/attention/latent_attention.h"
#include "core/files/element_type.h"
#include "core/files/input_file.h"
#include "core/scenario/scenario_plan.h"
#include "core/tensor/error.h"
#include "core/tensor/float_dispatch.h"
#include "core/tensor/tensor.h"

namespace headwise {
namespace {

constexpr std::array<std::string_view, 46> names{"query",
                                                 "key",
                                                 "value",
                                                 "past_key",
                                                 "past_value",
                                                 "past_compressed_kv",
                                                 "past_k_rot",
                                                 "indexer_q",
                                                 "indexer_k",
                                                 "indexer_weights",
                                                 "in_proj_weight",
                                                 "q_proj_weight",
                                                 "k_proj_weight",
                                                 "v_proj_weight",
                                                 "in_proj_bias",
                                                 "q_a_proj.weight",
                                                 "q_a_proj.bias",
                                                 "q_a_layernorm.weight",
                                                 "q_b_proj.weight",
                                                 "kv_a_proj_with_mqa.weight",
                                                 "kv_a_proj_with_mqa.bias",
                                                 "kv_a_layernorm.weight",
                                                 "kv_b_proj.weight",
                                                 "bias_k",
                                                 "bias_v",
                                                 "static_k",
                                                 "static_v",
                                                 "q_norm.weight",
                                                 "k_norm.weight",
                                                 "sinks",
                                                 "relative_attention_bias.weight",
                                                 "indexer.wq_b.weight",
                                                 "indexer.wk.weight",
                                                 "indexer.k_norm.weight",
                                                 "indexer.k_norm.bias",
                                                 "indexer.weights_proj.weight",
                                                 "output_gate.weight",
                                                 "output_gate.bias",
                                                 "out_proj.weight",
                                                 "out_proj.bias",
                                                 "attn_mask",
                                                 "key_padding_mask",
                                                 "valid_lens",
                                                 "nonpad_kv_seqlen",
                                                 "frozen_weights",
                                                 "grad_output"};

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
  for (Index axis = 0; axis < shape.rank(); ++axis)
    axes.push_back({letters[static_cast<std::size_t>(axis)], shape.size(axis)});
  return Shape(std::move(axes));
}

// (L,N,E) → (N,L,E)
template <class T>
void copy_batch_first(const Tensor& from, Tensor& to) {
  const Index length = from.shape().size(0), batch = from.shape().size(1), width = from.shape().size(2);
  const auto source = from.values<T>();
  const auto target = to.values<T>();
  for (Index l = 0; l < length; ++l)
    for (Index n = 0; n < batch; ++n)
      std::copy_n(source.begin() + (l * batch + n) * width, width, target.begin() + (n * length + l) * width);
}

Shape sequence_shape(const Shape& shape, const char* length_axis, const char* width_axis, bool batch_first) {
  if (shape.rank() == 2) return {{"N", 1}, {length_axis, shape.size(0)}, {width_axis, shape.size(1)}};
  return {{"N", shape.size(batch_first ? 0 : 1)},
          {length_axis, shape.size(batch_first ? 1 : 0)},
          {width_axis, shape.size(2)}};
}

// (1,1,width) or (width) → (width)
Shape appended_row_shape(const std::string& name, const Shape& shape, const char* axis) {
  const Index rank = shape.rank();
  const bool leading_ones = rank == 3 && shape.size(0) == 1 && shape.size(1) == 1;
  if (rank != 1 && !leading_ones) refuse_rank(name, shape, "(1,1,E) or (E)");
  return {{axis, shape.size(rank - 1)}};
}

// (N·G,S,width) → (N,G,S,width)
Shape static_heads_shape(const std::string& name, const Shape& shape, Index batch, Index heads,
                         const char* width_axis) {
  if (shape.rank() == 4) return renamed(shape, {"N", "G", "S", width_axis});
  const Index slices = checked_multiply(batch, heads, name);
  if (shape.size(0) != slices)
    refuse_input(name, "its first axis is not N·H", shape.sizes_text(),
                 fmt::format("({},S,width): N = {}, key/value heads = {}", slices, batch, heads),
                 "slice n·H + h is head h of batch n");
  return {{"N", batch}, {"G", heads}, {"S", shape.size(1)}, {width_axis, shape.size(2)}};
}

Shape mask_shape(const Shape& shape, Op op) {
  switch (shape.rank()) {
    case 2:
      return renamed(shape, {"L", "S"});
    case 3:
      return renamed(shape, {projects(op) ? "N·H" : "H", "L", "S"});
    case 4:
      return renamed(shape, {"N", "H", "L", "S"});
    default:
      return shape;
  }
}

// Latents of a cache, and what of their keys is rotated: with or without an axis for the one head of them,
// (N,1,P,C) in transformers and (N,P,C) in DeepSeek's own program.
Shape latent_past_shape(const std::string& name, const Shape& shape) {
  const bool latents = name == "past_compressed_kv";
  const Index rank = shape.rank();
  if (rank != 3 && (rank != 4 || shape.size(1) != 1))
    refuse_rank(name, shape, latents ? "(N,P,C), or (N,1,P,C)" : "(N,1,P,R), or (N,P,R)");
  const Axis batch{"N", shape.size(0)}, length{"P", shape.size(rank - 2)};
  if (latents) return {batch, length, {"C", shape.size(rank - 1)}};
  return {batch, {"1", 1}, length, {"R", shape.size(rank - 1)}};
}

// The letters of an array of the indexer; nullptr: it is none.
const std::vector<const char*>* indexer_letters(std::string_view name) {
  static const std::map<std::string_view, std::vector<const char*>> letters{
      {"indexer_q", {"N", "Hi", "L", "W"}},  {"indexer_k", {"N", "1", "S", "W"}},
      {"indexer_weights", {"N", "L", "Hi"}}, {"indexer.wq_b.weight", {"Hi·W", "E"}},
      {"indexer.wk.weight", {"W", "kdim"}},  {"indexer.k_norm.weight", {"W"}},
      {"indexer.k_norm.bias", {"W"}},        {"indexer.weights_proj.weight", {"Hi", "E"}}};
  const auto found = letters.find(name);
  return found == letters.end() ? nullptr : &found->second;
}

// The shape in the trace of an array of this shape.
Shape trace_shape(const std::string& name, const Shape& shape, const AttentionOptions& o, Index batch,
                  bool batch_first) {
  const Index rank = shape.rank();
  const bool sdpa = o.op == Op::scaled_dot_product_attention;
  if (name == "query" || name == "grad_output") {
    const char* width = name == "query" ? "D" : "Dv";
    if (sdpa && rank != 4) refuse_rank(name, shape, name == "query" ? "(N,H,L,D)" : "(N,H,L,Dv)");
    if (!sdpa && rank != 2 && rank != 3) refuse_rank(name, shape, "(N,L,E), or (L,E) unbatched");
    return sdpa ? renamed(shape, {"N", "H", "L", width}) : sequence_shape(shape, "L", "E", batch_first);
  }
  if (name == "key" || name == "value") {
    const bool key = name == "key";
    if (sdpa) return renamed(shape, {"N", "G", "S", key ? "D" : "Dv"});
    return sequence_shape(shape, "S", key ? "kdim" : "vdim", batch_first);
  }
  if (name == "past_key" || name == "past_value") {
    const char* const width = name == "past_key" ? "D" : "Dv";
    if (rank != 4) refuse_rank(name, shape, fmt::format("(N,G,P,{}): a cache keeps heads", width));
    return renamed(shape, {"N", "G", "P", width});
  }
  if (name == "past_compressed_kv" || name == "past_k_rot") return latent_past_shape(name, shape);
  if (name == "in_proj_weight") return renamed(shape, {"H·D+G·D+G·Dv", "E"});
  if (name == "q_proj_weight") return renamed(shape, {"H·D", "E"});
  if (name == "k_proj_weight") return renamed(shape, {"G·D", "kdim"});
  if (name == "v_proj_weight") return renamed(shape, {"G·Dv", "vdim"});
  if (name == "out_proj.weight") return renamed(shape, {"E", "H·Dv"});
  if (name == "out_proj.bias") return renamed(shape, {"E"});
  if (name == "in_proj_bias") {
    if (rank != 1) refuse_rank(name, shape, "(3E): the biases of q, k and v concatenated");
    return renamed(shape, {"H·D+G·D+G·Dv"});
  }
  if (name == "q_norm.weight" || name == "k_norm.weight") {
    const char* const heads = name == "q_norm.weight" ? "H" : "G";
    if (rank == 2) return renamed(shape, {heads, "D"});
    if (rank != 1) refuse_rank(name, shape, fmt::format("(D), ({0},D) or ({0}·D)", heads));
    return {{o.qk_norm == QkNorm::whole ? heads + std::string("·D") : "D", shape.size(0)}};
  }
  if (name == "output_gate.weight" || name == "output_gate.bias") {
    const bool weight = name == "output_gate.weight";
    if (rank != (weight ? 2 : 1)) refuse_rank(name, shape, weight ? "(H·Dv,E) or (H,E)" : "(H·Dv) or (H)");
    const char* const rows = shape.size(0) == o.num_heads && o.v_head_dim != 1 ? "H" : "H·Dv";
    return weight ? renamed(shape, {rows, "E"}) : renamed(shape, {rows});
  }
  if (const auto known = find_tensor_name(name); known && is_latent_parameter(known->id)) {
    const std::string_view letters = tensor_entry(known->id).shape;
    const std::size_t comma = letters.find(',');
    if (rank != (comma == std::string_view::npos ? 1 : 2)) refuse_rank(name, shape, std::string(letters));
    if (rank == 1) return {{std::string(letters.substr(1, letters.size() - 2)), shape.size(0)}};
    return {{std::string(letters.substr(1, comma - 1)), shape.size(0)},
            {std::string(letters.substr(comma + 1, letters.size() - comma - 2)), shape.size(1)}};
  }
  if (name == "sinks") {
    if (rank != 1) refuse_rank(name, shape, "(H): one logit per head");
    return renamed(shape, {"H"});
  }
  if (name == "relative_attention_bias.weight") {
    if (rank != 2) refuse_rank(name, shape, "(buckets,H): a number for each bucket and head");
    return renamed(shape, {"buckets", "H"});
  }
  if (const std::vector<const char*>* letters = indexer_letters(name)) {
    if (rank != std::ssize(*letters)) refuse_rank(name, shape, fmt::format("({})", fmt::join(*letters, ",")));
    return renamed(shape, *letters);
  }
  if (name == "bias_k") return appended_row_shape(name, shape, "G·D");
  if (name == "bias_v") return appended_row_shape(name, shape, "G·Dv");
  if (name == "static_k") return static_heads_shape(name, shape, batch, o.num_kv_heads, "D");
  if (name == "static_v") return static_heads_shape(name, shape, batch, o.num_kv_heads, "Dv");
  if (name == "attn_mask") return mask_shape(shape, o.op);
  if (name == "frozen_weights") {
    if (rank != 4) refuse_rank(name, shape, "(N,F,L,S): a map for each frozen head");
    return renamed(shape, {"N", "F", "L", "S"});
  }
  if (name == "key_padding_mask")
    return rank == 1 ? Shape{{"N", 1}, {"S", shape.size(0)}} : renamed(shape, {"N", "S"});
  // valid_lens and nonpad_kv_seqlen: a single number is one sentence's length.
  return rank == 0 ? Shape{{"N", 1}} : renamed(shape, {"N", "L"});
}

}  // namespace

void refuse_rank(const std::string& name, const Shape& shape, const std::string& expected,
                 const std::string& remedy) {
  refuse_input(name, "the number of axes is wrong", shape.sizes_text(), expected, remedy);
}

std::span<const std::string_view> given_array_names() {
  return names;
}

void require_readable_names(const ArrayFile& file, std::span<const std::string_view> wanted,
                            const GivenArrays& given) {
  for (const UnreadEntry& entry : file.unread)
    if (std::ranges::count(wanted, entry.name) > 0 && !given.contains(entry.name)) throw entry.why;
}

Tensor given_tensor(const std::string& name, const Tensor& array, const AttentionOptions& options,
                    Index batch, bool batch_first, DType dtype, std::vector<std::string>& notes) {
  const Shape shape = trace_shape(name, array.shape(), options, batch, batch_first);
  const bool number = array.dtype() == DType::f32 || array.dtype() == DType::f64;
  const bool converts = number && name != "frozen_weights";  // frozen_weights keep their type
  if (array.is_outline()) return Tensor::outline(shape, converts ? dtype : array.dtype());
  const Tensor numbers = converts ? with_dtype(name, array, dtype, notes) : array;
  const bool is_sequence = name == "query" || name == "key" || name == "value" || name == "grad_output";
  const bool length_first = is_sequence && projects(options.op) && !batch_first;
  if (!length_first || array.shape().rank() == 2) return numbers.reshaped(shape);
  Tensor moved = Tensor::unwritten(shape, dtype);
  dispatch_float(dtype, [&]<class T>() { copy_batch_first<T>(numbers, moved); });
  return moved;
}

}  // namespace headwise
