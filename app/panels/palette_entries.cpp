#include "app/panels/palette_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "app/session/fuzzy_match.h"
#include "core/playlist/lessons.h"
#include "core/scenario/presets.h"

namespace headwise {
namespace {

constexpr Index most_heads = 64;
constexpr std::size_t longest_query = 256;  // bytes: more than a name with what it does and its keys
// A word in a name says more than the same word in a description.
constexpr int found_in_name = 20;

constexpr std::array<std::string_view, stage_view_count> view_descriptions{
    "the step's product with its operands, at the head that is looked at",
    "the step's result at every head, side by side",
    "the tokens, joined by lines as strong as their attention",
    "one query against every key, number by number",
    "the step's tensors, each beside its gradient",
    "the step's result beside that of another scenario, and their difference",
    "which float lies where after view and transpose, and what a wrong view would take"};

std::string what_it_does(const CommandEntry& entry, const Session& session) {
  const auto named = [](const std::string& label, std::string_view nothing) {
    return label.empty() ? std::string(nothing) : label;
  };
  if (entry.id == CommandId::undo) return named(session.undo_label(), "there is nothing to take back");
  if (entry.id == CommandId::redo) return named(session.redo_label(), "there is nothing to do again");
  return std::string(entry.what);
}

void add_commands(std::vector<PaletteEntry>& entries, const Session& session) {
  for (const Menu menu : {Menu::file, Menu::edit, Menu::view, Menu::teach, Menu::help, Menu::none}) {
    for (const CommandEntry& entry : command_entries()) {
      if (entry.menu != menu || entry.key_count > 1) continue;
      entries.push_back({std::string(entry.name), what_it_does(entry, session), all_keys_text(entry.id),
                         CommandCall{entry.id}});
    }
  }
}

void add_lessons(std::vector<PaletteEntry>& entries) {
  for (const Lesson& lesson : lessons()) {
    const Playlist& playlist = lesson_playlist(lesson.name);
    entries.push_back({fmt::format("Lesson: {}", playlist.title), std::string(lesson.what), "",
                       LessonPage{std::string(lesson.name), 0}});
    for (std::size_t page = 0; lesson.by_page && page < playlist.pages.size(); ++page) {
      entries.push_back({playlist.pages[page].title, "a question, with its answer in numbers", "",
                         LessonPage{std::string(lesson.name), page}});
    }
  }
}

void add_heads(std::vector<PaletteEntry>& entries, const Session& session) {
  const CommandEntry& command = command_entry(CommandId::look_at_head);
  const Index heads = std::min(session.trace().options.num_heads, most_heads);
  for (Index head = 0; head < heads; ++head) {
    const bool has_key = head < command.key_count;
    entries.push_back({fmt::format("Head {}", head), std::string(command.what),
                       has_key ? std::to_string(head) : "",
                       CommandCall{CommandId::look_at_head, static_cast<int>(head)}});
  }
}

// What one word of the query is worth in this entry; its places in the name are added. None where it is nowhere.
std::optional<int> word_score(const std::string& word, const PaletteEntry& entry,
                              std::vector<std::size_t>& places) {
  std::optional<int> score;
  if (const auto name = fuzzy_match(word, entry.name)) {
    score = name->score + found_in_name;
    places.insert(places.end(), name->places.begin(), name->places.end());
  }
  for (const std::string* text : {&entry.what, &entry.keys}) {
    const auto found = fuzzy_match(word, *text, FuzzyRule::words);
    if (found && (!score || found->score > *score)) score = found->score;
  }
  return score;
}

}  // namespace

std::vector<PaletteEntry> palette_entries(const Session& session) {
  std::vector<PaletteEntry> entries;
  add_commands(entries, session);
  for (const StepEntry& step : step_entries()) {
    entries.push_back({fmt::format("Go to {}", step.name), std::string(step.question), "", step.step});
  }
  for (int view = 0; view < stage_view_count; ++view) {
    const auto i = static_cast<std::size_t>(view);
    entries.push_back({fmt::format("View: {}", stage_view_names[i]), std::string(view_descriptions[i]), "",
                       static_cast<StageView>(view)});
  }
  for (const Preset& preset : presets()) {
    entries.push_back({fmt::format("Open {}", preset.name), fmt::format("{}: {}", preset.title, preset.what),
                       "", PresetName{std::string(preset.name)}});
  }
  add_lessons(entries);
  add_heads(entries, session);
  return entries;
}

std::vector<PaletteMatch> find_entries(std::span<const PaletteEntry> entries, std::string_view query) {
  struct Ranked {
    int score;
    PaletteMatch match;
  };
  if (query.size() > longest_query) return {};
  const std::vector<std::string> words = query_words(query);
  std::vector<Ranked> ranked;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Ranked found{0, {i, {}}};
    const bool has_all = std::ranges::all_of(words, [&](const std::string& word) {
      const std::optional<int> score = word_score(word, entries[i], found.match.places);
      found.score += score.value_or(0);
      return score.has_value();
    });
    if (!has_all) continue;
    std::ranges::sort(found.match.places);
    ranked.push_back(std::move(found));
  }
  // Of names that hold the query equally well, the shorter one is nearer to it.
  std::ranges::stable_sort(ranked, [&](const Ranked& a, const Ranked& b) {
    if (a.score != b.score) return a.score > b.score;
    return !words.empty() && entries[a.match.entry].name.size() < entries[b.match.entry].name.size();
  });
  std::vector<PaletteMatch> matches;
  for (Ranked& one : ranked) matches.push_back(std::move(one.match));
  return matches;
}

}  // namespace headwise
