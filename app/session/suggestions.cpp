#include "app/session/suggestions.h"

#include <array>

namespace headwise {
namespace {

constexpr std::array<SuggestionEntry, suggestion_count> table{{
    {Suggestion::all_the_way, "all_the_way", "press W to highlight everything this number depends on",
     CommandId::all_the_way},
    {Suggestion::spotlight, "spotlight", "press L to dim everything but this number and what it is made of",
     CommandId::spotlight},
    {Suggestion::heads_of_model, "heads_of_model", "press R to list every head of the model by what it does",
     CommandId::heads_of_model},
    {Suggestion::timeline, "timeline", "drag the line under the steps to move through the computation",
     std::nullopt},
    {Suggestion::is_it_the_same, "is_it_the_same",
     "press I to compare many heads with one wide head, in numbers", CommandId::compare},
    {Suggestion::cross_attention, "cross_attention",
     "let one sentence attend to another: set attention to cross", std::nullopt},
    {Suggestion::train, "train", "press N to train a small model and watch its heads learn", CommandId::train},
    {Suggestion::ask, "ask", "ask a question in your own words", CommandId::ask_question},
    {Suggestion::playlist, "playlist", "keep what you see as a page of your own lesson", CommandId::add_page},
}};

constexpr std::size_t edits_worth_keeping = 4;

bool fits(Suggestion suggestion, const SuggestionContext& now) {
  switch (suggestion) {
    case Suggestion::all_the_way:
    case Suggestion::spotlight:
      return now.pinned;
    case Suggestion::heads_of_model:
      return now.model;
    case Suggestion::timeline:
    case Suggestion::train:
      return now.stepped;
    case Suggestion::is_it_the_same:
      return now.muted;
    case Suggestion::cross_attention:
      return now.own_text;
    case Suggestion::ask:
      return true;
    case Suggestion::playlist:
      return now.edits >= edits_worth_keeping;
  }
  return false;
}

}  // namespace

std::span<const SuggestionEntry> suggestion_entries() {
  return table;
}

std::optional<Suggestion> next_suggestion(const SuggestionSet& done, const SuggestionContext& now) {
  for (const SuggestionEntry& entry : table)
    if (!done[static_cast<std::size_t>(entry.id)] && fits(entry.id, now)) return entry.id;
  return std::nullopt;
}

std::optional<Suggestion> suggestion_of(CommandId command) {
  for (const SuggestionEntry& entry : table)
    if (entry.command == command) return entry.id;
  return command == CommandId::new_playlist || command == CommandId::walk_playlist
             ? std::optional(Suggestion::playlist)
             : std::nullopt;
}

}  // namespace headwise
