// SentencePiece's Unigram, as in the tokenizer.json of T5, XLM-RoBERTa and CamemBERT (Kudo 2018, "Subword
// Regularization", section 3.2): every piece has a log probability, and of all ways to split a word into
// pieces the one with the largest sum is taken.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/tokenizer/sentence_piece.h"
#include "core/model/tokenizer/text_normalizers.h"
#include "core/model/tokenizer/tokenizer.h"

namespace headwise {

struct UnigramOptions {
  std::optional<TokenId> unknown;  // of what no piece covers, several such characters in a row as one
  bool byte_fallback = false;  // what no piece covers becomes <0xE2> …, if there is a piece for each byte
  bool splits_white_space = false;  // before spaces are marked, so that none of them is (WhitespaceSplit)
  std::optional<SpaceBefore> marks = std::nullopt;  // Metaspace; nullopt: spaces stay
  bool splits_marks = true;                         // every "▁" begins a word
  // How decoding joins pieces: with this between them, "▁" as a space, those of the first piece dropped, and
  // then one leading space.
  std::string between = {};
  bool unmarks = true, drops_first_marks = true, strips_space = false;
};

// scores[id]: the log probability of each own piece, whose ids are 0, 1, 2 …. Throws Error(input), beginning
// with `where`: a piece that is empty or longer than 1024 bytes.
std::unique_ptr<TokenizerModel> make_unigram(std::shared_ptr<const TokenizerVocabulary> vocabulary,
                                             std::vector<double> scores, TextSteps steps,
                                             const UnigramOptions& options, const std::string& where);

}  // namespace headwise
