// What a folder contains, for a dialog that asks for a file.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headwise {

struct FolderEntry {
  std::string name;
  bool is_folder = false;
  friend bool operator==(const FolderEntry&, const FolderEntry&) = default;
};

struct FolderListing {
  std::string folder;                // as requested
  std::vector<FolderEntry> entries;  // folders first, each group sorted by name; hidden ones are omitted
  std::string note;                  // why it is empty or incomplete; empty: it is complete
};

// The files with one of these extensions (".json"), and all folders. At most 2,000 entries. Never throws.
FolderListing list_folder(const std::string& folder, std::span<const std::string_view> extensions);

// The folder part of a path being typed: "/a/b/" for "/a/b/c.json" and for "/a/b/"; "." if it has none.
std::string folder_of(const std::string& path);
// A file of this name in the folder of `path`: "/a/b/name" for "/a/b/c.json", "name" for "c.json".
std::string path_beside(const std::string& path, const std::string& name);
// "~/x" with ~ replaced by the home folder; other paths unchanged.
std::string expanded_path(const std::string& path);
// "$XDG_STATE_HOME/headwise", else "~/.local/state/headwise" with `in_home` "/.local/state"; empty where
// neither is set. Relative paths are ignored, as the XDG specification says.
std::string user_folder(const char* variable, std::string_view in_home);
// Creates the folder that the file is in, if it is missing. Throws Error(output), which names `what`.
void make_folder_of(const std::string& file, std::string_view what);
// `path` with `extension` appended if it has none of its own.
std::string with_extension(const std::string& path, std::string_view extension);

}  // namespace headwise
