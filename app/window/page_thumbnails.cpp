#include "app/window/page_thumbnails.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "app/window/looked_at.h"
#include "app/window/window_state.h"
#include "core/scenario/presets.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr std::size_t most_kept = 150;
constexpr int least_drawn_width =
    540;  // a picture is drawn at least this wide, and reduced: its type stays type

// What decides how the stage looks when the page is opened.
PlaylistPage without_words(const PlaylistPage& page) {
  PlaylistPage bare = page;
  const bool covered = page.asks_covered(), for_head = page.asks_for_head();  // then no head is marked
  bare.title.clear();
  bare.caption.clear();
  bare.keywords.clear();
  bare.notes.clear();
  if (!for_head) bare.answer.reset();
  bare.ask = covered || for_head ? "?" : "";
  if (covered) return bare;
  bare.ask_step.reset();
  bare.ask_view.reset();
  bare.veil = false;
  return bare;
}

}  // namespace

// A window without a screen, which opens one page after the other.
struct PageThumbnails::Maker {
  Maker(int width, int height, Theme theme)
      : window(preset_scenario("hand_made")),
        factor(std::max(1, (least_drawn_width + width - 1) / width)),
        pictures(factor * width, factor * height, theme) {
    window.document.session.train_beside(true);
  }

  void open(PlaylistPage next) {
    Playlist playlist;
    playlist.pages.push_back(next);
    page = std::move(next);
    start_walk(window, std::move(playlist));
  }

  // False while something that the page shows is being computed.
  bool ready() {
    WindowDocument& document = window.document;
    document.session.poll();
    arrive(window);
    if (document.session.computing() || document.walk.arrival) return false;
    if (!document.session.error().empty()) return true;
    LookedAt looked(window);
    looked.add_gradients(window);
    looked.add_other_side(document);
    looked.add_predictions(document);
    return !looked.tells_of_waiting;
  }

  // Empty if the page cannot be shown.
  Image draw() {
    const Session& session = window.document.session;
    if (!session.error().empty() || !page_problem(*page, session.trace()).empty()) return {};
    window.document.walk.words = {};  // a slide has them below the stage
    skip_motion(window.view.motion);
    return pictures.image(window);
  }

  WindowState window;
  int factor;  // how many times as large it draws
  StagePictures pictures;
  std::optional<PlaylistPage> page;  // being opened
};

PageThumbnails::PageThumbnails() = default;
PageThumbnails::~PageThumbnails() = default;

void PageThumbnails::set_look(int width, int height, Theme theme) {
  if (width == width_ && height == height_ && theme == theme_) return;
  width_ = width;
  height_ = height;
  theme_ = theme;
  entries_.clear();
  maker_.reset();
}

PageThumbnails::Entry* PageThumbnails::entry_of(const PlaylistPage& page) {
  const PlaylistPage bare = without_words(page);
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.page == bare; });
  if (found == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  return &entries_.front();
}

const PictureTexture* PageThumbnails::find(const PlaylistPage& page) {
  const Entry* entry = entry_of(page);
  return entry ? entry->picture.get() : nullptr;
}

void PageThumbnails::keep(PlaylistPage page, std::unique_ptr<PictureTexture> picture) {
  entries_.push_front({std::move(page), std::move(picture)});
  if (entries_.size() > most_kept) entries_.pop_back();
}

bool PageThumbnails::advance(std::span<const PlaylistPage> wanted) {
  const auto missing = std::ranges::find_if(wanted, [&](const PlaylistPage& page) { return !entry_of(page); });
  if (missing == wanted.end() || width_ < 1 || height_ < 1) return false;
  try {
    if (!maker_) maker_ = std::make_unique<Maker>(width_, height_, theme_);
    PlaylistPage next = without_words(*missing);
    if (!maker_->page || !(*maker_->page == next)) maker_->open(std::move(next));
    if (!maker_->ready()) return true;
    const Image image = maker_->draw();
    std::unique_ptr<PictureTexture> picture;
    if (!image.rgba.empty()) picture = std::make_unique<PictureTexture>(reduced(image, width_, height_));
    ++drawn_;
    keep(*std::exchange(maker_->page, std::nullopt), std::move(picture));
  } catch (const Error&) {
    // The strip shows the page's number and title; opening it says why.
    keep(without_words(*missing), nullptr);
    maker_.reset();
  }
  return true;
}

void PageThumbnails::make_room() {
  if (maker_ && maker_->window.document.session.awaited()) maker_.reset();
}

void PageThumbnails::rest() {
  maker_.reset();
}

}  // namespace headwise
