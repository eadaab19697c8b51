#include "core/train/training_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <string_view>
#include <utility>

#include "core/attention/attention_mask.h"
#include "core/files/atomic_file.h"
#include "core/files/input_file.h"
#include "core/files/word_rows.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {

std::string_view embedded_program_training();

namespace {

// What the template is filled with. A condition is a name that has a value, be it empty.
using Values = std::map<std::string, std::string, std::less<>>;

// A line with the value of each _name_ in its place.
std::string filled_line(std::string_view line, const Values& values) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  std::string text;
  while (!line.empty()) {
    const std::size_t word = std::min(line.find_first_not_of(letters), line.size());
    const std::string_view name = line.substr(0, std::max<std::size_t>(word, 1));
    const bool is_value = name.size() > 2 && name.front() == '_' && name.back() == '_' && name[1] != '_';
    text += is_value ? values.at(std::string(name.substr(1, name.size() - 2))) : name;
    line.remove_prefix(name.size());
  }
  return text;
}

// assets/programs/training.py, which says how it is written, with these values.
std::string filled_template(const Values& values) {
  std::string_view rest = embedded_program_training();
  std::string text;
  std::vector<bool> kept;  // of the conditions that a line stands under
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    if (line.starts_with("#if "))
      kept.push_back(
          std::ranges::any_of(words_in(line.substr(4)), [&](auto name) { return values.contains(name); }));
    else if (line == "#else")
      kept.back() = !kept.back();
    else if (line == "#end")
      kept.pop_back();
    else if (std::ranges::count(kept, false) == 0)
      text += filled_line(line, values) + '\n';
  }
  return text;
}

std::string shape_text(const TrainParameter& parameter) {
  if (parameter.shape.rank() < 2) return fmt::format("{}", parameter.columns());
  return fmt::format("{}, {}", parameter.rows(), parameter.columns());
}

// What a parameter begins with, as an expression.
std::string initial_value_text(const TrainParameter& parameter, const TrainModelConfig& config) {
  const std::string name = "\"" + parameter.name + "\"", shape = shape_text(parameter);
  const Beginning begins = beginning_of(parameter, config);
  if (begins.draw == Draw::constant)
    return fmt::format("torch.{}({})", begins.size == 0.0 ? "zeros" : "ones", shape);
  return fmt::format("{}({}, {}, {})", begins.draw == Draw::normal ? "normal" : "uniform", name,
                     begins.python, shape);
}

// The parameters as they begin, as entries of a dictionary.
std::string parameters_text(const TrainModelConfig& config) {
  std::vector<std::string> entries;
  for (const TrainParameter& parameter : train_parameters(config))
    entries.push_back(fmt::format("\"{}\": {},", parameter.name, initial_value_text(parameter, config)));
  return join(entries, "\n    ");
}

// The places that belong to frozen heads.
std::string frozen_text(const TrainModelConfig& config) {
  const std::vector<TrainParameter> parameters = train_parameters(config);
  const std::vector<std::uint8_t> frozen = frozen_values(config, parameters);
  std::vector<std::string> entries;
  for (const TrainParameter& parameter : parameters) {
    const bool by_column =
                   parameter.role == TrainRole::out_weight || parameter.role == TrainRole::relative_bias,
               by_row = parameter.shape.rank() == 2 && !by_column;
    const Index step = by_row ? parameter.columns() : 1;
    const Index count = by_row ? parameter.rows() : parameter.columns();
    std::vector<Index> places;
    for (Index i = 0; i < count; ++i)
      if (frozen[static_cast<std::size_t>(parameter.offset + i * step)]) places.push_back(i);
    if (!places.empty())
      entries.push_back(
          fmt::format("\"{}\": np.s_[{}[{}]],", parameter.name, by_column ? ":, " : "", join(places, ", ")));
  }
  return join(entries, "\n    ");
}

// A text as a string of Python.
std::string python_string(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') quoted += '\\';
    if (byte < 0x20 || byte == 0x7f)
      quoted += fmt::format("\\x{:02x}", byte);
    else
      quoted += c;
  }
  return quoted + "\"";
}

// The number of symbols that the task has: what is left of its vocabulary without the tokens of its own.
Index symbols_of(const TaskSource& source, const TrainTask& task) {
  if (source.name == "reverse" || source.name == "sort" || source.name == "modular-addition")
    return task.vocabulary - 1;
  if (source.name == "brackets") return task.vocabulary - 2;
  if (source.name == "lookup") return task.vocabulary / 2;
  if (source.name == "it-and-the-noun") return (task.vocabulary - 10 - 9 - 20) / 4;
  return task.vocabulary;
}

std::string content_of(const std::string& path) {
  const InputFile file(path);
  return file.read_text(0, file.size());
}

template <class Number>
void add_numbers(Values& values, std::initializer_list<std::pair<const char*, Number>> numbers) {
  for (const auto& [name, number] : numbers) values[name] = fmt::format("{}", number);
}

void add_conditions(Values& values, std::initializer_list<std::pair<std::string, bool>> conditions) {
  for (const auto& [name, holds] : conditions)
    if (holds) values[name];
}

void add_task(Values& values, const TaskSource& source, const TrainTask& task, const std::string& data_file) {
  const bool file = !source.file.empty(), json = source.file.ends_with(".json");
  values["what"] = one_line(task.what);
  values["task"] = python_string(task.name);
  values["data"] = python_string(data_file);
  add_numbers<Index>(values, {{"length", task.length}, {"symbols", symbols_of(source, task)}});
  add_conditions(values,
                 {{"file", file}, {"json", json}, {"text", file && !json}, {"task:" + source.name, !file}});
}

void add_model(Values& values, const TrainModelConfig& config) {
  add_numbers<Index>(values, {{"layers", config.layers},
                              {"width", config.width},
                              {"heads", config.heads},
                              {"kv_heads", config.kv_heads},
                              {"head_width", head_width_of(config)},
                              {"latent", config.latent_width.value_or(0)},
                              {"shared", shared_key_width_of(config)},
                              {"rotated", rotated_width_of(config)},
                              {"hidden", feed_forward_width_of(config)}});
  add_conditions(values, {{"learned", config.positions == TrainPositions::learned},
                          {"sinusoidal", config.positions == TrainPositions::sinusoidal},
                          {"rotary", config.positions == TrainPositions::rotary},
                          {"alibi", config.positions == TrainPositions::alibi},
                          {"relative_bias", config.positions == TrainPositions::relative_bias},
                          {"latents", config.latent_width.has_value()},
                          {"grouped", config.kv_heads < config.heads},
                          {"causal", config.causal},
                          {"window", config.sliding_window.has_value()},
                          {"scaled", config.scaled},
                          {"qk_norm", config.qk_norm},
                          {"sink", config.sink},
                          {"output_gate", config.output_gate},
                          {"norms", config.norms},
                          {"out_projection", config.out_projection},
                          {"feed_forward", config.feed_forward},
                          {"relu", config.activation == TrainActivation::relu},
                          {"heads_begin_equal", config.heads_begin_equal},
                          {"equal_out_projection", config.out_projection && config.equal_out_projection}});
  values["parameters"] = parameters_text(config);
  values["slopes"] = join(alibi_slopes(config.heads), ", ");
  const RelativeBias bias = relative_bias_of(config);
  add_numbers<Index>(values, {{"buckets", bias.buckets}, {"max_distance", bias.max_distance}});
  if (config.sliding_window) add_numbers<Index>(values, {{"sliding_window", *config.sliding_window}});
  values["unembedding"] = config.tied ? "embedding.weight" : "unembedding.weight";
  if (config.dropout > 0.0) add_numbers<double>(values, {{"dropout", config.dropout}});
  if (!config.frozen_heads.empty()) values["frozen"] = frozen_text(config);
}

void add_optimiser(Values& values, const OptimiserConfig& config) {
  const bool momentum = config.kind == OptimiserKind::momentum;
  add_conditions(values, {{"sgd", momentum || config.kind == OptimiserKind::sgd},
                          {"warm_up", config.warm_up_steps > 0},
                          {"cosine", config.cosine_steps.has_value()}});
  values["adam"] = config.kind == OptimiserKind::adam ? "Adam" : "AdamW";
  add_numbers<double>(values, {{"learning_rate", config.learning_rate},
                               {"momentum", momentum ? config.momentum : 0.0},
                               {"beta1", config.beta1},
                               {"beta2", config.beta2},
                               {"epsilon", config.epsilon},
                               {"weight_decay", config.weight_decay},
                               {"final_share", config.final_share}});
  const Index cosine_steps = config.cosine_steps.value_or(0);
  add_numbers<Index>(values, {{"warm_up_steps", config.warm_up_steps},
                              {"cosine_steps", cosine_steps},
                              {"cosine_length", cosine_steps - config.warm_up_steps}});
  if (config.clip_norm) add_numbers<double>(values, {{"clip_norm", *config.clip_norm}});
}

}  // namespace

TrainingProgram training_program(TaskSource source, const TrainingSettings& settings, DType dtype,
                                 Index steps, const std::string& data_file) {
  const TrainTask task = task_of(source);
  Values values{{"dtype", dtype == DType::f32 ? "float32" : "float64"},
                {"seed", fmt::format("{}", settings.seed)}};
  add_numbers<Index>(values, {{"steps", steps}, {"batch", settings.batch}});
  add_task(values, source, task, data_file);
  add_model(values, settings.model);
  add_optimiser(values, settings.optimiser);
  return {filled_template(values), source.file.empty() ? "" : content_of(source.file)};
}

void write_training_program(const std::string& path, const TaskSource& source,
                            const TrainingSettings& settings, DType dtype, Index steps) {
  const std::filesystem::path given(path);
  const std::string ending = source.file.ends_with(".json") ? ".json" : ".txt";
  const std::filesystem::path data = std::filesystem::path(given).replace_extension(ending);
  if (!source.file.empty() && std::filesystem::exists(data) &&
      !std::filesystem::equivalent(data, source.file) && content_of(data.string()) != content_of(source.file))
    throw Error(
        ExitStatus::output,
        {data.string(), "the program needs this name for the file of its task, and another file has it", "",
         "", "choose another name for the program"});
  const TrainingProgram program = training_program(source, settings, dtype, steps, data.filename().string());
  if (!program.data.empty() && !std::filesystem::exists(data))
    write_file_atomically(data.string(), program.data);
  write_file_atomically(path, program.text);
}

}  // namespace headwise
