// What tests of questions that take answers share: a lesson that asks, and its walk.
#pragma once

#include "app/lesson/page_answers.h"
#include "tests/app/window/lecture_bench.h"

namespace headwise {

inline constexpr const char* asking = R"({ "headwise_playlist": 1, "pages": [
  { "title": "Who", "scenario": "hand_made", "step": "softmax", "ask": "Where does '{query 8}' look?", "ask_step": "mask",
    "caption": "At '{key 7}'.", "answer": {"kind": "choice", "options": [
      {"text": "at itself", "is": "argmax attn_weights[0,0,8,:] = 8", "why": "It gives itself {attn_weights[0,0,8,8]}.",
       "see": "How much"},
      {"text": "one word back", "is": "argmax attn_weights[0,0,8,:] = 7"},
      {"text": "at the noun", "is": "argmax attn_weights[0,0,8,:] = 1", "see": "Softmax over rows, or over columns?"}]} },
  { "title": "How much", "ask": "How much?", "caption": "{attn_weights[0,0,8,7]}.",
    "answer": {"kind": "number", "is": "attn_weights[0,0,8,7]", "within": 0.02, "unit": "of 1"} } ] })";

struct Asked : LectureBench {
  explicit Asked(int width = 1280, int height = 900) : LectureBench(asking, width, height) {}
  // One page of others, without motion.
  Asked(const char* pages, std::size_t page, int width = 1280, int height = 900)
      : LectureBench(pages, width, height) {
    if (!bench.ui) return;
    state().view.settings.reduce_motion = true;
    show(page);
  }
  bool offers(const std::string& name) { return ui().has(name); }
};

}  // namespace headwise
