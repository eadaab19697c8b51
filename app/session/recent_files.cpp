#include "app/session/recent_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "app/session/error_log.h"
#include "core/files/atomic_file.h"
#include "core/files/json_text.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_file = 1U << 20U;

}  // namespace

std::string recent_files_path() {
  const std::string folder = state_folder();
  return folder.empty() ? "" : folder + "/recent.json";
}

std::vector<std::string> load_recent_files(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || !fs::is_regular_file(path, ignored) || fs::file_size(path, ignored) > largest_file)
    return {};
  try {
    std::ifstream file(path, std::ios::binary);
    std::vector<std::string> files;
    for (const nlohmann::json& entry : json_of(std::string(std::istreambuf_iterator<char>(file), {}))) {
      if (!entry.is_string() || entry.get_ref<const std::string&>().empty()) continue;
      if (files.size() < most_recent_files) files.push_back(entry.get<std::string>());
    }
    return files;
  } catch (const std::exception&) {
    return {};
  }
}

std::vector<std::string> with_recent_file(std::vector<std::string> files, const std::string& file) {
  std::error_code error;
  const fs::path absolute = fs::absolute(file, error);
  const std::string path = error ? file : absolute.lexically_normal().string();
  std::erase(files, path);
  files.insert(files.begin(), path);
  if (files.size() > most_recent_files) files.resize(most_recent_files);
  return files;
}

void save_recent_files(const std::string& path, const std::vector<std::string>& files) {
  if (path.empty()) return;
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (error) {
    throw Error(
        ExitStatus::output,
        {.where = path, .what = "the folder of the recent files cannot be created", .got = error.message()});
  }
  const nlohmann::json json(files);
  write_file_atomically(path, json_text(json, {.indent = 2, .replaces_bytes = true}) + "\n");
}

}  // namespace headwise
