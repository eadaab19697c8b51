// Built-in folders whose files are not stored in the program but made when the first of them is read: models
// that are trained on the spot.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headwise {

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
