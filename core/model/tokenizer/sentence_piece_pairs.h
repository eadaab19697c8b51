// SentencePiece's byte-pair encoding, as tokenizer.json of Llama 2, TinyLlama and Mistral has it (Kudo and Richardson 2018): spaces
// become "▁", the whole text is one row of characters, and a character that the vocabulary lacks is the bytes of its UTF-8,
// <0xE2>, each a piece.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/model/tokenizer/tokenizer.h"

namespace headwise {

// Where a "▁" is put before the text, as if it began with a space.
enum class SpaceBefore {
  never,
  every_section,  // before all that stands between added tokens, whatever it begins with (the normalizer Prepend)
  every_word,  // the same, but not before what begins with a space (Metaspace, "always")
  first_word,  // so before the beginning of the text alone (Metaspace, "first")
};

struct SentencePieceOptions {
  SpaceBefore space_before = SpaceBefore::never;
  bool byte_fallback = true;   // false: what the vocabulary lacks is the unk_token
  bool ignore_merges = false;  // a text that is in the vocabulary is its token, whatever the merges say
  std::string unk_token;       // "": what has no piece is left out
  bool fuse_unk = false;       // one for several such characters in a row
  bool strip_space = true;     // decoding leaves out a space at the beginning
};

// Merges as those of make_byte_level_bpe. Throws Error(input), beginning with `where`, as that does.
std::unique_ptr<TokenizerModel> make_sentence_piece_pairs(
    std::shared_ptr<const TokenizerVocabulary> vocabulary,
    const std::vector<std::pair<std::string, std::string>>& merges, const SentencePieceOptions& options,
    const std::string& where);

}  // namespace headwise
