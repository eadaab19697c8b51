#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "app/cli/model_info.h"
#include "app/cli/playlist_argument.h"
#include "app/cli/playlist_info.h"
#include "app/cli/scenario_info.h"
#include "app/cli/standard_streams.h"
#include "app/cli/subcommand.h"
#include "app/cli/tensor_list.h"
#include "app/session/head_finding.h"
#include "core/files/array_files.h"
#include "core/files/file_paths.h"
#include "core/files/json_text.h"
#include "core/model/files/model_checkpoints.h"
#include "core/scenario/opened_scenario.h"
#include "core/scenario/run_record.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

// What `headwise info FOLDER --text` prints about the heads of a model.

struct HeadsInfoRequest {
  std::string model, text;
  bool mute = false;    // each head in turn
  bool strict = false;  // warnings are errors
};

struct HeadsInfo {
  FoundHeads found;
  std::optional<MutedHeads> muted;
  std::string not_muted;  // why not, if requested; empty: it was, or was not requested
};

HeadsInfo heads_info(const HeadsInfoRequest& request) {
  const HeadQuestion question{request.model, request.text};
  HeadsInfo info{find_heads(question), std::nullopt, ""};
  Warnings warnings;
  if (request.strict && !info.found.notice.empty()) warnings.add(info.found.notice);
  warnings.refuse_where(request.strict);
  if (!request.mute || info.found.empty) return info;
  if (info.found.no_words.empty()) {
    info.muted = mute_heads(question);
  } else {
    info.not_muted = "no head was muted, because this model predicts no words: " + info.found.no_words;
    warnings.add(info.not_muted);
    warnings.refuse_where(request.strict);
  }
  return info;
}

HeadScore score_at(std::size_t i) {
  return static_cast<HeadScore>(i);
}

// From the first head that has it: the score of uniform weights is the same for all.
const MeasuredScore* measured(const HeadSurvey& survey, HeadScore score) {
  for (const SurveyedHead& head : survey.heads)
    if (head.scores[score].value) return &head.scores[score];
  return nullptr;
}

std::string cell(std::string_view name, const std::optional<double>& value) {
  const std::string text = value ? fmt::format("{:.3f}", *value) : "-";
  return fmt::format("  {:>{}}", text, std::max<std::size_t>(name.size(), 5));
}

// One line per head, with the scores of core/model/heads/head_scores.h. Both throw Error(input) if text cannot go into the
// model. If muting is requested and the model predicts no tokens, the table comes without it, and a warning and "not_muted"
// say why; if the request is strict, that is an Error(input) too, as are remarks about the text.
std::string heads_info_text(const HeadsInfoRequest& request) {
  const HeadsInfo info = heads_info(request);
  const HeadSurvey& survey = *info.found.survey;
  if (info.found.empty) return info.found.notice + "\n";
  std::string text = fmt::format("heads on {} tokens:", survey.length);
  for (const std::string& token : info.found.tokens) text += " " + one_line(token);
  text += "\n";
  if (!info.found.notice.empty()) text += fmt::format("  {}\n", one_line(info.found.notice));
  text += "  head ";
  for (std::size_t i = 0; i < head_score_count; ++i)
    text += fmt::format("  {:>5}", head_score_words(score_at(i)).name);
  if (info.muted) text += "    bits  words  biggest change when muted";
  text += "\n  unif.";
  for (std::size_t i = 0; i < head_score_count; ++i) {
    const MeasuredScore* const one = measured(survey, score_at(i));
    text += cell(head_score_words(score_at(i)).name, one ? std::optional(one->uniform) : std::nullopt);
  }
  text += "\n";
  for (std::size_t h = 0; h < survey.heads.size(); ++h) {
    const SurveyedHead& head = survey.heads[h];
    text += fmt::format("  {:<5}", fmt::format("{}.{}", head.layer, head.head));
    for (std::size_t i = 0; i < head_score_count; ++i)
      text += cell(head_score_words(score_at(i)).name, head.scores.scores[i].value);
    if (info.muted) {
      const MutedHead& muted = info.muted->muting->heads[h];
      const bool counts = muted.positions > 0;  // else every prediction is NaN
      text += fmt::format("  {:>6}  {:>5}  {}", counts ? fmt::format("{:.3f}", muted.bits) : "-",
                          counts ? fmt::format("{}", muted.words_changed) : "-",
                          counts ? one_line(info.muted->changes[h]) : "the prediction is NaN");
    }
    text += "\n";
  }
  return text;
}

nlohmann::ordered_json heads_info_json(const HeadsInfoRequest& request) {
  using Json = nlohmann::ordered_json;
  const HeadsInfo info = heads_info(request);
  const HeadSurvey& survey = *info.found.survey;
  const auto or_null = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  Json scores = Json::object();
  for (std::size_t i = 0; i < head_score_count; ++i) {
    const MeasuredScore* const one = measured(survey, score_at(i));
    scores[std::string(head_score_words(score_at(i)).id)] = {
        {"uniform", or_null(one ? std::optional(one->uniform) : std::nullopt)},
        {"queries", one ? one->queries : 0}};
  }
  Json heads = Json::array();
  for (std::size_t h = 0; h < survey.heads.size(); ++h) {
    const SurveyedHead& head = survey.heads[h];
    Json one{{"layer", head.layer}, {"head", head.head}};
    for (std::size_t i = 0; i < head_score_count; ++i)
      one[std::string(head_score_words(score_at(i)).id)] = or_null(head.scores.scores[i].value);
    one["entropy_bits"] = or_null(head.scores.entropy_bits);
    if (info.muted) {
      const MutedHead& muted = info.muted->muting->heads[h];
      one["muted"] = {{"bits", muted.positions > 0 ? Json(muted.bits) : Json(nullptr)},
                      {"positions", muted.positions},
                      {"words_changed", muted.words_changed},
                      {"largest_bits", muted.largest_bits},
                      {"position", muted.position},
                      {"before_id", muted.before},
                      {"before_probability", muted.before_probability},
                      {"after_id", muted.after},
                      {"after_probability", muted.after_probability}};
    }
    heads.push_back(std::move(one));
  }
  Json all{{"tokens", info.found.tokens}, {"notice", info.found.notice}, {"scores", scores}, {"heads", heads}};
  if (!info.not_muted.empty()) all["not_muted"] = info.not_muted;
  return all;
}

using Json = nlohmann::ordered_json;

Index total_bytes(const ArrayFileInfo& info) {
  Index total = 0;
  for (const ArrayInfo& array : info.arrays) total += array.bytes;
  return total;
}

// Metadata unrelated to a run.
FileMetadata other_metadata(const ArrayFileInfo& info) {
  FileMetadata other = info.metadata;
  std::erase_if(other, [](const auto& entry) { return is_reserved_name(entry.first); });
  return other;
}

// The run that a file came from: its scenario as stored in a file, without defaults.
std::string run_text(const RunRecord& run) {
  std::string text = "run\n  scenario: " + json_text(ordered_json_of(scenario_to_json(run.scenario))) + "\n";
  if (!run.layers.empty()) text += fmt::format("  layers: {}\n", join(run.layers, ", "));
  if (!run.given.empty()) text += fmt::format("  given with --input: {}\n", join(run.given, ", "));
  text += "  tokens:";
  for (const std::string& token : run.tokens.query) text += " " + one_line(token);
  text += "\n";
  for (const std::string& warning : run.warnings) text += fmt::format("  warning: {}\n", one_line(warning));
  return text;
}

Json run_json(const RunRecord& run) {
  return {{"scenario", ordered_json_of(scenario_to_json(run.scenario, true))},
          {"layers", run.layers},
          {"given", run.given},
          {"tokens", {{"query", run.tokens.query}, {"key", run.tokens.key}}},
          {"warnings", run.warnings}};
}

std::string checkpoints_text(const std::vector<ModelCheckpoint>& checkpoints) {
  std::string text = fmt::format("{} {} of a training run\n", checkpoints.size(),
                                 checkpoints.size() == 1 ? "checkpoint" : "checkpoints");
  for (const ModelCheckpoint& checkpoint : checkpoints)
    text += fmt::format("  step {}: {}\n", checkpoint.step, one_line(checkpoint.path));
  return text;
}

Json checkpoints_json(const std::vector<ModelCheckpoint>& checkpoints) {
  Json list = Json::array();
  for (const ModelCheckpoint& checkpoint : checkpoints)
    list.push_back({{"step", checkpoint.step}, {"path", checkpoint.path}});
  return list;
}

// What a model is, before the long list of its contents.
std::string as_text(const std::string& path, const ArrayFileInfo& info, const std::string& model,
                    bool every_tensor) {
  std::string text = fmt::format("{}: {}, {} {}, {}\n", one_line(path), info.format, info.arrays.size(),
                                 info.arrays.size() == 1 ? "tensor" : "tensors", bytes_text(total_bytes(info)));
  text += model;
  if (const std::vector<ModelCheckpoint> beside = model_checkpoints(path); !beside.empty())
    text += checkpoints_text(beside);
  if (!model.empty() && !info.arrays.empty()) {
    text += every_tensor ? "tensors\n"
                         : "tensors, with those repeated across layers on one line (--tensors lists each)\n";
  }
  text += tensor_list_text(info.arrays, !model.empty() && !every_tensor);
  const FileMetadata metadata = other_metadata(info);
  if (!metadata.empty()) text += "metadata\n";
  for (const auto& [key, value] : metadata) text += fmt::format("  {}: {}\n", one_line(key), one_line(value));
  if (const auto run = run_record(path, info.metadata)) text += run_text(*run);
  return text;
}

// A model in several files, as if they were one.
ArrayFileInfo info_of(const ModelFiles& files) {
  ArrayFileInfo info{fmt::format("safetensors in {} files", files.file_count()), {}, {}, {}};
  for (const auto& [name, array] : files.arrays()) info.arrays.push_back(array);
  return info;
}

std::string as_json(const std::string& path, const ArrayFileInfo& info, const Json* model, const Json* heads) {
  Json tensors = Json::array();
  for (const ArrayInfo& array : info.arrays) {
    tensors.push_back(
        {{"name", array.name}, {"dtype", array.stored_dtype}, {"shape", array.sizes}, {"bytes", array.bytes}});
  }
  Json document{
      {"file", path}, {"format", info.format}, {"tensors", tensors}, {"metadata", Json(other_metadata(info))}};
  if (const auto run = run_record(path, info.metadata)) document["run"] = run_json(*run);
  if (model) document["model"] = *model;
  if (heads) document["text"] = *heads;
  if (const std::vector<ModelCheckpoint> beside = model_checkpoints(path); !beside.empty())
    document["checkpoints"] = checkpoints_json(beside);
  // Names in a ZIP archive need not be UTF-8; JSON has to be.
  return json_text(document, {.indent = 2, .replaces_bytes = true}) + "\n";
}

// A folder whose models are its checkpoints.
void print_checkpoints(const std::string& path, bool json) {
  const std::vector<ModelCheckpoint> checkpoints = model_checkpoints(path);
  if (json) {
    const Json document{{"file", path}, {"checkpoints", checkpoints_json(checkpoints)}};
    return print(json_text(document, {.indent = 2, .replaces_bytes = true}) + "\n");
  }
  print(fmt::format("{}: {}headwise info {} describes the newest\n", one_line(path),
                    checkpoints_text(checkpoints), one_line(checkpoints.back().path)));
}

[[noreturn]] void refuse_text(const std::string& path) {
  throw Error(ExitStatus::usage, {"--text", "only a model can read text", path, "the folder of a model", ""});
}

struct InfoRequest {
  TraceRequest trace;      // for a scenario, or a layer of a model
  HeadsInfoRequest heads;  // for a model
  bool json = false, every_tensor = false, wants_heads = false;
  const std::string& path() const { return trace.scenario; }
  bool changes_scenario() const { return !trace.inputs.empty() || !trace.settings.empty(); }
  std::string changing_option() const { return trace.inputs.empty() ? "--set" : "--input"; }
};

// False if only help was requested.
bool read_words(CommandOptions& options, const Words& words, InfoRequest& request) {
  TraceRequest& trace = request.trace;
  options.value("FILE", trace.scenario,
                "A scenario or a playlist (.json, or the name of a preset or lesson), .npy, .npz, "
                ".safetensors, or a folder with a model or its checkpoints",
                {.required = true});
  options.flag("--json", request.json, "Print JSON");
  options.flag("--tensors", request.every_tensor,
               "For a model: one line per tensor, instead of one for tensors repeated across layers");
  options.values("--input", trace.inputs,
                 "For a scenario or a layer: arrays under PyTorch's names, as for run", {.type = "FILE"});
  options.values(
      "--set", trace.settings,
      "Change the scenario: attention.num_heads=4; for a model, describe one layer: parameters.layer=3",
      {.type = "PATH=VALUE"});
  options.value("--dtype", trace.dtype, "For a scenario or a layer: f32 or f64",
                {.type = "TYPE", .shows_default = true});
  options.value("--text", request.heads.text,
                "For a model: score every head on this text, instead of listing its tensors");
  add_strict_flag(options, trace.strict);
  options.flag("--mute", request.heads.mute,
               "With --text: mute each head in turn, and report the change in the prediction", "--text");
  if (!options.parse(words)) return false;
  request.wants_heads = options.given("--text");
  request.heads.model = trace.scenario;
  request.heads.strict = trace.strict;
  return true;
}

void print_playlist(const InfoRequest& request) {
  const std::string& path = request.path();
  if (request.changes_scenario()) {
    throw Error(ExitStatus::usage,
                {request.changing_option(), "a playlist has scenarios of its own", path,
                 "one scenario: a .json file, or the name of a preset", "write \"set\" on its pages"});
  }
  const Playlist playlist = playlist_named(path);
  check_pages(playlist, path);
  print(request.json ? playlist_info_json(path, playlist) : playlist_info_text(path, playlist));
}

void print_scenario(const InfoRequest& request) {
  print(scenario_info(request.trace).printed(request.json));
}

// A run's file contains the parameters of its layer, which does not make it a model.
bool is_run(const InfoRequest& request, const ModelFiles& files) {
  return files.is_one_file() && run_record(request.path(), files.first_file_info().metadata).has_value();
}

// One layer of a model, as a scenario to run.
void print_layer(const InfoRequest& request, const TextModel& model) {
  if (model.layers().layers.empty() && !is_run(request, model.files())) {
    throw Error(ExitStatus::usage,
                {request.changing_option(), "this file has no attention layer to change", request.path(),
                 "a model, or a scenario: a .json file, or the name of a preset", ""});
  }
  if (request.wants_heads || request.every_tensor) {
    throw Error(ExitStatus::usage, {request.changing_option(), "this option is for a single layer of a model",
                                    request.wants_heads ? "--text" : "--tensors", "one of the two",
                                    "--set inputs.text=\"…\" gives the layer a text"});
  }
  print_scenario(request);
}

// A model, or a file of arrays.
void print_arrays(const InfoRequest& request, const TextModel& opened) {
  const std::string& path = request.path();
  const ModelFiles& files = opened.files();
  // One file is described in its own order.
  const ArrayFileInfo info = files.is_one_file() ? files.first_file_info() : info_of(files);
  const bool has_layers = !opened.layers().layers.empty() || !files.missing_files().empty();
  const bool is_model = has_layers && !is_run(request, files);
  const Json model = model_info_json(opened);
  if (request.wants_heads && !is_model) refuse_text(path);
  Warnings warnings;
  if (const std::string assumed = is_model ? assumed_heads_text(opened) : ""; !assumed.empty())
    warnings.add(assumed);
  if (files.is_one_file() && info.format == "npz")
    for (const UnreadEntry& entry : info.unread) warnings.add(left_out(entry));
  warnings.refuse_where(request.trace.strict);
  const bool told_as_model = is_model || names_model(path);
  if (request.json) {
    const Json scored = request.wants_heads ? heads_info_json(request.heads) : Json();
    print(as_json(path, info, told_as_model ? &model : nullptr, request.wants_heads ? &scored : nullptr));
  } else if (request.wants_heads) {
    print(heads_info_text(request.heads));  // without hundreds of tensors first
  } else {
    print(as_text(path, info, told_as_model ? model_info_text(opened) : "", request.every_tensor));
  }
}

}  // namespace

void run_info(CommandOptions& options, const Words& words) {
  InfoRequest request;
  if (!read_words(options, words, request)) return;
  const std::string& path = request.path();
  if (request.wants_heads && (names_playlist(path) || names_scenario(path))) refuse_text(path);
  if (names_playlist(path)) return print_playlist(request);
  if (names_scenario(path)) return print_scenario(request);
  // A name of nothing is refused as run refuses it.
  if (!is_there(path) && !is_builtin(path) && !is_array_file(path)) named_scenario(path);
  if (const std::string newest = newest_checkpoint_or(path); newest != path) {
    if (!request.wants_heads && !request.every_tensor && !request.changes_scenario())
      return print_checkpoints(path, request.json);
    request.trace.scenario = request.heads.model = newest;
  }
  const std::shared_ptr<const TextModel> opened = TextModel::open(path);
  if (request.changes_scenario()) return print_layer(request, *opened);
  print_arrays(request, *opened);
}

}  // namespace headwise
