// A tokenizer of whole words, or of characters: what is not in the list is unknown.
#pragma once

#include <memory>
#include <string>

#include "core/model/tokenizer/tokenizer.h"

namespace headwise {

struct WordListOptions {
  std::string unk_token = "[UNK]";  // for unknown words; if the vocabulary lacks it, they get no_token
  bool splits_characters =
      false;  // every character is a word, also white space; else the text is split at white space
  std::string between = " ";  // the words of a decoded text
};

std::unique_ptr<TokenizerModel> make_word_list(std::shared_ptr<const TokenizerVocabulary> vocabulary,
                                               const WordListOptions& options);

}  // namespace headwise
