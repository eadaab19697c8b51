#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "app/cli/cell_info.h"
#include "app/cli/command_line.h"
#include "app/cli/model_info.h"
#include "app/cli/playlist_argument.h"
#include "app/cli/report.h"
#include "app/cli/scenario_info.h"
#include "app/cli/standard_streams.h"
#include "app/session/head_finding.h"
#include "core/files/array_files.h"
#include "core/files/file_paths.h"
#include "core/files/json_text.h"
#include "core/model/files/model_files.h"
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

// Numbers under right-aligned names.
Cell score_cell(HeadScore score, const std::optional<double>& value) {
  const HeadScoreWords& words = head_score_words(score);
  Cell cell = number_cell(std::string(words.id), value, "{:.3f}");
  cell.words = fmt::format("{:>{}}", *cell.words, std::max<std::size_t>(words.name.size(), 5));
  return cell;
}

void add_muted(const MutedHeads& all, std::size_t place, Row& row) {
  const MutedHead& muted = all.muting->heads[place];
  const bool counts = muted.positions > 0;  // else every prediction is NaN
  row.cells.push_back({"muted",
                       {{"bits", counts ? Json(muted.bits) : Json(nullptr)},
                        {"positions", muted.positions},
                        {"words_changed", muted.words_changed},
                        {"largest_bits", muted.largest_bits},
                        {"position", muted.position},
                        {"before_id", muted.before},
                        {"before_probability", muted.before_probability},
                        {"after_id", muted.after},
                        {"after_probability", muted.after_probability}},
                       fmt::format("{:>6}", counts ? fmt::format("{:.3f}", muted.bits) : "-")});
  row.cells.emplace_back(fmt::format("{:>5}", counts ? std::to_string(muted.words_changed) : "-"));
  row.cells.emplace_back(counts ? one_line(all.changes[place]) : "the prediction is NaN");
}

// One line per head, with the scores of core/model/heads/head_scores.h. Throws Error(input) if text cannot go
// into the model. If muting is requested and the model predicts no tokens, the table comes without it, and a
// warning and "not_muted" say why; if the request is strict, that is an Error(input) too, as are remarks
// about the text.
Report heads_report(const HeadsInfoRequest& request) {
  const HeadsInfo info = heads_info(request);
  const HeadSurvey& survey = *info.found.survey;
  Row header{"head"}, uniform{"unif."};
  Json scores = Json::object();
  for (std::size_t i = 0; i < head_score_count; ++i) {
    const MeasuredScore* const one = measured_score(survey, score_at(i));
    const Cell cell = score_cell(score_at(i), one ? std::optional(one->uniform) : std::nullopt);
    scores[cell.key] = {{"uniform", cell.value}, {"queries", one ? one->queries : 0}};
    header.cells.emplace_back(fmt::format("{:>5}", head_score_words(score_at(i)).name));
    uniform.cells.emplace_back(*cell.words);
  }
  if (info.muted)
    for (const char* const name : {"  bits", "words", "biggest change when muted"})
      header.cells.emplace_back(name);
  std::vector<Row> rows{header, uniform};
  for (std::size_t h = 0; h < survey.heads.size(); ++h) {
    const SurveyedHead& head = survey.heads[h];
    Row row{fmt::format("{}.{}", head.layer, head.head), {"layer", head.layer}, {"head", head.head}};
    for (std::size_t i = 0; i < head_score_count; ++i)
      row.cells.push_back(score_cell(score_at(i), head.scores.scores[i].value));
    row.cells.emplace_back("entropy_bits", value_or_null(head.scores.entropy_bits));
    if (info.muted) add_muted(*info.muted, h, row);
    rows.push_back(row);
  }
  Report report;
  std::string tokens;
  for (const std::string& token : info.found.tokens) tokens += " " + one_line(token);
  report.add_line("heads on {} tokens:{}\n",
                  {std::to_string(survey.length), {"tokens", info.found.tokens, tokens}});
  report.add_line(info.found.notice.empty() ? "" : "  {}\n", {text_cell("notice", info.found.notice)});
  report.json["scores"] = scores;
  report.add_list("heads", rows);
  if (!info.not_muted.empty()) report.json["not_muted"] = info.not_muted;
  if (info.found.empty) report.text = info.found.notice + "\n";
  return report;
}

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

// The run that a file came from: in text its scenario as stored in a file, without defaults.
Report run_report(const RunRecord& run) {
  Report report{"run\n"};
  report.add_line("  scenario: {}\n", {{"scenario", ordered_json_of(scenario_to_json(run.scenario, true)),
                                        json_text(ordered_json_of(scenario_to_json(run.scenario)))}});
  report.add_line(run.layers.empty() ? "" : "  layers: {}\n",
                  {{"layers", run.layers, join(run.layers, ", ")}});
  report.add_line(run.given.empty() ? "" : "  given with --input: {}\n",
                  {{"given", run.given, join(run.given, ", ")}});
  std::string tokens;
  for (const std::string& token : run.tokens.query) tokens += " " + one_line(token);
  report.add_line("  tokens:{}\n",
                  {{"tokens", {{"query", run.tokens.query}, {"key", run.tokens.key}}, tokens}});
  report.add_lines("warnings", run.warnings, "  warning: {}\n");
  return report;
}

// Nothing if there are none.
Report checkpoints_report(const std::string& path) {
  const std::vector<ModelCheckpoint> checkpoints = model_checkpoints(path);
  Report report;
  if (checkpoints.empty()) return report;
  report.text = counted(std::ssize(checkpoints), "checkpoint") + " of a training run\n";
  Json& list = report.json["checkpoints"];
  for (const ModelCheckpoint& checkpoint : checkpoints) {
    list.push_back({{"step", checkpoint.step}, {"path", checkpoint.path}});
    report.text += fmt::format("  step {}: {}\n", checkpoint.step, one_line(checkpoint.path));
  }
  return report;
}

// A model in several files, as if they were one.
ArrayFileInfo info_of(const ModelFiles& files) {
  ArrayFileInfo info{fmt::format("safetensors in {} files", files.file_count()), {}, {}, {}};
  for (const auto& [name, array] : files.arrays()) info.arrays.push_back(array);
  return info;
}

// In text what a model is comes before the long list of its contents. `model` is null for other arrays.
Report arrays_report(const std::string& path, const ArrayFileInfo& info, const TextModel* model,
                     bool every_tensor, const Json* heads) {
  Report report;
  report.add_line("{}: {}, {}, {}\n", {text_cell("file", path),
                                       {"format", info.format, info.format},
                                       counted(std::ssize(info.arrays), "tensor"),
                                       bytes_text(total_bytes(info))});
  const Report checkpoints = checkpoints_report(path);
  report.text += (model ? model_info_text(*model) : "") + checkpoints.text;
  if (model && !info.arrays.empty())
    report.text += every_tensor
                       ? "tensors\n"
                       : "tensors, with those repeated across layers on one line (--tensors lists each)\n";
  report.text += tensor_list_text(info.arrays, model && !every_tensor);
  Json& tensors = report.json["tensors"] = Json::array();
  for (const ArrayInfo& array : info.arrays)
    tensors.push_back(
        {{"name", array.name}, {"dtype", array.stored_dtype}, {"shape", array.sizes}, {"bytes", array.bytes}});
  const FileMetadata metadata = other_metadata(info);
  report.json["metadata"] = metadata;
  if (!metadata.empty()) report.text += "metadata\n";
  for (const auto& [key, value] : metadata)
    report.text += fmt::format("  {}: {}\n", one_line(key), one_line(value));
  if (const auto run = run_record(path, info.metadata)) report.add_section("run", run_report(*run));
  if (model) report.json["model"] = model_info_json(*model);
  if (heads) report.json["text"] = *heads;
  report.json.update(checkpoints.json);
  return report;
}

// A folder whose models are its checkpoints.
void print_checkpoints(const std::string& path, bool json) {
  Report report;
  report.add_line("{}: ", {text_cell("file", path)});
  const Report checkpoints = checkpoints_report(path);
  report.json.update(checkpoints.json);
  report.text += fmt::format("{}headwise info {} describes the newest\n", checkpoints.text,
                             one_line(model_checkpoints(path).back().path));
  print(report.printed(json));
}

[[noreturn]] void refuse_text(const std::string& path) {
  refuse_option("--text", "only a model can read text", path, "the folder of a model");
}

struct InfoRequest {
  TraceRequest trace;      // for a scenario, or a layer of a model
  HeadsInfoRequest heads;  // for a model
  std::string cell;        // of a scenario, a run or a layer
  bool json = false, every_tensor = false, wants_heads = false;
  const std::string& path() const { return trace.scenario; }
  bool changes_scenario() const { return !trace.inputs.empty() || !trace.settings.empty(); }
  std::string changing_option() const {
    return !cell.empty() ? "--cell" : trace.inputs.empty() ? "--set" : "--input";
  }
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
                 "For a scenario or a layer: arrays under PyTorch's names, as for run",
                 {.type = "FILE", .arrays = true});
  options.values(
      "--set", trace.settings,
      "Change the scenario: attention.num_heads=4; for a model, describe one layer: parameters.layer=3",
      {.type = "PATH=VALUE"});
  options.value("--dtype", trace.dtype, "For a scenario or a layer: f32 or f64",
                {.type = "TYPE", .shows_default = true});
  options.value(
      "--cell", request.cell,
      "For a scenario, a run or a layer: where one number comes from, and what it feeds: scores[0,0,7,5]",
      {.type = "NAME[I,…]"});
  options.value("--text", request.heads.text,
                "For a model: score every head on this text, instead of listing its tensors");
  add_strict_flag(options, trace.strict);
  options.flag("--mute", request.heads.mute,
               "With --text: mute each head in turn, and report the change in the prediction", "--text");
  if (!options.parse(words)) return false;
  request.wants_heads = options.given("--text");
  if (options.given("--cell") && (request.wants_heads || request.every_tensor))
    refuse_option("--cell", "this option is for a single run", request.wants_heads ? "--text" : "--tensors",
                  "one of the two", "--set inputs.text=\"…\" gives a layer a text");
  request.heads.model = trace.scenario;
  request.heads.strict = trace.strict;
  return true;
}

void print_playlist(const InfoRequest& request) {
  const std::string& path = request.path();
  if (request.changes_scenario() || !request.cell.empty())
    refuse_option(request.changing_option(), "a playlist has scenarios of its own", path,
                  "one scenario: a .json file, or the name of a preset", "write \"set\" on its pages");
  const Playlist playlist = playlist_named(path);
  check_pages(playlist, path);
  print(playlist_info(path, playlist).printed(request.json));
}

void print_scenario(const InfoRequest& request) {
  const Report report =
      request.cell.empty() ? scenario_info(request.trace) : cell_info(request.trace, request.cell);
  print(report.printed(request.json));
}

// A run's file contains the parameters of its layer, which does not make it a model.
bool is_run(const InfoRequest& request, const ModelFiles& files) {
  return files.is_one_file() && run_record(request.path(), files.first_file_info().metadata).has_value();
}

// One layer of a model, as a scenario to run.
void print_layer(const InfoRequest& request, const TextModel& model) {
  if (model.layers().layers.empty() && !is_run(request, model.files()))
    refuse_option(request.changing_option(), "this file has no attention layer to change", request.path(),
                  "a model, or a scenario: a .json file, or the name of a preset");
  if (request.wants_heads || request.every_tensor)
    refuse_option(request.changing_option(), "this option is for a single layer of a model",
                  request.wants_heads ? "--text" : "--tensors", "one of the two",
                  "--set inputs.text=\"…\" gives the layer a text");
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
  if (request.wants_heads && !is_model) refuse_text(path);
  Warnings warnings;
  if (const std::string assumed = is_model ? assumed_heads_text(opened) : ""; !assumed.empty())
    warnings.add(assumed);
  if (files.is_one_file() && info.format == "npz")
    for (const UnreadEntry& entry : info.unread) warnings.add(left_out(entry));
  warnings.refuse_where(request.trace.strict);
  const bool reports_model = is_model || names_model(path);
  const Report heads = request.wants_heads ? heads_report(request.heads) : Report();
  if (request.wants_heads && !request.json) return print(heads.text);  // without hundreds of tensors first
  print(arrays_report(path, info, reports_model ? &opened : nullptr, request.every_tensor,
                      request.wants_heads ? &heads.json : nullptr)
            .printed(request.json));
}

}  // namespace

void run_info(CommandOptions& options, const Words& words) {
  InfoRequest request;
  if (!read_words(options, words, request)) return;
  const std::string& path = request.path();
  if (request.wants_heads && (names_playlist(path) || names_scenario(path))) refuse_text(path);
  if (names_playlist(path)) return print_playlist(request);
  if (names_scenario(path) || !request.cell.empty()) return print_scenario(request);
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
