// The JSON of tokenizers: a few settings, and a vocabulary and merges of up to millions of entries, which are
// kept out of the JSON tree.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/files/json_value.h"
#include "core/model/tokenizer/tokenizer_vocabulary.h"

namespace headwise {

// Where a file has its vocabulary {PIECE: ID, …}.
enum class VocabularyPlace {
  nowhere,  // tokenizer_config.json
  top,      // vocab.json
  model,    // tokenizer.json: model.vocab, and model.merges as "a b" or ["a", "b"]
};

struct TokenizerJson {
  Json settings;  // everything else
  bool has_vocabulary = false;
  bool vocabulary_is_list = false;  // [[PIECE, SCORE], …], as in Unigram: ids count from 0
  std::vector<VocabularyEntry> vocabulary;
  std::vector<double> scores;  // of a list, one a piece; finite
  bool has_merges = false;
  std::vector<std::pair<std::string, std::string>> merges;
};

// Throws Error(input), beginning with `where`: malformed JSON, a duplicate key in the settings, more than 32
// levels, a million settings or 4 million entries; an id that is not an integer; a merge that is not of two
// pieces; an entry of a list that is not a piece and a finite number.
TokenizerJson parse_tokenizer_json(std::string_view text, VocabularyPlace place, const std::string& where);

inline constexpr JsonFormat tokenizer_format{.dialect = JsonDialect::python};

// From {"content", "special", "single_word", "lstrip", "rstrip", "normalized"}; by default `special` is false
// and `normalized` its opposite. Throws Error(input): a wrong type, no content, more than 1024 bytes.
AddedToken read_added_token(const JsonValue& entry, TokenId id);

// A merge as merges.txt writes it: "a b". Throws Error(input).
std::pair<std::string, std::string> parse_merge(std::string_view line, const std::string& where);

}  // namespace headwise
