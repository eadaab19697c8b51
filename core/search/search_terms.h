// The words of a text as a search compares them: "Why are the heads split?" → head, split.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headwise {

// A term of a text, and where its word is.
struct SearchTerm {
  std::string stem;                // "normalis", of "Normalization"
  std::size_t begin = 0, end = 0;  // bytes of the text
};

// Returns the terms of a text, in its order. Words are letters and digits, in any case; identifiers are taken
// apart (in_proj_weight), except those with a single letter (W_q → wq). Other spellings and names of the same
// thing become one (core/search/synonyms.h), words that any English question may contain are left out, and
// the rest is reduced to its stem by Snowball's English stemmer (Porter 2).
std::vector<SearchTerm> search_terms(std::string_view text);

}  // namespace headwise
