#include "core/model/tokenizer/word_knowledge.h"

#include <fmt/format.h>

#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr std::size_t longest_told = 40, most_pieces_told = 12;  // bytes of a word; pieces of it

}  // namespace

std::vector<HardlyKnownWord> hardly_known_words(const Tokenizer& tokenizer,
                                                std::span<const EncodedToken> tokens) {
  const std::string prefix = tokenizer.continuing_prefix();
  const bool split_counts = tokenizer.has_whole_words() && !prefix.empty();
  std::vector<HardlyKnownWord> words;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const EncodedToken& token = tokens[i];
    if (token.special) continue;
    if (token.unknown) words.push_back({token.begin, token.end, WordKnowledge::unknown, {token.piece}});
    const auto continues = [&](std::size_t at) {
      return at < tokens.size() && !tokens[at].special && !tokens[at].unknown &&
             tokens[at].piece.starts_with(prefix);
    };
    if (token.unknown || !split_counts || !continues(i + 1)) continue;
    HardlyKnownWord word{token.begin, token.end, WordKnowledge::split, {token.piece}};
    for (; continues(i + 1); ++i) {
      word.pieces.push_back(tokens[i + 1].piece);
      word.end = tokens[i + 1].end;
    }
    words.push_back(std::move(word));
  }
  return words;
}

std::vector<HardlyKnownWord> hardly_known_words(const Tokenizer& tokenizer, std::string_view text) {
  return hardly_known_words(tokenizer, tokenizer.encode(text, SpecialTokens::leave_out));
}

std::string knowledge_sentence(const HardlyKnownWord& word, std::string_view text) {
  const std::string shown = one_line(std::string(text.substr(word.begin, word.end - word.begin)), longest_told);
  if (word.knowledge == WordKnowledge::unknown && word.pieces.front().empty())
    return fmt::format("“{}” is not in the model's vocabulary, which has no token for unknown words.", shown);
  if (word.knowledge == WordKnowledge::unknown)
    return fmt::format("“{}” is not in the model's vocabulary: it is read as {}.", shown, word.pieces.front());
  std::vector<std::string> pieces = word.pieces;
  if (pieces.size() > most_pieces_told) {
    pieces.resize(most_pieces_told);
    pieces.emplace_back("…");
  }
  return fmt::format("“{}” is split into {} pieces, {}: the model knows it only by these.", shown,
                     word.pieces.size(), join(pieces, " "));
}

}  // namespace headwise
