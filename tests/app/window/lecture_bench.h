// What tests of lectures share: pages in a file, walked in a window, with what the window says of them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "app/window/page_turns.h"
#include "tests/app/window/playlist_bench.h"

namespace headwise {

struct LectureBench {
  TemporaryFolder folder;
  WindowBench bench;
  explicit LectureBench(const char* pages, int width = 1280, int height = 720)
      : bench(open_unpainted(width, height)) {
    if (!bench.ui) return;
    drop(bench, lesson_file(folder, pages));
    bench.ui->run_until_still();
  }
  UiDriver& ui() { return *bench.ui; }
  WindowState& state() { return bench.state(); }
  PlaylistWalk& walk() { return bench.walk(); }
  PlaylistPage& page() { return walk().playlist.pages[*walk().page]; }
  Selection& now() { return bench.selection(); }
  // Each of these draws until nothing moves.
  LectureBench& key(std::string_view name) {
    ui().key(name).run_until_still();
    return *this;
  }
  LectureBench& click(std::string_view name) {
    ui().click(name).run_until_still();
    return *this;
  }
  LectureBench& show(std::size_t page) {
    show_page(state(), page);
    ui().run_until_still();
    return *this;
  }
  bool says(const std::string& text) { return ui().has("says/" + text); }
  bool tells(const std::string& text) {
    const auto& notices = state().view.notices.notices;
    return std::ranges::find(notices, text, &Notice::text) != notices.end();
  }
  // Checks that the stage shows another place than the page's, and what is said of both.
  void check_departure(const std::string& page, const std::string& stage) {
    ui().run_frames(2);
    INFO("the page: " << page << ", the stage: " << stage);
    REQUIRE(walk().departure);
    CHECK(walk().departure->page == page);
    CHECK(walk().departure->stage == stage);
  }
  void check_no_departure() {
    ui().run_frames(2);
    CHECK_MESSAGE(!walk().departure, walk().departure->page << "; " << walk().departure->stage);
  }
  void back_to_page() {
    click("caption/back_to_page");
    check_no_departure();
  }
  // Checks that the first page is the same once the playlist was written to a file and read again.
  void check_file_of_page() {
    const Playlist read = playlist_from_json(playlist_to_json(walk().playlist), "t");
    CHECK(read.pages[0] == walk().playlist.pages[0]);
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
