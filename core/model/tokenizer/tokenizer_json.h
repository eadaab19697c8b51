// The JSON of tokenizers: a few settings, and a vocabulary and merges of up to millions of entries, which are kept out of
// the JSON tree.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/tokenizer/tokenizer_vocabulary.h"

namespace headwise {

// Where a file has its vocabulary {PIECE: ID, …}.
enum class VocabularyPlace {
  nowhere,  // tokenizer_config.json
  top,      // vocab.json
  model,    // tokenizer.json: model.vocab, and model.merges as "a b" or ["a", "b"]
};

struct TokenizerJson {
  nlohmann::json settings;  // everything else
  bool has_vocabulary = false;
  bool vocabulary_is_list = false;  // [[PIECE, SCORE], …], as in Unigram; none of it is kept
  std::vector<VocabularyEntry> vocabulary;
  bool has_merges = false;
  std::vector<std::pair<std::string, std::string>> merges;
};

// Throws Error(input), beginning with `where`: malformed JSON, a duplicate key in the settings, more than 32 levels, a
// million settings or 4 million entries; an id that is not an integer; a merge that is not of two pieces.
TokenizerJson parse_tokenizer_json(std::string_view text, VocabularyPlace place, const std::string& where);

// object[key], or `fallback` if it is absent or null. Throws Error(input) if it has another type.
bool json_flag(const nlohmann::json& object, const char* key, bool fallback, const std::string& where);
std::string json_text(const nlohmann::json& object, const char* key, const std::string& fallback,
                      const std::string& where);
// object[key]; null if it is absent, or if object is not an object.
const nlohmann::json& json_member(const nlohmann::json& object, const char* key);
// The list object[key]; empty if it is absent. Throws Error(input) if it is not a list.
const nlohmann::json& json_list(const nlohmann::json& object, const char* key, const std::string& where);

// From {"content", "special", "single_word", "lstrip", "rstrip", "normalized"}; by default `special` is false and
// `normalized` its opposite. Throws Error(input): a wrong type, no content, more than 1024 bytes.
AddedToken read_added_token(const nlohmann::json& entry, TokenId id, const std::string& where);

// A merge as merges.txt writes it: "a b". Throws Error(input).
std::pair<std::string, std::string> parse_merge(std::string_view line, const std::string& where);

}  // namespace headwise
