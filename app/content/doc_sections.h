// The sections of the pages of docs, so that each can be found and shown.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "app/content/doc_pages.h"

namespace headwise {

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

// A section begins at a heading, and at a paragraph or an item that begins with words of its own in bold: "**Masks.** As in
// PyTorch, …", "**Masks**: switch …". A heading without any text before those has their texts too.
std::vector<DocSection> sections_of(const DocPage& page, int index);

// Those of all pages, in their order; collected at the first call.
std::span<const DocSection> doc_sections();

}  // namespace headwise
