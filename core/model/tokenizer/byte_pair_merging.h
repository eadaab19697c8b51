// The merges of byte-pair encoding (Sennrich et al. 2016): of all adjacent pairs in a sequence of pieces, the one that comes
// first in the list is joined, until none is left.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/model/tokenizer/tokenizer_vocabulary.h"

namespace headwise {

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
  // merges[i] joins two pieces; the first has the lowest rank. Throws Error(input), beginning with `where`: a merge of pieces, or
  // one producing a piece, that is not in the vocabulary.
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

}  // namespace headwise
