// Scenarios in files.
#include <filesystem>
#include <fstream>

#include "core/files/atomic_file.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20;

std::string read_bounded(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw Error(ExitStatus::usage,
                {.where = path, .what = "this is a folder", .expected = "a scenario file"});
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw Error(ExitStatus::usage,
                {.where = path,
                 .what = "the scenario file cannot be opened",
                 .got = std::filesystem::exists(path, error) ? "no permission" : "no such file"});
  }
  std::string text;
  std::string block(std::size_t{1} << 16, '\0');
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) {
    text.append(block, 0, static_cast<std::size_t>(file.gcount()));
    if (text.size() > most_bytes) {
      throw Error(ExitStatus::usage, {.where = path,
                                      .what = "the scenario file is too large",
                                      .expected = "at most 64 MiB",
                                      .remedy = "keep large arrays in an .npz beside it"});
    }
  }
  return text;
}

// A path that was relative to one folder, as seen from another.
void move_path(std::optional<std::string>& file, const std::filesystem::path& from,
               const std::filesystem::path& to) {
  if (!file || std::filesystem::path(*file).is_absolute()) return;
  file = std::filesystem::proximate(from / *file, to).generic_string();
}

}  // namespace

Scenario read_scenario_file(const std::string& path) {
  Scenario scenario = scenario_from_json(read_bounded(path), path);
  scenario.origin.folder = std::filesystem::path(path).parent_path().string();
  return scenario;
}

void write_scenario_file(const Scenario& scenario, const std::string& path) {
  const std::filesystem::path from =
      std::filesystem::absolute(scenario.origin.folder.empty() ? "." : scenario.origin.folder);
  const std::filesystem::path to = std::filesystem::absolute(path).parent_path();
  Scenario moved = scenario;
  if (from.lexically_normal() != to.lexically_normal()) {
    for (std::optional<std::string>* file : {&moved.inputs.file, &moved.parameters.file, &moved.mask.file}) {
      move_path(*file, from, to);
    }
  }
  write_file_atomically(path, scenario_to_json(moved));
}

}  // namespace headwise
