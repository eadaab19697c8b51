// Where a page stands on the stage, and whether the stage is still there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/lesson/playlist_walk.h"

namespace headwise {

// A page that is about one head asks for it where all heads are shown, unless it says where it asks: the view
// of one would tell which.
void ask_at_all_heads(PlaylistPage& page);
// The page's place: a page that asks a question may show another place or a veil until it answers,
// with nothing pinned.
Selection selection_of(const PlaylistPage& page, bool answered);
// The query that a view of one query shows where nothing is pinned: the chosen one, else its first; whether
// an arrow of the head's Q–K plane was moved, and the words of all tokens.
struct QueryOnStage {
  std::optional<Index> chosen;
  Index first;
  bool moved;
  const TokenLabels* labels;
  bool full_screen;
  bool halfway;  // the motion into the step was stopped on its way
};
// None while a page is on its way.
std::optional<PlaylistWalk::Departure> departure_of(const PlaylistWalk& walk, const Selection& now,
                                                    const Trace& trace, const QueryOnStage& query);
// Whether a click on what the stage shows can answer the page's question.
bool answers_on_stage(const PlaylistWalk& walk, const Selection& now, const Trace& trace, bool full_screen);
// What is compared with where nothing is pinned, and by a page that does not say.
inline constexpr CompareWith usual_comparison = CompareWith::one_wide_head;
// Those that the page makes; nullopt where the user's own holds: those that its place does not show, and in
// lessons those that it does not make.
DisplayChoices choices_of_page(const PlaylistWalk& walk);
// Whether the scenario on the stage is another than the page's.
bool has_changed_scenario(const PlaylistWalk& walk, const Scenario& shown);
// "This page is about head 7; the stage shows head 3."
std::string departure_words(const PlaylistWalk::Departure& departure);
// How the stage differs from the page, and what leads back: another place, or other settings.
struct StageDifference {
  std::string words;
  const char* way_back;
  bool place;
};
// The place first. Settings are told on the full screen and beside pages of the user's own; those of a
// lesson, which asks for edits, only where words of the page no longer hold.
std::vector<StageDifference> stage_differences(const PlaylistWalk& walk, bool full_screen);
// The page's own place, with the display choices of now where the page makes none.
// To be called while a page is shown.
Selection place_of_page(const PlaylistWalk& walk, const Selection& now);

}  // namespace headwise
