// Tokens that are found in a text before it is split into words: [MASK], <|endoftext|>, and those added by a user.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/tokenizer/tokenizer_vocabulary.h"

namespace headwise {

struct AddedToken {
  TokenId id = 0;
  std::string content;
  bool special = true;
  bool single_word = false;             // only if no letter, digit or _ is adjacent
  bool lstrip = false, rstrip = false;  // also takes the white space before or after it
  bool normalized = false;              // searched in the normalised text, not in the original
};

// What the tokens add to a vocabulary.
std::vector<VocabularyEntry> entries_of(const std::vector<AddedToken>& tokens);

// A stretch of a text: an added token, or what stands between them.
struct TextSection {
  std::size_t begin = 0, end = 0;
  int added = -1;  // which of the tokens; −1: none
};

class AddedTokenMatcher {
 public:
  AddedTokenMatcher() = default;
  // Searches for patterns[i] as tokens[i]; empty patterns are ignored.
  AddedTokenMatcher(const std::vector<AddedToken>& tokens, const std::vector<std::string>& patterns);

  // The text split into non-empty sections: from the left, the longest token that fits.
  std::vector<TextSection> sections(std::string_view text) const;

 private:
  struct Match {
    int token = -1;
    std::size_t length = 0;
  };
  Match longest_at(std::string_view text, std::size_t at) const;

  std::vector<AddedToken> tokens_;
  std::unordered_map<std::uint64_t, std::uint32_t> next_;  // node · 256 + byte → node; a trie of the contents
  std::vector<int> token_at_;                              // by node; −1: none ends there
};

}  // namespace headwise
