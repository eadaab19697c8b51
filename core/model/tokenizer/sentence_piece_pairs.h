// SentencePiece's byte-pair encoding, as in the tokenizer.json of Llama 2, TinyLlama and Mistral (Kudo and
// Richardson 2018): spaces become "▁", the whole text is one sequence of characters, and a character missing
// from the vocabulary becomes its UTF-8 bytes, <0xE2>, one piece each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/model/tokenizer/sentence_piece.h"
#include "core/model/tokenizer/tokenizer.h"
#include "core/model/tokenizer/tokenizer_vocabulary.h"

namespace headwise {

// The merges of byte-pair encoding (Sennrich et al. 2016): of all adjacent pairs in a sequence of pieces, the
// one that comes first in the list is joined, until none is left.

// A piece of a word while it is being merged; a list through indices.
struct PairSymbol {
  TokenId id = 0;
  std::size_t begin = 0, end = 0;  // in the word
  std::size_t previous = no_symbol, next = no_symbol;
  bool unknown = false;

  static constexpr std::size_t no_symbol = static_cast<std::size_t>(-1);
};

// Appends a symbol.
void append_symbol(std::vector<PairSymbol>& symbols, TokenId id, std::size_t begin, std::size_t end,
                   bool unknown);

class PairMerges {
 public:
  // merges[i] joins two pieces; the first has the lowest rank. Throws Error(input), beginning with `where`: a
  // merge of pieces, or one producing a piece, that is not in the vocabulary.
  PairMerges(const TokenizerVocabulary& vocabulary,
             const std::vector<std::pair<std::string, std::string>>& merges, const std::string& where);

  // What remains is linked from symbols[0] through `next`. Takes O(n·log n) time.
  void merge(std::vector<PairSymbol>& symbols) const;

 private:
  struct Merge {
    std::uint32_t rank;
    TokenId made;
  };
  void add(const TokenizerVocabulary& vocabulary, const std::string& left, const std::string& right,
           std::uint32_t rank, const std::string& where);

  std::unordered_map<std::uint64_t, Merge> merges_;  // by both ids
};

struct SentencePieceOptions {
  SpaceBefore space_before = SpaceBefore::never;
  bool byte_fallback = true;   // false: what is not in the vocabulary is the unk_token
  bool ignore_merges = false;  // a text that is in the vocabulary is one token, whatever the merges say
  std::string unk_token;       // "": what has no piece is dropped
  bool fuse_unk = false;       // one for several such characters in a row
  bool strip_space = true;     // decoding drops a leading space
};

// Merges are like those of make_byte_level_bpe. Throws the same Error(input), beginning with `where`.
std::unique_ptr<TokenizerModel> make_sentence_piece_pairs(
    std::shared_ptr<const TokenizerVocabulary> vocabulary,
    const std::vector<std::pair<std::string, std::string>>& merges, const SentencePieceOptions& options,
    const std::string& where);

}  // namespace headwise
