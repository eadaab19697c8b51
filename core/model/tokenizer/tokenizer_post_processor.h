// What a tokenizer.json puts around a text: [CLS] … [SEP], <s> … </s>, <|begin_of_text|> ….
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/model/tokenizer/tokenizer_vocabulary.h"

namespace headwise {

struct AroundText {
  std::vector<TokenId> prefix, suffix;
};

// `processor`: the value of "post_processor", null if absent. Throws Error(input), beginning with `where`, for an unknown
// kind and for ids that are not in the vocabulary.
AroundText read_post_processor(const nlohmann::json& processor, const TokenizerVocabulary& vocabulary,
                               const std::string& where);

}  // namespace headwise
