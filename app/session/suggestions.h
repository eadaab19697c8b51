// What to try next, once the first steps are done: parts of the program that few find by themselves, each
// suggested when it fits what the user is doing, until it was tried or dismissed.
#pragma once

#include <bitset>
#include <optional>
#include <span>
#include <string_view>

#include "app/session/commands.h"

namespace headwise {

enum class Suggestion : int {
  all_the_way,
  spotlight,
  heads_of_model,
  timeline,
  is_it_the_same,
  cross_attention,
  train,
  ask,
  playlist,
};
inline constexpr std::size_t suggestion_count = 9;
using SuggestionSet = std::bitset<suggestion_count>;

struct SuggestionEntry {
  Suggestion id;
  std::string_view name;             // in the settings file: "all_the_way"
  std::string_view text;             // one short line: what it does
  std::optional<CommandId> command;  // what a click on it does; none: it is shown where it is
};
// In the order of Suggestion, which is that of preference where several fit.
std::span<const SuggestionEntry> suggestion_entries();

// What the user is doing.
struct SuggestionContext {
  bool model = false;     // the heads are a trained model's
  bool pinned = false;    // a number is pinned
  bool stepped = false;   // has gone from step to step
  bool muted = false;     // a head is muted
  bool own_text = false;  // the sentence is not a preset's
  std::size_t edits = 0;  // in the history
};

// The first that fits and is not done; nullopt if there is none.
std::optional<Suggestion> next_suggestion(const SuggestionSet& done, const SuggestionContext& now);
// The suggestion that a command is the answer to, by key, menu or palette.
std::optional<Suggestion> suggestion_of(CommandId command);

}  // namespace headwise
