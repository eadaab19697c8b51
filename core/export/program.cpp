#include "core/export/program.h"
#include "core/attention/score_path.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>

#include <fmt/format.h>

#include "core/attention/attention_sizes.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/softmax.h"
#include "core/export/code_lines.h"
#include "core/files/atomic_file.h"
#include "core/files/element_type.h"
#include "core/tensor/join.h"
#include "core/tensor/tensor.h"

namespace headwise {
namespace {

// The same result computed by PyTorch's own function, in one call.

// The options that PyTorch's function of this name has no argument for.
std::vector<std::string> missing_options(const Trace& trace, const AttentionSizes& s) {
  const AttentionOptions& o = trace.options;
  const std::vector<const char*> keys = set_options(o, not_in_pytorch);
  std::vector<std::string> missing(keys.begin(), keys.end());
  const auto lacks = [&](bool is_set, const char* name) {
    if (is_set) missing.emplace_back(name);
  };
  lacks(o.dropout > 0, "a seeded dropout");
  lacks(o.mask_value.has_value(), "a finite mask value");
  lacks(!o.frozen_heads.empty(), "frozen heads");
  lacks(trace.tensors.sinks && o.sink.empty(), "sink");
  lacks(has_rotary_embedding(o), "rotary position embedding");
  lacks(o.past_length.has_value(), "a past");
  if (projects(o.op)) {
    lacks(o.scale.has_value(), "scale");
    lacks(s.kv_heads != s.heads, "num_kv_heads");
    lacks(s.head_dim * s.heads != s.embed_dim || s.v_head_dim * s.heads != s.embed_dim, "head_dim");
    lacks(std::ranges::any_of(o.head_gain, [](double gain) { return gain != 1.0; }), "head gains");
    lacks(o.fully_masked_rows == FullyMaskedRows::zero && trace.tensors.mask_bias, "zero for masked rows");
    // 1.13 treats a bias given together with another mask as a mask itself, and rejects empty sequences.
    lacks(s.batch == 0 || s.queries == 0 || s.keys == 0, "empty sequences");
    lacks((trace.tensors.static_k == nullptr) != (trace.tensors.static_v == nullptr),
          "one static array alone");
  }
  return missing;
}

std::string mha_call(const Trace& trace, const AttentionSizes& s) {
  const TraceTensors& t = trace.tensors;
  const auto given = [](const TensorPtr& tensor, const char* expression) {
    return tensor ? expression : "None";
  };
  std::string mask = "None";
  if (t.mask_bias)
    mask = fmt::format("mask_bias[..., :{}].reshape({}, {}, {})", s.keys, s.batch * s.heads, s.queries, s.keys);
  std::string text = "attn_output, weights = F.multi_head_attention_forward(\n";
  text += fmt::format(
      "    query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1), {}, {}, {}, {},\n", s.embed_dim,
      s.heads, given(t.in_proj_weight, "in_proj_weight"), given(t.in_proj_bias, "in_proj_bias"));
  text += fmt::format("    {}, {}, {}, 0.0,\n", given(t.bias_k, "bias_k.reshape(1, 1, -1)"),
                      given(t.bias_v, "bias_v.reshape(1, 1, -1)"),
                      trace.options.add_zero_attn ? "True" : "False");
  text +=
      fmt::format("    out_proj_weight, {}, attn_mask={},\n", given(t.out_proj_bias, "out_proj_bias"), mask);
  if (!t.in_proj_weight)
    text +=
        "    use_separate_proj_weight=True, q_proj_weight=q_proj_weight, k_proj_weight=k_proj_weight,\n"
        "    v_proj_weight=v_proj_weight,\n";
  if (t.static_k) text += "    static_k=static_k.flatten(0, 1), static_v=static_v.flatten(0, 1),\n";
  text += ")\n";
  return text + "own = attn_output.transpose(0, 1)\n";
}

std::string sdpa_call(const Trace& trace, const AttentionSizes& s) {
  const Index group = s.kv_heads > 0 ? s.heads / s.kv_heads : 1;
  const std::string repeat = group == 1 ? "" : fmt::format(".repeat_interleave({}, dim=1)", group);
  return fmt::format("own = F.scaled_dot_product_attention(query, key{0}, value{0}, attn_mask={1}{2})\n",
                     repeat, trace.tensors.mask_bias ? "mask_bias" : "None",
                     trace.options.scale ? fmt::format(", scale={}", *trace.options.scale) : std::string());
}

// Lines that call F.multi_head_attention_forward or F.scaled_dot_product_attention with the arrays and the
// mask_bias of the program (core/export/program.h) and print the largest difference from its output. If the
// function lacks an option of this trace: a comment that names it.
std::string own_function_text(const Trace& trace) {
  const AttentionSizes s = attention_sizes(trace.options, trace.tensors);
  const bool sdpa = trace.options.op == Op::scaled_dot_product_attention;
  if (is_latent(trace.options)) return "\n# PyTorch has no function for latent attention.\n";
  const char* name = sdpa ? "F.scaled_dot_product_attention" : "F.multi_head_attention_forward";
  const std::vector<std::string> missing = missing_options(trace, s);
  if (!missing.empty()) return fmt::format("\n# {} has no {}.\n", name, join(missing, ", "));
  const std::string compared = fmt::format(
      "print(\"largest difference from {}:\", torch.nan_to_num(own - output).abs().max().item())\n", name);
  const std::string mask_note =
      trace.tensors.mask_bias ? "; its attn_mask is mask_bias, a float mask that is added" : "";
  if (!sdpa) return "\n# The same in one call" + mask_note + "\n" + mha_call(trace, s) + compared;
  std::string text = "\n# The same in one call, which came with PyTorch 2" + mask_note + "\n";
  text += "if hasattr(F, \"scaled_dot_product_attention\") and output.numel() > 0:\n";
  return text + "    " + sdpa_call(trace, s) + "    " + compared;
}

// Arrays as Python source.

constexpr Index most_listed_cells = 64;
constexpr std::size_t text_columns = 110;

constexpr const char* numpy_types[] = {"<f4", "<f8", "?", "<i8"};  // in the order of DType
static_assert(std::size(numpy_types) == static_cast<std::size_t>(DType::i64) + 1);

std::string written_number(const Tensor& tensor, Index i) {
  const double value = tensor.flat(i);
  if (tensor.dtype() == DType::boolean) return value != 0.0 ? "True" : "False";
  if (std::isnan(value)) return "np.nan";
  if (std::isinf(value)) return value > 0 ? "np.inf" : "-np.inf";
  return tensor.dtype() == DType::f32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
}

std::string sizes_tuple(const Tensor& tensor) {
  const std::vector<Index> sizes = tensor.shape().sizes();
  return fmt::format("({}{})", join(sizes, ", "), sizes.size() == 1 ? "," : "");
}

// An expression for a NumPy array of the tensor's shape and type: a list of numbers if there are few, else
// its bytes, deflated, in base64, which the program's `unpack(dtype, sizes, text)` reads.
std::string python_array(const Tensor& tensor) {
  const char* type = numpy_types[static_cast<std::size_t>(tensor.dtype())];
  if (tensor.size() <= most_listed_cells) {
    std::vector<std::string> numbers;
    for (Index i = 0; i < tensor.size(); ++i) numbers.push_back(written_number(tensor, i));
    return fmt::format("np.array([{}], \"{}\").reshape{}", join(numbers, ", "), type, sizes_tuple(tensor));
  }
  static_assert(std::endian::native == std::endian::little, "the program reads little-endian numbers");
  const std::string text = deflated_base64(tensor_storage(tensor));
  std::string lines;
  for (std::size_t at = 0; at < text.size(); at += text_columns)
    lines += fmt::format("\n    \"{}\"", std::string_view(text).substr(at, text_columns));
  return fmt::format("unpack(\"{}\", {},{})", type, sizes_tuple(tensor), lines);
}

// The definition of that `unpack`.
std::string python_unpack_definition() {
  return "def unpack(dtype, sizes, text):\n"
         "    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype).reshape(sizes).copy()\n";
}

using Id = TensorId;
constexpr Id inputs_in_order[]{Id::query, Id::key, Id::value};
constexpr Id head_inputs[]{Id::q_heads, Id::k_heads, Id::v_heads};
constexpr const char* input_names[]{"query", "key", "value"};

std::string variable(const std::string& name) {
  std::string text = name;
  std::ranges::replace(text, '.', '_');
  return text;
}

TensorPtr dropout_keep(const Trace& trace) {
  const Shape& shape = trace.tensors.attn_weights->shape();
  Tensor keep(shape, DType::boolean);
  for (Index i = 0; i < keep.size(); ++i)
    keep.set_flat(i, dropout_factor(trace.options.dropout, trace.options.dropout_seed, i) != 0.0 ? 1.0 : 0.0);
  return std::make_shared<const Tensor>(std::move(keep));
}

// The name under which an input's array is stored: that of the first input that has the same array.
std::string array_name(const Trace& trace, std::size_t input) {
  const TensorPtr array = trace.tensor(inputs_in_order[input]);
  for (std::size_t i = 0; i < input; ++i)
    if (trace.tensor(inputs_in_order[i]) == array) return input_names[i];
  return input_names[input];
}

// What the lines call of PyTorch's flex_attention, which older versions do not have.
std::string flex_import(const std::string& lines) {
  std::string names;
  for (const char* name : {"AuxRequest", "create_block_mask", "flex_attention"})
    if (lines.find(fmt::format("{}(", name)) != std::string::npos)
      names += (names.empty() ? "" : ", ") + std::string(name);
  if (names.empty()) return "";
  return fmt::format("from torch.nn.attention.flex_attention import {}  # PyTorch 2.5 or newer{}\n", names,
                     names.starts_with("AuxRequest") ? "; AuxRequest: 2.9" : "");
}

std::string prelude(const Trace& trace, CodeStyle style, bool carries, const std::string& lines) {
  const bool numpy = style == CodeStyle::numpy;
  std::string text = carries ? "import base64\n" : "";
  text += "import math\n";
  if (!carries) text += "import pathlib\n";
  text += "import sys\n";
  if (carries) text += "import zlib\n";
  text += "\nimport numpy as np\n";
  if (!numpy) text += "import torch\nimport torch.nn.functional as F\n" + flex_import(lines);
  text += "\n";
  if (!numpy)
    text += fmt::format("torch.set_default_dtype(torch.{})\n\n",
                        trace.dtype == DType::f32 ? "float32" : "float64");
  if (carries) text += "\n" + python_unpack_definition() + "\n";
  if (numpy)
    text +=
        "\ndef softmax(x):\n"
        "    e = np.exp(x - x.max(axis=-1, keepdims=True, initial=-np.inf))\n"
        "    return e / e.sum(axis=-1, keepdims=True)\n\n";
  if (style == CodeStyle::d2l) {
    text +=
        "\ndef transpose_qkv(x, num_heads):  # (N,T,H·D) → (N·H,T,D)\n"
        "    return x.unflatten(-1, (num_heads, x.shape[-1] // num_heads)).permute(0, 2, 1, 3).flatten(0, "
        "1)\n\n"
        "\ndef transpose_output(x, num_heads):  # (N·H,L,Dv) → (N,L,H·Dv)\n"
        "    return x.unflatten(0, (x.shape[0] // num_heads, num_heads)).permute(0, 2, 1, 3).flatten(2)\n\n";
  }
  return text + "\n";
}

std::string arrays_text(const Trace& trace, CodeStyle style, const std::string& arrays_file) {
  const auto wrapped = [&](const std::string& expression) {
    return style == CodeStyle::numpy ? expression : fmt::format("torch.from_numpy({})", expression);
  };
  std::string text;
  if (!arrays_file.empty())
    text += fmt::format("arrays = np.load(pathlib.Path(__file__).with_name(\"{}\"))\n", arrays_file);
  for (const NamedTensor& array : program_arrays(trace)) {
    const std::string expression =
        arrays_file.empty() ? python_array(*array.tensor) : fmt::format("arrays[\"{}\"]", array.name);
    text += fmt::format("{} = {}\n", variable(array.name), wrapped(expression));
  }
  if (projects(trace.options.op)) {
    for (std::size_t i = 1; i < 3; ++i) {
      const std::string name = array_name(trace, i);
      if (name != input_names[i]) text += fmt::format("{} = {}\n", input_names[i], name);
    }
  }
  return text;
}

// d2l's layers, built from the arrays.
std::string layers_text(const Trace& trace) {
  const TraceTensors& t = trace.tensors;
  const AttentionSizes s = attention_sizes(trace.options, t);
  std::string text;
  const auto layer = [&](const char* name, const std::string& weight, const std::string& bias) {
    text += fmt::format(
        "{0} = torch.nn.Linear({1}.shape[1], {1}.shape[0], bias={2})\n{0}.weight.data = {1}.clone()\n", name,
        weight, bias.empty() ? "False" : "True");
    if (!bias.empty()) text += fmt::format("{}.bias.data = {}.clone()\n", name, bias);
  };
  const Index q_rows = s.heads * s.head_dim, k_rows = s.kv_heads * s.head_dim,
              v_rows = s.kv_heads * s.v_head_dim;
  const auto projection = [&](const char* name, const char* own, Index begin, Index rows, bool used) {
    if (!used) return;
    const std::string range = fmt::format("[{}:{}]", begin, begin + rows);
    layer(name, t.in_proj_weight ? "in_proj_weight" + range : std::string(own),
          t.in_proj_bias ? "in_proj_bias" + range : std::string());
  };
  if (is_latent(trace.options)) {
    if (t.q_a_weight) layer("W_DQ", "q_a_proj_weight", t.q_a_bias ? "q_a_proj_bias" : "");
    layer(t.q_a_weight ? "W_UQ" : "W_q", t.q_a_weight ? "q_b_proj_weight" : "q_proj_weight", "");
    layer("W_DKV", "kv_a_proj_with_mqa_weight", t.kv_a_bias ? "kv_a_proj_with_mqa_bias" : "");
    if (t.kv_b) layer("W_UKV", "kv_b_proj_weight", "");
  } else {
    projection("W_q", "q_proj_weight", 0, q_rows, true);
    projection("W_k", "k_proj_weight", q_rows, k_rows, !t.static_k);
    projection("W_v", "v_proj_weight", q_rows + k_rows, v_rows, !t.static_v);
  }
  if (t.output_gate_weight) layer("W_g", "output_gate_weight", t.output_gate_bias ? "output_gate_bias" : "");
  layer("W_o", "out_proj_weight", t.out_proj_bias ? "out_proj_bias" : "");
  return text + "torch.set_grad_enabled(False)\n";
}

struct Steps {
  std::string text;
  std::vector<Id> results;  // every tensor that the text computes
};

Steps steps_text(const Trace& trace, CodeStyle style) {
  Steps steps;
  const bool sdpa = trace.options.op == Op::scaled_dot_product_attention;
  for (const Step step : shown_steps(trace.options)) {
    const StepEntry& entry = step_entries()[static_cast<std::size_t>(step)];
    if (entry.step == Step::inputs && !sdpa) continue;  // the arrays already contain it
    std::string lines;
    std::vector<StepPicture> pictures = step_pictures(entry.step, trace);
    std::ranges::sort(pictures, {}, &StepPicture::result);  // in the order of computation
    for (const StepPicture& picture : pictures) {
      for (const CodeLine& line : code_lines(style, entry.step, picture.result, trace))
        lines += line.code + (line.comment.empty() ? "" : "  # " + line.comment) + "\n";
      if (code_computes(style, trace, picture.result) &&
          std::ranges::find(steps.results, picture.result) == steps.results.end())
        steps.results.push_back(picture.result);
    }
    if (!lines.empty()) steps.text += fmt::format("\n# {}\n{}", entry.name, lines);
  }
  return steps;
}

}  // namespace

std::vector<NamedTensor> program_arrays(const Trace& trace) {
  std::vector<NamedTensor> arrays;
  const auto add = [&](const std::string& name, const TensorPtr& tensor) {
    arrays.push_back({name, tensor, dtype_name(tensor->dtype())});
  };
  const bool sdpa = trace.options.op == Op::scaled_dot_product_attention;
  for (std::size_t i = 0; i < 3; ++i) {
    const TensorPtr tensor = trace.tensor(sdpa ? head_inputs[i] : inputs_in_order[i]);
    if (tensor && (sdpa || array_name(trace, i) == input_names[i])) add(input_names[i], tensor);
  }
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr tensor = trace.tensor(entry.id);
    if (tensor && (is_past(entry.id) || (sdpa && is_given_to_sdpa(entry.id))))
      add(std::string(entry.name), tensor);
    if (!tensor || (entry.role != TensorRole::parameter && entry.role != TensorRole::mask)) continue;
    add(std::string(entry.name), tensor);
  }
  if (const TensorPtr& held = trace.tensors.frozen_weights)
    add("frozen_weights",
        held->dtype() == trace.dtype ? held : std::make_shared<const Tensor>(held->converted(trace.dtype)));
  if (trace.options.dropout > 0) add("dropout_keep", dropout_keep(trace));
  return arrays;
}

Index program_array_bytes(const Trace& trace) {
  Index bytes = 0;
  for (const NamedTensor& array : program_arrays(trace)) bytes += static_cast<Index>(array.tensor->bytes());
  return bytes;
}

std::string program_text(const Trace& trace, CodeStyle style, const std::string& arrays_file) {
  const bool numpy = style == CodeStyle::numpy;
  const Steps steps = steps_text(trace, style);
  std::string text = fmt::format(
      "# {} in {}, step by step, as Headwise computed it.\n"
      "# Run it to print the output; give it a file name to save every tensor there: python3 THIS.py "
      "tensors.npz\n",
      is_latent(trace.options)     ? "Multi-head latent attention"
      : projects(trace.options.op) ? "Multi-head attention"
                                   : "Scaled dot-product attention",
      code_style_name(style));
  text += prelude(trace, style, arrays_file.empty(), steps.text);
  text += arrays_text(trace, style, arrays_file);
  if (style == CodeStyle::d2l && projects(trace.options.op)) text += "\n# The layers\n" + layers_text(trace);
  text += steps.text;

  text += numpy ? "\nnp.set_printoptions(precision=8, suppress=True, linewidth=140, threshold=100_000)\n"
                : "\ntorch.set_printoptions(precision=8, sci_mode=False, linewidth=140, threshold=100_000)\n";
  for (const Id id : {Id::output, Id::residual_output, Id::layer_norm_output, Id::attn_output_weights}) {
    if (!trace.tensor(id) || !code_computes(style, trace, id)) continue;
    text += fmt::format("print(\"{0}\", tuple({0}.shape))\nprint({0})\n", code_variable(id));
  }
  if (style == CodeStyle::pytorch) text += own_function_text(trace);
  text += "\nif len(sys.argv) > 1:\n    np.savez(sys.argv[1]";
  for (const Id id : steps.results) text += fmt::format(", {0}={0}", code_variable(id));
  return text + ")\n";
}

void write_program(const std::string& path, const Trace& trace, CodeStyle style) {
  if (program_array_bytes(trace) <= largest_carried_bytes)
    return write_file_atomically(path, program_text(trace, style));
  const std::filesystem::path arrays = std::filesystem::path(path).replace_extension(".npz");
  write_npz(arrays.string(), program_arrays(trace));
  write_file_atomically(path, program_text(trace, style, arrays.filename().string()));
}

}  // namespace headwise
