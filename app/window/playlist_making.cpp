#include "app/window/playlist_making.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/content/stage_views.h"
#include "app/lesson/page_place.h"
#include "app/session/commands.h"
#include "app/session/kept_work.h"
#include "app/window/page_turns.h"
#include "app/window/window_state.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

// A query that was chosen without a pin is kept by one: of its largest weight.
void pin_query(WindowState& window) {
  Selection& now = window.view.selection;
  const std::optional<Index> query = chosen_query(window.view.stage_choices, now.view);
  const TensorPtr& weights = window.document.session.trace().tensors.attn_weights;
  if (now.pinned || !query || !weights || *query >= weights->shape().size(2)) return;
  const auto weight = [&](Index key) { return weights->at({now.batch, now.head, *query, key}); };
  Index largest = 0;
  for (Index key = 1; key < weights->shape().size(3); ++key)
    if (weight(key) > weight(largest)) largest = key;
  if (weights->shape().size(3) > 0)
    now.pinned = CellRef{{TensorId::attn_weights}, {now.batch, now.head, *query, largest}};
}

// The pinned pair of a query and a key in the map that is shown: wherever it was pinned, it is that map's
// cell that the stage marks and the inspector tells.
std::optional<CellRef> pin_of_page(const Trace& trace, const Selection& selection) {
  const std::optional<StepPicture> picture =
      stage_view_entry(selection.view).turns ? shown_picture(trace, selection) : std::nullopt;
  std::optional<CellRef> pin = selection.pinned;
  if (!pin || !picture || pin->tensor.gradient) return pin;
  const bool of_operand = picture->left == pin->tensor.id || picture->above == pin->tensor.id;
  if (of_operand && selection.view == StageView::one_head) return pin;
  const TensorPtr pinned = trace.tensor(pin->tensor.id), shown = trace.tensor(picture->result);
  const bool pairs = pinned && shown && is_pair_map(*pinned) && is_pair_map(*shown);
  if (pairs && pinned->shape().same_sizes(shown->shape())) pin->tensor = {picture->result};
  return pin;
}

PlaylistPage page_of(WindowState& window) {
  window.view.steps.playing = false;  // it is the step that was seen when the page was asked for
  skip_motion(window.view.motion);
  pin_query(window);
  const Selection& selection = window.view.selection;
  PlaylistPage page;
  page.scenario = std::make_shared<const Scenario>(window.document.session.traced_scenario());
  page.step = selection.step;
  page.view = selection.view;
  page.batch = selection.batch;
  page.head = selection.head;
  page.tensor = selection.tensor;
  page.pin = pin_of_page(window.document.session.trace(), selection);
  page.spotlight = selection.spotlight && selection.pinned;
  if (selection.step == Step::mask) page.masks_as = selection.mask_convention;
  if (selection.view == StageView::compare && selection.compare_with != CompareWith::pinned)
    page.beside = selection.compare_with;
  page.queries_as_columns = selection.queries_as_columns && stage_view_entry(selection.view).turns;
  page.colors_by_head = selection.colors_by_head &&
                        (selection.view == StageView::one_head || selection.view == StageView::all_heads);
  if (selection.view == StageView::tokens) page.lines = selection.lines;
  if (selection.view == StageView::gradients) page.loss = selection.loss;
  return page;
}

// To be called before the page is shown, which compares with something else.
bool compares_with_pinned(const WindowState& window) {
  const Selection& now = window.view.selection;
  return now.view == StageView::compare && now.compare_with == CompareWith::pinned;
}

void notify_pinned_not_kept(WindowState& window) {
  window.view.notices.say(
      "A page cannot keep a pinned result: this one compares with one wide head. "
      "To compare with something else, choose it above the maps, then “Update page”.");
}

// The lesson in the program stays as it is: what is changed is a copy.
void make_own(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  walk.changed = true;
  if (!std::exchange(walk.from_program, false)) return;
  window.view.notices.say("You are now editing a copy of the lesson; “Save playlist…” saves it.");
}

// The places of pages change: what was updated can no longer be found by its place, nor the page before.
void forget_updates(PlaylistWalk& walk) {
  std::erase_if(walk.retired, [](const PlaylistWalk::Retired& each) { return each.replaced; });
  walk.earlier_page.reset();
}

// False, and says so, if there is no room for another page.
bool has_room(WindowState& window) {
  if (window.document.walk.playlist.pages.size() < Playlist::most_pages) return true;
  window.view.notices.complain(fmt::format("A playlist has at most {} pages.", Playlist::most_pages));
  return false;
}

void insert_page(PlaylistWalk& walk, std::size_t place, PlaylistPage page) {
  std::vector<PlaylistPage>& pages = walk.playlist.pages;
  forget_updates(walk);
  pages.insert(pages.begin() + static_cast<std::ptrdiff_t>(place), std::move(page));
  if (walk.page && place <= *walk.page) ++*walk.page;
}

// Walks the loaded pages of the user's own, which may just have been changed.
void walk_own(WindowState& window, std::size_t page) {
  PlaylistWalk& walk = window.document.walk;
  start_walk(window, walk.playlist, walk.path, page, true);
}

// What is typed next belongs to the page, even if a click elsewhere has taken the focus from the last one.
void write_caption(PlaylistWalk& walk) {
  walk.edits_words = true;
  walk.words_have_focus = false;
  walk.answered = true;
}

std::string put_back_hint() {
  return fmt::format("“{}” in the Teach menu undoes this.", command_entry(CommandId::put_back_page).name);
}

}  // namespace

void add_page(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  const bool of_pinned = compares_with_pinned(window);
  if (!walk.page && (walk.playlist.pages.empty() || (walk.from_program && !walk.changed))) {
    new_playlist(window);
    window.view.notices.say("Page 1 of a new playlist: type its caption. “Add page” adds the next one.");
  } else {
    if (!has_room(window)) return;
    const std::size_t place = walk.page ? *walk.page + 1 : walk.playlist.pages.size();
    insert_page(walk, place, page_of(window));
    if (walk.page) {
      show_page(window, place);
      make_own(window);
    } else {
      walk_own(window, place);
    }
    write_caption(walk);
  }
  if (of_pinned) notify_pinned_not_kept(window);
}

void duplicate_page(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  if (!walk.page) return window.view.notices.say("Walk to the page you want to duplicate.");
  if (!has_room(window)) return;
  const std::size_t place = *walk.page + 1;
  insert_page(walk, place, *walk.shown());
  show_page(window, place, entry_with(walk.answered));
  make_own(window);
}

void update_page(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  NoticesState& notices = window.view.notices;
  if (!walk.page) return notices.say("Walk to the page you want to update.");
  PlaylistPage& page = walk.playlist.pages[*walk.page];
  if (walk.asking() && page.asks_covered())
    return notices.say(fmt::format("The page still hides its answer. Show it ({}), then update the page.",
                                   first_key_text(CommandId::next_page)));
  if (!window.document.session.error().empty() || window.document.session.computing())
    return notices.say("The page was not updated: the scenario has an error or is still being computed.");
  PlaylistPage updated = page_of(window);
  written_words(updated) = written_words(page);
  updated.ask_step = page.ask_step;
  updated.ask_view = page.ask_view;
  updated.keywords = page.keywords;
  updated.veil = page.veil;
  ask_at_all_heads(updated);
  if (page == updated) return notices.say("The page shows this already.");
  walk.retired.push_back({std::exchange(page, std::move(updated)), *walk.page, true});
  make_own(window);
  walk.arrival_notice = window.document.session.last_edit();
  notices.say(fmt::format("Page {} now shows what the window shows. {}", *walk.page + 1, put_back_hint()));
  if (compares_with_pinned(window)) notify_pinned_not_kept(window);
}

void remove_page(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  std::vector<PlaylistPage>& pages = walk.playlist.pages;
  if (!walk.page) return window.view.notices.say("Walk to the page you want to remove.");
  const std::size_t place = *walk.page;
  if (pages.size() == 1) leave_walk(window);
  forget_updates(walk);
  walk.retired.push_back({std::move(pages[place]), place, false});
  pages.erase(pages.begin() + static_cast<std::ptrdiff_t>(place));
  if (walk.page) show_page(window, std::min(place, pages.size() - 1));
  walk.earlier_page.reset();  // it is there no more
  walk.just_removed = walk.page.has_value();
  make_own(window);
  window.view.notices.say(fmt::format("Page {} was removed. {}", place + 1, put_back_hint()));
}

void put_back_page(WindowState& window) {
  PlaylistWalk& walk = window.document.walk;
  std::vector<PlaylistPage>& pages = walk.playlist.pages;
  if (walk.retired.empty()) return window.view.notices.say("No page was removed or updated.");
  if (!walk.retired.back().replaced && !has_room(window)) return;
  PlaylistWalk::Retired back = std::move(walk.retired.back());
  walk.retired.pop_back();
  const std::size_t place = std::min(back.place, pages.size());
  const bool replaced = back.replaced;  // is still being worked on: with its answer
  if (back.replaced && place < pages.size()) {
    // Words written since the update stay.
    written_words(back.page) = written_words(pages[place]);
    pages[place] = std::move(back.page);
  } else {
    insert_page(walk, place, std::move(back.page));
  }
  if (walk.page) {
    show_page(window, place, entry_with(replaced));
    walk.changed = true;
  } else {
    walk_own(window, place);
  }
  window.view.notices.say(fmt::format("Page {} is {}.", place + 1, replaced ? "as it was" : "back"));
}

void move_page_to(WindowState& window, std::size_t from, std::size_t to) {
  PlaylistWalk& walk = window.document.walk;
  std::vector<PlaylistPage>& pages = walk.playlist.pages;
  if (from == to) return;
  forget_updates(walk);
  const auto at = [&](std::size_t place) { return pages.begin() + static_cast<std::ptrdiff_t>(place); };
  if (from < to)
    std::rotate(at(from), at(from + 1), at(to + 1));
  else
    std::rotate(at(to), at(from), at(from + 1));
  if (walk.page == from)
    walk.page = to;
  else if (walk.page && from < *walk.page && *walk.page <= to)
    --*walk.page;
  else if (walk.page && to <= *walk.page && *walk.page < from)
    ++*walk.page;
  window.view.notices.dismiss_all();  // they name pages by their places, and offer to put one back
  make_own(window);
}

void move_page(WindowState& window, int by) {
  const PlaylistWalk& walk = window.document.walk;
  if (!walk.page) return window.view.notices.say("Walk to the page you want to move.");
  const auto to = static_cast<std::ptrdiff_t>(*walk.page) + by;
  if (to < 0 || to >= static_cast<std::ptrdiff_t>(walk.playlist.pages.size())) return;
  move_page_to(window, *walk.page, static_cast<std::size_t>(to));
}

void new_playlist(WindowState& window) {
  Playlist playlist;
  playlist.pages.push_back(page_of(window));
  leave_walk(window);
  start_walk(window, std::move(playlist), {}, 0, true);
  write_caption(window.document.walk);
}

void reopen_playlist(WindowState& window) {
  window.view.notices.attempt([&] {
    std::optional<Playlist> playlist = kept_playlist(window.document.kept_folder);
    if (!playlist) return window.view.notices.say("There is no unsaved playlist.");
    start_walk(window, *std::move(playlist), {}, 0, true);
  });
}

void reopen_scenario(WindowState& window) {
  WindowView& view = window.view;
  if (!window.document.backup.offered().empty()) return restore_offered(window);
  view.notices.attempt([&] {
    const std::optional<Scenario> scenario = kept_scenario(window.document.kept_folder);
    if (!scenario) return view.notices.say("There is no earlier session to reopen.");
    leave_walk(window);
    view.setup.forget_scenario();
    window.document.session.open(*scenario, "reopen last session");
    view.selection = selection_within(view.selection, window.document.session.trace());
  });
}

bool keep_all_unsaved(const WindowDocument& document) {
  const PlaylistWalk& walk = document.walk;
  bool kept = true;
  if (walk.changed && !walk.playlist.pages.empty()) kept = keep_playlist(document.kept_folder, walk.playlist);
  if (walk.interrupted && walk.interrupted->changed)
    kept = keep_playlist(document.kept_folder, walk.interrupted->playlist) && kept;
  const History& history = walk.own_history ? *walk.own_history : document.session.history();
  if (history.can_undo()) kept = keep_scenario(document.kept_folder, history.current()) && kept;
  return kept;
}

}  // namespace headwise
