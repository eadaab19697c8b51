#include "core/scenario/run_record.h"

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/attention/attention_sizes.h"
#include "core/files/atomic_file.h"
#include "core/files/file_paths.h"
#include "core/files/input_file.h"
#include "core/files/json_text.h"
#include "core/files/png_file.h"
#include "core/model/files/model_files.h"
#include "core/model/layers/attention_layers.h"
#include "core/scenario/json_document.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

using Json = nlohmann::json;

constexpr const char* scenario_name = "__scenario__";
constexpr const char* tokens_name = "__tokens__";
constexpr const char* warnings_name = "__warnings__";
constexpr const char* origin_name = "__origin__";

// A token may contain bytes that are not UTF-8, which JSON requires.
std::string as_text(const Json& json) {
  return json_text(json, {.replaces_bytes = true});
}

[[noreturn]] void damaged(const std::string& path, const std::string& entry, const std::string& got) {
  refuse_input(path + ": " + entry, "the file's record of its run is damaged", got, "JSON",
               "write the file again with headwise run");
}

// The entry as `T`, or `otherwise` if the file has none; a key of an object if `key` is given.
template <class T>
T read_entry(const std::string& path, const FileMetadata& metadata, const char* entry,
             const char* key = nullptr) {
  const auto found = metadata.find(entry);
  if (found == metadata.end()) return {};
  try {
    const Json json = json_of(found->second);
    if (!key) return json.get<T>();
    return json.contains(key) ? json.at(key).get<T>() : T{};
  } catch (const Json::exception& error) {
    damaged(path, entry, error.what());
  }
}

bool is_any_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::ranges::any_of(names, [&](const char* one) { return name == one; });
}

std::string folder_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

}  // namespace

Scenario with_sizes_of(const Scenario& scenario, const AttentionInputs& inputs) {
  const AttentionSizes s = attention_sizes(inputs);
  const bool module = projects(scenario.op);
  Scenario sized = scenario;
  AttentionSpec& a = sized.attention;
  const auto size = [](std::optional<std::int64_t>& written, Index follows, Index is) {
    if (written.value_or(follows) != is) written = is;
  };
  if (module) a.embed_dim = s.embed_dim;
  a.num_heads = s.heads;
  if (is_latent(scenario.op)) {
    size(a.v_head_dim, s.nope, s.v_head_dim);
  } else {
    size(a.num_kv_heads, a.num_heads, s.kv_heads);
  }
  if (!module && !a.head_dim && a.embed_dim != s.heads * s.head_dim) a.embed_dim = s.heads * s.head_dim;
  if (!is_latent(scenario.op)) {
    size(a.head_dim, a.embed_dim / std::max<Index>(a.num_heads, 1), s.head_dim);
    size(a.v_head_dim, s.head_dim, s.v_head_dim);
  }
  if (module) size(a.kdim, a.embed_dim, inputs.options.kdim);
  if (module && !is_latent(scenario.op)) size(a.vdim, a.embed_dim, inputs.options.vdim);
  InputsSpec& i = sized.inputs;
  i.batch = s.batch;
  i.query_length = s.queries;
  const bool self_attention = module && inputs.tensors.key == inputs.tensors.query;
  if (self_attention)
    i.key_length.reset();
  else
    size(i.key_length, i.query_length, s.new_keys());
  i.past_length = s.past;
  return sized;
}

FileMetadata run_metadata(const RunRecord& run, const std::string& folder) {
  Scenario scenario = with_files_relative_to(run.scenario, folder);
  std::vector<std::string> given = run.given;
  if (scenario.frozen_heads && scenario.frozen_heads->attn_weights) {  // the file has these as frozen_weights
    scenario.frozen_heads->attn_weights = nullptr;
    given.push_back("frozen_weights");
  }
  return {{scenario_name, scenario_to_json(scenario, true)},
          {tokens_name, as_text({{"query", run.tokens.query}, {"key", run.tokens.key}})},
          {warnings_name, as_text(run.warnings)},
          {origin_name,
           as_text({{"written", scenario.origin.written}, {"given", given}, {"layers", run.layers}})}};
}

std::optional<RunRecord> run_record(const std::string& path, const FileMetadata& metadata) {
  const auto scenario = metadata.find(scenario_name);
  if (scenario == metadata.end()) return std::nullopt;
  RunRecord run;
  try {
    run.scenario = scenario_from_json(scenario->second, path + ": " + scenario_name);
  } catch (const Error& error) {
    damaged(path, scenario_name, error.what());
  }
  run.scenario.origin.folder = folder_of(path);
  run.scenario.origin.written = read_entry<std::set<std::string>>(path, metadata, origin_name, "written");
  run.given = read_entry<std::vector<std::string>>(path, metadata, origin_name, "given");
  run.layers = read_entry<std::vector<Index>>(path, metadata, origin_name, "layers");
  run.tokens.query = read_entry<std::vector<std::string>>(path, metadata, tokens_name, "query");
  run.tokens.key = read_entry<std::vector<std::string>>(path, metadata, tokens_name, "key");
  run.warnings = read_entry<std::vector<std::string>>(path, metadata, warnings_name);
  return run;
}

bool is_run_file(const std::string& path) {
  return read_array_file_info(path).metadata.contains(scenario_name);
}

Scenario scenario_of_run(const std::string& path, const RunRecord& run, const std::vector<ArrayInfo>& arrays) {
  const std::string file = is_builtin(path) ? path : std::filesystem::path(path).filename().string();
  const auto has = [&](const char* name) {
    return std::ranges::find(arrays, name, &ArrayInfo::name) != arrays.end();
  };
  std::vector<std::string> missing;
  const auto require = [&](bool there, const char* name) {
    if (!there) missing.emplace_back(name);
  };
  Scenario scenario = run.scenario;
  bool inputs = false, parameters = false, masks = false;
  for (const std::string& name : run.given) {
    if (is_any_of(name, {"query", "key", "value"})) {
      inputs = true;
      if (name != "query") scenario.inputs.self_attention = false;  // separate arrays
    } else if (is_any_of(name, {"past_key", "past_value", "past_compressed_kv", "past_k_rot"})) {
      inputs = true;
    } else if (is_any_of(name, {"attn_mask", "key_padding_mask", "valid_lens", "nonpad_kv_seqlen"})) {
      masks = true;
      require(has(name.c_str()), name.c_str());
    } else if (name == "frozen_weights" && scenario.frozen_heads) {
      scenario.frozen_heads->file = file;
      require(has("frozen_weights"), "frozen_weights");
    } else if (name == "grad_output") {
      inputs |= has("grad_output");  // in files with gradients; it is read along with the inputs
    } else if (name != "frozen_weights") {
      parameters = true;
    }
  }
  if (inputs) {
    scenario.inputs.source = InputSource::file;
    scenario.inputs.file = file;
    scenario.inputs.batch_first = true;  // as in a trace
    require(has("query") || has("q_heads"), "query");
    const bool one_array = projects(scenario.op) && scenario.inputs.self_attention;
    require(one_array || has("key") || has("k_heads"), "key");
    require(one_array || is_latent(scenario.op) || has("value") || has("v_heads"), "value");
  }
  if (parameters) {
    scenario.parameters.source = ParameterSource::file;
    scenario.parameters.file = file;
    if (is_latent(scenario.op)) {
      for (const char* const name : {"kv_a_proj_with_mqa.weight", "kv_b_proj.weight"})
        require(has(name), name);
    } else
      require(has("in_proj_weight") || (has("q_proj_weight") && (has("k_proj_weight") || has("static_k")) &&
                                        (has("v_proj_weight") || has("static_v"))),
              "in_proj_weight");
    require(has("out_proj.weight"), "out_proj.weight");
  }
  if (masks) scenario.mask.file = file;
  if (missing.empty()) return scenario;
  refuse_input(path, "this run cannot be reopened: it used arrays that its file does not contain",
               fmt::format("without {}", join(missing, ", ")), "a file with all tensors: run without --only",
               "open the original scenario, with the same --input files");
}

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
  refuse_input(path, "this file has neither a run to reopen nor an attention layer",
               names.empty()
                   ? "no arrays"
                   : fmt::format("{}{}", join(names, ", "), more == 0 ? "" : fmt::format(" and {} more", more)),
               "a file written by headwise run, a model, or arrays with a query");
}

}  // namespace

bool is_array_file(const std::string& path) {
  return path.ends_with(".npy") || path.ends_with(".npz") || path.ends_with(".safetensors");
}

Scenario scenario_of_file(const std::string& given, std::optional<Index> layer) {
  const std::string path = newest_checkpoint_or(given);
  if (is_png_name(path))
    throw Error(ExitStatus::usage, {path, "a picture is no scenario: it goes into a model", "", "",
                                    "name the folder of a ViT, and the picture in inputs.picture"});
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
    if (names_model(path) || !layers.layers.empty()) return opened_model_scenario(path, layers, layer);
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
  if (has("attn_mask") || has("key_padding_mask") || has("valid_lens") || has("nonpad_kv_seqlen"))
    scenario.mask.file = path;
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

// Scenarios in files.

namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20;
constexpr Index most_cells_as_text = 16384;  // for the weights of frozen heads: about 300 KiB of JSON

}  // namespace

std::string read_json_text(const std::string& path, const std::string& kind) {
  require_reachable(path, ExitStatus::usage);
  require_fetched(path, ExitStatus::usage);
  const auto refuse = [&](const std::string& what, const std::string& got, const std::string& expected) {
    throw Error(ExitStatus::usage, {.where = path, .what = what, .got = got, .expected = expected});
  };
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) refuse("this is a folder", "", "a " + kind + " file");
  std::ifstream file(path, std::ios::binary);
  const int opening = errno;
  if (!file && !std::filesystem::exists(path, error)) refuse("file not found", "", "");
  if (!file)
    refuse("the " + kind + " file cannot be opened", std::strerror(opening), "a file that can be read");
  std::string text;
  std::string block(std::size_t{1} << 16, '\0');
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) {
    text.append(block, 0, static_cast<std::size_t>(file.gcount()));
    if (text.size() > most_bytes)
      throw Error(ExitStatus::usage, {.where = path,
                                      .what = "the " + kind + " file is too large",
                                      .expected = "at most 64 MiB",
                                      .remedy = "put large arrays in an .npz next to it"});
  }
  if (file.bad())
    refuse("the " + kind + " file cannot be read", std::strerror(errno), "a file that can be read");
  return text;
}

namespace {

// Rewrites a path relative to one folder as relative to another.
void rebase_path(std::optional<std::string>& file, const std::filesystem::path& from,
                 const std::filesystem::path& to) {
  if (!file || is_builtin(*file) || std::filesystem::path(*file).is_absolute()) return;
  file = std::filesystem::proximate(from / *file, to).generic_string();
}

}  // namespace

Scenario read_scenario_file(const std::string& path) {
  Scenario scenario = scenario_from_json(read_json_text(path, "scenario"), path);
  scenario.origin.folder = std::filesystem::path(path).parent_path().string();
  scenario.origin.file = path;
  return scenario;
}

Scenario with_files_relative_to(const Scenario& scenario, const std::string& folder) {
  const auto absolute = [](const std::string& relative) {
    return std::filesystem::absolute(relative.empty() ? "." : relative);
  };
  const std::filesystem::path from = absolute(scenario.origin.folder), to = absolute(folder);
  Scenario moved = scenario;
  if (from.lexically_normal() != to.lexically_normal()) {
    for (std::optional<std::string>* file :
         {&moved.inputs.file, &moved.inputs.picture, &moved.parameters.file, &moved.mask.file})
      rebase_path(*file, from, to);
    if (moved.frozen_heads) rebase_path(moved.frozen_heads->file, from, to);
  }
  moved.origin.folder = folder;
  return moved;
}

void write_scenario_file(const Scenario& scenario, const std::string& path) {
  const std::string folder = std::filesystem::absolute(path).parent_path().string();
  Scenario written = with_files_relative_to(scenario, folder);
  if (written.frozen_heads && written.frozen_heads->attn_weights &&
      written.frozen_heads->attn_weights->size() > most_cells_as_text) {
    FrozenHeads& frozen = *written.frozen_heads;
    const std::filesystem::path arrays = std::filesystem::path(path).replace_extension(".frozen.npz");
    write_npz(arrays.string(), {{"frozen_weights", frozen.attn_weights, "f64"}});
    frozen.file = arrays.filename().generic_string();
    frozen.attn_weights = nullptr;
  }
  write_file_atomically(path, scenario_to_json(written));
}

}  // namespace headwise
