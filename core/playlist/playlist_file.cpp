// Playlists in files.
#include <filesystem>
#include <fstream>

#include "core/files/atomic_file.h"
#include "core/playlist/playlist.h"
#include "core/scenario/json_document.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

std::string folder_of_file(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

}  // namespace

bool is_playlist_file(const std::string& path) {
  std::error_code missing;
  if (!std::filesystem::is_regular_file(path, missing)) return false;
  // An array file may be large, so it is not read as text.
  const int first = std::ifstream(path, std::ios::binary).peek();
  if (first != '{' && first != 0xEF && first != ' ' && first != '\n' && first != '\t' && first != '\r')
    return false;
  try {
    return is_playlist(read_json_text(path, "playlist"));
  } catch (const Error&) {
    return false;
  }
}

Playlist read_playlist_file(const std::string& path, PlaylistText text) {
  return playlist_from_json(read_json_text(path, "playlist"), path, folder_of_file(path), text);
}

void write_playlist_file(const Playlist& playlist, const std::string& path, PlaylistText text) {
  write_file_atomically(path, playlist_to_json(playlist, folder_of_file(path), text));
}

}  // namespace headwise
