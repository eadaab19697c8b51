#include "core/files/made_folders.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

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
