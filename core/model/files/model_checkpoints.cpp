#include "core/model/files/model_checkpoints.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "core/files/file_paths.h"
#include "core/model/files/model_json.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

namespace fs = std::filesystem;

// nullopt: it is no checkpoint's name.
std::optional<Index> step_of_name(std::string_view name) {
  constexpr std::string_view prefix = "checkpoint-";
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  Index step = 0;
  const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  const bool whole = error == std::errc() && stop == name.data() + name.size() && name.front() != '-';
  return whole ? std::optional(step) : std::nullopt;
}

// As ModelFiles looks for them; .bin, .pt and .pth are refused when opened, with the lines that convert them.
// The optimiser's state, which a checkpoint has as well, is no model.
bool holds_arrays(const std::string& folder) {
  constexpr std::array<std::string_view, 5> endings{".safetensors", ".npz", ".bin", ".pt", ".pth"};
  constexpr std::array<std::string_view, 4> others{"optimizer", "scheduler", "rng_state", "training_args"};
  return std::ranges::any_of(paths_in(folder), [&](const std::string& path) {
    const std::string name = fs::path(path).filename().string();
    return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); }) &&
           std::ranges::none_of(others, [&](std::string_view other) { return name.starts_with(other); });
  });
}

}  // namespace

std::vector<ModelCheckpoint> model_checkpoints(const std::string& folder) {
  std::vector<ModelCheckpoint> checkpoints;
  for (const std::string& path : paths_in(folder)) {
    const std::optional<Index> step = step_of_name(fs::path(path).filename().string());
    if (step && is_folder(path) && holds_arrays(path)) checkpoints.push_back({*step, path});
  }
  std::ranges::stable_sort(checkpoints, {}, &ModelCheckpoint::step);
  return checkpoints;
}

std::vector<ModelCheckpoint> sibling_checkpoints(const std::string& path) {
  std::error_code ignored;
  fs::path model = fs::absolute(path, ignored).lexically_normal();
  if (!model.has_filename() || !is_folder(path))
    model = model.parent_path();  // "run/checkpoint-10/", or a file in it
  if (!step_of_name(model.filename().string())) return {};
  return model_checkpoints(model.parent_path().string());
}

std::string newest_checkpoint_or(const std::string& path) {
  if (!is_folder(path) || holds_arrays(path)) return path;
  const std::vector<ModelCheckpoint> checkpoints = model_checkpoints(path);
  return checkpoints.empty() ? path : checkpoints.back().path;
}

TrainedTask trained_task(const std::string& folder) {
  const std::string path = (fs::path(folder) / "training.json").string();
  if (!is_there(path)) return {};
  try {
    const Json json = read_json_object(path, model_format);
    const JsonValue training(json, path, model_format);
    const auto text = [&](const char* key) {
      const Json& value = training.at(key);
      return value.is_string() ? value.get<std::string>() : "";
    };
    const auto number = [&](const char* key) -> std::optional<double> {
      const Json& value = training.at(key);
      return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
    };
    TrainedTask task{.what = text("what"), .example = text("example")};
    if (const auto step = number("step"); step && *step >= 0.0 && *step < 1e15)
      task.step = static_cast<Index>(*step);
    task.held_out_loss = number("held_out_loss");
    task.held_out_accuracy = number("held_out_accuracy");
    return task;
  } catch (const Error& error) {
    if (error.status() != ExitStatus::input) throw;
    return {};  // the model is as good without
  }
}

}  // namespace headwise
