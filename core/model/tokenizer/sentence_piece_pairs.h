// SentencePiece's byte-pair encoding, as in the tokenizer.json of Llama 2, TinyLlama and Mistral (Kudo and Richardson 2018): spaces
// become "▁", the whole text is one sequence of characters, and a character missing from the vocabulary becomes its UTF-8 bytes,
// <0xE2>, one piece each.
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
  every_section,  // before every section between added tokens, whatever it begins with (the normalizer Prepend)
  every_word,     // the same, but not before a section that begins with a space (Metaspace, "always")
  first_word,     // the same, but only at the beginning of the text (Metaspace, "first")
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
