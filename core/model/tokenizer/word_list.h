// A tokenizer of whole words: the text is split at white space, and what is not in the list is unknown.
#pragma once

#include <memory>
#include <string>

#include "core/model/tokenizer/tokenizer.h"

namespace headwise {

// Throws Error(input), beginning with `where`, if the vocabulary has no unk_token.
std::unique_ptr<TokenizerModel> make_word_list(std::shared_ptr<const TokenizerVocabulary> vocabulary,
                                               const std::string& unk_token, const std::string& where);

}  // namespace headwise
