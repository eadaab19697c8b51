// What arrays from outside say about the sizes.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "core/attention/latent_attention.h"
#include "core/attention/score_path.h"
#include "core/files/element_type.h"
#include "core/files/input_file.h"
#include "core/scenario/given_arrays.h"
#include "core/scenario/scenario_plan.h"
#include "core/tensor/error.h"
#include "core/tensor/tensor.h"

namespace headwise {
namespace {

// Integers that stand where floating-point numbers are expected: perhaps the bits of such numbers, saved as
// integers.

struct IntegerLook {
  std::string got;     // "integers from 15360 to 49152, which look like bf16 saved as uint16"
  std::string remedy;  // how NumPy or PyTorch makes numbers of them
};

// A floating-point type whose bits are saved as integers of `bits` bits. Numbers of a layer are between
// `least` and `most`, or 0; the bounds tell bf16 from f16, whose bits read as each other's are far smaller,
// or all between 1 and 4.
struct SavedBits {
  const char* name;
  int bits;
  double least, most;
  double (*number)(std::uint32_t bits);
  const char* remedy;
};

constexpr std::array saved{
    SavedBits{"bf16", 16, 0x1p-20, 0x1p16,
              [](std::uint32_t bits) { return double{bfloat16_to_float(static_cast<std::uint16_t>(bits))}; },
              "in NumPy (a.astype('uint32') << 16).view('float32') restores them; in PyTorch save "
              "tensor.float().numpy()"},
    SavedBits{"f16", 16, 0x1p-13, 0x1p12,
              [](std::uint32_t bits) { return double{half_to_float(static_cast<std::uint16_t>(bits))}; },
              "in NumPy a.view('float16') restores them; in PyTorch save tensor.float().numpy()"},
    SavedBits{"f32", 32, 0x1p-20, 0x1p16, [](std::uint32_t bits) { return double{std::bit_cast<float>(bits)}; },
              "in NumPy a.view('float32') restores them"}};

// Whether nearly all of the integers are the bits of plausible numbers, as a signed or an unsigned type.
bool looks_like(const SavedBits& form, std::span<const std::int64_t> integers, std::int64_t least,
                std::int64_t most) {
  const std::int64_t end = std::int64_t{1} << form.bits;
  if (least < -end / 2 || most >= (least < 0 ? end / 2 : end)) return false;
  const auto plausible = [&](std::int64_t integer) {
    const double size = std::abs(form.number(static_cast<std::uint32_t>(integer)));
    return size == 0.0 || (size >= form.least && size <= form.most);
  };
  const bool only_zeros = least == 0 && most == 0;
  return !only_zeros && 10 * std::ranges::count_if(integers, plausible) >= 9 * std::ssize(integers);
}

// `integers`: i64; of an outline nothing is known but that.
IntegerLook look_of_integers(const Tensor& tensor) {
  const auto integers = tensor.values<std::int64_t>();
  const char* const whole =
      "if whole numbers are meant: a.astype('float32') in NumPy, tensor.float() in PyTorch";
  if (integers.empty()) return {"integers", whole};
  const auto [least, most] = std::ranges::minmax(integers);
  const std::string range = fmt::format("integers from {} to {}", least, most);
  for (const SavedBits& form : saved)
    if (looks_like(form, integers, least, most))
      return {fmt::format("{}, which look like {} saved as {}int{}", range, form.name, least < 0 ? "" : "u",
                          form.bits),
              form.remedy};
  return {range, whole};
}

std::string named(const std::string& name, const Tensor& array) {
  return name + " " + array.shape().sizes_text();
}

// Collects the sizes of the arrays one by one; an array that contradicts an earlier one is an error.
class SizeCollector {
 public:
  SizeCollector(const GivenArrays& given, const Scenario& scenario) : given_(given), scenario_(scenario) {}

  const Tensor* array(const char* name) const {
    const auto found = given_.find(name);
    return found == given_.end() ? nullptr : &found->second.outline();
  }

  void enter(std::optional<SizeFact>& fact, const char* what, const std::string& name, const Tensor& array,
             Index size, const std::string& remedy = "") const {
    if (!fact) fact = SizeFact{size, named(name, array)};
    if (fact->size == size) return;
    ErrorParts parts{
        .where = name,
        .what = fmt::format("two arrays disagree about {}", what),
        .got = fmt::format("{} from {}, {} from {}", fact->size, fact->source, size, named(name, array)),
        .expected = fmt::format("one {}", what),
        .remedy = remedy};
    if (what == std::string_view("embed_dim")) add_embed_dim(parts, *fact, name, size);
    throw Error(ExitStatus::input, parts);
  }

 private:
  // The width that the scenario says, or else that of the later array, which is a parameter: what it comes
  // from, and which array to change.
  void add_embed_dim(ErrorParts& parts, const SizeFact& fact, const std::string& name, Index size) const {
    const std::string key = "attention.embed_dim", place = place_of_value(scenario_, key);
    const Index said = scenario_.attention.embed_dim;
    const bool is_said = place != key || said != AttentionSpec{}.embed_dim;
    const Index wanted = is_said ? said : size;
    if (is_said) parts.expected = fmt::format("{} from {}", said, place);
    if (parts.remedy.starts_with("transposed?") || (fact.size != wanted && size != wanted)) return;
    const std::string odd = size == wanted ? fact.source.substr(0, fact.source.find(' ')) : name;
    parts.remedy = fmt::format("give {} the width {}", odd, wanted);
    const ParametersSpec& of = scenario_.parameters;
    if (of.file && (of.source == ParameterSource::file || of.source == ParameterSource::model))
      parts.remedy += fmt::format(", or take other parameters than those of {}", *of.file);
  }

  const GivenArrays& given_;
  const Scenario& scenario_;
};

// (N,L,E), (L,N,E) or (L,E).
struct SequenceAxes {
  Index batch = 1, length = 0, width = 0;
};

SequenceAxes sequence_axes(const std::string& name, const Tensor& array, bool batch_first) {
  const Shape& shape = array.shape();
  if (shape.rank() == 2) return {1, shape.size(0), shape.size(1)};
  if (shape.rank() != 3)
    refuse_rank(
        name, array.shape(),
        batch_first ? "(N,length,width), or (length,width) unbatched"
                    : "(length,N,width), or (length,width) unbatched",
        shape.rank() == 4
            ? "inputs already split into heads, (N,H,length,width), are for scaled_dot_product_attention"
            : "");
  return {shape.size(batch_first ? 0 : 1), shape.size(batch_first ? 1 : 0), shape.size(2)};
}

void collect_sequence_sizes(const SizeCollector& arrays, GivenSizes& sizes, bool batch_first) {
  const Tensor* first = nullptr;
  std::string first_name;
  const auto enter = [&](const char* name, std::optional<SizeFact>& length, const char* letter,
                         std::optional<SizeFact>& width, const char* width_name) {
    const Tensor* array = arrays.array(name);
    if (array == nullptr) return;
    const SequenceAxes axes = sequence_axes(name, *array, batch_first);
    if (first == nullptr) {
      first = array;
      first_name = name;
    }
    const Index rank = array->shape().rank();
    if (first->shape().rank() != rank)
      refuse_input(name, "query, key and value must have the same number of axes",
                   named(first_name, *first) + " beside " + named(name, *array),
                   "three axes each, or two each (unbatched)",
                   fmt::format("give {} its batch axis", rank == 2 ? name : first_name));
    const std::string layout_remedy =
        fmt::format("inputs.batch_first is {}: is it right?", batch_first ? "true" : "false");
    arrays.enter(sizes.batch, "N", name, *array, axes.batch, layout_remedy);
    arrays.enter(length, letter, name, *array, axes.length, layout_remedy);
    arrays.enter(width, width_name, name, *array, axes.width);
    sizes.unbatched = rank == 2;
  };
  enter("query", sizes.query_length, "L", sizes.embed_dim, "embed_dim");
  enter("key", sizes.key_length, "S", sizes.kdim, "kdim");
  enter("value", sizes.key_length, "S", sizes.vdim, "vdim");
}

// The likely cause of a matrix (rows,width) whose width is not that of its input.
std::string width_remedy(const Shape& matrix, const std::optional<SizeFact>& fact, bool packed) {
  const bool transposed = fact && matrix.size(0) == fact->size && matrix.size(1) != fact->size;
  if (transposed)
    return packed ? "transposed? in_proj_weight is (3E,E)" : "transposed? Linear weights are (out,in)";
  return packed ? "one width for query, key and value; for different widths give q_proj_weight, "
                  "k_proj_weight and v_proj_weight"
                : "";
}

void collect_parameter_sizes(const SizeCollector& arrays, GivenSizes& sizes) {
  const auto width = [&](const char* name, std::optional<SizeFact>& fact, const char* what) {
    const Tensor* array = arrays.array(name);
    if (array == nullptr) return;
    const bool packed = name == std::string_view("in_proj_weight");
    if (array->shape().rank() != 2)
      refuse_rank(name, array->shape(),
                  packed ? "(3E,E): the rows of q, k and v concatenated" : "a matrix (rows,width)");
    arrays.enter(fact, what, name, *array, array->shape().size(1), width_remedy(array->shape(), fact, packed));
  };
  width("in_proj_weight", sizes.embed_dim, "embed_dim");
  width("in_proj_weight", sizes.kdim, "kdim");
  width("in_proj_weight", sizes.vdim, "vdim");
  width("q_proj_weight", sizes.embed_dim, "embed_dim");
  width("output_gate.weight", sizes.embed_dim, "embed_dim");
  width("k_proj_weight", sizes.kdim, "kdim");
  width("v_proj_weight", sizes.vdim, "vdim");
  width("q_a_proj.weight", sizes.embed_dim, "embed_dim");
  width("kv_a_proj_with_mqa.weight", sizes.kdim, "kdim");
  for (const char* name : {"out_proj.weight", "out_proj.bias"}) {
    const Tensor* array = arrays.array(name);
    if (array == nullptr) continue;
    const Index rank = name == std::string_view("out_proj.weight") ? 2 : 1;
    if (array->shape().rank() != rank) refuse_rank(name, array->shape(), rank == 2 ? "(E,H·Dv)" : "(E)");
    arrays.enter(sizes.embed_dim, "embed_dim", name, *array, array->shape().size(0),
                 "it produces the output, which is as wide as query");
  }
  std::optional<SizeFact> fixed = {};
  for (const char* name : {"static_k", "static_v"}) {
    const Tensor* array = arrays.array(name);
    if (array == nullptr) continue;
    const Index rank = array->shape().rank();
    if (rank != 3 && rank != 4) refuse_rank(name, array->shape(), "(N·H,S,width)");
    arrays.enter(fixed, "S", name, *array, array->shape().size(rank - 2));
    sizes.static_key_length = fixed->size;
  }
}

void collect_head_sizes(const SizeCollector& arrays, GivenSizes& sizes) {
  const auto enter = [&](const char* name, const char* letters, std::optional<SizeFact>& heads,
                         const char* heads_name, std::optional<SizeFact>& length, const char* letter,
                         std::optional<SizeFact>& width, const char* width_name) {
    const Tensor* array = arrays.array(name);
    if (array == nullptr) return;
    const Shape& shape = array->shape();
    if (shape.rank() != 4)
      refuse_rank(
          name, array->shape(), letters,
          shape.rank() == 3
              ? fmt::format(
                    "({0},{1},{2}) of one sentence: a[None] adds N = 1; (N·{1},{0},{2}), all tokens on "
                    "one axis: a.reshape(N, {1}, {0}, {2}).transpose(0, 2, 1, 3); (N,{1},E) is for "
                    "multi_head_attention",
                    heads_name, letter, width_name)
              : "add the missing axes with size 1; (N,L,E) is for multi_head_attention");
    const bool turned = width && shape.size(2) == width->size && shape.size(3) != width->size;
    arrays.enter(sizes.batch, "N", name, *array, shape.size(0));
    arrays.enter(heads, heads_name, name, *array, shape.size(1), "key and value must have the same heads");
    arrays.enter(length, letter, name, *array, shape.size(2));
    arrays.enter(width, width_name, name, *array, shape.size(3),
                 turned ? fmt::format("transposed? {} is {}", name, letters) : "");
  };
  enter("query", "(N,H,L,D)", sizes.num_heads, "H", sizes.query_length, "L", sizes.head_dim, "D");
  enter("key", "(N,G,S,D)", sizes.num_kv_heads, "G", sizes.key_length, "S", sizes.head_dim, "D");
  enter("value", "(N,G,S,Dv)", sizes.num_kv_heads, "G", sizes.key_length, "S", sizes.v_head_dim, "Dv");
}

void collect_past_sizes(const SizeCollector& arrays, GivenSizes& sizes, Op op) {
  const auto cached = cached_tensors(op);
  const std::string as_long = fmt::format("{} and {} are as long", tensor_entry(cached[0].past).name,
                                          tensor_entry(cached[1].past).name);
  for (const CachedTensor& tensor : cached) {
    const char* const name = tensor_entry(tensor.past).name.data();
    const Tensor* array = arrays.array(name);
    if (array == nullptr) continue;
    const bool key = tensor.past == TensorId::past_key;
    const Shape& shape = array->shape();
    if (shape.rank() != 4 && !(is_latent(op) && shape.rank() == 3))
      refuse_rank(name, shape, std::string(tensor_entry(tensor.past).shape),
                  is_latent(op) ? "" : "a cache is kept by heads");
    arrays.enter(sizes.batch, "N", name, *array, shape.size(0));
    arrays.enter(sizes.past_length, "P", name, *array, shape.size(shape.rank() - 2), as_long);
    if (op != Op::scaled_dot_product_attention) continue;
    arrays.enter(sizes.num_kv_heads, "G", name, *array, shape.size(1),
                 "a cache has the heads of key and value");
    arrays.enter(key ? sizes.head_dim : sizes.v_head_dim, key ? "D" : "Dv", name, *array, shape.size(3));
  }
}

// (N,S) with batched inputs, (S) with unbatched ones, as in PyTorch; with inputs generated by the scenario
// either is accepted.
void check_padding_rank(const Tensor& mask, const GivenSizes& sizes, Op op) {
  const Index rank = mask.shape().rank();
  if (rank != 1 && rank != 2) refuse_rank("key_padding_mask", mask.shape(), "(N,S), or (S) unbatched");
  if (!projects(op) || !sizes.batch || (rank == 1) == sizes.unbatched) return;
  refuse_input("key_padding_mask", "its axes do not match those of the inputs",
               fmt::format("{} beside {}", mask.shape().sizes_text(), sizes.batch->source),
               sizes.unbatched ? "(S), as the inputs are unbatched"
                               : fmt::format("(N,S) with N = {}, as the inputs are batched", sizes.batch->size),
               sizes.unbatched ? "remove its batch axis" : "give it its batch axis");
}

void collect_mask_sizes(const SizeCollector& arrays, GivenSizes& sizes, Op op) {
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
    check_padding_rank(*mask, sizes, op);
    const SizeFact keys{shape.size(shape.rank() - 1), named("key_padding_mask", *mask)};
    if (!sizes.mask_key_length) sizes.mask_key_length = keys;
    if (shape.rank() == 2) sizes.mask_batch = SizeFact{shape.size(0), keys.source};
  }
  if (const Tensor* lens = arrays.array("valid_lens")) {
    if (lens->shape().rank() > 2) refuse_rank("valid_lens", lens->shape(), "(N) or (N,L)");
    if (lens->shape().rank() > 0 && !sizes.mask_batch)
      sizes.mask_batch = SizeFact{lens->shape().size(0), named("valid_lens", *lens)};
  }
  if (const Tensor* lens = arrays.array("nonpad_kv_seqlen")) {
    if (lens->shape().rank() > 1)
      refuse_rank("nonpad_kv_seqlen", lens->shape(), "(N): one length per sentence");
    if (lens->shape().rank() > 0 && !sizes.mask_batch)
      sizes.mask_batch = SizeFact{lens->shape().size(0), named("nonpad_kv_seqlen", *lens)};
  }
}

void check_type(const std::string& name, const GivenArray& given) {
  constexpr std::size_t most_bytes_of_a_look = std::size_t{64} << 20;  // at the values, for the message
  const Tensor& array = given.outline();
  const bool number = array.dtype() == DType::f32 || array.dtype() == DType::f64;
  const bool mask = name == "attn_mask" || name == "key_padding_mask";
  const bool lens = name == "valid_lens" || name == "nonpad_kv_seqlen";
  const bool right = lens ? array.dtype() == DType::i64 : number || (mask && array.dtype() == DType::boolean);
  if (right) return;
  if (array.dtype() == DType::i64 && !mask) {
    const IntegerLook look = look_of_integers(array.bytes() > most_bytes_of_a_look ? array : *given.tensor());
    refuse_input(name, "the type is wrong", look.got, "a float type", look.remedy);
  }
  refuse_input(name, "the type is wrong", array.dtype() == DType::i64 ? "integers" : dtype_name(array.dtype()),
               lens   ? "integers"
               : mask ? "bool or a float type"
                      : "a float type",
               mask   ? "1 and 0 may mean blocked or kept: store it as bool"
               : lens ? "store it as int64"
                      : "store it as float32");
}

}  // namespace

GivenSizes given_sizes(const GivenArrays& given, const Scenario& scenario) {
  for (const std::string_view name : given_array_names()) {
    const auto found = given.find(std::string(name));
    if (found != given.end()) check_type(found->first, found->second);
  }
  const SizeCollector arrays(given, scenario);
  GivenSizes sizes;
  if (scenario.op == Op::scaled_dot_product_attention) {
    collect_head_sizes(arrays, sizes);
  } else {
    collect_sequence_sizes(arrays, sizes, scenario.inputs.batch_first);
    collect_parameter_sizes(arrays, sizes);
  }
  collect_past_sizes(arrays, sizes, scenario.op);
  collect_mask_sizes(arrays, sizes, scenario.op);
  return sizes;
}

}  // namespace headwise
