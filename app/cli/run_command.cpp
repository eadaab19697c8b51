// headwise run: all tensors of a scenario in one file.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/cli/subcommand.h"
#include "app/cli/trace_request.h"
#include "core/files/array_files.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

enum class Format { npz, safetensors };

Format format_of(const std::string& path) {
  if (path.ends_with(".npz")) return Format::npz;
  if (path.ends_with(".safetensors")) return Format::safetensors;
  throw Error(ExitStatus::usage, {"--output", "the name does not say which format to write", path,
                                  "a name that ends in .npz or .safetensors", ""});
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
        throw Error(ExitStatus::usage,
                    {"--only", "this scenario has no such tensor", to_string(name), "", ""});
      }
    }
  }
  return tensors;
}

}  // namespace

void run_run(CLI::App& app, const Words& words) {
  TraceRequest request;
  std::vector<std::string> only;
  std::string output;
  add_trace_flags(app, request);
  app.add_option("--only", only, "Write these tensors alone: output,attn_weights")
      ->type_name("NAME")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("-o,--output", output, "The file to write: .npz or .safetensors")
      ->type_name("FILE")
      ->required();
  if (!parse_words(app, words)) return;

  const Format format = format_of(output);
  std::vector<TensorName> names;  // empty: all
  for (const std::string& word : only) names.push_back(requested_tensor(request, "--only", word));
  const ComputedTrace computed = compute_trace(request);
  const std::vector<NamedTensor> tensors = tensors_of(*computed.trace, names);
  if (format == Format::npz) {
    write_npz(output, tensors);
  } else {
    write_safetensors(output, tensors, {{"made_by", "headwise " HEADWISE_VERSION}});
  }
}

}  // namespace headwise
