// The tokenizers of tests/golden/tokenizers (the script that made them stands beside the folder), and what
// Hugging Face's `tokenizers` makes of the texts there.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/tokenizer/tokenizer.h"

namespace headwise {

inline constexpr std::array golden_tokenizers{"bert_uncased_json",
                                              "bert_uncased_vocab",
                                              "bert_cased_vocab",
                                              "bert_options_json",
                                              "word_list",
                                              "gpt2_merges",
                                              "gpt_neox_json",
                                              "opt_json",
                                              "opt_merges",
                                              "roberta_json",
                                              "llama3_json",
                                              "qwen2_json",
                                              "bloom_json",
                                              "digits_json",
                                              "llama2_json",
                                              "metaspace_first_json",
                                              "metaspace_always_json",
                                              "word_level_json",
                                              "characters_json",
                                              "t5_json",
                                              "xlm_roberta_json",
                                              "albert_json",
                                              "unigram_bytes_json"};

struct TokenizerCase {
  std::string text;
  std::vector<TokenId> ids;
  std::vector<std::pair<std::size_t, std::size_t>> ranges;  // in bytes; empty where none are stored
  std::string decoded;
};

std::string golden_tokenizer_path(std::string_view name);
std::vector<TokenizerCase> tokenizer_cases(std::string_view name);
std::vector<TokenId> ids_of(const std::vector<EncodedToken>& tokens);

}  // namespace headwise
