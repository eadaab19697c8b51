// The pages of docs, which are part of the program: parsed for the window,
// and as one HTML page for a browser.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headwise {

enum class DocStyle { plain, strong, code, link, lesson };

// A run of text in one style.
struct DocText {
  std::string text;
  DocStyle style = DocStyle::plain;
  int page =
      -1;  // of a link: the index of the page it leads to. A lesson is led to by the text, its title or a page's
};

enum class DocBlockKind { heading, paragraph, item, code, table_header, table_row };

struct DocBlock {
  DocBlockKind kind = DocBlockKind::paragraph;
  int level = 0;  // of a heading: 1 is the page's title; of an item: 1, or 2 inside another list
  std::vector<std::vector<DocText>> cells;  // one, except in a table. Code: one text a line
};

struct DocPage {
  std::string name;   // "window", of docs/window.md
  std::string label;  // "Window", on its tab
  std::string title;  // "The window"
  std::vector<DocBlock> blocks;
};

// In the order in which they are read; parsed at the first call. Pictures are left out, and links to anything
// but a page are text. Where a sentence speaks of a lesson or a question,
// the emphasised title of one leads there.
std::span<const DocPage> doc_pages();

// Markdown (CommonMark with tables) as blocks. `names`: of the pages that links may lead to, "models.md".
std::vector<DocBlock> doc_blocks(std::string_view markdown, std::span<const std::string> names);

// One page as the body of an HTML document, without pictures. A link to another page leads to `before` + its
// name + `after`: "#window", or "window.html".
std::string doc_html(const DocPage& page, std::string_view before, std::string_view after);

// All pages as one HTML document, without pictures.
std::string docs_html();

// The sections of the pages of docs, so that each can be found and shown.

struct DocPlace {
  int page = 0;           // of doc_pages()
  std::size_t block = 0;  // of the page
  friend bool operator==(const DocPlace&, const DocPlace&) = default;
};

struct DocSection {
  DocPlace place;     // where it begins
  std::string title;  // "KV cache"
  std::string above;  // the heading that it is under; empty if it is a heading of its own
  std::string text;   // plain, a line for each block
};

// A section begins at a heading, and at a paragraph or an item that begins with words of its own in bold:
// "**Masks.** As in PyTorch, …", "**Masks**: switch …".
// A heading without any text before those has their texts too.
std::vector<DocSection> sections_of(const DocPage& page, int index);

// Those of all pages, in their order; collected at the first call.
std::span<const DocSection> doc_sections();

}  // namespace headwise
