// The pages of the playlist beside the stage, each as a small picture with its number and its title: to go to a page, to
// move it by dragging, and to add, copy, update and remove pages.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "app/panels/panel.h"
#include "app/session/settings.h"
#include "app/window/page_thumbnails.h"
#include "app/window/playlist_walk.h"

namespace headwise {

struct FilmstripState {
  PageThumbnails thumbnails;
  std::optional<std::size_t> dragged;     // the page that the mouse drags
  std::optional<std::size_t> shown_page;  // of the last frame: where it changes, the strip scrolls there
  // What was asked for in this frame: a page to move, and the place that it gets.
  std::optional<std::pair<std::size_t, std::size_t>> moved;
};

// Whether the strip is unfolded: for pages of the user's own as a rule, for a built-in lesson once it was asked for.
bool shows_filmstrip(const Settings& settings, const PlaylistWalk& walk);

// The line of text below a page's picture: its number, and its title, else its question, its caption, or its view and step.
std::string page_name(const PlaylistPage& page, std::size_t number);

// Fills the current ImGui window; a playlist must be walked. `busy`: no picture is drawn in this frame.
PanelAction draw_filmstrip(const PanelContext& context, const PlaylistWalk& walk, bool busy,
                           FilmstripState& state);

}  // namespace headwise
