// Paths of what Headwise reads: files and folders of the system, and built-in files, whose paths begin with
// "builtin:", so that its own models open from any folder without further files. Some of these are made when
// they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

// Built-in folders whose files are not stored in the program but made when the first of them is read: models
// that are trained on the spot.

struct NamedContent {
  std::string name;     // of the file in its folder, "config.json"
  std::string content;  // its bytes
};

struct FolderMaker {
  std::string prefix;              // "builtin:trained/": how the paths of its folders begin
  std::size_t parts = 1;           // what follows, separated by slashes: 2 in "builtin:trained/induction/120"
  std::vector<std::string> names;  // of the files that each of its folders has, whether it has been made or not
  // Makes the files of a folder, named by its path without a slash at the end. Called from any thread, but
  // never by two at a time, until what it makes for a folder is kept. Throws Error(usage) for a path that it
  // cannot read, Error(input) if the making fails.
  std::function<std::vector<NamedContent>(const std::string& folder)> make;
};

// For the whole program; a second maker for a prefix is left out.
void add_folder_maker(FolderMaker maker);

// Whether a path is that of a folder which can be asked for: a maker's prefix with as many parts, whether or
// not they make sense to it.
bool is_made_folder(std::string_view path);
// The paths of the files in it, without making them; empty for other folders.
std::vector<std::string> made_paths_in(std::string_view folder);
// Whether a path is that of such a folder which has not been made yet: asking for its files takes as long as
// making it. Never waits.
bool needs_making(std::string_view path);
// Whether a path is that of a file in such a folder.
bool is_made_file(std::string_view path);

// Makes such a folder if it has not been made. Throws like made_file.
void make_folder(std::string_view path);
// The content of such a file; nullopt if it is none, or the folder has been made without it. Made folders
// stay in memory, altogether at most 256 MiB. Throws Error(memory) beyond, Error(cancelled) while it waits
// for another thread's, and what the maker throws.
std::optional<std::span<const std::byte>> made_file(std::string_view path);

}  // namespace headwise
