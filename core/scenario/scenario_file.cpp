// Scenarios in files.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/files/array_files.h"
#include "core/files/atomic_file.h"
#include "core/files/file_paths.h"
#include "core/files/input_file.h"
#include "core/scenario/json_document.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"

namespace headwise {
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
    if (text.size() > most_bytes) {
      throw Error(ExitStatus::usage, {.where = path,
                                      .what = "the " + kind + " file is too large",
                                      .expected = "at most 64 MiB",
                                      .remedy = "put large arrays in an .npz next to it"});
    }
  }
  if (file.bad())
    refuse("the " + kind + " file cannot be read", std::strerror(errno), "a file that can be read");
  return text;
}

namespace {

// Rewrites a path relative to one folder as relative to another.
void move_path(std::optional<std::string>& file, const std::filesystem::path& from,
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
    for (std::optional<std::string>* file : {&moved.inputs.file, &moved.parameters.file, &moved.mask.file}) {
      move_path(*file, from, to);
    }
    if (moved.frozen_heads) move_path(moved.frozen_heads->file, from, to);
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
