#include "core/model/tokenizer/tokenizer_from_json.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/files/json_text.h"
#include "core/files/strict_json.h"
#include "core/model/tokenizer/byte_pair_encoding.h"
#include "core/model/tokenizer/sentence_piece_pairs.h"
#include "core/model/tokenizer/tokenizer_json.h"
#include "core/model/tokenizer/tokenizer_vocabulary.h"
#include "core/model/tokenizer/word_knowledge.h"
#include "core/model/tokenizer/word_piece.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

// What a tokenizer.json puts around a text: [CLS] … [SEP], <s> … </s>, <|begin_of_text|> ….

struct AroundText {
  std::vector<TokenId> prefix, suffix;
};

using Json = nlohmann::json;

// A longer template would not be [CLS] and [SEP].
constexpr std::size_t most_around = 64;

[[noreturn]] void post_processor_fail(const std::string& where, const std::string& what,
                                      const std::string& got, const std::string& expected) {
  throw Error(ExitStatus::input,
              {.where = where + ": post_processor", .what = what, .got = got, .expected = expected});
}

TokenId id_of(const std::string& piece, const TokenizerVocabulary& vocabulary, const std::string& where) {
  const std::optional<TokenId> id = vocabulary.find(piece);
  if (!id)
    post_processor_fail(where, "a special token is not in the vocabulary", fmt::format("'{}'", piece),
                        "a piece of it");
  return *id;
}

// "sep": ["[SEP]", 102].
TokenId pair_id(const Json& processor, const char* key, const TokenizerVocabulary& vocabulary,
                const std::string& where) {
  const Json& pair = json_member(processor, key);
  if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string())
    post_processor_fail(where, fmt::format("\"{}\" is damaged", key), pair.type_name(), "[PIECE, ID]");
  return id_of(pair[0].get<std::string>(), vocabulary, where);
}

// The ids that a template's special token represents.
std::vector<TokenId> special_ids(const Json& processor, const std::string& name,
                                 const TokenizerVocabulary& vocabulary, const std::string& where) {
  const Json& entry = json_member(json_member(processor, "special_tokens"), name.c_str());
  std::vector<TokenId> ids;
  for (const Json& id : json_list(entry, "ids", where)) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= static_cast<std::uint64_t>(vocabulary.end()) ||
        !vocabulary.contains(id.get<TokenId>())) {
      post_processor_fail(where, fmt::format("an id of '{}' is not in the vocabulary", name),
                          one_line(json_text(id, {.ascii = true})),
                          fmt::format("0 to {}", vocabulary.end() - 1));
    }
    ids.push_back(id.get<TokenId>());
  }
  if (ids.empty())
    post_processor_fail(where, fmt::format("the template's '{}' has no ids", name), "",
                        "special_tokens.NAME.ids");
  return ids;
}

// "single": [{"SpecialToken": {"id": "[CLS]"}}, {"Sequence": {"id": "A"}}, …].
AroundText from_template(const Json& processor, const TokenizerVocabulary& vocabulary,
                         const std::string& where) {
  AroundText around;
  int texts = 0;
  for (const Json& part : json_list(processor, "single", where)) {
    if (const Json& token = json_member(part, "SpecialToken"); token.is_object()) {
      std::vector<TokenId>& side = texts == 0 ? around.prefix : around.suffix;
      for (const TokenId id : special_ids(processor, json_text(token, "id", "", where), vocabulary, where))
        side.push_back(id);
      if (side.size() > most_around)
        post_processor_fail(where, "the template is too long", "more than 64 tokens", "fewer");
    } else if (json_member(part, "Sequence").is_object()) {
      ++texts;
    } else {
      post_processor_fail(where, "a part of the template is unknown", part.type_name(),
                          "SpecialToken or Sequence");
    }
  }
  if (texts != 1)
    post_processor_fail(where, "the template is damaged", fmt::format("{} texts", texts), "one text");
  return around;
}

AroundText read(const Json& processor, const TokenizerVocabulary& vocabulary, const std::string& where,
                int level) {
  if (processor.is_null()) return {};
  const std::string type = json_text(processor, "type", "", where);
  if (type == "ByteLevel") return {};  // changes reported ranges, not the tokens
  if (type == "TemplateProcessing") return from_template(processor, vocabulary, where);
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    return {{pair_id(processor, "cls", vocabulary, where)}, {pair_id(processor, "sep", vocabulary, where)}};
  }
  if (type != "Sequence" || level > 0) {
    post_processor_fail(
        where, "this kind is unknown", fmt::format("'{}'", type),
        "TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel or a Sequence of them");
  }
  AroundText around;
  for (const Json& part : json_list(processor, "processors", where)) {
    const AroundText outer = read(part, vocabulary, where, level + 1);
    around.prefix.insert(around.prefix.begin(), outer.prefix.begin(), outer.prefix.end());
    around.suffix.insert(around.suffix.end(), outer.suffix.begin(), outer.suffix.end());
    if (around.prefix.size() + around.suffix.size() > most_around)
      post_processor_fail(where, "there are too many tokens around the text", "more than 64", "fewer");
  }
  return around;
}

// `processor`: the value of "post_processor", null if absent. Throws Error(input), beginning with `where`, for an unknown
// kind and for ids that are not in the vocabulary.
AroundText read_post_processor(const Json& processor, const TokenizerVocabulary& vocabulary,
                               const std::string& where) {
  return read(processor, vocabulary, where, 0);
}

constexpr std::size_t most_added = 100'000;
constexpr std::size_t most_splits = 8;

[[noreturn]] void fail(const std::string& where, const std::string& what, const std::string& got,
                       const std::string& expected) {
  throw Error(ExitStatus::input, {.where = where, .what = what, .got = got, .expected = expected});
}

// Rejects an unsupported kind of tokenizer.
[[noreturn]] void refuse(const std::string& where, const std::string& got) {
  throw Error(ExitStatus::input, {.where = where,
                                  .what = "this kind of tokenizer is not supported",
                                  .got = got,
                                  .expected = "BERT's WordPiece, byte-level BPE (GPT-2, Llama 3, Qwen2), "
                                              "SentencePiece's BPE (Llama 2, Mistral), or WordLevel split "
                                              "at white space or into characters",
                                  .remedy = "use a model with one of these"});
}

std::string type_of(const Json& part, const std::string& where) {
  return part.is_null() ? "none" : json_text(part, "type", "no type", where);
}

// Old files do not specify it.
std::string model_type(const TokenizerJson& file, const std::string& where) {
  const Json& model = json_member(file.settings, "model");
  const std::string type = json_text(model, "type", "", where);
  if (!type.empty()) return type;
  if (file.has_merges) return "BPE";
  if (file.vocabulary_is_list) return "Unigram";
  return model.contains("continuing_subword_prefix") ? "WordPiece" : "WordLevel";
}

std::vector<AddedToken> read_added_tokens(const Json& settings, const std::string& where) {
  const Json& list = json_list(settings, "added_tokens", where);
  if (list.size() > most_added)
    fail(where, "there are too many added tokens", fmt::format("{}", list.size()),
         fmt::format("{}", most_added));
  std::vector<AddedToken> tokens;
  for (const Json& entry : list) {
    const Json& id = json_member(entry, "id");
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= static_cast<std::uint64_t>(most_token_ids))
      fail(where, "the id of an added token is damaged", json_as_written(id, 40),
           fmt::format("0 to {}", most_token_ids - 1));
    tokens.push_back(read_added_token(entry, id.get<TokenId>(), where));
  }
  return tokens;
}

std::unique_ptr<TokenizerModel> read_word_piece(const TokenizerJson& file,
                                                std::shared_ptr<const TokenizerVocabulary> vocabulary,
                                                const std::string& where) {
  const Json& model = json_member(file.settings, "model");
  const Json& normalizer = json_member(file.settings, "normalizer");
  const Json& decoder = json_member(file.settings, "decoder");
  const std::string pre = type_of(json_member(file.settings, "pre_tokenizer"), where);
  if (type_of(normalizer, where) != "BertNormalizer")
    refuse(where, fmt::format("WordPiece with the normalizer {}", type_of(normalizer, where)));
  if (pre != "BertPreTokenizer") refuse(where, fmt::format("WordPiece with the pre_tokenizer {}", pre));
  if (!decoder.is_null() && type_of(decoder, where) != "WordPiece")
    refuse(where, fmt::format("WordPiece with the decoder {}", type_of(decoder, where)));
  WordPieceOptions options;
  options.clean_text = json_flag(normalizer, "clean_text", true, where);
  options.handle_chinese_chars = json_flag(normalizer, "handle_chinese_chars", true, where);
  options.lowercase = json_flag(normalizer, "lowercase", true, where);
  options.strip_accents = json_flag(normalizer, "strip_accents", options.lowercase, where);
  options.unk_token = json_text(model, "unk_token", "[UNK]", where);
  options.continuing_subword_prefix = json_text(model, "continuing_subword_prefix", "##", where);
  if (const Json& most = json_member(model, "max_input_chars_per_word"); most.is_number_unsigned()) {
    options.max_input_chars_per_word = most.get<std::size_t>();
  } else if (!most.is_null()) {
    fail(where, "max_input_chars_per_word has the wrong type", json_kind(most), "a number of at least 0");
  }
  options.join_continuations = !decoder.is_null();
  options.clean_up_spaces = json_flag(decoder, "cleanup", true, where);
  return make_word_piece(std::move(vocabulary), options, where);
}

// Whether the pre_tokenizer makes every character a word; if not, it splits at white space.
bool splits_characters(const Json& pre, const std::string& where) {
  const std::string type = type_of(pre, where);
  if (type == "WhitespaceSplit") return false;
  const Json& pattern = json_member(pre, "pattern");
  const bool isolates = type == "Split" && json_text(pre, "behavior", "", where) == "Isolated" &&
                        !json_flag(pre, "invert", false, where);
  const bool any_character = json_text(pattern, "Regex", "", where) == "[\\s\\S]" ||
                             json_text(pattern, "String", "x", where).empty();
  if (!isolates || !any_character) refuse(where, fmt::format("WordLevel with the pre_tokenizer {}", type));
  return true;
}

std::unique_ptr<TokenizerModel> read_word_level(const TokenizerJson& file,
                                                std::shared_ptr<const TokenizerVocabulary> vocabulary,
                                                const std::string& where) {
  const std::string normalizer = type_of(json_member(file.settings, "normalizer"), where),
                    decoder = type_of(json_member(file.settings, "decoder"), where);
  if (normalizer != "none") refuse(where, fmt::format("WordLevel with the normalizer {}", normalizer));
  if (decoder != "none" && decoder != "Fuse")
    refuse(where, fmt::format("WordLevel with the decoder {}", decoder));
  WordListOptions options;
  options.unk_token = json_text(json_member(file.settings, "model"), "unk_token", "<unk>", where);
  options.splits_characters = splits_characters(json_member(file.settings, "pre_tokenizer"), where);
  if (decoder == "Fuse") options.between.clear();
  return make_word_list(std::move(vocabulary), options);
}

SplitPattern read_split(const Json& part, const std::string& where) {
  const Json& pattern = json_member(part, "pattern");
  const std::string regex = json_text(pattern, "Regex", "", where);
  const std::optional<SplitPattern> known = known_split_pattern(regex);
  if (!known) {
    fail(where, "this regular expression for splitting text is unknown",
         regex.empty() ? "an invalid pattern" : fmt::format("'{}'", regex),
         "that of GPT-2, Llama 3, Qwen2 or BLOOM");
  }
  // What matches becomes a word; except for BLOOM's, these patterns match everything, so that both mean the same.
  const std::string behavior = json_text(part, "behavior", "", where);
  const bool invert = json_flag(part, "invert", false, where);
  const bool removes = behavior == "Removed" && invert && *known != SplitPattern::bloom;
  if (!(behavior == "Isolated" && !invert) && !removes)
    fail(where, "this way of splitting text is unknown",
         fmt::format("behavior '{}', invert {}", behavior, invert), "Isolated, or Removed and inverted");
  return *known;
}

void read_pre_tokenizer(const Json& pre, BytePairOptions& options, const std::string& where) {
  Json parts = json_list(pre, "pretokenizers", where);
  if (type_of(pre, where) != "Sequence") parts = Json::array({pre});
  if (parts.empty() || type_of(parts.back(), where) != "ByteLevel")
    refuse(where, fmt::format("BPE with the pre_tokenizer {}",
                              parts.empty() ? "none" : type_of(parts.back(), where)));
  if (parts.size() > most_splits)
    fail(where, "there are too many pre_tokenizers", fmt::format("{}", parts.size()),
         fmt::format("{}", most_splits));
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const std::string type = type_of(parts[i], where);
    if (type == "Split") {
      options.splits.push_back(read_split(parts[i], where));
    } else if (type == "Digits" && json_flag(parts[i], "individual_digits", false, where)) {
      options.splits.push_back(SplitPattern::digits);
    } else {
      refuse(where, fmt::format("BPE with the pre_tokenizer {}", type));
    }
  }
  options.byte_level.add_prefix_space = json_flag(parts.back(), "add_prefix_space", true, where);
  const bool split = json_flag(parts.back(), "use_regex", true, where);
  options.byte_level.split = split ? SplitPattern::gpt2 : SplitPattern::none;
}

// The parts of a Sequence; a single part; or an empty list.
Json parts_of(const Json& part, const char* list, const std::string& where) {
  if (part.is_null()) return Json::array();
  return type_of(part, where) == "Sequence" ? json_list(part, list, where) : Json::array({part});
}

constexpr const char* space_mark = "\u2581";

// {"type": "Replace", "pattern": {"String": FROM}, "content": TO}
bool is_replacement(const Json& part, const char* from, const char* to, const std::string& where) {
  return type_of(part, where) == "Replace" && json_text(part, "content", "", where) == to &&
         json_text(json_member(part, "pattern"), "String", "", where) == from;
}

// For the normalizers Prepend and Replace; nullopt if there is no normalizer.
std::optional<SpaceBefore> read_marks(const Json& normalizer, const std::string& where) {
  const Json parts = parts_of(normalizer, "normalizers", where);
  if (parts.empty()) return std::nullopt;
  const auto prepends = [&](const Json& part) {
    return type_of(part, where) == "Prepend" && json_text(part, "prepend", "", where) == space_mark;
  };
  const bool prepended = prepends(parts.front());
  for (std::size_t i = prepended ? 1 : 0; i < parts.size(); ++i) {
    if (!is_replacement(parts[i], " ", space_mark, where))
      refuse(where, fmt::format("SentencePiece with the normalizer {}", type_of(parts[i], where)));
  }
  if (parts.size() != (prepended ? 2 : 1))
    refuse(where, fmt::format("SentencePiece with {} normalizers", parts.size()));
  return prepended ? SpaceBefore::every_section : SpaceBefore::never;
}

// For the pre_tokenizer Metaspace; nullopt if there is none.
std::optional<SpaceBefore> read_metaspace(const Json& pre, const std::string& where) {
  if (pre.is_null()) return std::nullopt;
  if (type_of(pre, where) != "Metaspace" || json_text(pre, "replacement", space_mark, where) != space_mark)
    refuse(where, fmt::format("SentencePiece with the pre_tokenizer {}", type_of(pre, where)));
  if (json_flag(pre, "split", true, where))
    refuse(where, "SentencePiece's BPE of words that Metaspace splits");
  const bool prefixed = json_flag(pre, "add_prefix_space", true, where);  // as in old files
  const std::string scheme = json_text(pre, "prepend_scheme", prefixed ? "always" : "never", where);
  if (scheme == "always") return SpaceBefore::every_word;
  if (scheme == "first") return SpaceBefore::first_word;
  if (scheme == "never") return SpaceBefore::never;
  fail(where, "prepend_scheme is unknown", fmt::format("'{}'", scheme), "always, first or never");
}

// Whether decoding drops a leading space.
bool read_space_decoder(const Json& decoder, SpaceBefore before, const std::string& where) {
  bool strips = false;
  for (const Json& part : parts_of(decoder, "decoders", where)) {
    const std::string type = type_of(part, where);
    if (type == "Strip" && json_text(part, "content", "", where) == " ") {
      strips = json_member(part, "start") == 1;
    } else if (type == "Metaspace") {
      strips = before != SpaceBefore::never;
    } else if (type != "ByteFallback" && type != "Fuse" && !is_replacement(part, space_mark, " ", where)) {
      refuse(where, fmt::format("SentencePiece with the decoder {}", type));
    }
  }
  return strips;
}

std::unique_ptr<TokenizerModel> read_sentence_piece(const TokenizerJson& file,
                                                    std::shared_ptr<const TokenizerVocabulary> vocabulary,
                                                    const std::string& where) {
  const Json& model = json_member(file.settings, "model");
  const auto marks = read_marks(json_member(file.settings, "normalizer"), where);
  const auto metaspace = read_metaspace(json_member(file.settings, "pre_tokenizer"), where);
  if (marks.has_value() == metaspace.has_value())
    refuse(where, marks ? "SentencePiece that marks spaces twice" : "SentencePiece that marks no spaces");
  SentencePieceOptions options;
  options.space_before = marks ? *marks : *metaspace;
  options.byte_fallback = json_flag(model, "byte_fallback", false, where);
  options.ignore_merges = json_flag(model, "ignore_merges", false, where);
  options.unk_token = json_text(model, "unk_token", "", where);
  options.fuse_unk = json_flag(model, "fuse_unk", false, where);
  options.strip_space = read_space_decoder(json_member(file.settings, "decoder"), options.space_before, where);
  return make_sentence_piece_pairs(std::move(vocabulary), file.merges, options, where);
}

std::unique_ptr<TokenizerModel> read_bpe(const TokenizerJson& file,
                                         std::shared_ptr<const TokenizerVocabulary> vocabulary,
                                         const std::string& where) {
  const Json& model = json_member(file.settings, "model");
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (const std::string affix = json_text(model, key, "", where); !affix.empty())
      refuse(where, fmt::format("BPE with the {} '{}'", key, affix));
  }
  if (const Json& dropout = json_member(model, "dropout"); !dropout.is_null() && dropout != 0)
    refuse(where, "BPE with dropout, which splits the same text differently each time");
  if (json_flag(model, "byte_fallback", false, where) ||
      type_of(json_member(file.settings, "pre_tokenizer"), where) == "Metaspace")
    return read_sentence_piece(file, std::move(vocabulary), where);
  BytePairOptions options;
  const std::string normalizer = type_of(json_member(file.settings, "normalizer"), where);
  if (normalizer != "none" && normalizer != "NFC")
    refuse(where, fmt::format("BPE with the normalizer {}", normalizer));
  options.nfc = normalizer == "NFC";
  read_pre_tokenizer(json_member(file.settings, "pre_tokenizer"), options, where);
  const std::string decoder = type_of(json_member(file.settings, "decoder"), where);
  if (decoder != "none" && decoder != "ByteLevel")
    refuse(where, fmt::format("BPE with the decoder {}", decoder));
  options.ignore_merges = json_flag(model, "ignore_merges", false, where);
  options.unk_token = json_text(model, "unk_token", "", where);
  options.fuse_unk = json_flag(model, "fuse_unk", false, where);
  return make_byte_level_bpe(std::move(vocabulary), file.merges, options, where);
}

}  // namespace

Tokenizer tokenizer_from_json(std::string_view json, const std::string& where) {
  TokenizerJson file = parse_tokenizer_json(json, VocabularyPlace::model, where);
  if (!json_member(file.settings, "model").is_object())
    fail(where, "it is not a tokenizer", "no \"model\"", "a tokenizer.json");
  const std::string type = model_type(file, where);
  if (type == "Unigram") refuse(where, "Unigram (SentencePiece)");
  if (type != "WordPiece" && type != "BPE" && type != "WordLevel") refuse(where, type);
  if (!file.has_vocabulary || file.vocabulary_is_list || (type == "BPE" && !file.has_merges))
    fail(where, "the model is damaged", "no vocabulary, or no merges",
         "model.vocab, and model.merges for BPE");
  std::vector<AddedToken> added = read_added_tokens(file.settings, where);
  const auto vocabulary =
      std::make_shared<const TokenizerVocabulary>(std::move(file.vocabulary), entries_of(added), where);
  std::unique_ptr<TokenizerModel> model = type == "BPE"         ? read_bpe(file, vocabulary, where)
                                          : type == "WordLevel" ? read_word_level(file, vocabulary, where)
                                                                : read_word_piece(file, vocabulary, where);
  AroundText around = read_post_processor(json_member(file.settings, "post_processor"), *vocabulary, where);
  return {vocabulary, std::move(model), std::move(added), std::move(around.prefix), std::move(around.suffix)};
}

}  // namespace headwise
