// The pages of docs as the window and a browser get them.
#include <algorithm>
#include <set>
#include <string>

#include "app/content/doc_layout.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

std::string plain_text(const std::vector<DocText>& runs) {
  std::string text;
  for (const DocText& run : runs) text += run.text;
  return text;
}

DocPage page_of(std::string_view markdown) {
  const std::vector<std::string> names{"one.md", "two.md"};
  return {"one", "One", "One", doc_blocks(markdown, names)};
}

const DocMeasure eight_a_character{
    .width_of = [](std::string_view text, DocFont) { return 8.0 * static_cast<double>(text.size()); },
    .line = 20.0};

}  // namespace

TEST_CASE("Markdown is read into headings, paragraphs, items, code and tables, and styles of their words") {
  const DocPage page = page_of(R"(# A title

Some *words* and `code`,
in **two** lines.

- first, see [the other](two.md#part)
- second

```
a  b

c
```

![a picture](p.png)

| x | y |
|---|---|
| 1 | [out](../README.md) |
)");
  REQUIRE(page.blocks.size() == 7);
  CHECK(page.blocks[0].kind == DocBlockKind::heading);
  CHECK(page.blocks[0].level == 1);
  const auto& words = page.blocks[1].cells[0];
  CHECK(plain_text(words) == "Some words and code, in two lines.");
  REQUIRE(words.size() == 7);
  CHECK(words[1].style == DocStyle::strong);
  CHECK(words[3].style == DocStyle::code);
  CHECK(words[5].text == "two");
  CHECK(page.blocks[2].kind == DocBlockKind::item);
  CHECK(page.blocks[2].cells[0].back().style == DocStyle::link);
  CHECK(page.blocks[2].cells[0].back().page == 1);
  CHECK(plain_text(page.blocks[3].cells[0]) == "second");
  CHECK(page.blocks[4].kind == DocBlockKind::code);
  REQUIRE(page.blocks[4].cells[0].size() == 3);  // lines
  CHECK(page.blocks[4].cells[0][0].text == "a  b");
  CHECK(page.blocks[4].cells[0][2].text == "c");
  CHECK(page.blocks[5].kind == DocBlockKind::table_header);
  CHECK(page.blocks[6].kind == DocBlockKind::table_row);
  REQUIRE(page.blocks[6].cells.size() == 2);
  CHECK(plain_text(page.blocks[6].cells[1]) == "out");
  CHECK(page.blocks[6].cells[1][0].page == -1);  // no page of docs
}

TEST_CASE("every page has its title, no mark of Markdown in its text, and is linked or on a tab once") {
  const auto pages = doc_pages();
  CHECK(pages.size() == 8);
  std::set<std::string> names;
  for (const DocPage& page : pages) {
    CAPTURE(page.name);
    names.insert(page.name);
    REQUIRE(page.blocks.size() > 5);
    CHECK(page.blocks[0].kind == DocBlockKind::heading);
    CHECK_FALSE(page.title.empty());
    for (const DocBlock& block : page.blocks) {
      if (block.kind == DocBlockKind::code) continue;
      for (const auto& cell : block.cells)
        for (const DocText& run : cell) {
          CAPTURE(run.text);
          CHECK_LACKS(run.text, "![");
          if (run.style != DocStyle::code) {
            CHECK_LACKS(run.text, "**");
            CHECK(run.text.find('`') == std::string::npos);
            CHECK_LACKS(run.text, "](");
          }
        }
    }
  }
  CHECK(names.size() == pages.size());
}

TEST_CASE("words stay inside the column, in the order of the text, and no two lie on each other") {
  for (const double width : {700.0, 860.0, 1700.0}) {
    for (const DocPage& page : doc_pages()) {
      CAPTURE(page.name);
      CAPTURE(width);
      const DocLayout layout = doc_layout(page, width, eight_a_character);
      REQUIRE_FALSE(layout.words.empty());
      double bottom = 0.0;
      int beyond = 0, overlapping = 0;
      const DocWord* before = nullptr;
      for (const DocWord& word : layout.words) {
        if (word.x + word.width > width + 0.5) ++beyond;
        if (before && before->y == word.y && word.x + 0.01 < before->x + before->width) ++overlapping;
        bottom = std::max(bottom, word.y);
        before = &word;
      }
      CHECK(beyond == 0);
      CHECK(overlapping == 0);
      CHECK(bottom < layout.height);
    }
  }
}

TEST_CASE("a line breaks only at blanks: a comma stays with the code before it") {
  const DocPage page = page_of("aaaa bbbb `cccc`, dddd");
  const DocLayout layout = doc_layout(page, 8.0 * 14, eight_a_character);
  REQUIRE(layout.words.size() == 5);
  CHECK(layout.words[2].y == layout.words[3].y);  // cccc and its comma
  CHECK(layout.words[3].x == doctest::Approx(layout.words[2].x + layout.words[2].width));
  CHECK(layout.words[2].y > layout.words[1].y);  // where the comma had no room the code went too
  CHECK(layout.words[2].x == 0.0);
}

TEST_CASE("the HTML has every page as an article, links between them, and nothing from outside the sources") {
  const std::string html = docs_html();
  for (const DocPage& page : doc_pages()) {
    CAPTURE(page.name);
    CHECK_CONTAINS(html, "<article id=\"" + page.name + "\">");
    CHECK_CONTAINS(html, "<a href=\"#" + page.name + "\">");
    CHECK_CONTAINS(html, "<h1>" + page.title + "</h1>");
  }
  CHECK_LACKS(html, "<img");
  CHECK_LACKS(html, ".md\"");
  CHECK_LACKS(html, "href=\"../");
  CHECK_CONTAINS(html, "<table>");
  const auto count = [&](std::string_view what) {
    int found = 0;
    for (std::size_t at = html.find(what); at != std::string::npos; at = html.find(what, at + 1)) ++found;
    return found;
  };
  CHECK(count("<a ") == count("</a>"));
}
