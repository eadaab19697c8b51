#include "core/scenario/given_arrays.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr std::array<std::string_view, 18> names{
    "query",           "key",           "value",     "in_proj_weight",   "q_proj_weight", "k_proj_weight",
    "v_proj_weight",   "in_proj_bias",  "bias_k",    "bias_v",           "static_k",      "static_v",
    "out_proj.weight", "out_proj.bias", "attn_mask", "key_padding_mask", "valid_lens",    "grad_output"};

std::string named(const std::string& name, const Tensor& array) {
  return name + " " + array.shape().sizes_text();
}

[[noreturn]] void wrong_rank(const std::string& name, const Tensor& array, const std::string& expected) {
  throw Error(ExitStatus::input, {.where = name,
                                  .what = "the number of axes is wrong",
                                  .got = array.shape().sizes_text(),
                                  .expected = expected});
}

// The sizes of the arrays, entered one after the other; the second array that says something else is an
// error.
class SizeCollector {
 public:
  explicit SizeCollector(const GivenArrays& given) : given_(given) {}

  const Tensor* array(const char* name) const {
    const auto found = given_.find(name);
    return found == given_.end() ? nullptr : found->second.get();
  }

  static void enter(std::optional<SizeFact>& fact, const char* what, const std::string& name,
                    const Tensor& array, Index size, const char* remedy = "") {
    if (!fact) {
      fact = SizeFact{size, named(name, array)};
    } else if (fact->size != size) {
      throw Error(ExitStatus::input, {.where = name,
                                      .what = fmt::format("two arrays disagree about {}", what),
                                      .got = fmt::format("{} from {}, {} from {}", fact->size, fact->source,
                                                         size, named(name, array)),
                                      .expected = fmt::format("one {}", what),
                                      .remedy = remedy});
    }
  }

 private:
  const GivenArrays& given_;
};

constexpr const char* layout_remedy = "is inputs.batch_first right?";

// (N,L,E), (L,N,E) or (L,E).
struct SequenceAxes {
  Index batch = 1, length = 0, width = 0;
};

SequenceAxes sequence_axes(const std::string& name, const Tensor& array, bool batch_first) {
  const Shape& shape = array.shape();
  if (shape.rank() == 2) return {1, shape.size(0), shape.size(1)};
  if (shape.rank() != 3) {
    wrong_rank(name, array,
               batch_first ? "(N,length,width), or (length,width) unbatched"
                           : "(length,N,width), or (length,width) unbatched");
  }
  return {shape.size(batch_first ? 0 : 1), shape.size(batch_first ? 1 : 0), shape.size(2)};
}

void enter_sequences(const SizeCollector& arrays, GivenSizes& sizes, bool batch_first) {
  std::optional<SizeFact> rank;
  const auto enter = [&](const char* name, std::optional<SizeFact>& length, const char* letter,
                         std::optional<SizeFact>& width, const char* width_name) {
    const Tensor* array = arrays.array(name);
    if (array == nullptr) return;
    const SequenceAxes axes = sequence_axes(name, *array, batch_first);
    SizeCollector::enter(rank, "being batched", name, *array, array->shape().rank(),
                         "query, key and value have the same number of axes");
    SizeCollector::enter(sizes.batch, "N", name, *array, axes.batch, layout_remedy);
    SizeCollector::enter(length, letter, name, *array, axes.length, layout_remedy);
    SizeCollector::enter(width, width_name, name, *array, axes.width);
    sizes.unbatched = array->shape().rank() == 2;
  };
  enter("query", sizes.query_length, "L", sizes.embed_dim, "embed_dim");
  enter("key", sizes.key_length, "S", sizes.kdim, "kdim");
  enter("value", sizes.key_length, "S", sizes.vdim, "vdim");
}

void enter_parameters(const SizeCollector& arrays, GivenSizes& sizes) {
  const auto width = [&](const char* name, std::optional<SizeFact>& fact, const char* what) {
    const Tensor* array = arrays.array(name);
    if (array == nullptr) return;
    if (array->shape().rank() != 2) wrong_rank(name, *array, "a matrix (rows,width)");
    SizeCollector::enter(fact, what, name, *array, array->shape().size(1));
  };
  for (std::optional<SizeFact>* fact : {&sizes.embed_dim, &sizes.kdim, &sizes.vdim}) {
    width("in_proj_weight", *fact, "embed_dim, kdim and vdim (in_proj_weight has one width for all)");
  }
  width("q_proj_weight", sizes.embed_dim, "embed_dim");
  width("k_proj_weight", sizes.kdim, "kdim");
  width("v_proj_weight", sizes.vdim, "vdim");
  for (const char* name : {"out_proj.weight", "out_proj.bias"}) {
    const Tensor* array = arrays.array(name);
    if (array == nullptr) continue;
    const Index rank = name == std::string_view("out_proj.weight") ? 2 : 1;
    if (array->shape().rank() != rank) wrong_rank(name, *array, rank == 2 ? "(E,H·Dv)" : "(E)");
    SizeCollector::enter(sizes.embed_dim, "embed_dim", name, *array, array->shape().size(0));
  }
  std::optional<SizeFact> fixed = {};
  for (const char* name : {"static_k", "static_v"}) {
    const Tensor* array = arrays.array(name);
    if (array == nullptr) continue;
    const Index rank = array->shape().rank();
    if (rank != 3 && rank != 4) wrong_rank(name, *array, "(N·H,S,width)");
    SizeCollector::enter(fixed, "S", name, *array, array->shape().size(rank - 2));
    sizes.static_key_length = fixed->size;
  }
}

void enter_heads(const SizeCollector& arrays, GivenSizes& sizes) {
  const auto enter = [&](const char* name, std::optional<SizeFact>& heads, const char* heads_name,
                         std::optional<SizeFact>& length, const char* letter, std::optional<SizeFact>& width,
                         const char* width_name) {
    const Tensor* array = arrays.array(name);
    if (array == nullptr) return;
    const Shape& shape = array->shape();
    if (shape.rank() != 4) wrong_rank(name, *array, "(N,heads,length,width)");
    SizeCollector::enter(sizes.batch, "N", name, *array, shape.size(0));
    SizeCollector::enter(heads, heads_name, name, *array, shape.size(1));
    SizeCollector::enter(length, letter, name, *array, shape.size(2));
    SizeCollector::enter(width, width_name, name, *array, shape.size(3));
  };
  enter("query", sizes.num_heads, "H", sizes.query_length, "L", sizes.head_dim, "D");
  enter("key", sizes.num_kv_heads, "G", sizes.key_length, "S", sizes.head_dim, "D");
  enter("value", sizes.num_kv_heads, "G", sizes.key_length, "S", sizes.v_head_dim, "Dv");
}

void enter_masks(const SizeCollector& arrays, GivenSizes& sizes) {
  if (const Tensor* mask = arrays.array("attn_mask")) {
    const Shape& shape = mask->shape();
    const Index rank = shape.rank();
    if (rank >= 2) {
      sizes.mask_query_length = SizeFact{shape.size(rank - 2), named("attn_mask", *mask)};
      sizes.mask_key_length = SizeFact{shape.size(rank - 1), named("attn_mask", *mask)};
    }
  }
  if (const Tensor* mask = arrays.array("key_padding_mask")) {
    const Shape& shape = mask->shape();
    if (shape.rank() != 1 && shape.rank() != 2)
      wrong_rank("key_padding_mask", *mask, "(N,S), or (S) unbatched");
    const SizeFact keys{shape.size(shape.rank() - 1), named("key_padding_mask", *mask)};
    if (!sizes.mask_key_length) sizes.mask_key_length = keys;
    if (shape.rank() == 2) sizes.mask_batch = SizeFact{shape.size(0), keys.source};
  }
  if (const Tensor* lens = arrays.array("valid_lens")) {
    if (lens->shape().rank() > 2) wrong_rank("valid_lens", *lens, "(N) or (N,L)");
    if (lens->shape().rank() > 0 && !sizes.mask_batch) {
      sizes.mask_batch = SizeFact{lens->shape().size(0), named("valid_lens", *lens)};
    }
  }
}

void check_type(const std::string& name, const Tensor& array) {
  const bool number = array.dtype() == DType::f32 || array.dtype() == DType::f64;
  const bool mask = name == "attn_mask" || name == "key_padding_mask";
  const bool lens = name == "valid_lens";
  const bool right = lens ? array.dtype() == DType::i64 : number || (mask && array.dtype() == DType::boolean);
  if (right) return;
  throw Error(ExitStatus::input,
              {.where = name,
               .what = "the type is wrong",
               .got = dtype_name(array.dtype()),
               .expected = lens   ? "integers"
                           : mask ? "bool or a float type"
                                  : "a float type",
               .remedy = mask ? "1 and 0 may mean blocked or kept: store it as bool" : ""});
}

// The numbers in `dtype`; a note where finite ones do not fit into f32.
Tensor with_dtype(const std::string& name, const Tensor& array, DType dtype,
                  std::vector<std::string>& notes) {
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
    throw Error(ExitStatus::input, {.where = name,
                                    .what = "its first axis is not N·H",
                                    .got = shape.sizes_text(),
                                    .expected = fmt::format("({},S,width): N = {}, key/value heads = {}",
                                                            slices, batch, heads)});
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
    if (sdpa && rank != 4) wrong_rank(name, array, "(N,H,L,width)");
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
    if (rank != 1) wrong_rank(name, array, "(3E)");
    return array.reshaped(renamed(shape, {"H·D+G·D+G·Dv"}));
  }
  if (name == "bias_k") return appended_row(name, array, "G·D");
  if (name == "bias_v") return appended_row(name, array, "G·Dv");
  if (name == "static_k") return static_heads(name, array, batch, o.num_kv_heads, "D");
  if (name == "static_v") return static_heads(name, array, batch, o.num_kv_heads, "Dv");
  if (name == "attn_mask") return array.reshaped(mask_shape(shape, o.op));
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

GivenSizes given_sizes(const GivenArrays& given, Op op, bool batch_first) {
  for (const std::string_view name : names) {
    const auto found = given.find(std::string(name));
    if (found != given.end()) check_type(found->first, *found->second);
  }
  const SizeCollector arrays(given);
  GivenSizes sizes;
  if (op == Op::scaled_dot_product_attention) {
    enter_heads(arrays, sizes);
  } else {
    enter_sequences(arrays, sizes, batch_first);
    enter_parameters(arrays, sizes);
  }
  enter_masks(arrays, sizes);
  return sizes;
}

Tensor given_tensor(const std::string& name, const Tensor& array, const AttentionOptions& options,
                    Index batch, bool batch_first, DType dtype, std::vector<std::string>& notes) {
  const bool number = array.dtype() == DType::f32 || array.dtype() == DType::f64;
  return in_trace_layout(name, number ? with_dtype(name, array, dtype, notes) : array, options, batch,
                         batch_first);
}

}  // namespace headwise
