// Small pictures of a playlist's pages, drawn by the code that makes slides. What they show is computed in the background,
// beside the window's own document and without touching it; each is kept until the stage of its page changes.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>

#include "app/render/picture_texture.h"
#include "app/window/stage_pictures.h"
#include "core/picture/color_map.h"
#include "core/playlist/playlist.h"

namespace headwise {

class PageThumbnails {
 public:
  PageThumbnails();
  ~PageThumbnails();
  PageThumbnails(const PageThumbnails&) = delete;
  PageThumbnails& operator=(const PageThumbnails&) = delete;

  // Pixels and theme of what follows. Needs a current GL context, here and in every call.
  void set_look(int width, int height, Theme theme);

  // The picture, if it is there: what the page shows when it is opened, which is the veil or the place where it asks if
  // that hides its answer. Words do not count: a page whose caption changes keeps its picture.
  const PictureTexture* find(const PlaylistPage& page);
  // Goes on with the first of these pages that has no picture, by at most one picture. True if there is more to do.
  bool advance(std::span<const PlaylistPage> wanted);
  // Ends a training that only a picture needs: one model is trained at a time, and a page is waited for. It goes on with
  // the next advance().
  void make_room();
  // Releases what computes them; the pictures stay.
  void rest();

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

}  // namespace headwise
