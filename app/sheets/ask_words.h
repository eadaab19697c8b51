// Words by which people ask for a page and which the page itself does not say: other names, beginners' words, names in other
// frameworks, error messages. They come on top of the "keywords" of a lesson's pages and of the settings (app/setup).
#pragma once

#include <span>
#include <string_view>

namespace headwise {

struct AskWords {
  std::string_view page;  // "Glossary: KV cache": what a result names as its kind or its chapter, and its title
  std::string_view words;
};

std::span<const AskWords> ask_words_of_pages();  // of the documentation, commands, steps, views, settings and presets
std::span<const AskWords> ask_words_of_terms();  // of the glossary
std::span<const AskWords> ask_words_of_lessons();

// The words for this page; none if it says all itself.
std::string_view ask_words_of(std::string_view page);

}  // namespace headwise
