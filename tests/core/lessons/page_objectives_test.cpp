// docs/teaching.md says of every page of the lessons what it is for: in a row of its own, under its title, in
// the order of the lesson.
#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "core/lessons/lessons.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

struct ObjectiveRow {
  std::string page, title, objective, asked_for;
};

struct ObjectiveTable {
  std::string lesson;  // its title
  std::vector<ObjectiveRow> rows;
};

// The lines of a document's section, without its heading.
std::vector<std::string> section_lines(std::istream& document, const std::string& heading) {
  std::vector<std::string> lines;
  bool inside = false;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("## ")) {
      inside = line == "## " + heading;
    } else if (inside) {
      lines.push_back(line);
    }
  }
  return lines;
}

// "*Title* (walk):" stands above each table.
std::vector<ObjectiveTable> objective_tables(std::istream& document) {
  const std::regex above("\\*(.+)\\*( \\(.+\\))?:"), row("\\| (\\d+) \\| (.+) \\| (.+) \\| (?:(\\w+) )?\\|");
  std::vector<ObjectiveTable> tables;
  for (const std::string& line : section_lines(document, "What each page is for")) {
    std::smatch found;
    if (std::regex_match(line, found, above)) tables.push_back({found[1], {}});
    if (!line.starts_with("| ") || line.starts_with("| page ")) continue;
    CAPTURE(line);
    REQUIRE(std::regex_match(line, found, row));
    REQUIRE_FALSE(tables.empty());
    tables.back().rows.push_back({found[1], found[2], found[3], found[4]});
  }
  return tables;
}

std::vector<ObjectiveTable> objective_tables() {
  std::ifstream file(HEADWISE_SOURCE_DIR "/docs/teaching.md");
  return objective_tables(file);
}

// "7  Softmax: scores become weights" without its number, which stands before it in the table.
std::string unnumbered(const std::string& title) {
  return std::regex_replace(title, std::regex("^\\d+ +"), "");
}

// Of UTF-8.
std::ptrdiff_t characters(const std::string& text) {
  return std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; });
}

}  // namespace

TEST_CASE("what each page is for stands in one row for every page of every lesson, in its order") {
  const std::vector<ObjectiveTable> tables = objective_tables();
  for (const Lesson& lesson : lessons()) {
    const Playlist& playlist = lesson_playlist(lesson.name);
    CAPTURE(playlist.title);
    REQUIRE(std::ranges::count(tables, playlist.title, &ObjectiveTable::lesson) == 1);
    const ObjectiveTable& table = *std::ranges::find(tables, playlist.title, &ObjectiveTable::lesson);
    REQUIRE(table.rows.size() == playlist.pages.size());
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const PlaylistPage& page = playlist.pages[i];
      const ObjectiveRow& row = table.rows[i];
      CHECK(row.page == std::to_string(i + 1));
      CHECK(row.title == unnumbered(page.title));
      CAPTURE(row.title);
      const std::string kind =
          page.answer ? std::string(answer_kind_names()[static_cast<std::size_t>(page.answer->kind)]) : "";
      CHECK(row.asked_for == kind);
    }
  }
  CHECK(tables.size() == lessons().size());
}

TEST_CASE("what a page is for is a verb and what is done, in a line, and no two pages are for the same") {
  std::set<std::string> objectives;
  for (const ObjectiveTable& table : objective_tables()) {
    for (const ObjectiveRow& row : table.rows) {
      CAPTURE(row.objective);
      CHECK(std::regex_search(row.objective, std::regex("^\\*[a-z]+\\*,? ")));
      CHECK(characters(row.objective) <= 90);
      CHECK(objectives.insert(row.objective).second);
    }
  }
  CHECK(objectives.size() >= 65);
}

TEST_CASE("what pages are for is read from the tables of its section, and from no other") {
  std::istringstream document(
      "# Page\n## What each page is for\nA lead.\n\n*One* (walk):\n\n| page | title | one can | asked for |\n"
      "|---|---|---|---|\n| 1 | First | *do* it | |\n| 2 | Second, of *two* | *tell* it | choice "
      "|\n\n*Two*:\n\n"
      "| 1 | Only | *see* it | |\n\n## Other\n| 9 | Elsewhere | *see* it | |\n");
  const std::vector<ObjectiveTable> tables = objective_tables(document);
  REQUIRE(tables.size() == 2);
  CHECK(tables[0].lesson == "One");
  REQUIRE(tables[0].rows.size() == 2);
  CHECK(tables[0].rows[0].title == "First");
  CHECK(tables[0].rows[0].asked_for.empty());
  CHECK(tables[0].rows[1].title == "Second, of *two*");
  CHECK(tables[0].rows[1].objective == "*tell* it");
  CHECK(tables[0].rows[1].asked_for == "choice");
  CHECK(tables[1].rows.size() == 1);
}
