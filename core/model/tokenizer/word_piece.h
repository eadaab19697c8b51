// WordPiece (Schuster & Nakajima 2012; as in BERT, Devlin et al. 2018): splits words at spaces and
// punctuation, and each word greedily from the left into the longest pieces of the vocabulary;
// pieces inside a word are marked "##".
//
// A vocabulary of whole words makes it a word-list tokenizer: what is not in the list is [UNK].
#pragma once

#include <memory>
#include <string>

#include "core/model/tokenizer/tokenizer.h"

namespace headwise {

struct WordPieceOptions {
  // BERT's normaliser.
  bool clean_text = true;            // control characters are dropped, all white space becomes a space
  bool handle_chinese_chars = true;  // each CJK ideograph is a word
  bool lowercase = true;
  bool strip_accents = true;  // NFD without nonspacing marks
  // The pieces.
  std::string unk_token = "[UNK]";
  std::string continuing_subword_prefix = "##";
  std::size_t max_input_chars_per_word = 100;  // a longer word is unknown
  // Decoding.
  bool join_continuations = true;  // "em ##bed" → "embed"; else pieces are joined by spaces unchanged
  bool clean_up_spaces = true;     // "it ' s ." → "it's."
};

// Throws Error(input), beginning with `where`,
// if the vocabulary has no unk_token or words may be longer than 1000.
std::unique_ptr<TokenizerModel> make_word_piece(std::shared_ptr<const TokenizerVocabulary> vocabulary,
                                                const WordPieceOptions& options, const std::string& where);

}  // namespace headwise
