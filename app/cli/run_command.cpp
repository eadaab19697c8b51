// headwise run: all tensors of a scenario in one file, or the program that computes them.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/cli/subcommand.h"
#include "app/cli/trace_request.h"
#include "core/code/program.h"
#include "core/files/array_files.h"
#include "core/tensor/error.h"
#include "core/trace/why_absent.h"

namespace headwise {
namespace {

enum class Format { npz, safetensors, python };

Format format_of(const std::string& path) {
  if (path.ends_with(".npz")) return Format::npz;
  if (path.ends_with(".safetensors")) return Format::safetensors;
  if (path.ends_with(".py")) return Format::python;
  throw Error(ExitStatus::usage, {"--output", "the name does not say which format to write", path,
                                  "a name that ends in .npz, .safetensors or .py", ""});
}

// As PyTorch's module holds it: bias_k (1,1,E), static_k (N·G,S,D). All others stand in the trace as they do
// there.
TensorPtr in_pytorch_layout(TensorId id, const TensorPtr& tensor) {
  const Shape& shape = tensor->shape();
  std::vector<Axis> axes;
  if (id == TensorId::bias_k || id == TensorId::bias_v) {
    axes = {{"1", 1}, {"1", 1}, {"E", tensor->size()}};
  } else if ((id == TensorId::static_k || id == TensorId::static_v) && shape.rank() == 4) {
    axes = {{"N·G", shape.size(0) * shape.size(1)}, shape.axes()[2], shape.axes()[3]};
  } else {
    return tensor;
  }
  return std::make_shared<const Tensor>(tensor->reshaped(Shape(std::move(axes))));
}

std::vector<NamedTensor> tensors_of(const Trace& trace, const std::vector<TensorName>& only) {
  std::vector<NamedTensor> tensors;
  for (const bool gradient : {false, true}) {
    for (const TensorEntry& entry : tensor_entries()) {
      const TensorName name{entry.id, gradient};
      const bool wanted = only.empty() || std::ranges::find(only, name) != only.end();
      const TensorPtr tensor = wanted ? trace.tensor(name) : nullptr;
      if (tensor)
        tensors.push_back(
            {to_string(name), in_pytorch_layout(entry.id, tensor), dtype_name(tensor->dtype())});
      if (!tensor && wanted && !only.empty()) {
        throw Error(ExitStatus::usage, {"--only", "there is no such tensor in this run", to_string(name), "",
                                        why_absent(trace, name)});
      }
    }
  }
  return tensors;
}

CodeStyle style_of(const std::string& word) {
  if (const std::optional<CodeStyle> style = find_code_style(word)) return *style;
  std::string keys;
  for (const CodeStyle style : code_styles)
    keys += (keys.empty() ? "" : ", ") + std::string(code_style_key(style));
  throw Error(ExitStatus::usage, {"--style", "there is no such way of writing a program", word, keys, ""});
}

// A program tells the forward pass from the first array to the last output.
void check_program_flags(const TraceRequest& request, const std::vector<std::string>& only) {
  const char* flag = request.backward ? "--backward" : !only.empty() ? "--only" : nullptr;
  if (!flag) return;
  throw Error(ExitStatus::usage,
              {flag, "a .py program computes every tensor of the forward pass, and no other",
               std::string(flag) + " with a .py file", "a .npz or .safetensors file", ""});
}

}  // namespace

void run_run(CLI::App& app, const Words& words) {
  TraceRequest request;
  std::vector<std::string> only;
  std::string output, style = "pytorch";
  add_trace_flags(app, request);
  app.add_option("--only", only, "Write these tensors alone: output,attn_weights")
      ->type_name("NAME")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option(
         "-o,--output", output,
         "The file to write: .npz or .safetensors with the tensors, or .py with the program that computes "
         "them (and an .npz beside it where the arrays are large)")
      ->type_name("FILE")
      ->required();
  app.add_option("--style", style, "How a .py is written: pytorch, einsum, numpy or d2l")
      ->type_name("NAME")
      ->capture_default_str();
  if (!parse_words(app, words)) return;

  const Format format = format_of(output);
  const CodeStyle code_style = style_of(style);
  if (format == Format::python) check_program_flags(request, only);
  std::vector<TensorName> names;  // empty: all
  for (const std::string& word : only) names.push_back(requested_tensor(request, "--only", word));
  // A program is made from the whole trace; a file of everything holds what the backend keeps.
  const ComputedTrace computed =
      format == Format::python ? compute_trace(request) : compute_trace(request, names);
  if (format == Format::python) return write_program(output, *computed.trace, code_style);
  const std::vector<NamedTensor> tensors = tensors_of(*computed.trace, names);
  if (format == Format::npz) {
    write_npz(output, tensors);
  } else {
    write_safetensors(output, tensors, {{"made_by", "headwise " HEADWISE_VERSION}});
  }
}

}  // namespace headwise
