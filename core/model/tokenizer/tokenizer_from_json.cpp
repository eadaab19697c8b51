#include "core/model/tokenizer/tokenizer_from_json.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/model/tokenizer/byte_pair_encoding.h"
#include "core/model/tokenizer/sentence_piece_pairs.h"
#include "core/model/tokenizer/tokenizer_json.h"
#include "core/model/tokenizer/tokenizer_vocabulary.h"
#include "core/model/tokenizer/unigram.h"
#include "core/model/tokenizer/word_knowledge.h"
#include "core/model/tokenizer/word_piece.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

// What a tokenizer.json puts around a text: [CLS] … [SEP], <s> … </s>, <|begin_of_text|> ….

struct AroundText {
  std::vector<TokenId> prefix, suffix;
};

// A longer template would not be [CLS] and [SEP].
constexpr std::size_t most_around = 64;

TokenId id_of(const JsonValue& piece, const TokenizerVocabulary& vocabulary) {
  const std::optional<TokenId> id = vocabulary.find(piece.text());
  if (!id) piece.refuse("a special token is not in the vocabulary", "a token in the vocabulary");
  return *id;
}

// "sep": ["[SEP]", 102].
TokenId pair_id(const JsonValue& pair, const TokenizerVocabulary& vocabulary) {
  const std::vector<JsonValue> parts = pair.entries();
  if (parts.size() != 2) pair.refuse("a special token is damaged", "[PIECE, ID]");
  return id_of(parts[0], vocabulary);
}

// The ids that a template's special token represents.
std::vector<TokenId> special_ids(const JsonValue& entry, const TokenizerVocabulary& vocabulary) {
  std::vector<TokenId> ids;
  entry["ids"].each([&](const JsonValue& id) {
    ids.push_back(static_cast<TokenId>(id.integer(0, vocabulary.end() - 1)));
    if (!vocabulary.contains(ids.back()))
      id.refuse("a special token is not in the vocabulary", "an id in the vocabulary");
  });
  if (ids.empty()) entry.refuse("a special token has no ids", "a list \"ids\" of at least one");
  return ids;
}

// "single": [{"SpecialToken": {"id": "[CLS]"}}, {"Sequence": {"id": "A"}}, …].
AroundText from_template(const JsonValue& processor, const TokenizerVocabulary& vocabulary) {
  AroundText around;
  int texts = 0;
  processor["single"].each(
      [&](const JsonValue& part) {
        if (const JsonValue token = part["SpecialToken"]; token.json().is_object()) {
          std::vector<TokenId>& side = texts == 0 ? around.prefix : around.suffix;
          for (const TokenId id : special_ids(processor["special_tokens"][token.text("id", "")], vocabulary))
            side.push_back(id);
          if (side.size() > most_around)
            part.refuse_got("the template is too long", "more than 64 tokens", "fewer");
        } else if (part.at("Sequence").is_object()) {
          ++texts;
        } else {
          part.refuse("a part of the template is unknown", "SpecialToken or Sequence");
        }
      },
      true);
  if (texts != 1) processor.refuse_got("the template is damaged", fmt::format("{} texts", texts), "one text");
  return around;
}

// `processor`: the value of "post_processor", null if absent. Throws Error(input) for an unknown kind and for
// ids that are not in the vocabulary.
AroundText read_post_processor(const JsonValue& processor, const TokenizerVocabulary& vocabulary,
                               int level = 0) {
  if (processor.json().is_null()) return {};
  const std::string type = processor.text("type", "");
  if (type == "ByteLevel") return {};  // changes reported ranges, not the tokens
  if (type == "TemplateProcessing") return from_template(processor, vocabulary);
  if (type == "BertProcessing" || type == "RobertaProcessing")
    return {{pair_id(processor["cls"], vocabulary)}, {pair_id(processor["sep"], vocabulary)}};
  if (type != "Sequence" || level > 0)
    processor.refuse_got(
        "this kind is unknown", fmt::format("'{}'", type),
        "TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel or a Sequence of them");
  AroundText around;
  processor["processors"].each(
      [&](const JsonValue& part) {
        const AroundText outer = read_post_processor(part, vocabulary, level + 1);
        around.prefix.insert(around.prefix.begin(), outer.prefix.begin(), outer.prefix.end());
        around.suffix.insert(around.suffix.end(), outer.suffix.begin(), outer.suffix.end());
        if (around.prefix.size() + around.suffix.size() > most_around)
          processor.refuse_got("there are too many tokens around the text", "more than 64", "fewer");
      },
      true);
  return around;
}

constexpr std::size_t most_added = 100'000;
constexpr std::size_t most_splits = 8;

// Rejects an unsupported kind of tokenizer.
[[noreturn]] void refuse(const JsonValue& json, const std::string& got) {
  json.refuse_got(
      "this kind of tokenizer is not supported", got,
      "BERT's WordPiece, byte-level BPE (GPT-2, Llama 3, Qwen2), SentencePiece's BPE (Llama 2, Mistral) or "
      "Unigram (T5, XLM-RoBERTa), or WordLevel split at white space or into characters",
      "use a model with one of these");
}

std::string type_of(const JsonValue& part) {
  return part.json().is_null() ? "none" : part.text("type", "no type");
}

// Old files do not specify it.
std::string model_type(const TokenizerJson& file, const JsonValue& model) {
  const std::string type = model.text("type", "");
  if (!type.empty()) return type;
  if (file.has_merges) return "BPE";
  if (file.vocabulary_is_list) return "Unigram";
  return model.contains("continuing_subword_prefix") ? "WordPiece" : "WordLevel";
}

std::vector<AddedToken> read_added_tokens(const JsonValue& list) {
  if (list.json().size() > most_added)
    list.refuse_got("there are too many added tokens", fmt::format("{}", list.json().size()),
                    fmt::format("{}", most_added));
  std::vector<AddedToken> tokens;
  list.each(
      [&](const JsonValue& entry) {
        const auto id = static_cast<TokenId>(entry["id"].integer(0, most_token_ids - 1));
        tokens.push_back(read_added_token(entry, id));
      },
      true);
  return tokens;
}

std::unique_ptr<TokenizerModel> read_word_piece(const JsonValue& json,
                                                std::shared_ptr<const TokenizerVocabulary> vocabulary) {
  const JsonValue model = json["model"];
  const JsonValue normalizer = json["normalizer"];
  const JsonValue decoder = json["decoder"];
  const std::string pre = type_of(json["pre_tokenizer"]);
  if (type_of(normalizer) != "BertNormalizer")
    refuse(json, fmt::format("WordPiece with the normalizer {}", type_of(normalizer)));
  if (pre != "BertPreTokenizer") refuse(json, fmt::format("WordPiece with the pre_tokenizer {}", pre));
  if (!decoder.json().is_null() && type_of(decoder) != "WordPiece")
    refuse(json, fmt::format("WordPiece with the decoder {}", type_of(decoder)));
  WordPieceOptions options;
  options.clean_text = normalizer.flag("clean_text", true);
  options.handle_chinese_chars = normalizer.flag("handle_chinese_chars", true);
  options.lowercase = normalizer.flag("lowercase", true);
  options.strip_accents = normalizer.flag("strip_accents", options.lowercase);
  options.unk_token = model.text("unk_token", "[UNK]");
  options.continuing_subword_prefix = model.text("continuing_subword_prefix", "##");
  const JsonValue most = model["max_input_chars_per_word"];
  if (!most.json().is_null()) options.max_input_chars_per_word = static_cast<std::size_t>(most.integer(0));
  options.join_continuations = !decoder.json().is_null();
  options.clean_up_spaces = decoder.flag("cleanup", true);
  return make_word_piece(std::move(vocabulary), options, json.place());
}

// Whether the pre_tokenizer makes every character a word; if not, it splits at white space.
bool splits_characters(const JsonValue& pre) {
  const std::string type = type_of(pre);
  if (type == "WhitespaceSplit") return false;
  const JsonValue pattern = pre["pattern"];
  const bool isolates = type == "Split" && pre.text("behavior", "") == "Isolated" && !pre.flag("invert", false);
  const bool any_character = pattern.text("Regex", "") == "[\\s\\S]" || pattern.text("String", "x").empty();
  if (!isolates || !any_character) refuse(pre, fmt::format("WordLevel with the pre_tokenizer {}", type));
  return true;
}

std::unique_ptr<TokenizerModel> read_word_level(const JsonValue& json,
                                                std::shared_ptr<const TokenizerVocabulary> vocabulary) {
  const std::string normalizer = type_of(json["normalizer"]), decoder = type_of(json["decoder"]);
  if (normalizer != "none") refuse(json, fmt::format("WordLevel with the normalizer {}", normalizer));
  if (decoder != "none" && decoder != "Fuse")
    refuse(json, fmt::format("WordLevel with the decoder {}", decoder));
  WordListOptions options;
  options.unk_token = json["model"].text("unk_token", "<unk>");
  options.splits_characters = splits_characters(json["pre_tokenizer"]);
  if (decoder == "Fuse") options.between.clear();
  return make_word_list(std::move(vocabulary), options);
}

SplitPattern read_split(const JsonValue& part) {
  const std::string regex = part["pattern"].text("Regex", "");
  const std::optional<SplitPattern> known = known_split_pattern(regex);
  if (!known)
    part.refuse_got("this regular expression for splitting text is unknown",
                    regex.empty() ? "an invalid pattern" : fmt::format("'{}'", regex),
                    "that of GPT-2, Llama 3, Qwen2 or BLOOM");
  // What matches becomes a word; except for BLOOM's, these patterns match everything,
  // so that both mean the same.
  const std::string behavior = part.text("behavior", "");
  const bool invert = part.flag("invert", false);
  const bool removes = behavior == "Removed" && invert && *known != SplitPattern::bloom;
  if (!(behavior == "Isolated" && !invert) && !removes)
    part.refuse_got("this way of splitting text is unknown",
                    fmt::format("behavior '{}', invert {}", behavior, invert),
                    "Isolated, or Removed and inverted");
  return *known;
}

// The parts of a Sequence; a single part; or none.
std::vector<JsonValue> parts_of(const JsonValue& part, const char* list) {
  if (part.json().is_null()) return {};
  return type_of(part) == "Sequence" ? part[list].entries() : std::vector<JsonValue>{part};
}

void read_pre_tokenizer(const JsonValue& pre, BytePairOptions& options) {
  const std::vector<JsonValue> parts = parts_of(pre, "pretokenizers");
  const std::string last = parts.empty() ? "none" : type_of(parts.back());
  if (last != "ByteLevel") refuse(pre, fmt::format("BPE with the pre_tokenizer {}", last));
  if (parts.size() > most_splits)
    pre.refuse_got("there are too many pre_tokenizers", fmt::format("{}", parts.size()),
                   fmt::format("{}", most_splits));
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const std::string type = type_of(parts[i]);
    if (type == "Split") {
      options.splits.push_back(read_split(parts[i]));
    } else if (type == "Digits" && parts[i].flag("individual_digits", false)) {
      options.splits.push_back(SplitPattern::digits);
    } else {
      refuse(pre, fmt::format("BPE with the pre_tokenizer {}", type));
    }
  }
  options.byte_level.add_prefix_space = parts.back().flag("add_prefix_space", true);
  const bool split = parts.back().flag("use_regex", true);
  options.byte_level.split = split ? SplitPattern::gpt2 : SplitPattern::none;
}

const std::string space_replacement(space_mark);

// {"type": "Replace", "pattern": {"String": FROM}, "content": TO}
bool is_replacement(const JsonValue& part, std::string_view from, std::string_view to) {
  return type_of(part) == "Replace" && part.text("content", "") == to &&
         part["pattern"].text("String", "") == from;
}

// For the normalizers Prepend and Replace; nullopt if there is no normalizer.
std::optional<SpaceBefore> read_marks(const JsonValue& normalizer) {
  const std::vector<JsonValue> parts = parts_of(normalizer, "normalizers");
  if (parts.empty()) return std::nullopt;
  const auto prepends = [&](const JsonValue& part) {
    return type_of(part) == "Prepend" && part.text("prepend", "") == space_replacement;
  };
  const bool prepended = prepends(parts.front());
  for (std::size_t i = prepended ? 1 : 0; i < parts.size(); ++i)
    if (!is_replacement(parts[i], " ", space_replacement))
      refuse(normalizer, fmt::format("SentencePiece with the normalizer {}", type_of(parts[i])));
  if (parts.size() != (prepended ? 2 : 1))
    refuse(normalizer, fmt::format("SentencePiece with {} normalizers", parts.size()));
  return prepended ? SpaceBefore::every_section : SpaceBefore::never;
}

// Of a Metaspace.
SpaceBefore read_scheme(const JsonValue& pre) {
  if (type_of(pre) != "Metaspace" || pre.text("replacement", space_replacement) != space_replacement)
    refuse(pre, fmt::format("SentencePiece with the pre_tokenizer {}", type_of(pre)));
  const bool prefixed = pre.flag("add_prefix_space", true);  // as in old files
  const std::string scheme = pre.text("prepend_scheme", prefixed ? "always" : "never");
  if (scheme == "always") return SpaceBefore::every_word;
  if (scheme == "first") return SpaceBefore::first_word;
  if (scheme == "never") return SpaceBefore::never;
  pre["prepend_scheme"].refuse("unknown choice", "always, first or never");
}

// For the pre_tokenizer Metaspace; nullopt if there is none.
std::optional<SpaceBefore> read_metaspace(const JsonValue& pre) {
  if (pre.json().is_null()) return std::nullopt;
  const SpaceBefore before = read_scheme(pre);
  if (pre.flag("split", true)) refuse(pre, "SentencePiece's BPE of words that Metaspace splits");
  return before;
}

// Whether decoding drops a leading space.
bool read_space_decoder(const JsonValue& decoder, SpaceBefore before) {
  bool strips = false;
  for (const JsonValue& part : parts_of(decoder, "decoders")) {
    const std::string type = type_of(part);
    if (type == "Strip" && part.text("content", "") == " ") {
      strips = part.at("start") == 1;
    } else if (type == "Metaspace") {
      strips = before != SpaceBefore::never;
    } else if (type != "ByteFallback" && type != "Fuse" && !is_replacement(part, space_replacement, " ")) {
      refuse(decoder, fmt::format("SentencePiece with the decoder {}", type));
    }
  }
  return strips;
}

std::unique_ptr<TokenizerModel> read_sentence_piece(const TokenizerJson& file, const JsonValue& json,
                                                    std::shared_ptr<const TokenizerVocabulary> vocabulary) {
  const JsonValue model = json["model"];
  const auto marks = read_marks(json["normalizer"]);
  const auto metaspace = read_metaspace(json["pre_tokenizer"]);
  if (marks.has_value() == metaspace.has_value())
    refuse(json, marks ? "SentencePiece that marks spaces twice" : "SentencePiece that marks no spaces");
  SentencePieceOptions options;
  options.space_before = marks ? *marks : *metaspace;
  options.byte_fallback = model.flag("byte_fallback", false);
  options.ignore_merges = model.flag("ignore_merges", false);
  options.unk_token = model.text("unk_token", "");
  options.fuse_unk = model.flag("fuse_unk", false);
  options.strip_space = read_space_decoder(json["decoder"], options.space_before);
  return make_sentence_piece_pairs(std::move(vocabulary), file.merges, options, json.place());
}

std::unique_ptr<TokenizerModel> read_bpe(const TokenizerJson& file, const JsonValue& json,
                                         std::shared_ptr<const TokenizerVocabulary> vocabulary) {
  const JsonValue model = json["model"];
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (const std::string affix = model.text(key, ""); !affix.empty())
      refuse(json, fmt::format("BPE with the {} '{}'", key, affix));
  }
  if (const Json& dropout = model.at("dropout"); !dropout.is_null() && dropout != 0)
    refuse(json, "BPE with dropout, which splits the same text differently each time");
  if (model.flag("byte_fallback", false) || type_of(json["pre_tokenizer"]) == "Metaspace")
    return read_sentence_piece(file, json, std::move(vocabulary));
  BytePairOptions options;
  const std::string normalizer = type_of(json["normalizer"]);
  if (normalizer != "none" && normalizer != "NFC")
    refuse(json, fmt::format("BPE with the normalizer {}", normalizer));
  options.nfc = normalizer == "NFC";
  read_pre_tokenizer(json["pre_tokenizer"], options);
  const std::string decoder = type_of(json["decoder"]);
  if (decoder != "none" && decoder != "ByteLevel")
    refuse(json, fmt::format("BPE with the decoder {}", decoder));
  options.ignore_merges = model.flag("ignore_merges", false);
  options.unk_token = model.text("unk_token", "");
  options.fuse_unk = model.flag("fuse_unk", false);
  return make_byte_level_bpe(std::move(vocabulary), file.merges, options, json.place());
}

void read_unigram_decoder(const JsonValue& decoder, UnigramOptions& options) {
  options.drops_first_marks = false;
  const std::vector<JsonValue> parts = parts_of(decoder, "decoders");
  options.unmarks = !parts.empty();
  if (parts.empty()) options.between = " ";
  for (const JsonValue& part : parts) {
    const std::string type = type_of(part);
    if (type == "Metaspace")
      options.drops_first_marks = read_scheme(part) != SpaceBefore::never;
    else if (type == "Strip" && part.text("content", "") == " ")
      options.strips_space = part.at("start") == 1;
    else if (type != "ByteFallback" && type != "Fuse" && !is_replacement(part, space_replacement, " "))
      refuse(decoder, fmt::format("Unigram with the decoder {}", type));
  }
}

std::unique_ptr<TokenizerModel> read_unigram(TokenizerJson& file, const JsonValue& json,
                                             std::shared_ptr<const TokenizerVocabulary> vocabulary) {
  const JsonValue model = json["model"], unknown = model["unk_id"], pre = json["pre_tokenizer"];
  UnigramOptions options;
  options.byte_fallback = model.flag("byte_fallback", false);
  if (!unknown.json().is_null())
    options.unknown = static_cast<TokenId>(unknown.integer(0, std::ssize(file.scores) - 1));
  for (const JsonValue& part : parts_of(pre, "pretokenizers")) {
    const bool is_split = type_of(part) == "WhitespaceSplit";
    if (options.marks || (is_split && options.splits_white_space))
      refuse(pre, fmt::format("Unigram with the pre_tokenizer {} after another", type_of(part)));
    if (is_split) {
      options.splits_white_space = true;
    } else {
      options.marks = read_scheme(part);
      options.splits_marks = part.flag("split", true);
    }
  }
  read_unigram_decoder(json["decoder"], options);
  return make_unigram(std::move(vocabulary), std::move(file.scores), read_text_steps(json["normalizer"]),
                      options, json.place());
}

}  // namespace

Tokenizer tokenizer_from_json(std::string_view text, const std::string& where) {
  TokenizerJson file = parse_tokenizer_json(text, VocabularyPlace::model, where);
  const JsonValue json(file.settings, where, tokenizer_format), model_json = json["model"];
  if (!model_json.json().is_object())
    json.refuse_got("it is not a tokenizer", "no \"model\"", "a tokenizer.json");
  const std::string type = model_type(file, model_json);
  const bool is_unigram = type == "Unigram";
  if (!is_unigram && type != "WordPiece" && type != "BPE" && type != "WordLevel") refuse(json, type);
  if (is_unigram && (!file.vocabulary_is_list || file.vocabulary.empty()))
    json.refuse_got("the model is damaged", "no vocabulary of pieces and scores",
                    "model.vocab, a list of [\"PIECE\", SCORE]");
  if (!file.has_vocabulary || (file.vocabulary_is_list && !is_unigram) || (type == "BPE" && !file.has_merges))
    json.refuse_got("the model is damaged", "no vocabulary, or no merges",
                    "model.vocab, and model.merges for BPE");
  std::vector<AddedToken> added = read_added_tokens(json["added_tokens"]);
  const auto vocabulary =
      std::make_shared<const TokenizerVocabulary>(std::move(file.vocabulary), entries_of(added), where);
  std::unique_ptr<TokenizerModel> model = is_unigram            ? read_unigram(file, json, vocabulary)
                                          : type == "BPE"       ? read_bpe(file, json, vocabulary)
                                          : type == "WordLevel" ? read_word_level(json, vocabulary)
                                                                : read_word_piece(json, vocabulary);
  AroundText around = read_post_processor(json["post_processor"], *vocabulary);
  return {vocabulary, std::move(model), std::move(added), std::move(around.prefix), std::move(around.suffix)};
}

}  // namespace headwise
