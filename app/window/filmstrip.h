// The pages of the playlist beside the stage, each as a small picture with its number and its title: to go to
// a page, to move it by dragging, and to add, copy, update and remove pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "app/lesson/playlist_walk.h"
#include "app/panels/panel.h"
#include "app/platform/picture_texture.h"
#include "app/session/settings.h"
#include "app/window/stage_pictures.h"
#include "core/export/color_map.h"
#include "core/lessons/playlist.h"

namespace headwise {

// Small pictures of a playlist's pages, drawn by the code that makes slides. What they show is computed in
// the background, beside the window's own document and without touching it;
// each is kept until the stage of its page changes.

class PageThumbnails {
 public:
  PageThumbnails();
  ~PageThumbnails();
  PageThumbnails(const PageThumbnails&) = delete;
  PageThumbnails& operator=(const PageThumbnails&) = delete;

  // Pixels and theme of what follows. Needs a current GL context, here and in every call.
  void set_look(int width, int height, Theme theme);

  // The picture, if it is there: what the page shows when it is opened, which is the veil or the place where
  // it asks if that hides its answer. Words do not count: a page whose caption changes keeps its picture.
  const PictureTexture* find(const PlaylistPage& page);
  // Goes on with the first of these pages that has no picture, by at most one picture.
  // True if there is more to do.
  bool advance(std::span<const PlaylistPage> wanted);
  // Ends a training that only a picture needs: one model is trained at a time, and a page is waited for. It
  // goes on with the next advance().
  void make_room();
  // Releases what computes them; the pictures stay.
  void suspend();

  // How many pictures were drawn so far.
  int drawn() const { return drawn_; }

 private:
  struct Entry {
    PlaylistPage page;                        // without its words
    std::unique_ptr<PictureTexture> picture;  // null: the page cannot be shown
  };
  struct Maker;

  Entry* entry_of(const PlaylistPage& page);
  void keep(PlaylistPage page, std::unique_ptr<PictureTexture> picture);

  int width_ = 0, height_ = 0, drawn_ = 0;
  Theme theme_ = Theme::dark;
  std::list<Entry> entries_;  // the one used last first
  std::unique_ptr<Maker> maker_;
};

struct FilmstripState {
  PageThumbnails thumbnails;
  std::optional<std::size_t> dragged;     // the page that the mouse drags
  std::optional<std::size_t> shown_page;  // of the last frame: where it changes, the strip scrolls there
  float room = 0.0f;                      // that it had for the pages then, in pixels
  // What was asked for in this frame: a page to move, and the place that it gets.
  std::optional<std::pair<std::size_t, std::size_t>> moved;
};

// Whether the strip is unfolded: for pages of the user's own as a rule,
// for a built-in lesson once it was asked for.
bool shows_filmstrip(const Settings& settings, const PlaylistWalk& walk);

// The line of text below a page's picture: its number, and its title, else its question, its caption,
// or its view and step.
std::string page_name(const PlaylistPage& page, std::size_t number);

// Fills the current ImGui window; a playlist must be walked. `busy`: no picture is drawn in this frame.
PanelAction draw_filmstrip(const PanelContext& context, const PlaylistWalk& walk, bool busy,
                           FilmstripState& state);

}  // namespace headwise
