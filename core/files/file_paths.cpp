#include "core/files/file_paths.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include "core/tensor/cancellation.h"

namespace headwise {

std::string_view embedded_model_copycat_arrays(), embedded_model_copycat_config(),
    embedded_model_copycat_vocab(), embedded_model_sentences_arrays(), embedded_model_sentences_config(),
    embedded_model_sentences_patterns(), embedded_model_sentences_vocab();

namespace {

namespace fs = std::filesystem;

struct BuiltinFile {
  std::string_view path;
  std::string_view (*content)();
};

constexpr std::array<BuiltinFile, 7> builtin_files{{
    {"builtin:copycat/config.json", embedded_model_copycat_config},
    {"builtin:copycat/model.safetensors", embedded_model_copycat_arrays},
    {"builtin:copycat/vocab.txt", embedded_model_copycat_vocab},
    {"builtin:sentences/config.json", embedded_model_sentences_config},
    {"builtin:sentences/model.safetensors", embedded_model_sentences_arrays},
    {"builtin:sentences/patterns.json", embedded_model_sentences_patterns},
    {"builtin:sentences/vocab.txt", embedded_model_sentences_vocab},
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

[[noreturn]] void cannot_be_opened(const std::string& path, const std::string& what, int error,
                                   ExitStatus status = ExitStatus::input) {
  throw Error(status, {.where = path,
                       .what = fmt::format("the {} cannot be opened", what),
                       .got = std::strerror(error),
                       .expected = fmt::format("a {} that can be read", what)});
}

constexpr std::size_t most_made_bytes = std::size_t{256} << 20;

struct MadeFolders {
  std::timed_mutex making;  // held while a folder is made
  std::mutex looking;       // of what follows; held for a moment
  std::map<std::string, std::vector<NamedContent>, std::less<>> made;
  std::size_t bytes = 0;
};

MadeFolders& made_folders() {
  static MadeFolders folders;
  return folders;
}

struct FolderMakers {
  std::mutex adding;
  std::deque<FolderMaker> all;  // which stay where they are
};

FolderMakers& folder_makers() {
  static FolderMakers makers;
  return makers;
}

const FolderMaker* maker_of(std::string_view path) {
  FolderMakers& makers = folder_makers();
  const std::lock_guard lock(makers.adding);
  for (const FolderMaker& maker : makers.all)
    if (path.starts_with(maker.prefix) && path.size() > maker.prefix.size()) return &maker;
  return nullptr;
}

std::string_view before_slash(std::string_view path) {
  return path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
}

bool is_folder_of(const FolderMaker& maker, std::string_view path) {
  if (!path.starts_with(maker.prefix)) return false;
  path.remove_prefix(maker.prefix.size());
  std::size_t parts = 1;
  for (std::size_t i = 0; i < path.size(); ++i) parts += path[i] == '/';
  return parts == maker.parts && !path.starts_with('/') && !path.ends_with('/') &&
         path.find("//") == std::string_view::npos;
}

// The folder of a file that a maker has, and the file's name; an empty name: it is no file.
std::pair<std::string_view, std::string_view> folder_and_name(const FolderMaker& maker, std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = path.substr(slash + 1);
  if (!std::ranges::count(maker.names, name) || !is_folder_of(maker, path.substr(0, slash))) return {};
  return {path.substr(0, slash), name};
}

// Entries stay where they are. Null: it has not been made.
const std::vector<NamedContent>* made_already(MadeFolders& folders, std::string_view folder) {
  const std::lock_guard lock(folders.looking);
  const auto found = folders.made.find(folder);
  return found == folders.made.end() ? nullptr : &found->second;
}

const std::vector<NamedContent>& keep_made(MadeFolders& folders, std::string_view folder,
                                           std::vector<NamedContent> files) {
  std::size_t bytes = 0;
  for (const NamedContent& file : files) bytes += file.content.size();
  const std::lock_guard lock(folders.looking);
  if (folders.bytes + bytes > most_made_bytes)
    throw Error(ExitStatus::memory,
                {.where = std::string(folder),
                 .what = "the models made so far take too much memory",
                 .got = fmt::format("{} MiB", (folders.bytes + bytes) >> 20),
                 .expected = fmt::format("at most {} MiB altogether", most_made_bytes >> 20),
                 .remedy = "restart the program, or train into a folder with headwise train"});
  folders.bytes += bytes;
  return folders.made.emplace(std::string(folder), std::move(files)).first->second;
}

const std::vector<NamedContent>& files_of(const FolderMaker& maker, std::string_view folder) {
  MadeFolders& folders = made_folders();
  if (const auto* made = made_already(folders, folder)) return *made;
  std::unique_lock making(folders.making, std::defer_lock);
  while (!making.try_lock_for(std::chrono::milliseconds(10))) check_cancelled();
  if (const auto* made = made_already(folders, folder)) return *made;
  return keep_made(folders, folder, maker.make(std::string(folder)));
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
  return std::as_bytes(std::span(at->content()));
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

void add_folder_maker(FolderMaker maker) {
  FolderMakers& makers = folder_makers();
  const std::lock_guard lock(makers.adding);
  if (!std::ranges::count(makers.all, maker.prefix, &FolderMaker::prefix))
    makers.all.push_back(std::move(maker));
}

bool is_made_folder(std::string_view path) {
  const FolderMaker* const maker = maker_of(path);
  return maker != nullptr && is_folder_of(*maker, before_slash(path));
}

bool needs_making(std::string_view path) {
  if (!is_made_folder(path)) return false;
  MadeFolders& folders = made_folders();
  const std::lock_guard lock(folders.looking);
  return !folders.made.contains(before_slash(path));
}

std::vector<std::string> made_paths_in(std::string_view folder) {
  std::vector<std::string> paths;
  if (!is_made_folder(folder)) return paths;
  for (const std::string& name : maker_of(folder)->names)
    paths.push_back(fmt::format("{}/{}", before_slash(folder), name));
  std::ranges::sort(paths);
  return paths;
}

bool is_made_file(std::string_view path) {
  const FolderMaker* const maker = maker_of(path);
  return maker != nullptr && !folder_and_name(*maker, path).second.empty();
}

void make_folder(std::string_view path) {
  if (is_made_folder(path)) files_of(*maker_of(path), before_slash(path));
}

std::optional<std::span<const std::byte>> made_file(std::string_view path) {
  const FolderMaker* const maker = maker_of(path);
  if (maker == nullptr) return std::nullopt;
  const auto [folder, name] = folder_and_name(*maker, path);
  if (name.empty()) return std::nullopt;
  const std::vector<NamedContent>& files = files_of(*maker, folder);
  const auto file = std::ranges::find(files, name, &NamedContent::name);
  if (file == files.end()) return std::nullopt;
  return std::as_bytes(std::span(file->content));
}

}  // namespace headwise
