#include "app/platform/image_clipboard.h"

#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "app/platform/desktop_program.h"

namespace headwise {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::optional<ClipboardProgram> find_clipboard_program() {
  if (!environment("WAYLAND_DISPLAY").empty()) {
    if (const auto path = find_program("wl-copy")) return ClipboardProgram{*path, true};
  }
  if (!environment("DISPLAY").empty()) {
    if (const auto path = find_program("xclip")) return ClipboardProgram{*path, false};
  }
  return std::nullopt;
}

bool copy_png_file(const ClipboardProgram& program, const std::string& path) {
  std::vector<std::string> words{program.path};
  if (program.wayland)
    words.insert(words.end(), {"--type", "image/png"});
  else
    words.insert(words.end(), {"-selection", "clipboard", "-t", "image/png", "-i"});
  return start_program(std::move(words), path);
}

std::string picture_cache_folder() {
  const std::string cache = environment("XDG_CACHE_HOME"), home = environment("HOME");
  if (cache.starts_with('/')) return cache + "/headwise";
  if (!home.empty()) return home + "/.cache/headwise";
  std::error_code ignored;
  return (std::filesystem::temp_directory_path(ignored) / "headwise").string();
}

}  // namespace headwise
