// Pictures for other programs. GLFW's clipboard is text only, so a desktop program is used: wl-copy under Wayland, xclip
// under X11.
#pragma once

#include <optional>
#include <string>

namespace headwise {

struct ClipboardProgram {
  std::string path;  // "/usr/bin/xclip"
  bool wayland = false;
};
// None if the desktop has none, or there is no desktop.
std::optional<ClipboardProgram> find_clipboard_program();

// Starts the program, without a shell, on the PNG file; returns at once, and the program outlives this call. False if it
// could not be started.
bool copy_png_file(const ClipboardProgram& program, const std::string& path);

// $XDG_CACHE_HOME/headwise, else ~/.cache/headwise, else the folder for temporary files: where the picture is stored
// meanwhile.
std::string picture_cache_folder();

}  // namespace headwise
