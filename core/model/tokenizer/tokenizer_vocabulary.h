// The pieces of a tokenizer and their ids.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headwise {

using TokenId = std::int32_t;

// The id of an unknown word in a vocabulary that has no token for unknown words.
constexpr TokenId no_token = -1;

// Ids are below this: sixteen times the largest existing vocabularies.
constexpr std::int64_t most_token_ids = 4'000'000;

// A piece and its id, as in a file.
using VocabularyEntry = std::pair<std::string, std::int64_t>;

class TokenizerVocabulary {
 public:
  // `own`: the pieces that the model splits words into. `added`: tokens that only occur whole in a text;
  // those also in `own` are ignored. Ids may have gaps, but no wide ones: memory is bounded by the contents
  // of the file. Throws Error(input), beginning with `where`: an id below 0 or too large, a duplicate piece
  // or id, a piece with one id in `own` and another in `added`.
  TokenizerVocabulary(std::vector<VocabularyEntry> own, const std::vector<VocabularyEntry>& added,
                      const std::string& where);
  TokenizerVocabulary(const TokenizerVocabulary&) = delete;
  TokenizerVocabulary& operator=(const TokenizerVocabulary&) = delete;

  std::size_t size() const { return own_.size() + added_.size(); }
  TokenId end() const { return static_cast<TokenId>(pieces_.size()); }  // the largest id plus one
  std::optional<TokenId> find(std::string_view piece) const;            // own or added
  std::optional<TokenId> find_own(std::string_view piece) const;
  bool contains(TokenId id) const;
  // Requires contains(id).
  const std::string& piece(TokenId id) const { return pieces_[static_cast<std::size_t>(id)]; }
  std::size_t longest() const { return longest_; }  // bytes of the longest own piece

 private:
  using Ids = std::unordered_map<std::string_view, TokenId>;
  void put(Ids& ids, std::string piece, std::size_t id, const std::string& where);

  std::vector<std::string> pieces_;  // by id; "" in a gap
  std::vector<bool> taken_;          // by id; false in a gap
  Ids own_, added_;                  // keys are views of pieces_
  std::size_t longest_ = 0;
};

// Tokens that are found in a text before it is split into words: [MASK], <|endoftext|>,
// and those added by a user.

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
