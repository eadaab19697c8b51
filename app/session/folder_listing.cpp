#include "app/session/folder_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/tensor/error.h"

namespace headwise {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_entries = 2000;

bool has_extension(const std::string& name, std::span<const std::string_view> extensions) {
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](std::string_view extension) { return name.ends_with(extension); });
}

}  // namespace

FolderListing list_folder(const std::string& folder, std::span<const std::string_view> extensions) {
  FolderListing listing{folder, {}, ""};
  std::error_code error;
  fs::directory_iterator entry(fs::path(folder), fs::directory_options::skip_permission_denied, error);
  if (error) {
    listing.note = "this folder cannot be read: " + error.message();
    return listing;
  }
  for (const fs::directory_iterator end; entry != end; entry.increment(error)) {
    if (error) break;
    const std::string name = entry->path().filename().string();
    if (name.starts_with('.')) continue;
    std::error_code unreadable;
    const bool is_folder = entry->is_directory(unreadable);
    if (!is_folder && !has_extension(name, extensions)) continue;
    if (listing.entries.size() == most_entries) {
      listing.note = "showing only the first 2,000 entries";
      break;
    }
    listing.entries.push_back({name, is_folder});
  }
  std::sort(listing.entries.begin(), listing.entries.end(), [](const FolderEntry& a, const FolderEntry& b) {
    return a.is_folder != b.is_folder ? a.is_folder : a.name < b.name;
  });
  return listing;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

std::string path_beside(const std::string& path, const std::string& name) {
  return path.substr(0, path.rfind('/') + 1) + name;  // without a slash: of nothing
}

std::string expanded_path(const std::string& path) {
  const char* home = std::getenv("HOME");
  if (!home || !(path == "~" || path.starts_with("~/"))) return path;
  return home + path.substr(1);
}

std::string user_folder(const char* variable, std::string_view in_home) {
  const char *const folder = std::getenv(variable), *const home = std::getenv("HOME");
  if (folder && *folder == '/') return std::string(folder) + "/headwise";
  return home && *home ? fmt::format("{}{}/headwise", home, in_home) : "";
}

void make_folder_of(const std::string& file, std::string_view what) {
  std::error_code error;
  fs::create_directories(fs::path(file).parent_path(), error);
  if (error)
    throw Error(ExitStatus::output, {.where = file,
                                     .what = fmt::format("the folder of {} cannot be created", what),
                                     .got = error.message()});
}

std::string with_extension(const std::string& path, std::string_view extension) {
  const std::size_t slash = path.rfind('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t dot = path.rfind('.');
  const bool has_own = dot != std::string::npos && dot > name;
  return has_own ? path : path + std::string(extension);
}

}  // namespace headwise
