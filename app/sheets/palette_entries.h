// What the command palette offers: every command, step, view of the stage, brush of the mask, setting, preset, lesson,
// question and head; and which of it a query finds.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/panels/panel.h"
#include "app/session/cell_editing.h"
#include "app/session/commands.h"
#include "app/session/selection.h"
#include "app/session/session.h"
#include "core/trace/steps.h"

namespace headwise {

struct PresetName {
  std::string name;
  friend bool operator==(const PresetName&, const PresetName&) = default;
};

// A row of the setup (app/setup/setup_settings.h).
struct SettingId {
  std::string row;
  friend bool operator==(const SettingId&, const SettingId&) = default;
};

struct PaletteEntry {
  std::string name;  // "Undo", "Go to Softmax", "Open cross_attention"
  std::string what;  // one line
  std::string keys;  // "Ctrl+Z"; empty without a key
  std::variant<CommandCall, Step, StageView, SettingId, PresetName, LessonPage, BrushShape> target;
  std::string keywords = {};  // more words that find it; not shown
};

// In the order of the menus, then the steps, the views of the stage, the brushes of the mask, the settings that the scenario has, the presets, the lessons and the heads of the trace (64 at most). Undo and redo say
// what they would take back or do again.
std::vector<PaletteEntry> palette_entries(const Session& session);

// The questions of the lessons alone.
std::vector<PaletteEntry> question_entries();

struct PaletteMatch {
  std::size_t entry = 0;            // index
  std::vector<std::size_t> places;  // bytes of its name that were matched, rising
};

// The entries in which every word of the query is found, in the name (letters in this order, most of which begin a word or
// follow each other), in what it does (beginnings of words), in its keys or its keywords; the best first, equal ones in the order of `entries`. Then those
// with every telling word (app/session/fuzzy_match.h); then, where the query is a sentence or has found nothing, those
// with some of them, words that few entries have before words that many have. A sentence of which nothing is found
// finds all questions. All entries for an empty query, none for one that is longer than any entry.
std::vector<PaletteMatch> find_entries(std::span<const PaletteEntry> entries, std::string_view query);

}  // namespace headwise
