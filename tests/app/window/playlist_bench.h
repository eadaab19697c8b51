// What tests of playlists in the window share: a lesson in a file, and dropping files on the window.
#pragma once

#include <memory>
#include <string>

#include "tests/app/window_bench.h"
#include "tests/core/files/temporary_folder.h"

namespace headwise {

inline constexpr const char* lesson = R"({ "headwise_playlist": 1, "title": "A lesson", "pages": [
  { "scenario": "hand_made", "step": "scores", "head": 4, "caption": "Every query meets every key." },
  { "step": "scale", "caption": "Divided." },
  { "scenario": "causal", "step": "softmax", "view": "all_heads", "head": 2,
    "pin": { "tensor": "attn_weights", "index": [0, 2, 3, 1] }, "caption": "Pinned." } ] })";

inline std::string lesson_file(const TemporaryFolder& folder, const char* text = lesson) {
  return folder.with_file("lesson.json", text);
}

inline void drop(WindowBench& bench, const std::string& path) {
  bench.ui->push(FilesDropped{{path}});
  bench.ui->run_frames(3);
}

inline WindowBench open_lesson(int width, int height, const char* text = lesson) {
  WindowBench bench = open_window(width, height);
  if (!bench.ui) return bench;
  const auto folder = std::make_shared<const TemporaryFolder>();
  drop(bench, lesson_file(*folder, text));
  bench.files = folder;
  return bench;
}

}  // namespace headwise
