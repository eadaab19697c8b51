#include "core/code/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/attention/dropout.h"
#include "core/code/code_lines.h"
#include "core/code/own_function.h"
#include "core/code/program_arrays.h"
#include "core/files/atomic_file.h"
#include "core/trace/attention_sizes.h"

namespace headwise {
namespace {

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
  for (Index i = 0; i < keep.size(); ++i) {
    keep.set_flat(i, dropout_factor(trace.options.dropout, trace.options.dropout_seed, i) != 0.0 ? 1.0 : 0.0);
  }
  return std::make_shared<const Tensor>(std::move(keep));
}

// The name under which an input's array is stored: that of the first input that has the same array.
std::string array_name(const Trace& trace, std::size_t input) {
  const TensorPtr array = trace.tensor(inputs_in_order[input]);
  for (std::size_t i = 0; i < input; ++i) {
    if (trace.tensor(inputs_in_order[i]) == array) return input_names[i];
  }
  return input_names[input];
}

std::string prelude(const Trace& trace, CodeStyle style, bool carries) {
  const bool numpy = style == CodeStyle::numpy;
  std::string text = carries ? "import base64\n" : "";
  text += "import math\n";
  if (!carries) text += "import pathlib\n";
  text += "import sys\n";
  if (carries) text += "import zlib\n";
  text += "\nimport numpy as np\n";
  if (!numpy) text += "import torch\nimport torch.nn.functional as F\n";
  text += "\n";
  if (!numpy) {
    text += fmt::format("torch.set_default_dtype(torch.{})\n\n",
                        trace.dtype == DType::f32 ? "float32" : "float64");
  }
  if (carries) text += "\n" + python_unpack_definition() + "\n";
  if (numpy) {
    text +=
        "\ndef softmax(x):\n"
        "    e = np.exp(x - x.max(axis=-1, keepdims=True, initial=-np.inf))\n"
        "    return e / e.sum(axis=-1, keepdims=True)\n\n";
  }
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
  if (!arrays_file.empty()) {
    text += fmt::format("arrays = np.load(pathlib.Path(__file__).with_name(\"{}\"))\n", arrays_file);
  }
  for (const NamedTensor& array : program_arrays(trace)) {
    const std::string expression =
        arrays_file.empty() ? python_array(*array.tensor) : fmt::format("arrays[\"{}\"]", array.name);
    text += fmt::format("{} = {}\n", variable(array.name), wrapped(expression));
  }
  if (trace.options.op == Op::multi_head_attention) {
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
  projection("W_q", "q_proj_weight", 0, q_rows, true);
  projection("W_k", "k_proj_weight", q_rows, k_rows, !t.static_k);
  projection("W_v", "v_proj_weight", q_rows + k_rows, v_rows, !t.static_v);
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
  for (const StepEntry& entry : step_entries()) {
    if (entry.step == Step::inputs && !sdpa) continue;  // the arrays already contain it
    std::string lines;
    for (const StepPicture& picture : step_pictures(entry.step, trace)) {
      for (const CodeLine& line : code_lines(style, entry.step, picture.result, trace)) {
        lines += line.code + (line.comment.empty() ? "" : "  # " + line.comment) + "\n";
      }
      if (std::ranges::find(steps.results, picture.result) == steps.results.end())
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
      trace.options.op == Op::multi_head_attention ? "Multi-head attention" : "Scaled dot-product attention",
      code_style_name(style));
  text += prelude(trace, style, arrays_file.empty());
  text += arrays_text(trace, style, arrays_file);
  if (style == CodeStyle::d2l && trace.options.op == Op::multi_head_attention)
    text += "\n# The layers\n" + layers_text(trace);
  text += steps.text;

  text += numpy ? "\nnp.set_printoptions(precision=8, suppress=True, linewidth=140, threshold=100_000)\n"
                : "\ntorch.set_printoptions(precision=8, sci_mode=False, linewidth=140, threshold=100_000)\n";
  for (const Id id : {Id::output, Id::residual_output, Id::layer_norm_output, Id::attn_output_weights}) {
    if (!trace.tensor(id)) continue;
    text += fmt::format("print(\"{0}\", tuple({0}.shape))\nprint({0})\n", code_variable(id));
  }
  if (style == CodeStyle::pytorch) text += own_function_text(trace);
  text += "\nif len(sys.argv) > 1:\n    np.savez(sys.argv[1]";
  for (const Id id : steps.results) text += fmt::format(", {0}={0}", code_variable(id));
  return text + ")\n";
}

void write_program(const std::string& path, const Trace& trace, CodeStyle style) {
  if (program_array_bytes(trace) <= largest_carried_bytes) {
    return write_file_atomically(path, program_text(trace, style));
  }
  const std::filesystem::path arrays = std::filesystem::path(path).replace_extension(".npz");
  write_npz(arrays.string(), program_arrays(trace));
  write_file_atomically(path, program_text(trace, style, arrays.filename().string()));
}

}  // namespace headwise
