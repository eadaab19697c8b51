// What tests of lectures share: pages in a file, walked in a window, with what the window says of them.
#pragma once

#include <algorithm>
#include <string>

#include "tests/app/window/playlist_bench.h"

namespace headwise {

struct LectureBench {
  TemporaryFolder folder;
  WindowBench bench;
  explicit LectureBench(const char* pages, int width = 1280, int height = 720)
      : bench(open_window(width, height)) {
    if (!bench.ui) return;
    bench.ui->rasterise(false);
    drop(bench, lesson_file(folder, pages));
    bench.ui->run_until_still();
  }
  UiDriver& ui() { return *bench.ui; }
  WindowState& state() { return bench.window->state(); }
  PlaylistWalk& walk() { return state().document.walk; }
  PlaylistPage& page() { return walk().playlist.pages[*walk().page]; }
  const Selection& now() { return bench.selection(); }
  void key(const char* name) {
    ui().key(name);
    ui().run_until_still();
  }
  void show(std::size_t page) {
    show_page(state(), page);
    ui().run_until_still();
  }
  bool says(const std::string& text) { return ui().has("says/" + text); }
  bool tells(const std::string& text) {
    const auto& notices = state().view.notices.notices;
    return std::ranges::find(notices, text, &Notice::text) != notices.end();
  }
};

// A page of a head, one with a pin, one that asks under a veil, and a last one.
inline constexpr const char* course = R"({ "headwise_playlist": 1, "title": "A course", "pages": [
  { "title": "Heads", "scenario": "hand_made", "step": "softmax", "head": 4, "caption": "In head 4." },
  { "title": "Pinned", "pin": { "tensor": "attn_weights", "index": [0, 4, 3, 1] }, "caption": "Pinned." },
  { "title": "How much", "pin": {"tensor": "attn_weights", "index": [0, 4, 8, 7]}, "veil": true, "ask": "How much?",
    "caption": "{attn_weights[0,4,8,7]}.", "answer": {"kind": "number", "is": "attn_weights[0,4,8,7]"} },
  { "title": "Last", "caption": "The end." } ] })";

struct Course : LectureBench {
  explicit Course(int width = 1280, int height = 720) : LectureBench(course, width, height) {}
};

}  // namespace headwise
