// headwise run: all tensors of a scenario in one file, or the program that computes them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "app/cli/command_line.h"
#include "app/cli/report.h"
#include "app/cli/standard_streams.h"
#include "app/cli/trace_request.h"
#include "core/attention/trace_warnings.h"
#include "core/export/program.h"
#include "core/files/array_files.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"
#include "core/tensor/progress.h"
#include "core/tensor/version.h"

namespace headwise {
namespace {

enum class Format { npz, safetensors, python };

constexpr const char* format_names[] = {"npz", "safetensors", "py"};  // in the order of the enumeration

Format array_format_of(const std::string& path, const std::string& word) {
  if (!word.empty()) {
    const auto found = std::ranges::find(format_names, word);
    if (found != std::end(format_names)) return static_cast<Format>(found - std::begin(format_names));
    refuse_option("--format", "there is no such format", word, "npz, safetensors or py",
                  word == "csv" || word == "npy" ? "headwise export writes one tensor as csv or npy" : "");
  }
  if (path == standard_stream)
    refuse_option("--format", "the format is unknown for standard output", "", "npz, safetensors or py",
                  "add --format npz");
  if (path.ends_with(".npz")) return Format::npz;
  if (path.ends_with(".safetensors")) return Format::safetensors;
  if (path.ends_with(".py")) return Format::python;
  refuse_option("--output", "the file name does not determine the format", path,
                "a name that ends in .npz, .safetensors or .py", "or add --format");
}

// As PyTorch's module stores it: bias_k (1,1,E), static_k (N·G,S,D). All others are the same in the trace.
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

// Each under its name, with `prefix` before it.
std::vector<NamedTensor> tensors_of(const Trace& trace, const std::vector<TensorName>& only,
                                    const std::string& prefix = "") {
  std::vector<NamedTensor> tensors;
  for (const bool gradient : {false, true}) {
    for (const TensorEntry& entry : tensor_entries()) {
      const TensorName name{entry.id, gradient};
      const bool wanted = only.empty() || std::ranges::find(only, name) != only.end();
      const TensorPtr tensor = wanted ? trace.tensor(name) : nullptr;
      if (tensor)
        tensors.push_back(
            {prefix + to_string(name), in_pytorch_layout(entry.id, tensor), dtype_name(tensor->dtype())});
      if (!tensor && wanted && !only.empty())
        refuse_option("--only", "there is no such tensor in this run", to_string(name), "",
                      why_absent(trace, name));
    }
  }
  return tensors;
}

CodeStyle style_of(const std::string& word) {
  if (const std::optional<CodeStyle> style = find_code_style(word)) return *style;
  std::vector<std::string_view> keys;
  for (const CodeStyle style : code_styles) keys.push_back(code_style_key(style));
  refuse_option("--style", "there is no such program style", word, join(keys, ", "));
}

// A program states the forward pass from the first array to the last output.
void check_program_flags(const TraceRequest& request, const std::vector<std::string>& only,
                         const std::string& layers) {
  const char* flag = request.backward  ? "--backward"
                     : !only.empty()   ? "--only"
                     : !layers.empty() ? "--layers"
                                       : nullptr;
  if (!flag) return;
  refuse_option(flag, "a .py program always computes every tensor of the forward pass, and nothing else",
                std::string(flag) + " with a .py file", "a .npz or .safetensors file");
}

std::string folder_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

// The tensors of a run, and the metadata of the file.
struct RunFile {
  std::vector<NamedTensor> tensors;
  RunRecord record;
};

RunFile whole_run(const TraceRequest& request, const std::vector<TensorName>& only) {
  const ComputedTrace computed = compute_trace(request, only);
  RunFile file{tensors_of(*computed.trace, only), record_of(computed)};
  // Without it the gradients would differ when the file is opened again.
  const TensorPtr& grad_output = computed.inputs.grad_output;
  if (request.backward && only.empty() && grad_output)
    file.tensors.push_back({"grad_output", grad_output, dtype_name(grad_output->dtype())});
  return file;
}

// Each layer under "layer.N.". The text goes through the model once.
RunFile run_of_layers(const TraceRequest& request, const std::string& layers,
                      const std::vector<TensorName>& only) {
  const Scenario named = named_scenario(request.scenario, request.settings),
                 scenario = with_settings(request, named);
  const LayerChoice choice = chosen_layers(request, scenario, layers);
  print_model_text(request, scenario);
  RunFile file;
  Warnings warnings;
  const auto run = [&](Index layer, const TraceRequest& one, const ScenarioInputs* shared) {
    const ComputedTrace computed = compute_trace(one, with_settings(one, named), only, warnings, shared);
    for (NamedTensor& tensor : tensors_of(*computed.trace, only, fmt::format("layer.{}.", layer)))
      file.tensors.push_back(std::move(tensor));
    if (file.record.layers.empty()) file.record = record_of(computed);
    file.record.layers.push_back(layer);
  };
  const std::optional<Error> refused = for_layers(choice, request, scenario, warnings, run);
  if (file.tensors.empty() && refused) throw *refused;
  file.record.warnings = warnings.all();
  return file;
}

// What was written, for another program.
Report run_report(const std::string& output, Format format, const RunFile& run) {
  Report report;
  Json tensors = Json::array();
  for (const NamedTensor& tensor : run.tensors)
    tensors.push_back(
        {{"name", tensor.name}, {"shape", tensor.tensor->shape().sizes()}, {"type", tensor.stored_dtype}});
  report.json = {{"file", output},
                 {"format", format_names[static_cast<std::size_t>(format)]},
                 {"tensors", std::move(tensors)},
                 {"warnings", run.record.warnings}};
  return report;
}

void write_file(const std::string& output, Format format, const RunFile& run) {
  const bool to_stdout = output == standard_stream;
  FileMetadata metadata = run_metadata(run.record, to_stdout ? "" : folder_of(output));
  if (format == Format::safetensors) metadata["made_by"] = fmt::format("headwise {}", version());
  const auto write = [&](const ByteSink& sink) {
    if (format == Format::npz)
      write_npz(sink, run.tensors, metadata);
    else
      write_safetensors(sink, run.tensors, metadata);
  };
  if (to_stdout) return write(standard_output_sink(false));
  write_file_atomically(output, write);
  print_detail(fmt::format("wrote {}: {}", output, counted(std::ssize(run.tensors), "tensor")));
}

}  // namespace

void run_run(CommandOptions& options, const Words& words) {
  TraceRequest request;
  std::vector<std::string> only;
  std::string output, style = "pytorch", format_word, layers;
  bool json = false;
  add_trace_flags(options, request);
  options.values("--only", only, "Write only these tensors: output,attn_weights",
                 {.type = "NAME", .delimiter = ','});
  options.value(
      "-o,--output", output,
      "The file to write: .npz or .safetensors with the tensors, or .py with the program that computes "
      "them (and an .npz beside it where the arrays are large); - is standard output",
      {.type = "FILE", .required = true});
  options.value("--format", format_word, "npz, safetensors or py; default: from the file's extension",
                {.type = "NAME"});
  options.value("--layers", layers,
                "For a model: run a text through these layers in one pass, with tensors named layer.N.NAME: "
                "all, or 0,3",
                {.type = "N,M|all"});
  options.value("--style", style, "The style of a .py program: pytorch, einsum, numpy, d2l or flex",
                {.type = "NAME", .shows_default = true});
  options.flag("--json", json, "Print the file's name and its tensors as JSON");
  if (!options.parse(words)) return;

  const Format format = array_format_of(output, format_word);
  const CodeStyle code_style = style_of(style);
  if (json && (output == standard_stream || format == Format::python))
    refuse_option("--json", "it reports the tensors of a file", output,
                  "a .npz or .safetensors file as output");
  if (format == Format::python) check_program_flags(request, only, layers);
  std::vector<TensorName> names;  // empty: all
  for (const std::string& word : only) names.push_back(requested_tensor(request, "--only", word));
  if (output == standard_stream) standard_output_sink(format == Format::python);  // refused before the work
  keep_inputs(request, output);
  if (format == Format::python) {  // built from the whole trace
    const ComputedTrace computed = compute_trace(request);
    if (output == standard_stream) return print(program_text(*computed.trace, code_style));
    return write_program(output, *computed.trace, code_style);
  }
  // A file of everything contains what the backend keeps.
  const RunFile run = layers.empty() ? whole_run(request, names) : run_of_layers(request, layers, names);
  write_file(output, format, run);
  if (json) print(run_report(output, format, run).printed(true));
}

}  // namespace headwise
