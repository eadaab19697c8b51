#include "core/files/file_paths.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/made_folders.h"

namespace headwise {
namespace embedded {

std::span<const unsigned char> model_copycat_arrays();
std::span<const unsigned char> model_copycat_config();
std::span<const unsigned char> model_copycat_vocab();
std::span<const unsigned char> model_sentences_arrays();
std::span<const unsigned char> model_sentences_config();
std::span<const unsigned char> model_sentences_patterns();
std::span<const unsigned char> model_sentences_vocab();

}  // namespace embedded
namespace {

namespace fs = std::filesystem;

struct BuiltinFile {
  std::string_view path;
  std::span<const unsigned char> (*content)();
};

constexpr std::array<BuiltinFile, 7> builtin_files{{
    {"builtin:copycat/config.json", embedded::model_copycat_config},
    {"builtin:copycat/model.safetensors", embedded::model_copycat_arrays},
    {"builtin:copycat/vocab.txt", embedded::model_copycat_vocab},
    {"builtin:sentences/config.json", embedded::model_sentences_config},
    {"builtin:sentences/model.safetensors", embedded::model_sentences_arrays},
    {"builtin:sentences/patterns.json", embedded::model_sentences_patterns},
    {"builtin:sentences/vocab.txt", embedded::model_sentences_vocab},
}};

std::string_view folder_of(std::string_view path) {
  return path.substr(0, path.find('/'));
}

std::string_view without_slash(std::string_view folder) {
  return folder.ends_with('/') ? folder.substr(0, folder.size() - 1) : folder;
}

FileState state_of_file(const fs::path& path) {
  std::error_code error;
  FileState state;
  state.modified = static_cast<std::int64_t>(fs::last_write_time(path, error).time_since_epoch().count());
  const std::uint64_t bytes = fs::file_size(path, error);
  if (!error) state.bytes = bytes;
  return state;
}

}  // namespace

bool is_stored(std::string_view path) {
  return is_builtin(path) && !is_made_folder(path) && !is_made_file(path);
}

std::vector<std::string> builtin_folders() {
  std::vector<std::string> folders;
  for (const BuiltinFile& file : builtin_files)
    if (folders.empty() || folders.back() != folder_of(file.path)) folders.emplace_back(folder_of(file.path));
  return folders;
}

std::optional<std::span<const std::byte>> builtin_file(std::string_view path) {
  const auto at = std::ranges::find(builtin_files, path, &BuiltinFile::path);
  if (at == builtin_files.end()) return made_file(path);
  return std::as_bytes(at->content());
}

bool is_there(const std::string& path) {
  if (is_builtin(path)) return is_made_file(path) || is_folder(path) || builtin_file(path);
  std::error_code error;
  return fs::exists(path, error);
}

bool is_folder(const std::string& path) {
  if (is_builtin(path))
    return std::ranges::count(builtin_folders(), without_slash(path)) > 0 || is_made_folder(path);
  std::error_code error;
  return fs::is_directory(path, error);
}

std::vector<std::string> paths_in(const std::string& folder) {
  std::vector<std::string> paths;
  if (is_made_folder(folder)) return made_paths_in(folder);
  if (is_builtin(folder)) {
    for (const BuiltinFile& file : builtin_files)
      if (folder_of(file.path) == without_slash(folder)) paths.emplace_back(file.path);
    return paths;
  }
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    paths.push_back(entry.path().string());
  std::ranges::sort(paths);
  return paths;
}

FileState file_state(const std::string& path) {
  if (is_builtin(path)) return {};
  if (!is_folder(path)) return state_of_file(path);
  FileState state;
  for (const std::string& file : paths_in(path)) {
    const FileState one = state_of_file(file);
    state.modified = std::max(state.modified, one.modified);
    state.bytes += one.bytes;
  }
  return state;
}

std::string path_from(const std::string& folder, const std::string& file) {
  return is_builtin(file) ? file : (fs::path(folder) / file).string();
}

namespace {

[[noreturn]] void cannot_be_opened(const std::string& path, const std::string& what, int error,
                                   ExitStatus status = ExitStatus::input) {
  throw Error(status, {.where = path,
                       .what = fmt::format("the {} cannot be opened", what),
                       .got = std::strerror(error),
                       .expected = fmt::format("a {} that can be read", what)});
}

}  // namespace

void require_reachable(const std::string& path, ExitStatus status) {
  struct stat found {};
  if (is_builtin(path)) return;
  if (stat(path.c_str(), &found) != 0) {
    const bool none = errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG;
    if (!none) cannot_be_opened(path, "file or folder", errno, status);
  } else if (S_ISDIR(found.st_mode) && faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) != 0) {
    cannot_be_opened(path, "folder", errno, status);
  }
}

void require_listed(const std::string& folder) {
  std::error_code error;
  if (is_builtin(folder)) return;
  std::filesystem::directory_iterator(folder, error);
  if (error) cannot_be_opened(folder, "folder", error.value());
}

}  // namespace headwise
