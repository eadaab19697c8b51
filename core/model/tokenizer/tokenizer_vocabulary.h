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

// Ids below this: sixteen times the largest vocabularies there are.
constexpr std::int64_t most_token_ids = 4'000'000;

// What stands for an id in a file.
using VocabularyEntry = std::pair<std::string, std::int64_t>;

class TokenizerVocabulary {
 public:
  // `own`: what the model cuts words into. `added`: tokens that only stand in a text as a whole, of which those that
  // `own` has too are left out. Ids may have gaps, but no wide ones: memory
  // is bounded by what the file holds. Throws Error(input), beginning with `where`: an id below 0 or too
  // large, a piece or an id that occurs twice, a piece that has one id in `own` and another in `added`.
  TokenizerVocabulary(std::vector<VocabularyEntry> own, const std::vector<VocabularyEntry>& added,
                      const std::string& where);
  TokenizerVocabulary(const TokenizerVocabulary&) = delete;
  TokenizerVocabulary& operator=(const TokenizerVocabulary&) = delete;

  std::size_t size() const { return own_.size() + added_.size(); }
  TokenId end() const { return static_cast<TokenId>(pieces_.size()); }  // one more than the largest id
  std::optional<TokenId> find(std::string_view piece) const;            // own or added
  std::optional<TokenId> find_own(std::string_view piece) const;
  bool contains(TokenId id) const;
  // contains(id).
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

}  // namespace headwise
