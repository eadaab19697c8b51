#include "core/train/trained_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/files/file_paths.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"
#include "core/tensor/progress.h"

namespace headwise {
namespace {

constexpr Index most_trained_steps = 10'000;
constexpr double most_multiply_adds = 2e11;
constexpr std::size_t most_kept_runs = 8;

constexpr std::array<std::string_view, 8> recipe_options{"length", "symbols", "layers",        "width",
                                                         "heads",  "batch",   "learning-rate", "seed"};

[[noreturn]] void refuse_recipe(const std::string& recipe, const std::string& what, const std::string& got,
                                const std::string& expected) {
  throw Error(ExitStatus::usage, {"the training " + recipe, what, got, expected, ""});
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> words;
  std::size_t from = 0;
  for (std::size_t comma; (comma = text.find(',', from)) != std::string::npos; from = comma + 1)
    words.push_back(text.substr(from, comma - from));
  words.push_back(text.substr(from));
  return words;
}

template <class Number>
Number recipe_number(const std::string& recipe, const std::string& option, const std::string& word) {
  Number number{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number < Number{0})
    refuse_recipe(recipe, "the value of an option cannot be read", option + "=" + word,
                  std::is_integral_v<Number> ? "a whole number, 0 or more" : "a number, 0 or more");
  return number;
}

// Of a whole training: those of the forward passes, and twice as many of the backward passes.
double multiply_adds(const TrainingSettings& settings, Index length, Index steps) {
  const double tokens = static_cast<double>(settings.batch) * static_cast<double>(length),
               parameters = static_cast<double>(train_parameter_count(train_parameters(settings.model))),
               scores = 2.0 * static_cast<double>(settings.model.layers * settings.model.heads *
                                                  head_width_of(settings.model) * length);
  return 3.0 * tokens * (parameters + scores) * static_cast<double>(steps);
}

// Trainings that were begun, by their recipes; the one that was used least recently comes first.
class KeptRuns {
 public:
  struct Entry {
    std::string name;
    TaskSource source;
    std::unique_ptr<TrainingRun<double>> run;
  };

  // One that stands at the step or before it.
  Entry& at_or_before(const std::string& name, Index step) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].name != name) continue;
      if (entries_[i].run->step() > step) {
        entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
        break;
      }
      std::rotate(entries_.begin() + static_cast<std::ptrdiff_t>(i),
                  entries_.begin() + static_cast<std::ptrdiff_t>(i) + 1, entries_.end());
      return entries_.back();
    }
    TrainingRecipe recipe = training_recipe(name);
    TrainTask task = task_of(recipe.source);
    auto run = std::make_unique<TrainingRun<double>>(std::move(task), recipe.settings);
    if (entries_.size() == most_kept_runs) entries_.erase(entries_.begin());
    entries_.push_back({name, std::move(recipe.source), std::move(run)});
    return entries_.back();
  }

 private:
  std::vector<Entry> entries_;
};

std::vector<NamedContent> trained_folder(KeptRuns& kept, const std::string& folder) {
  const TrainedModelPath path = trained_model_path(folder);
  const ProgressPart training_part(0.0, 1.0, "training the model");
  KeptRuns::Entry& training = kept.at_or_before(path.recipe, path.step);
  TrainingRun<double>& run = *training.run;
  while (run.step() < path.step && !run.failure()) {
    check_cancelled();
    // Of the whole training, also where it goes on from a step that was reached before.
    const ProgressPart part = slice_of_work(run.step(), path.step);
    run.take_step();
  }
  if (run.step() < path.step)
    throw Error(ExitStatus::input, {.where = folder, .what = "this training failed: " + run.failure()->what});
  // Nobody goes on from such a folder.
  std::vector<NamedContent> files = checkpoint_files(training.source, run);
  std::erase_if(files, [](const NamedContent& file) { return file.name == "optimizer.safetensors"; });
  return files;
}

}  // namespace

TrainingRecipe training_recipe(const std::string& text) {
  const std::vector<std::string> words = split_at_commas(text);
  std::vector<std::string> names;
  for (const TaskEntry& entry : task_entries()) names.emplace_back(entry.name);
  if (!std::ranges::count(names, words[0]))
    refuse_recipe(text, "there is no task of this name", words[0], join(names, ", "));

  TrainingRecipe recipe{.source = {.name = words[0]}, .settings = {}};
  std::vector<std::pair<std::string, std::string>> given;
  std::optional<TrainingChange> change;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    if (equals == std::string::npos) {
      if (change) refuse_recipe(text, "only one change is allowed", words[i], "one change, at the end");
      change = training_change_named("the training " + text, name);
      continue;
    }
    if (change || !std::ranges::count(recipe_options, name))
      refuse_recipe(text, change ? "an option stands after the change" : "there is no such option", name,
                    change
                        ? "options first, then the change"
                        : join(std::vector<std::string>(recipe_options.begin(), recipe_options.end()), ", "));
    given.emplace_back(name, words[i].substr(equals + 1));
  }
  const auto whole = [&](const char* option) -> std::optional<Index> {
    std::optional<Index> number;
    for (const auto& [name, word] : given)
      if (name == option) number = recipe_number<Index>(text, name, word);
    return number;
  };
  recipe.source.sizes = {.length = whole("length"), .symbols = whole("symbols")};
  const TrainTask task = task_of(recipe.source);
  TrainingSettings& settings = recipe.settings = usual_settings(task);
  settings.model.layers = whole("layers").value_or(settings.model.layers);
  settings.model.width = whole("width").value_or(settings.model.width);
  settings.model.heads = settings.model.kv_heads = whole("heads").value_or(settings.model.heads);
  settings.batch = whole("batch").value_or(settings.batch);
  settings.seed = static_cast<std::uint64_t>(whole("seed").value_or(1));
  for (const auto& [name, word] : given)
    if (name == "learning-rate") settings.optimiser.learning_rate = recipe_number<double>(text, name, word);
  check_training(task, settings);
  if (change) {
    const std::optional<TrainingSettings> changed = changed_settings(settings, *change);
    if (!changed)
      refuse_recipe(text, "this change does not apply here", std::string(training_change_entry(*change).name),
                    "a change that applies to these settings");
    settings = *changed;
  }
  return recipe;
}

TrainedModelPath trained_model_path(const std::string& folder) {
  const std::string_view rest = std::string_view(folder).substr(trained_prefix.size());
  const std::size_t slash = rest.find('/');
  TrainedModelPath path{.recipe = std::string(rest.substr(0, slash))};
  const std::string word(slash == std::string_view::npos ? "" : rest.substr(slash + 1));
  TrainingRecipe recipe = training_recipe(path.recipe);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), path.step);
  if (error != std::errc() || end != word.data() + word.size() || path.step < 0 ||
      path.step > most_trained_steps)
    refuse_recipe(path.recipe, "the step is missing, not a number or out of range",
                  word.empty() ? "none" : word,
                  fmt::format("{}{}/STEP with 0 to {}", trained_prefix, path.recipe, most_trained_steps));
  const double work = multiply_adds(recipe.settings, task_of(recipe.source).length, path.step);
  if (work > most_multiply_adds)
    throw Error(ExitStatus::usage,
                {"the training " + path.recipe, "it takes too long to wait for",
                 fmt::format("{:.1e} multiply-adds", work), fmt::format("at most {:.0e}", most_multiply_adds),
                 "train it into a folder with headwise train, and name that folder"});
  return path;
}

void offer_trained_models() {
  // The lock of core/files is held while it makes a folder.
  add_folder_maker({.prefix = std::string(trained_prefix),
                    .parts = 2,
                    .names = {"config.json", "model.safetensors", "tokenizer.json", "training.json"},
                    .make = [kept = std::make_shared<KeptRuns>()](const std::string& folder) {
                      return trained_folder(*kept, folder);
                    }});
}

}  // namespace headwise
