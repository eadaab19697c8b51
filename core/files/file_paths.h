// Paths of what Headwise reads: files and folders of the system, and files that are in the program itself, whose paths begin with
// "builtin:", so that its own models open from any folder with nothing beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headwise {

inline constexpr std::string_view builtin_prefix = "builtin:";

inline bool is_builtin(std::string_view path) {
  return path.starts_with(builtin_prefix);
}

// "builtin:sentences", …: the folders that there are.
std::vector<std::string> builtin_folders();
// Of "builtin:sentences/config.json"; none: the program has no such file.
std::optional<std::span<const std::byte>> builtin_file(std::string_view path);

// False, not an error, for what cannot be looked at.
bool is_there(const std::string& path);
bool is_folder(const std::string& path);
// Paths of the files and folders in it, in order; none where it cannot be read.
std::vector<std::string> paths_in(const std::string& folder);

// What changes whenever a file does; of a folder, whenever what lies in it does, for its own time is that of new names alone.
struct FileState {
  std::int64_t modified = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const FileState&, const FileState&) = default;
};
FileState file_state(const std::string& path);

// `file` as seen from `folder`, where it is neither absolute nor in the program.
std::string path_from(const std::string& folder, const std::string& file);

}  // namespace headwise
