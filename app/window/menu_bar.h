// The menus, built from the command table, and on the right the operator and its sizes.
#pragma once

#include <span>

#include "app/panels/panel.h"

namespace headwise {

struct FirstSteps;       // app/window/first_steps.h
struct ShownSuggestion;  // likewise

struct MenuBarInfo {
  std::string undo_label, redo_label;  // empty: nothing to undo or redo
  bool playing = false;
  bool full_screen = false;
  bool notes = false;       // the presenter's notes are shown
  bool has_answer = false;  // the page's question was answered, or its answer shown
  bool walking = false;     // through a playlist
  bool in_lesson = false;   // that is part of the program
  std::span<const std::string> recent_files = {};
  bool has_playlist = false;  // loaded, walked or not
  bool filmstrip = false;     // unfolded
  bool has_retired_page = false;
  int* to_open = nullptr;  // menu to open by keyboard in this frame, else −1; the arrow keys set the next one
  const FirstSteps* first_steps = nullptr;  // progress; null: they are not shown
  ShownSuggestion* suggestion = nullptr;    // shown in their place; null: none
};

// Fills the menu bar of the current window.
PanelAction draw_menu_bar(const PanelContext& context, const MenuBarInfo& info);

// "E 128 · H 8 · D 16 · L 12"; G, S and N too where they differ from H, L and 1.
std::string sizes_text(const Trace& trace);

}  // namespace headwise
