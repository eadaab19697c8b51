#include "app/panels/palette_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "app/content/stage_views.h"
#include "app/panels/setup_settings.h"
#include "app/session/fuzzy_match.h"
#include "core/lessons/lessons.h"
#include "core/scenario/presets.h"

namespace headwise {
namespace {

constexpr Index most_heads = 64;
constexpr std::size_t longest_query = 256;  // bytes: more than a name with what it does and its keys
// A word in a name counts more than the same word in a description.
constexpr int found_in_name = 20;
// From this many words on it is a sentence: matching some of them is enough.
constexpr std::size_t sentence_words = 3;

struct BrushName {
  BrushShape shape;
  std::string_view name, what, keywords;
};

constexpr std::array<BrushName, 4> brush_names{{
    {BrushShape::pair, "Paint mask pairs", "block the pairs under the mouse, one by one, on the Mask step",
     "brush draw attn_mask block pair cell"},
    {BrushShape::row, "Paint rows of the mask", "block all keys of a query, on the Mask step",
     "mask attn_mask brush pairs"},
    {BrushShape::column, "Paint columns of the mask", "block all queries of a key, on the Mask step",
     "mask attn_mask brush pairs"},
    {BrushShape::box, "Paint a box of the mask", "block a rectangle of pairs, on the Mask step",
     "mask attn_mask brush pairs"},
}};

// By which a command is asked for whose name says little of it.
constexpr std::string_view words_of_training =
    "learns learning trains training data teach taught teacher tells told itself why how do different things "
    "who what job form emerge grow loss optimiser gradient descent own model";

constexpr int question_handicap = 6;  // less than a letter that follows another scores (session/fuzzy_match)

std::string effect_of(const CommandEntry& entry, const Session& session, const std::string& undo_label) {
  const auto named = [](const std::string& label, std::string_view nothing) {
    return label.empty() ? std::string(nothing) : label;
  };
  if (entry.id == CommandId::undo) return named(undo_label, "there is nothing to undo");
  if (entry.id == CommandId::redo) return named(session.redo_label(), "there is nothing to redo");
  return std::string(entry.what);
}

void add_commands(std::vector<PaletteEntry>& entries, const Session& session, const std::string& undo_label) {
  for (const Menu menu :
       {Menu::file, Menu::edit, Menu::view, Menu::teach, Menu::help, Menu::keyboard, Menu::none}) {
    for (const CommandEntry& entry : command_entries()) {
      if (entry.menu != menu || entry.key_count > 1) continue;
      entries.push_back({std::string(entry.name), effect_of(entry, session, undo_label),
                         all_keys_text(entry.id), CommandCall{entry.id},
                         std::string(entry.id == CommandId::train ? words_of_training : "")});
    }
  }
}

void add_questions(std::vector<PaletteEntry>& entries, const Lesson& lesson) {
  const Playlist& playlist = lesson_playlist(lesson.name);
  for (std::size_t page = 0; page < playlist.pages.size(); ++page)
    entries.push_back({playlist.pages[page].title, "a question, with its answer in numbers", "",
                       LessonPage{std::string(lesson.name), page}, playlist.pages[page].keywords});
}

bool is_question(const PaletteEntry& entry) {
  const auto* page = std::get_if<LessonPage>(&entry.target);
  return page &&
         std::ranges::any_of(
             lessons(), [&](const Lesson& lesson) { return lesson.by_page && lesson.name == page->lesson; }) &&
         !entry.name.starts_with("Lesson: ");
}

void add_lessons(std::vector<PaletteEntry>& entries) {
  for (const Lesson& lesson : lessons()) {
    const Playlist& playlist = lesson_playlist(lesson.name);
    entries.push_back({fmt::format("Lesson: {}", playlist.title), std::string(lesson.what), "",
                       LessonPage{std::string(lesson.name), 0}});
    if (lesson.by_page) add_questions(entries, lesson);
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

// Whether the word, or its beginning, occurs in the entry: letters scattered over a name are not a word of a
// sentence. Plural and past forms count as the same word.
std::optional<FuzzyMatch> whole_word(std::string_view word, std::string_view text) {
  for (const std::string_view ending : {"", "s", "d", "ed", "ing"}) {
    if (!word.ends_with(ending) || word.size() < ending.size() + (ending.empty() ? 1 : 3)) continue;
    const std::string_view stem = word.substr(0, word.size() - ending.size());
    std::optional<FuzzyMatch> match = fuzzy_match(stem, text, FuzzyRule::words);
    if (!match) continue;
    const std::vector<std::size_t>& places = match->places;
    if (places.back() - places.front() + 1 == places.size()) return match;
  }
  return std::nullopt;
}

// Scattered letters match almost every long name: at most half of them may neither begin a word nor follow
// the previous one.
bool is_compact_match(const FuzzyMatch& match, std::string_view text) {
  std::size_t strewn = 0;
  for (std::size_t i = 0; i < match.places.size(); ++i) {
    const std::size_t at = match.places[i];
    const bool follows = i > 0 && match.places[i - 1] + 1 == at;
    if (!follows && !word_begins(text, at)) ++strewn;
  }
  return 2 * strewn <= match.places.size();
}

// The score of one query word in this entry; its places in the name are added. None if it does not occur.
std::optional<int> word_score(const std::string& word, const PaletteEntry& entry,
                              std::vector<std::size_t>& places) {
  std::optional<int> score;
  if (const auto name = fuzzy_match(word, entry.name); name && is_compact_match(*name, entry.name)) {
    score = name->score + found_in_name;
    places.insert(places.end(), name->places.begin(), name->places.end());
  }
  const auto take = [&](const std::optional<FuzzyMatch>& found) {
    if (found && (!score || found->score > *score)) score = found->score;
  };
  take(fuzzy_match(word, entry.keys, FuzzyRule::words));
  take(whole_word(word, entry.what));
  take(whole_word(word, entry.keywords));
  return score;
}

struct Ranked {
  int tier;  // 0: every word is found, 1: every telling one, 2: some
  int score;
  PaletteMatch match;
};

// Requires every one of `words`; none if one does not occur in the entry.
std::optional<Ranked> with_all(const std::vector<std::string>& words, const PaletteEntry& entry, int tier) {
  Ranked found{tier, 0, {}};
  for (const std::string& word : words) {
    const std::optional<int> score = word_score(word, entry, found.match.places);
    if (!score) return std::nullopt;
    found.score += *score;
  }
  return found;
}

// The entries with some of the words, each of which counts the more the fewer entries have it.
void add_some(std::span<const PaletteEntry> entries, const std::vector<std::string>& words,
              const std::vector<bool>& taken, std::vector<Ranked>& ranked) {
  std::vector<double> rarity(entries.size(), 0.0);
  std::vector<PaletteMatch> matches(entries.size());
  for (const std::string& word : words) {
    std::vector<std::size_t> having;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto name = whole_word(word, entries[i].name);
      if (name) matches[i].places.insert(matches[i].places.end(), name->places.begin(), name->places.end());
      if (name || whole_word(word, entries[i].keywords) || whole_word(word, entries[i].what))
        having.push_back(i);
    }
    const double few =
        std::log((1.0 + static_cast<double>(entries.size())) / (1.0 + static_cast<double>(having.size())));
    for (const std::size_t i : having) rarity[i] += few;
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (taken[i] || rarity[i] <= 0.0) continue;
    matches[i].entry = i;
    ranked.push_back({2, static_cast<int>(std::lround(100.0 * rarity[i])), std::move(matches[i])});
  }
}

std::vector<PaletteMatch> matches_of(std::vector<Ranked> ranked) {
  std::vector<PaletteMatch> matches;
  for (Ranked& one : ranked) {
    std::ranges::sort(one.match.places);
    one.match.partly = one.tier == 2;
    matches.push_back(std::move(one.match));
  }
  return matches;
}

}  // namespace

std::vector<PaletteEntry> question_entries() {
  std::vector<PaletteEntry> entries;
  for (const Lesson& lesson : lessons())
    if (lesson.by_page) add_questions(entries, lesson);
  return entries;
}

std::vector<PaletteEntry> palette_entries(const Session& session, const std::string& undo_label) {
  std::vector<PaletteEntry> entries;
  add_commands(entries, session, undo_label);
  for (const Step shown : shown_steps(session.trace().options)) {
    const StepEntry& step = step_entries()[static_cast<std::size_t>(shown)];
    entries.push_back({fmt::format("Go to {}", step.name), std::string(step.question), "", step.step});
  }
  for (const StageViewEntry& view : stage_views())
    entries.push_back({fmt::format("View: {}", view.name), std::string(view.what), "", view.view});
  for (const BrushName& brush : brush_names)
    entries.push_back(
        {std::string(brush.name), std::string(brush.what), "", brush.shape, std::string(brush.keywords)});
  for (const SetupSetting& setting : setup_settings(session.scenario()))
    entries.push_back({fmt::format("Setting: {}", setting.name), std::string(setting.what), "",
                       SettingId{setting.id}, std::string(setting.keywords)});
  for (const Preset& preset : presets())
    entries.push_back({fmt::format("Open {}", preset.name), fmt::format("{}: {}", preset.title, preset.what),
                       "", PresetName{std::string(preset.name)}});
  add_lessons(entries);
  add_heads(entries, session);
  return entries;
}

std::vector<PaletteMatch> find_entries(std::span<const PaletteEntry> entries, std::string_view query) {
  if (query.size() > longest_query) return {};
  const std::vector<std::string> words = query_words(query);
  const std::vector<std::string> content = content_words(words);
  std::vector<Ranked> ranked;
  std::vector<bool> taken(entries.size(), false);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::optional<Ranked> found = with_all(words, entries[i], 0);
    if (!found && content.size() < words.size()) found = with_all(content, entries[i], 1);
    if (!found) continue;
    taken[i] = true;
    found->match.entry = i;
    ranked.push_back(*std::move(found));
  }
  // A single word is more likely the name of a step or a command than the beginning of a question.
  if (words.size() == 1) {
    for (Ranked& one : ranked)
      if (is_question(entries[one.match.entry])) one.score -= question_handicap;
  }
  const bool sentence = words.size() >= sentence_words;
  if (sentence || (ranked.empty() && words.size() > 1)) add_some(entries, content, taken, ranked);
  if (sentence && ranked.empty()) {
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (is_question(entries[i])) ranked.push_back({2, 0, {i, {}}});
    return matches_of(std::move(ranked));
  }
  // Among names that match the query equally well, the shorter one is closer to it.
  std::ranges::stable_sort(ranked, [&](const Ranked& a, const Ranked& b) {
    if (a.tier != b.tier) return a.tier < b.tier;
    if (a.score != b.score) return a.score > b.score;
    return !words.empty() && entries[a.match.entry].name.size() < entries[b.match.entry].name.size();
  });
  return matches_of(std::move(ranked));
}

}  // namespace headwise
