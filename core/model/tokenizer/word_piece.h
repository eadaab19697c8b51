// WordPiece (Schuster & Nakajima 2012; as BERT has it, Devlin et al. 2018): words at spaces and punctuation, each cut
// greedily into the longest pieces of the vocabulary from the left, pieces inside a word marked "##".
//
// A vocabulary of whole words only makes it a word-list tokenizer: what is not in the list is [UNK].
#pragma once

#include <memory>
#include <string>

#include "core/model/tokenizer/tokenizer.h"

namespace headwise {

struct WordPieceOptions {
  // BERT's normaliser.
  bool clean_text = true;            // control characters go, every white space becomes a space
  bool handle_chinese_chars = true;  // a word for each CJK ideograph
  bool lowercase = true;
  bool strip_accents = true;  // NFD without its nonspacing marks
  // The pieces.
  std::string unk_token = "[UNK]";
  std::string continuing_subword_prefix = "##";
  std::size_t max_input_chars_per_word = 100;  // a longer word is unknown
  // Decoding.
  bool join_continuations = true;  // "em ##bed" → "embed"; else pieces are joined by spaces as they stand
  bool clean_up_spaces = true;     // "it ' s ." → "it's."
};

// Throws Error(input), beginning with `where`: the vocabulary has no unk_token, words that may be longer than 1000.
std::unique_ptr<TokenizerModel> make_word_piece(std::shared_ptr<const TokenizerVocabulary> vocabulary,
                                                const WordPieceOptions& options, const std::string& where);

}  // namespace headwise
