// What the command palette offers: every command, step, stage view, mask brush, setting, preset, lesson,
// question and head; and which of them a query finds.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/content/doc_pages.h"
#include "app/panels/panel.h"
#include "app/session/cell_editing.h"
#include "app/session/commands.h"
#include "app/session/selection.h"
#include "app/session/session.h"
#include "core/attention/steps.h"

namespace headwise {

struct PresetName {
  std::string name;
  friend bool operator==(const PresetName&, const PresetName&) = default;
};

// A row of the setup (app/panels/setup_settings.h).
struct SettingId {
  std::string row;
  friend bool operator==(const SettingId&, const SettingId&) = default;
};

struct PaletteEntry {
  std::string name;  // "Undo", "Go to Softmax", "Open cross_attention"
  std::string what;  // one line
  std::string keys;  // "Ctrl+Z"; empty without a key
  std::variant<CommandCall, Step, StageView, SettingId, PresetName, LessonPage, BrushShape, DocPlace> target;
  std::string keywords = {};  // more words that find it; not shown
  std::string from = {};      // where an answer is from: "Glossary" (app/panels/ask_pages.h)
};

// In the order of the menus, then the steps, the stage views, the mask brushes, the scenario's settings, the
// presets, the lessons and the heads of the trace (64 at most).
// Undo and redo say what they would revert or repeat.
std::vector<PaletteEntry> palette_entries(const Session& session, const std::string& undo_label);

// Only the lessons' questions.
std::vector<PaletteEntry> question_entries();

struct PaletteMatch {
  std::size_t entry = 0;            // index
  std::vector<std::size_t> places;  // matched bytes of its name, ascending
  bool partly = false;              // only some of the words are found
};

// The entries in which every word of the query is found: in the name (letters in this order, most of which
// begin a word or follow each other), in what it does (word beginnings), in its keys or its keywords; best
// first, ties in the order of `entries`. Then those with every telling word (app/session/fuzzy_match.h);
// then, if the query is a sentence or has found nothing, those with some of them, rare words ranking before
// common ones. A sentence that matches nothing finds all questions. All entries for an empty query, none for
// one longer than any entry.
std::vector<PaletteMatch> find_entries(std::span<const PaletteEntry> entries, std::string_view query);

}  // namespace headwise
