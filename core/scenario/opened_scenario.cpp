#include "core/scenario/opened_scenario.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "core/files/array_files.h"
#include "core/model/files/model_checkpoints.h"
#include "core/model/files/model_files.h"
#include "core/model/layers/attention_layers.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/run_record.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr std::size_t most_names = 6;

// For a name that indicates neither. Throws Error(input) that says what it is instead: a Python pickle with
// the lines that convert it.
bool holds_arrays(const std::string& path) {
  std::error_code missing;
  if (path.ends_with(".json") || !std::filesystem::is_regular_file(path, missing)) return false;
  char first = '{';
  std::ifstream(path, std::ios::binary) >> first;  // the first that is not white space
  if (first == '{' || first == '\xEF') return false;
  try {
    read_array_file_info(path);
    return true;
  } catch (const Error& error) {
    if (error.status() != ExitStatus::input ||
        std::string_view(error.what()).find("not recognised") == std::string_view::npos)
      throw;
    throw Error(
        ExitStatus::input,
        {path, "Headwise cannot read this kind of file", "",
         "a scenario or playlist (.json), arrays (.npy, .npz, .safetensors), or a folder with a model", ""});
  }
}

[[noreturn]] void refuse_arrays(const std::string& path, const ModelFiles& files) {
  std::vector<std::string> names;
  for (const auto& [name, array] : files.arrays()) {
    if (names.size() == most_names) break;
    names.push_back(one_line(name, 40));
  }
  const std::size_t more = files.arrays().size() - names.size();
  throw Error(ExitStatus::input,
              {path, "this file has neither a run to reopen nor an attention layer",
               names.empty()
                   ? "no arrays"
                   : fmt::format("{}{}", join(names, ", "), more == 0 ? "" : fmt::format(" and {} more", more)),
               "a file written by headwise run, a model, or arrays with a query", ""});
}

}  // namespace

bool is_array_file(const std::string& path) {
  return path.ends_with(".npy") || path.ends_with(".npz") || path.ends_with(".safetensors");
}

Scenario scenario_of_file(const std::string& given) {
  const std::string path = newest_checkpoint_or(given);
  if (!names_model(path) && !is_array_file(path) && !holds_arrays(path))
    return with_layer_values(read_scenario_file(path));
  const ModelFiles files(path);
  if (!names_model(path) && files.is_one_file()) {
    const ArrayFileInfo& info = files.first_file_info();
    if (const auto run = run_record(path, info.metadata)) return scenario_of_run(path, *run, info.arrays);
  }
  const auto has = [&](const std::string& name) { return files.find(name) != nullptr; };
  if (!has("query")) {
    const AttentionLayers layers = find_attention_layers(files);
    if (names_model(path) || !layers.layers.empty()) return opened_model_scenario(path, layers);
    refuse_arrays(path, files);
  }
  const ArrayFileInfo& info = files.first_file_info();
  Scenario scenario;
  scenario.inputs.source = InputSource::file;
  scenario.inputs.file = path;
  const bool projections =
      has("in_proj_weight") || (has("q_proj_weight") && has("k_proj_weight") && has("v_proj_weight"));
  if (projections && has("out_proj.weight")) {
    scenario.parameters.source = ParameterSource::file;
    scenario.parameters.file = path;
    scenario.attention.bias = has("in_proj_bias") || has("out_proj.bias");
  }
  if (has("attn_mask") || has("key_padding_mask") || has("valid_lens")) scenario.mask.file = path;
  // In a trace written by Headwise the shapes give the heads.
  const auto heads_of = [&](std::string_view name) -> std::optional<std::int64_t> {
    for (const ArrayInfo& array : info.arrays)
      if (array.name == name && array.sizes.size() == 4) return array.sizes[1];
    return std::nullopt;
  };
  if (const auto heads = heads_of("scores")) scenario.attention.num_heads = *heads;
  if (const auto heads = heads_of("k_heads")) scenario.attention.num_kv_heads = *heads;
  return scenario;
}

}  // namespace headwise
