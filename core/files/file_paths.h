// Paths of what Headwise reads: files and folders of the system, and built-in files, whose paths begin with
// "builtin:", so that its own models open from any folder without further files. Some of these are made when
// they are read (core/files/made_folders.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/error.h"

namespace headwise {

inline constexpr std::string_view builtin_prefix = "builtin:";

inline bool is_builtin(std::string_view path) {
  return path.starts_with(builtin_prefix);
}

// Built in and stored in the program, not made when it is read.
bool is_stored(std::string_view path);

// "builtin:sentences", …: the built-in folders that are stored in the program.
std::vector<std::string> builtin_folders();
// The contents of "builtin:sentences/config.json"; nullopt: the program has no such file.
// Throws as made_file.
std::optional<std::span<const std::byte>> builtin_file(std::string_view path);

// False, not an error, for anything inaccessible.
bool is_there(const std::string& path);
bool is_folder(const std::string& path);
// Sorted paths of the files and folders in it; empty if it cannot be read.
std::vector<std::string> paths_in(const std::string& folder);

// Changes whenever a file does; for a folder, whenever its contents do,
// because its own time only changes with the names in it.
struct FileState {
  std::int64_t modified = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const FileState&, const FileState&) = default;
};
FileState file_state(const std::string& path);

// `file` relative to `folder`, unless it is absolute or built in.
std::string path_from(const std::string& folder, const std::string& file);

// Distinguishes what is inaccessible from what does not exist.

// Throws an Error if something blocks the path to a file or a folder: no permission to enter, circular links
// … It is no error if nothing is there, or if a file may not be read: opening it reports that.
void require_reachable(const std::string& path, ExitStatus status = ExitStatus::input);

// Throws Error(input) if a folder may not be listed. Files whose names are known may be opened all the same.
void require_listed(const std::string& folder);

}  // namespace headwise
