#include "core/model/tokenizer/tokenizer.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <unordered_map>

#include "core/files/file_paths.h"
#include "core/files/input_file.h"
#include "core/model/files/model_json.h"
#include "core/model/tokenizer/byte_pair_encoding.h"
#include "core/model/tokenizer/tokenizer_from_json.h"
#include "core/model/tokenizer/tokenizer_json.h"
#include "core/model/tokenizer/word_knowledge.h"
#include "core/model/tokenizer/word_piece.h"
#include "core/tensor/memory.h"

namespace headwise {

Tokenizer::Tokenizer(std::shared_ptr<const TokenizerVocabulary> vocabulary,
                     std::unique_ptr<TokenizerModel> model, std::vector<AddedToken> added,
                     std::vector<TokenId> prefix, std::vector<TokenId> suffix)
    : vocabulary_(std::move(vocabulary)),
      model_(std::move(model)),
      added_(std::move(added)),
      special_(static_cast<std::size_t>(vocabulary_->end())),
      prefix_(std::move(prefix)),
      suffix_(std::move(suffix)) {
  std::vector<std::string> raw(added_.size()), normalised(added_.size());
  for (std::size_t i = 0; i < added_.size(); ++i) {
    const AddedToken& token = added_[i];
    special_[static_cast<std::size_t>(token.id)] = token.special;
    if (token.normalized) {
      normalised[i] = model_->normalised(AlignedText(token.content, 0)).text();
    } else {
      raw[i] = token.content;
    }
  }
  in_text_ = AddedTokenMatcher(added_, raw);
  in_normalised_ = AddedTokenMatcher(added_, normalised);
}

bool Tokenizer::is_special(TokenId id) const {
  return vocabulary_->contains(id) && special_[static_cast<std::size_t>(id)];
}

EncodedToken Tokenizer::added_token(std::size_t which, ByteRange range) const {
  const AddedToken& token = added_[which];
  return {token.id, token.content, range.begin, range.end, token.special, false};
}

void Tokenizer::encode_section(const AlignedText& text, std::vector<EncodedToken>& into) const {
  const AlignedText normalised = model_->normalised(text);
  for (const TextSection& section : in_normalised_.sections(normalised.text())) {
    if (section.added >= 0) {
      into.push_back(added_token(static_cast<std::size_t>(section.added),
                                 normalised.origin(section.begin, section.end)));
    } else {
      model_->encode(normalised, section.begin, section.end, into);
    }
  }
}

std::vector<EncodedToken> Tokenizer::encode(std::string_view text, SpecialTokens special) const {
  if (text.size() >= std::numeric_limits<std::uint32_t>::max())
    refuse_input("the text", "it is too long for a tokenizer", bytes_text(static_cast<Index>(text.size())),
                 "less than 4 GiB");
  // At most one token per byte, and a range for each byte of the normalised text.
  require_memory(static_cast<Index>(text.size() * (sizeof(EncodedToken) + 2 * sizeof(AlignedCodePoint))),
                 "the tokens of the text");
  std::vector<EncodedToken> tokens;
  const auto add_around = [&](const std::vector<TokenId>& ids, std::size_t at) {
    if (special == SpecialTokens::leave_out) return;
    for (const TokenId id : ids) tokens.push_back({id, vocabulary_->piece(id), at, at, true, false});
  };
  add_around(prefix_, 0);
  for (const TextSection& section : in_text_.sections(text)) {
    if (section.added >= 0) {
      tokens.push_back(
          added_token(static_cast<std::size_t>(section.added),
                      {static_cast<std::uint32_t>(section.begin), static_cast<std::uint32_t>(section.end)}));
    } else {
      encode_section(AlignedText(text.substr(section.begin, section.end - section.begin), section.begin),
                     tokens);
    }
  }
  add_around(suffix_, text.size());
  return tokens;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, SpecialTokens special) const {
  std::vector<std::string_view> pieces;
  pieces.reserve(ids.size());
  for (const TokenId id : ids) {
    if (!vocabulary_->contains(id))
      refuse_input("the ids", "the vocabulary has no such id", fmt::format("{}", id),
                   fmt::format("0 to {}", vocabulary_->end() - 1));
    if (special == SpecialTokens::leave_out && is_special(id)) continue;
    pieces.emplace_back(vocabulary_->piece(id));
  }
  return model_->decode(pieces);
}

namespace fs = std::filesystem;

namespace {

// Twice the largest in existence.
constexpr std::uint64_t most_bytes = 64 * 1024 * 1024;

constexpr std::array word_piece_classes{"BertTokenizer",       "DistilBertTokenizer", "ElectraTokenizer",
                                        "MobileBertTokenizer", "LxmertTokenizer",     "ConvBertTokenizer"};
constexpr std::array roberta_classes{"RobertaTokenizer", "BartTokenizer", "LongformerTokenizer"};
constexpr std::array gpt2_classes{"GPT2Tokenizer", "GPTNeoXTokenizer", "CodeGenTokenizer"};

std::string read_file(const std::string& path) {
  std::error_code ignored;
  const char* const expected = path.ends_with(".json") ? "a JSON file" : "a text file";
  if (is_folder(path)) refuse_input(path, "there is no tokenizer to read", "a folder", expected);
  if (fs::is_regular_file(path, ignored) && fs::file_size(path, ignored) == 0)
    refuse_input(path, "there is no tokenizer to read", "an empty file", expected);
  const InputFile file(path);
  if (file.size() > most_bytes)
    refuse_input(path, "it is too large for a tokenizer", bytes_text(static_cast<Index>(file.size())),
                 bytes_text(static_cast<Index>(most_bytes)) + " at most");
  return file.read_text(0, file.size());
}

// The lines, without their ends (\n or \r\n); a non-empty rest after the last \n is a line.
template <class Sink>
void for_each_line(std::string_view text, const Sink& sink) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    sink(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

// tokenizer_config.json next to the vocabulary; null if there is none.
Json read_config(const fs::path& folder) {
  const fs::path path = folder / "tokenizer_config.json";
  if (!is_there(path)) return {};
  return parse_tokenizer_json(read_file(path), VocabularyPlace::nowhere, path).settings;
}

// tokenizer_class without "Fast", which only distinguishes two equivalent implementations;
// "" if there is none.
std::string tokenizer_class(const JsonValue& config) {
  std::string name = config.text("tokenizer_class", "");
  if (name.ends_with("Fast")) name.resize(name.size() - 4);
  return name;
}

// A special token's text: "[CLS]", or {"content": "[CLS]", …}.
std::string special_token(const JsonValue& config, const char* key, const std::string& fallback) {
  const JsonValue value = config[key];
  return value.json().is_object() ? value.text("content", fallback) : config.text(key, fallback);
}

void add_special(std::vector<AddedToken>& tokens, const std::string& content,
                 const TokenizerVocabulary& vocabulary) {
  const std::optional<TokenId> id = content.empty() ? std::nullopt : vocabulary.find(content);
  if (!id || std::ranges::any_of(tokens, [&](const AddedToken& token) { return token.id == *id; })) return;
  tokens.push_back({.id = *id, .content = content});
}

std::vector<VocabularyEntry> read_word_list(const std::string& path) {
  const std::string text = read_file(path);
  std::vector<std::string> lines;
  for_each_line(text, [&](std::string_view line) {
    if (static_cast<std::int64_t>(lines.size()) >= most_token_ids)
      refuse_input(path, "there are too many lines", fmt::format("more than {}", most_token_ids),
                   "one piece per line");
    lines.emplace_back(line);
  });
  std::unordered_map<std::string_view, std::size_t> last;
  for (std::size_t i = 0; i < lines.size(); ++i) last[lines[i]] = i;
  std::vector<VocabularyEntry> entries;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    // An empty line has an id, but nothing is found there.
    if (!lines[i].empty() && last[lines[i]] == i)
      entries.emplace_back(lines[i], static_cast<std::int64_t>(i));
  }
  return entries;
}

Tokenizer from_word_list(const fs::path& path) {
  const std::string where = path;
  const Json settings = read_config(path.parent_path());
  const JsonValue config(settings, where, tokenizer_format);
  const std::string name = tokenizer_class(config);
  if (!name.empty() && std::ranges::find(word_piece_classes, name) == word_piece_classes.end())
    refuse_input(where, "this tokenizer_class is unknown for a vocab.txt", name,
                 "BertTokenizer or one like it", "put the model's tokenizer.json next to it");
  const auto vocabulary =
      std::make_shared<const TokenizerVocabulary>(read_word_list(path), std::vector<VocabularyEntry>{}, where);
  constexpr const char* end_of_text = "<|endoftext|>";
  if (name.empty() && vocabulary->find(end_of_text) && !vocabulary->find("[CLS]")) {
    std::vector<AddedToken> added;
    const std::string unknown = special_token(config, "unk_token", "[UNK]");
    if (!vocabulary->find_own(unknown))
      refuse_input(where, fmt::format("the vocabulary has no '{}', which stands for unknown words", unknown),
                   "", fmt::format("a word '{}'", unknown), "add it to the vocabulary");
    for (const std::string& content : {std::string(end_of_text), unknown})
      add_special(added, content, *vocabulary);
    return {vocabulary,
            make_word_list(vocabulary, {.unk_token = unknown}),
            std::move(added),
            {*vocabulary->find(end_of_text)},
            {}};
  }
  WordPieceOptions options;
  options.lowercase = config.flag("do_lower_case", true);
  options.strip_accents = config.flag("strip_accents", options.lowercase);
  options.handle_chinese_chars = config.flag("tokenize_chinese_chars", true);
  options.unk_token = special_token(config, "unk_token", "[UNK]");
  const std::string cls = special_token(config, "cls_token", "[CLS]");
  const std::string sep = special_token(config, "sep_token", "[SEP]");
  std::vector<AddedToken> added;
  for (const std::string& content : {options.unk_token, cls, sep, special_token(config, "pad_token", "[PAD]"),
                                     special_token(config, "mask_token", "[MASK]")}) {
    add_special(added, content, *vocabulary);
  }
  std::vector<TokenId> prefix, suffix;
  if (const auto first = vocabulary->find(cls), last = vocabulary->find(sep); first && last) {
    prefix = {*first};
    suffix = {*last};
  }
  auto model = make_word_piece(vocabulary, options, where);
  return {vocabulary, std::move(model), std::move(added), std::move(prefix), std::move(suffix)};
}

std::vector<std::pair<std::string, std::string>> read_merges(const std::string& path) {
  const std::string text = read_file(path);
  std::vector<std::pair<std::string, std::string>> merges;
  for_each_line(text, [&](std::string_view line) {
    if (line.empty() || (merges.empty() && line.starts_with("#version"))) return;
    merges.push_back(parse_merge(line, fmt::format("{}: merge {}", path, merges.size())));
    if (merges.back().second.ends_with("</w>"))
      refuse_input(path, "this kind of tokenizer is not supported",
                   "BPE with the end of words marked </w> (GPT, CLIP)", "byte-level BPE as GPT-2 has it");
  });
  return merges;
}

// According to the config.json next to the vocabulary.
bool is_opt_model(const fs::path& folder) {
  const fs::path path = folder / "config.json";
  if (!is_there(path)) return false;
  const Json config = read_json_object(path, model_format);
  return JsonValue(config, path, model_format).at("model_type") == "opt";
}

// Tokens that tokenizer_config.json adds after the vocabulary: {"151643": {"content": …}, …}.
std::vector<AddedToken> tokens_added_later(const JsonValue& decoder) {
  std::vector<AddedToken> added;
  if (decoder.json().is_null()) return added;
  for (const auto& [key, unused] : decoder.object("{ID: {content}}").json().items()) {
    const bool number = !key.empty() && key.size() <= 6 &&
                        std::ranges::all_of(key, [](char c) { return c >= '0' && c <= '9'; });
    if (!number) decoder.refuse_got("an id is not a number", key, "0 to 999999");
    added.push_back(read_added_token(decoder[key], static_cast<TokenId>(std::stol(key))));
  }
  return added;
}

Tokenizer from_merges(const fs::path& folder) {
  const std::string where = folder / "vocab.json";
  const Json settings = read_config(folder);
  const JsonValue config(settings, where, tokenizer_format);
  const std::string name = tokenizer_class(config);
  const auto is_one_of = [&name](const auto& names) { return std::ranges::find(names, name) != names.end(); };
  const bool qwen2 = name == "Qwen2Tokenizer";
  if (!name.empty() && !is_one_of(roberta_classes) && !qwen2 && !is_one_of(gpt2_classes))
    refuse_input(where, "this tokenizer_class is unknown for vocab.json and merges.txt", name,
                 "GPT2Tokenizer, RobertaTokenizer or Qwen2Tokenizer",
                 "put the model's tokenizer.json next to it");
  std::vector<AddedToken> added = tokens_added_later(config["added_tokens_decoder"]);
  const auto vocabulary = std::make_shared<const TokenizerVocabulary>(
      parse_tokenizer_json(read_file(where), VocabularyPlace::top, where).vocabulary, entries_of(added), where);
  // Files that do not specify it: RoBERTa's vocabulary has its special tokens, and not GPT-2's.
  // OPT's is the same.
  const bool opt = name.empty() && is_opt_model(folder);
  if (opt && !config.has("add_bos_token"))
    refuse_input(where, "it is unknown what this OPT model puts before a text", "no add_bos_token",
                 "a tokenizer_config.json with bos_token and add_bos_token", "download it with the model");
  const bool roberta = is_one_of(roberta_classes) ||
                       (name.empty() && !opt && vocabulary->find("<s>") && vocabulary->find("</s>") &&
                        vocabulary->find("<mask>") && !vocabulary->find("<|endoftext|>"));
  const char* usual = roberta ? "</s>" : "<|endoftext|>";
  if (roberta) {  // its mask takes the space before it
    const auto mask = vocabulary->find("<mask>");
    if (mask && std::ranges::none_of(added, [&](const AddedToken& token) { return token.id == *mask; }))
      added.push_back({.id = *mask, .content = "<mask>", .lstrip = true});
  }
  for (const char* key :
       {"eos_token", "bos_token", "unk_token", "sep_token", "cls_token", "pad_token", "mask_token"})
    add_special(added, special_token(config, key, usual), *vocabulary);
  BytePairOptions options;
  options.byte_level.add_prefix_space = config.flag("add_prefix_space", false);
  std::vector<TokenId> prefix, suffix;
  if (roberta) {
    for (const char* content : {"<s>", "<pad>", "<unk>"}) add_special(added, content, *vocabulary);
    const auto first = vocabulary->find("<s>"), last = vocabulary->find("</s>");
    if (!first || !last)
      refuse_input(where, "the vocabulary of a RoBERTa is damaged", "no <s> and </s>", "both");
    prefix = {*first};
    suffix = {*last};
  }
  if (config.flag("add_bos_token", false)) {
    const auto bos = vocabulary->find(special_token(config, "bos_token", usual));
    if (!bos)
      refuse_input(where, "add_bos_token is set, but the vocabulary has no bos_token", "", "a piece of it");
    prefix = {*bos};
  }
  options.nfc = qwen2 || name == "GPTNeoXTokenizer";
  if (qwen2) {
    options.splits = {SplitPattern::qwen2};
    options.byte_level.split = SplitPattern::none;
  }
  auto model = make_byte_level_bpe(vocabulary, read_merges(folder / "merges.txt"), options, where);
  return {vocabulary, std::move(model), std::move(added), std::move(prefix), std::move(suffix)};
}

[[noreturn]] void refuse_sentence_piece(const std::string& path) {
  refuse_input(path, "SentencePiece models are not read directly", "", "a tokenizer.json made from it",
               "in Python, in the model's folder: from transformers import AutoTokenizer; "
               "AutoTokenizer.from_pretrained('.').save_pretrained('.')");
}

}  // namespace

Tokenizer load_tokenizer(const std::string& path) {
  const fs::path given(path);
  if (!is_folder(path)) {
    if (given.extension() == ".model") refuse_sentence_piece(path);
    if (given.filename() == "vocab.json" || given.filename() == "merges.txt")
      return from_merges(given.parent_path());
    if (given.extension() == ".txt") return from_word_list(given);
    return tokenizer_from_json(read_file(path), path);
  }
  const auto has = [&](const char* name) { return is_there(given / name); };
  if (has("tokenizer.json")) {
    const std::string json = given / "tokenizer.json";
    return tokenizer_from_json(read_file(json), json);
  }
  if (has("vocab.txt")) return from_word_list(given / "vocab.txt");
  if (has("vocab.json") && has("merges.txt")) return from_merges(given);
  for (const char* name : {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model"})
    if (has(name)) refuse_sentence_piece(given / name);
  refuse_input(path, "there is no tokenizer in this folder", "",
               "tokenizer.json, vocab.txt, or vocab.json and merges.txt",
               "download one of these with the model");
}

}  // namespace headwise
