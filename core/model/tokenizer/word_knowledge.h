// Which words of a text a model has as a whole, which it reads in pieces, and which it does not know at all.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/tokenizer/tokenizer.h"

namespace headwise {

enum class WordKnowledge {
  split,    // read in several pieces
  unknown,  // read as the token for unknown words
};

struct HardlyKnownWord {
  std::size_t begin = 0, end = 0;  // bytes of the text
  WordKnowledge knowledge = WordKnowledge::unknown;
  // as in the vocabulary: {"gr", "##yph", "##on"}, {"[UNK]"}; {""} for no_token
  std::vector<std::string> pieces;
};

// The words that the model hardly knows, in the order of the text. A split word counts only where whole words
// are the rule (WordPiece): byte pairs split most words, which says nothing of them. Special tokens are no
// words. Throws as Tokenizer::encode.
std::vector<HardlyKnownWord> hardly_known_words(const Tokenizer& tokenizer, std::string_view text);
// The same for a text that is encoded already.
std::vector<HardlyKnownWord> hardly_known_words(const Tokenizer& tokenizer,
                                                std::span<const EncodedToken> tokens);

// "“gryphon” is split into 3 pieces, gr ##yph ##on: the model knows it only by these."
std::string knowledge_sentence(const HardlyKnownWord& word, std::string_view text);

// The words of a model's vocabulary that begin as typed.

// Letters that have to be typed before a word is completed.
inline constexpr std::size_t least_typed_letters = 2;

// The beginning of a word that a cursor stands behind: the letters in front of byte `at`, if no letter
// follows. nullopt if there are fewer than least_typed_letters. at ≤ text.size(), and a start of a character.
std::optional<std::size_t> typed_word_begin(std::string_view text, std::size_t at);

// At most `most` whole words that are longer than what was typed and begin with it, in the capitals as typed:
// the shortest first, among equals in the order of the vocabulary, which is that of frequency in most. Empty
// for a tokenizer without whole words (byte pairs).
std::vector<std::string> completions(const Tokenizer& tokenizer, std::string_view typed, std::size_t most);

// A tokenizer of whole words, or of characters: what is not in the list is unknown.

struct WordListOptions {
  std::string unk_token = "[UNK]";  // for unknown words; if the vocabulary lacks it, they get no_token
  bool splits_characters =
      false;  // every character is a word, also white space; else the text is split at white space
  std::string between = " ";  // the words of a decoded text
};

std::unique_ptr<TokenizerModel> make_word_list(std::shared_ptr<const TokenizerVocabulary> vocabulary,
                                               const WordListOptions& options);

}  // namespace headwise
