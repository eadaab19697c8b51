// The pages of docs by sections, as a search finds them.
#include <algorithm>

#include "app/content/doc_layout.h"
#include "app/content/doc_pages.h"
#include "tests/checks.h"

using namespace headwise;

TEST_CASE("a section begins at a heading and at words of their own in bold, and has the text behind them") {
  const DocPage page{"p", "P", "Page",
                     doc_blocks(R"(# Page

Intro.

## Empty first

- **One**: a b
- **Two.** c
- more

## Plain

*Stressed* words begin this, **bold** ones stand inside.

    code
)",
                                {})};
  const std::vector<DocSection> sections = sections_of(page, 3);
  REQUIRE(sections.size() == 5);
  CHECK(sections[0].title == "Page");
  CHECK(sections[0].text == "Intro.\n");
  CHECK(sections[1].title == "Empty first");
  CHECK(sections[1].text == "One: a b\nTwo. c\nmore\n");
  CHECK(sections[2].title == "One");
  CHECK(sections[2].above == "Empty first");
  CHECK(sections[3].title == "Two");
  CHECK(sections[3].text == "Two. c\nmore\n");
  CHECK(sections[4].title == "Plain");
  CHECK_CONTAINS(sections[4].text, "code");
  CHECK(sections[3].place == DocPlace{3, 4});
}

TEST_CASE("every page of docs has sections, each at a place in its page") {
  for (std::size_t i = 0; i < doc_pages().size(); ++i) {
    CAPTURE(doc_pages()[i].name);
    CHECK(std::ranges::any_of(
        doc_sections(), [&](const DocSection& section) { return section.place.page == static_cast<int>(i); }));
  }
  for (const DocSection& section : doc_sections()) {
    CAPTURE(section.title);
    CHECK_FALSE(section.title.empty());
    CHECK_FALSE(section.text.empty());
    CHECK(section.place.block < doc_pages()[static_cast<std::size_t>(section.place.page)].blocks.size());
  }
}

TEST_CASE("every term of the glossary has two sentences or more, in alphabetical order") {
  const auto glossary = std::ranges::find(doc_pages(), "glossary", &DocPage::name);
  REQUIRE(glossary != doc_pages().end());
  const std::vector<DocSection> terms = sections_of(*glossary, 0);
  CHECK(terms.size() > 55);
  std::string before;
  for (std::size_t i = 1; i < terms.size(); ++i) {
    CAPTURE(terms[i].title);
    std::string term = terms[i].title;
    std::ranges::transform(term, term.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    CHECK(before < term);
    before = term;
    CHECK(std::ranges::count(terms[i].text, '.') + std::ranges::count(terms[i].text, '?') >= 2);
  }
}

TEST_CASE("a page's layout knows where each block is") {
  const DocMeasure measure{
      .width_of = [](std::string_view text, DocFont) { return 8.0 * static_cast<double>(text.size()); },
      .line = 20.0};
  for (const DocPage& page : doc_pages()) {
    CAPTURE(page.name);
    const DocLayout layout = doc_layout(page, 700.0, measure);
    REQUIRE(layout.tops.size() == page.blocks.size());
    CHECK(layout.tops.front() == 0.0);
    CHECK(std::ranges::is_sorted(layout.tops));
    CHECK(layout.tops.back() < layout.height);
  }
}
