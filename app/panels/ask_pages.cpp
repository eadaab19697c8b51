#include "app/panels/ask_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/content/stage_views.h"
#include "app/panels/setup_settings.h"
#include "core/attention/steps.h"
#include "core/lessons/lessons.h"
#include "core/lessons/live_text.h"

namespace headwise {

std::string_view embedded_words_ask();

namespace {

// How much a page counts by what it is. Tuned on tests/app/panels/ask_questions.json.
constexpr double question_weight = 1.0, page_weight = 0.75, glossary_weight = 0.95, section_weight = 0.9,
                 figures_weight = 0.75, command_weight = 0.72;

// "7  Softmax: scores become weights" without its number
std::string_view without_number(std::string_view title) {
  const std::size_t digits = title.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos || title[digits] != ' ') return title;
  title.remove_prefix(digits);
  title.remove_prefix(std::min(title.find_first_not_of(' '), title.size()));
  return title;
}

std::vector<std::string> settings_of(const Session& session) {
  std::vector<std::string> ids;
  for (const SetupSetting& setting : setup_settings(session.scenario())) ids.emplace_back(setting.id);
  return ids;
}

// "Softmax" of "Go to Softmax": what the entry does to it is not what is asked.
std::string_view without_verb(std::string_view name) {
  for (const std::string_view verb : {"Go to ", "View: ", "Setting: ", "Open "})
    if (name.starts_with(verb) && name.size() > verb.size()) name.remove_prefix(verb.size());
  return name;
}

std::string_view kind_of(const PaletteEntry& entry) {
  if (std::holds_alternative<CommandCall>(entry.target)) return "Command";
  if (std::holds_alternative<Step>(entry.target)) return "Step";
  if (std::holds_alternative<StageView>(entry.target)) return "View";
  if (std::holds_alternative<SettingId>(entry.target)) return "Setting";
  if (std::holds_alternative<PresetName>(entry.target)) return "Preset";
  return "Mask";
}

// "Glossary: KV cache", "Command: Undo": the chapter without its section, the kind without its keys
std::string name_of_page(const PaletteEntry& entry) {
  return fmt::format("{}: {}", std::string_view(entry.from).substr(0, entry.from.find(',')), entry.name);
}

std::string_view ask_words_of(std::string_view page) {
  const auto found = std::ranges::find(ask_words(), page, &WordRow::key);
  return found == ask_words().end() ? "" : found->value;
}

double weight_of(const DocPage& page) {
  if (page.name == "glossary") return glossary_weight;
  return page.name == "performance" ? figures_weight : section_weight;
}

}  // namespace

std::span<const WordRow> ask_words() {
  static const std::vector<WordRow> rows = word_rows(embedded_words_ask(), "ask.txt");
  return rows;
}

void AskPages::add(PaletteEntry entry, SearchPage page) {
  page.question += fmt::format(" {}", ask_words_of(name_of_page(entry)));  // how people ask for it
  entries_.push_back(std::move(entry));
  texts_.push_back(std::move(page));
}

void AskPages::add_lessons() {
  for (const Lesson& lesson : lessons()) {
    const Playlist& playlist = lesson_playlist(lesson.name);
    const std::string name(lesson.name), what(lesson.what);
    add({"Lesson: " + playlist.title, what, "", LessonPage{name, 0}, "", "Lessons"},
        {playlist.title, "lesson exercise quiz teach learn", what, page_weight});
    for (std::size_t i = 0; i < playlist.pages.size(); ++i) {
      const PlaylistPage& page = playlist.pages[i];
      const std::string ask = plain_live_text(page.ask), caption = plain_live_text(page.caption);
      add({std::string(without_number(page.title)), "", "", LessonPage{name, i}, "", playlist.title},
          {std::string(without_number(page.title)), page.keywords + " " + ask, caption,
           lesson.by_page ? question_weight : page_weight});
    }
  }
}

void AskPages::add_documentation() {
  for (const DocSection& section : doc_sections()) {
    const DocPage& page = doc_pages()[static_cast<std::size_t>(section.place.page)];
    const bool whole = section.title == page.title || section.above.empty() || section.above == page.title;
    add({section.title, "", "", section.place, "",
         whole ? page.title : fmt::format("{}, {}", page.title, section.above)},
        {section.title, section.above, section.text, weight_of(page)});
  }
}

void AskPages::add_commands(const Session& session) {
  for (PaletteEntry& entry : palette_entries(session, "")) {
    const auto* call = std::get_if<CommandCall>(&entry.target);
    const bool is_head = call && call->id == CommandId::look_at_head;
    if (is_head || std::holds_alternative<LessonPage>(entry.target)) continue;
    if (call) entry.what = command_entry(call->id).what;  // "there is nothing to undo" is no answer
    SearchPage page{std::string(without_verb(entry.name)), entry.keywords, entry.what, command_weight};
    if (const auto* step = std::get_if<Step>(&entry.target))
      page.text += fmt::format("\n{}", step_entries()[static_cast<std::size_t>(*step)].sentence);
    if (const auto* view = std::get_if<StageView>(&entry.target))
      page.text += fmt::format("\n{}", stage_view_entry(*view).question);
    entry.from = kind_of(entry);
    if (entry.name.starts_with(entry.from + ": ")) entry.name = page.title;
    if (!entry.keys.empty()) entry.from += fmt::format(", {}", entry.keys);
    add(std::move(entry), std::move(page));
  }
}

AskPages::AskPages(const Session& session) : settings_(settings_of(session)) {
  add_lessons();
  add_documentation();
  add_commands(session);
}

bool AskPages::belong_to(const Session& session) const {
  return settings_ == settings_of(session);
}

AskFound AskPages::find(std::string_view question, std::size_t most) const {
  if (!index_) index_.emplace(texts_);
  const SearchFound found = index_->find(question, most);
  AskFound answer{{}, found.answers};
  for (const SearchHit& hit : found.hits) {
    PaletteEntry entry = entries_[hit.page];
    entry.what = search_passage(texts_[hit.page].text, found.stems);
    answer.pages.push_back(std::move(entry));
  }
  return answer;
}

}  // namespace headwise
