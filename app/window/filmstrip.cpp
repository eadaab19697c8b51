#include "app/window/filmstrip.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <imgui.h>

#include "app/content/filmstrip_layout.h"
#include "app/content/stage_views.h"
#include "app/session/commands.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/painter.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "app/window/frame_snapshot.h"
#include "app/window/page_turns.h"
#include "app/window/window_state.h"
#include "core/lessons/live_text.h"
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
  const bool covered = page.asks_covered();
  bare.title.clear();
  bare.caption.clear();
  bare.keywords.clear();
  bare.notes.clear();
  bare.ask = covered ? "?" : "";
  if (covered) return bare;  // its answer decides what is hidden
  bare.answer.reset();
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
    window.document.session.train_in_background(true);
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
    if (document.session.computing()) return false;
    if (!document.session.error().empty()) return true;
    if (document.walk.arrival) return false;
    FrameSnapshot looked(window);
    looked.add_gradients(window);
    looked.add_comparison_target(document);
    looked.add_predictions(document);
    return !looked.shows_waiting;
  }

  // Empty if the page cannot be shown.
  Image draw() {
    const Session& session = window.document.session;
    if (!session.error().empty() || !page_problem(*page, session.trace()).empty()) return {};
    // A slide has them below the stage, where a mask is painted.
    PlaylistWalk::Words& words = window.document.walk.words;
    std::optional<MaskKey> mask = std::move(words.key.mask);
    words = {};
    words.key.mask = std::move(mask);
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

void PageThumbnails::suspend() {
  maker_.reset();
}

namespace {

// The view, where it is not that of one head, and the step: "Tokens, Softmax".
std::string place_name(const PlaylistPage& page) {
  const std::string_view step = step_entries()[static_cast<std::size_t>(page.step)].name;
  if (page.view == StageView::one_head) return std::string(step);
  return fmt::format("{}, {}", stage_view_entry(page.view).name, step);
}

// Design units
constexpr float head_height = 26, button_height = 26, button_gap = 2;
constexpr float drag_edge = 28;            // this near to an end of the list, a drag scrolls it
constexpr float pixels_per_frame = 8;      // by this much
constexpr double seconds_to_retry = 0.03;  // while a picture's scenario is being computed

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

class Strip {
 public:
  Strip(const PanelContext& context, const PlaylistWalk& walk, FilmstripState& state)
      : context_(context),
        walk_(walk),
        pages_(walk.playlist.pages),
        state_(state),
        widgets_(context.widgets()),
        list_id_(ImGui::GetID("pages")) {}

  PanelAction draw(bool busy);

 private:
  void draw_head();
  void draw_buttons();
  void draw_pages(float height, bool busy);
  void draw_page(std::size_t page, ImVec2 at, float bottom);
  void take_keys();
  void drag(ImVec2 origin, float top, float bottom);
  void scroll_to_shown(float height);
  void command_button(const char* id, const char* label, CommandId command, bool enabled = true);

  const PanelContext& context_;
  const PlaylistWalk& walk_;
  const std::vector<PlaylistPage>& pages_;
  FilmstripState& state_;
  WidgetContext widgets_;
  ImGuiID list_id_;
  FilmstripLayout layout_;
  PanelAction action_;
};

void Strip::command_button(const char* id, const char* label, CommandId command, bool enabled) {
  const ButtonLook look = command == CommandId::filmstrip ? ButtonLook::plain : ButtonLook::filled;
  if (text_button(widgets_, id, label, look, enabled)) action_.command = command;
  named_item(widgets_, id, label_with_keys(command));
}

void Strip::draw_head() {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImFont* font = context_.fonts.bold;
  context_.painter().text(font, {at.x, std::round(at.y + 0.5f * (widgets_.px(head_height) - font->FontSize))},
                          context_.palette.text, "Filmstrip");
  const float fold = std::ceil(width_of(context_.fonts.small, "hide") + 2 * widgets_.px(12));
  ImGui::SetCursorScreenPos({at.x + width - fold, at.y});
  command_button("filmstrip/hide", "hide", CommandId::filmstrip);
}

// Two to a line, at the lower end. The line above is there while a page can be brought back: no button comes
// under the mouse that removed it.
void Strip::draw_buttons() {
  const float gap = widgets_.px(button_gap);
  if (!walk_.retired.empty()) command_button("filmstrip/put_back", "Put page back", CommandId::put_back_page);
  command_button("filmstrip/add", "Add", CommandId::add_page);
  ImGui::SameLine(0, gap);
  command_button("filmstrip/duplicate", "Duplicate", CommandId::duplicate_page);
  command_button("filmstrip/update", "Update", CommandId::update_page);
  ImGui::SameLine(0, gap);
  command_button("filmstrip/remove", "Remove", CommandId::remove_page);
}

// `bottom`: of the list, which cuts pictures but no title.
void Strip::draw_page(std::size_t page, ImVec2 at, float bottom) {
  const Painter paint = context_.painter();
  const Palette& palette = context_.palette;
  ImFont* small = context_.fonts.small;
  const auto width = static_cast<float>(layout_.picture_width),
             height = static_cast<float>(layout_.picture_height);
  const ImVec2 far{at.x + width, at.y + height};
  const bool shown = walk_.page == page, dragged = state_.dragged == page;
  const std::string name = page_name(pages_[page], page + 1);

  ImGui::PushID(static_cast<int>(page));
  ImGui::SetCursorScreenPos(at);
  const bool pressed = ImGui::InvisibleButton("page", {width, height + static_cast<float>(layout_.line)});
  const bool hovered = ImGui::IsItemHovered();
  ui_probe_item("filmstrip/page", static_cast<int>(page));
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left) && pages_.size() > 1)
    state_.dragged = page;
  if (pressed && !state_.dragged) action_.page = page;
  if (!state_.dragged)
    tooltip(widgets_,
            fmt::format("{}: click to go there, drag to move it (page shown: {} and {})", name,
                        first_key_text(CommandId::page_earlier), first_key_text(CommandId::page_later)));
  ImGui::PopID();

  if (const PictureTexture* picture = state_.thumbnails.find(pages_[page])) {
    paint.list->AddImage(reinterpret_cast<ImTextureID>(picture->id()), at, far, {0, 0}, {1, 1},
                         im_color({255, 255, 255, 255}, dragged ? 0.45f : 1.0f));
    ui_probe("filmstrip/picture", static_cast<int>(page), at, far);
  } else {
    paint.fill(at, far, palette.control);
    const std::string fitted = fitted_text(place_name(pages_[page]), small, width - widgets_.px(12));
    paint.text(small,
               {std::round(at.x + 0.5f * (width - width_of(small, fitted))),
                std::round(at.y + 0.5f * (height - small->FontSize))},
               palette.text_faint, fitted);
  }
  const float thick = shown ? std::max(2.0f, std::round(widgets_.px(2))) : 1.0f;
  const Rgba8 frame = shown ? palette.focus : hovered ? palette.text_dim : palette.border;
  // Within the picture: around it, the edge of the list would cut it.
  paint.outline(Box(at, far).grown(-0.5f * thick), frame, thick);
  const float line = std::round(far.y + 0.5f * (static_cast<float>(layout_.line) - small->FontSize));
  if (line + small->FontSize > bottom) return;
  paint.text_within(width, small, {at.x, line}, shown ? palette.text : palette.text_dim, name);
  ui_probe("filmstrip/title", static_cast<int>(page), {at.x, line}, {far.x, line + small->FontSize});
}

// The list is one stop: the arrows go from page to page.
void Strip::take_keys() {
  const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  if (!focus_area(context_.focus, list_id_, at, {at.x + size.x, at.y + size.y}, FocusKeys::choose)) return;
  if (context_.focus->moved || ImGui::GetIO().KeyAlt || ImGui::GetIO().KeyCtrl) return;
  const std::size_t here = *walk_.page, last = pages_.size() - 1;
  std::size_t to = here;
  if ((key_pressed(Key::up) || key_pressed(Key::left)) && here > 0) to = here - 1;
  if (key_pressed(Key::down) || key_pressed(Key::right)) to = std::min(here + 1, last);
  if (key_pressed(Key::home)) to = 0;
  if (key_pressed(Key::end)) to = last;
  if (to != here) action_.page = to;
}

// While a page is dragged: the line where it would land, and at the end its new place.
void Strip::drag(ImVec2 origin, float top, float bottom) {
  if (!state_.dragged) return;
  if (*state_.dragged >= pages_.size()) return state_.dragged.reset();
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const std::size_t gap = layout_.gap_at(mouse.y - origin.y, pages_.size());
  const std::size_t to = place_of_drop(*state_.dragged, gap);
  if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
    if (to != *state_.dragged) state_.moved = {*state_.dragged, to};
    return state_.dragged.reset();
  }
  const float edge = widgets_.px(drag_edge), by = widgets_.px(pixels_per_frame);
  const bool up = mouse.y < top + edge && ImGui::GetScrollY() > 0.0f,
             down = mouse.y > bottom - edge && ImGui::GetScrollY() < ImGui::GetScrollMaxY();
  if (up || down) {
    ImGui::SetScrollY(ImGui::GetScrollY() + (down ? by : -by));
    if (context_.wake_after) *context_.wake_after = 0.0;
  }
  const float y =
      std::clamp(origin.y + static_cast<float>(static_cast<double>(gap) * layout_.pitch) - widgets_.px(4),
                 top + 1, bottom - 2);
  const float thick = std::max(2.0f, std::round(widgets_.px(2)));
  const float width = static_cast<float>(layout_.picture_width);
  context_.painter().fill({origin.x - widgets_.px(3), y}, {origin.x + width + widgets_.px(3), y + thick},
                          context_.palette.focus);
  ui_probe("filmstrip/landing", {origin.x, y}, {origin.x + width, y + thick});
}

// A page that was turned to, added or moved comes into view, and stays there where the strip gets less room.
void Strip::scroll_to_shown(float height) {
  if (state_.shown_page == walk_.page && height >= state_.room) return;
  state_.shown_page = walk_.page;
  state_.room = height;
  const auto page = static_cast<double>(*walk_.page);
  const float top = static_cast<float>(page * layout_.pitch), bottom = top + static_cast<float>(layout_.pitch);
  if (top < ImGui::GetScrollY())
    ImGui::SetScrollY(top);
  else if (bottom > ImGui::GetScrollY() + height)
    ImGui::SetScrollY(bottom - height);
}

void Strip::draw_pages(float height, bool busy) {
  const float width = ImGui::GetContentRegionAvail().x;
  const float bar = std::round(widgets_.px(8)), frame = std::round(widgets_.px(2));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {frame, frame});
  ImGui::PushStyleVar(ImGuiStyleVar_ScrollbarSize, bar - widgets_.px(2));
  ImGui::BeginChild(
      "pages", {width, height}, false,
      ImGuiWindowFlags_AlwaysUseWindowPadding | ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoNav);
  ImGui::PopStyleVar(2);
  layout_ = filmstrip_layout(width - 2 * frame - bar, context_.scale);
  state_.thumbnails.set_look(layout_.picture_width, layout_.picture_height, context_.theme);
  const float room = ImGui::GetWindowHeight();
  scroll_to_shown(room - 2 * frame);
  take_keys();
  const ImVec2 origin = ImGui::GetCursorScreenPos(), panel = ImGui::GetWindowPos();
  const auto [first, last] = layout_.visible(ImGui::GetScrollY(), room, pages_.size());
  for (std::size_t page = 0; page < pages_.size(); ++page) {
    const bool visible = page >= first && page < last;
    // The one that is dragged stays under the mouse's press, wherever the list was scrolled to.
    if (!visible && state_.dragged != page) continue;
    const double below = std::round(static_cast<double>(page) * layout_.pitch);
    draw_page(page, {origin.x, origin.y + static_cast<float>(below)}, panel.y + room);
  }
  drag(origin, panel.y, panel.y + room);
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({1, static_cast<float>(static_cast<double>(pages_.size()) * layout_.pitch)});
  ImGui::EndChild();
  // The page shown comes first, then the others from the top.
  std::vector<PlaylistPage> wanted;
  if (*walk_.page >= first && *walk_.page < last) wanted.push_back(pages_[*walk_.page]);
  for (std::size_t page = first; page < last; ++page) wanted.push_back(pages_[page]);
  if (busy)
    state_.thumbnails.make_room();
  else if (!state_.dragged && !state_.thumbnails.advance(wanted))
    return;
  if (context_.wake_after) *context_.wake_after = std::min(*context_.wake_after, seconds_to_retry);
}

PanelAction Strip::draw(bool busy) {
  const float line = widgets_.px(button_height), space = ImGui::GetStyle().ItemSpacing.y;
  const float lines = walk_.retired.empty() ? 2.0f : 3.0f;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetContentRegionAvail().y;
  draw_head();
  const float top = widgets_.px(head_height) + widgets_.px(4), foot = lines * (std::round(line) + space);
  ImGui::SetCursorScreenPos({at.x, at.y + top});
  if (height - top - foot > widgets_.px(40)) draw_pages(height - top - foot - widgets_.px(4), busy);
  ImGui::SetCursorScreenPos({at.x, std::max(at.y + top, at.y + height - foot + space)});
  draw_buttons();
  return std::move(action_);
}

}  // namespace

bool shows_filmstrip(const Settings& settings, const PlaylistWalk& walk) {
  if (!walk.page) return false;
  return walk.from_program ? settings.filmstrip_of_lessons : settings.filmstrip;
}

std::string page_name(const PlaylistPage& page, std::size_t number) {
  const std::string words = !page.title.empty()     ? page.title
                            : !page.ask.empty()     ? first_line(plain_live_text(page.ask))
                            : !page.caption.empty() ? first_line(plain_live_text(page.caption))
                                                    : place_name(page);
  const std::string digits = fmt::format("{} ", number);
  return words.starts_with(digits) ? words : fmt::format("{} {}", digits, words);
}

PanelAction draw_filmstrip(const PanelContext& context, const PlaylistWalk& walk, bool busy,
                           FilmstripState& state) {
  return Strip(context, walk, state).draw(busy);
}

}  // namespace headwise
