#include "core/scenario/run_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/files/file_paths.h"
#include "core/files/json_text.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"
#include "core/trace/attention_sizes.h"

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
  throw Error(ExitStatus::input, {path + ": " + entry, "the file's record of its run is damaged", got, "JSON",
                                  "write the file again with headwise run"});
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
  const bool module = scenario.op == Op::multi_head_attention;
  Scenario sized = scenario;
  AttentionSpec& a = sized.attention;
  const auto size = [](std::optional<std::int64_t>& written, Index follows, Index is) {
    if (written.value_or(follows) != is) written = is;
  };
  if (module) a.embed_dim = s.embed_dim;
  a.num_heads = s.heads;
  size(a.num_kv_heads, a.num_heads, s.kv_heads);
  if (!module && !a.head_dim && a.embed_dim != s.heads * s.head_dim) a.embed_dim = s.heads * s.head_dim;
  size(a.head_dim, a.embed_dim / std::max<Index>(a.num_heads, 1), s.head_dim);
  size(a.v_head_dim, s.head_dim, s.v_head_dim);
  if (module) size(a.kdim, a.embed_dim, inputs.options.kdim);
  if (module) size(a.vdim, a.embed_dim, inputs.options.vdim);
  InputsSpec& i = sized.inputs;
  i.batch = s.batch;
  i.query_length = s.queries;
  const bool self_attention = module && inputs.tensors.key == inputs.tensors.query;
  if (self_attention)
    i.key_length.reset();
  else
    size(i.key_length, i.query_length, s.keys);
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
    } else if (is_any_of(name, {"attn_mask", "key_padding_mask", "valid_lens"})) {
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
    const bool one_array = scenario.op == Op::multi_head_attention && scenario.inputs.self_attention;
    require(one_array || has("key") || has("k_heads"), "key");
    require(one_array || has("value") || has("v_heads"), "value");
  }
  if (parameters) {
    scenario.parameters.source = ParameterSource::file;
    scenario.parameters.file = file;
    require(has("in_proj_weight") || (has("q_proj_weight") && (has("k_proj_weight") || has("static_k")) &&
                                      (has("v_proj_weight") || has("static_v"))),
            "in_proj_weight");
    require(has("out_proj.weight"), "out_proj.weight");
  }
  if (masks) scenario.mask.file = file;
  if (missing.empty()) return scenario;
  throw Error(ExitStatus::input,
              {path, "this run cannot be reopened: it used arrays that its file does not contain",
               fmt::format("without {}", join(missing, ", ")), "a file with all tensors: run without --only",
               "open the original scenario, with the same --input files"});
}

}  // namespace headwise
