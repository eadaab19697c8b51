// The words of a text as a search compares them: "Why are the heads split?" → head, split.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/word_rows.h"

namespace headwise {

// What the field calls by several names, and which words belong together: assets/words/same_names.txt and
// related_words.txt.

inline constexpr std::size_t longest_name = 3;  // words

struct SameName {
  std::size_t words = 0;                // how many of the given words it replaces; 0: none
  std::vector<std::string_view> names;  // by which ones
};

// Returns the name that stands for the first words, in lower case, wherever they mean the same in texts and
// questions: "look", "ahead" → causal; "mha" → multi head attention. The longest match wins.
SameName same_name(std::span<const std::string_view> words);

// Another name, and the words that stand for it.
std::vector<WordRow> same_names();

// Words that do not mean the same, but make a page likelier to answer: a word of a question, and what a page
// that answers it may say instead. A search counts them less than the word itself.
std::vector<WordRow> related_words();

// A term of a text, and where its word is.
struct SearchTerm {
  std::string stem;                // "normalis", of "Normalization"
  std::size_t begin = 0, end = 0;  // bytes of the text
};

// Returns the terms of a text, in its order. Words are letters and digits, in any case; identifiers are taken
// apart (in_proj_weight), except those with a single letter (W_q → wq). Other spellings and names of the same
// thing become one (same_name), words that any English question may contain are left out, and the rest is
// reduced to its stem by Snowball's English stemmer (Porter 2).
std::vector<SearchTerm> search_terms(std::string_view text);

}  // namespace headwise
