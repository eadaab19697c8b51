// Playlists in files.
#include <filesystem>

#include "core/files/atomic_file.h"
#include "core/playlist/playlist.h"
#include "core/scenario/json_document.h"

namespace headwise {
namespace {

std::string folder_of_file(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

}  // namespace

Playlist read_playlist_file(const std::string& path) {
  return playlist_from_json(read_json_text(path, "playlist"), path, folder_of_file(path));
}

void write_playlist_file(const Playlist& playlist, const std::string& path) {
  write_file_atomically(path, playlist_to_json(playlist, folder_of_file(path)));
}

}  // namespace headwise
