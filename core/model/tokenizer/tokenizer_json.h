// The JSON of tokenizers: a few settings, and a vocabulary and merges of up to millions of entries, which are read beside
// the tree.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/tokenizer/tokenizer_added_tokens.h"
#include "core/model/tokenizer/tokenizer_vocabulary.h"

namespace headwise {

// Where a file has {PIECE: ID, …}.
enum class VocabularyPlace {
  nowhere,  // tokenizer_config.json
  top,      // vocab.json
  model,    // tokenizer.json: model.vocab, and model.merges as "a b" or ["a", "b"]
};

struct TokenizerJson {
  nlohmann::json settings;  // all the rest
  bool has_vocabulary = false;
  bool vocabulary_is_list = false;  // [[PIECE, SCORE], …], as Unigram has it; nothing of it is kept
  std::vector<VocabularyEntry> vocabulary;
  bool has_merges = false;
  std::vector<std::pair<std::string, std::string>> merges;
};

// Throws Error(input), beginning with `where`: malformed JSON, a key of the settings that stands twice, more than 32 levels,
// a million settings or 4 million entries; an id that is no whole number; a merge that is not of two pieces.
TokenizerJson parse_tokenizer_json(std::string_view text, VocabularyPlace place, const std::string& where);

// object[key], or `fallback` where there is none or it is null. Throws Error(input) where it is of another type.
bool json_flag(const nlohmann::json& object, const char* key, bool fallback, const std::string& where);
std::string json_text(const nlohmann::json& object, const char* key, const std::string& fallback,
                      const std::string& where);
// object[key]; null where there is none, or where object is no object.
const nlohmann::json& json_member(const nlohmann::json& object, const char* key);
// The list object[key]; an empty one where there is none. Throws Error(input) where it is no list.
const nlohmann::json& json_list(const nlohmann::json& object, const char* key, const std::string& where);

// From {"content", "special", "single_word", "lstrip", "rstrip", "normalized"}; `special` is false and `normalized` its
// opposite where they are not said. Throws Error(input): a wrong type, no content, more than 1024 bytes.
AddedToken read_added_token(const nlohmann::json& entry, TokenId id, const std::string& where);

// A merge as merges.txt writes it: "a b". Throws Error(input).
std::pair<std::string, std::string> parse_merge(std::string_view line, const std::string& where);

}  // namespace headwise
