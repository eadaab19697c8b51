// What Ask searches: every page of the lessons, every section of the documentation, and the commands, steps,
// views, settings and presets.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/palette_entries.h"
#include "core/files/word_rows.h"
#include "core/lessons/search_index.h"

namespace headwise {

struct AskFound {
  std::vector<PaletteEntry> pages;  // best first; `what` is the passage that answers
  bool answers = false;             // otherwise they are merely the nearest
};

// The words by which people ask for a page and which the page itself does not say: assets/words/ask.txt. The
// key is what a result names as its kind or its chapter, and its title.
std::span<const WordRow> ask_words();

class AskPages {
 public:
  // With the settings of the session's scenario.
  explicit AskPages(const Session& session);

  // Whether they would be made the same: the scenario has these settings.
  bool belong_to(const Session& session) const;

  // The first call takes some milliseconds: it reads all of the pages.
  AskFound find(std::string_view question, std::size_t most = 20) const;

  const std::vector<PaletteEntry>& entries() const { return entries_; }
  const std::vector<SearchPage>& texts() const { return texts_; }  // of the entries, as they are searched

 private:
  void add(PaletteEntry entry, SearchPage page);
  void add_lessons();
  void add_documentation();
  void add_commands(const Session& session);

  std::vector<PaletteEntry> entries_;
  std::vector<SearchPage> texts_;
  std::vector<std::string> settings_;
  mutable std::optional<SearchIndex> index_;
};

}  // namespace headwise
