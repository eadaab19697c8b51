#include "core/model/tokenizer/byte_pair_encoding.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "core/files/input_file.h"
#include "core/model/tokenizer/sentence_piece_pairs.h"
#include "core/model/tokenizer/unicode_text.h"

namespace headwise {
namespace {

struct KnownPattern {
  std::string_view regex;
  SplitPattern pattern;
};

constexpr std::array<KnownPattern, 5> known_patterns{{
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", SplitPattern::gpt2},
    {R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", SplitPattern::gpt2},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     SplitPattern::llama3},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     SplitPattern::qwen2},
    {R"( ?[^(\s|[.,!?…。，、।۔،])]+)", SplitPattern::bloom},
}};

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

// A position in a text, and the character there.
class Cursor {
 public:
  Cursor(std::string_view text, std::size_t at) : text_(text), at_(at) { decode_current(); }

  std::size_t at() const { return at_; }
  bool done() const { return at_ >= text_.size(); }
  std::int32_t value() const { return point_.value; }
  bool is(CharacterClass wanted) const { return !done() && class_ == wanted; }
  bool is_line_end() const { return !done() && (point_.value == '\r' || point_.value == '\n'); }
  void step() {
    at_ += point_.bytes;
    decode_current();
  }
  // Skips at most `most` characters of the class; returns how many there were.
  std::size_t skip(CharacterClass wanted, std::size_t most = no_limit) {
    std::size_t count = 0;
    for (; count < most && is(wanted); ++count) step();
    return count;
  }

 private:
  void decode_current() {
    if (done()) return;
    point_ = code_point_at(text_, at_);
    class_ = character_class(point_.value);
  }

  std::string_view text_;
  std::size_t at_;
  CodePoint point_;
  CharacterClass class_ = CharacterClass::other;
};

// 's|'t|'re|'ve|'m|'ll|'d: its length in bytes at `at`, or 0.
std::size_t contraction(std::string_view text, std::size_t at, bool ignore_case) {
  if (text[at] != '\'') return 0;
  const auto letter = [&](std::size_t i) {
    const char c = i < text.size() ? text[i] : '\0';
    return ignore_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  const char first = letter(at + 1), second = letter(at + 2);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  if ((first == 'r' || first == 'v') && second == 'e') return 3;
  if (first == 'l' && second == 'l') return 3;
  // The long s counts as an s if case is ignored.
  constexpr std::string_view long_s = "\u017F";
  return ignore_case && text.substr(at + 1).starts_with(long_s) ? 1 + long_s.size() : 0;
}

// \s+(?!\S)|\s+: a run of white space; before other text without its last character,
// unless that is the whole run.
std::size_t white_space_end(std::string_view text, std::size_t at) {
  Cursor cursor(text, at);
  std::size_t last = at;
  while (cursor.is(CharacterClass::space)) {
    last = cursor.at();
    cursor.step();
  }
  return cursor.done() || last == at ? cursor.at() : last;
}

// \s*[\r\n]+: a run of white space up to its last line end; `at` if there is none.
std::size_t line_ends_end(std::string_view text, std::size_t at) {
  std::size_t end = at;
  for (Cursor cursor(text, at); cursor.is(CharacterClass::space);) {
    const bool line_end = cursor.is_line_end();
    cursor.step();
    if (line_end) end = cursor.at();
  }
  return end;
}

std::size_t gpt2_end(std::string_view text, std::size_t at) {
  if (const std::size_t bytes = contraction(text, at, false); bytes > 0) return at + bytes;
  Cursor cursor(text, at);
  if (cursor.value() == ' ') cursor.step();
  for (const CharacterClass wanted : {CharacterClass::letter, CharacterClass::number, CharacterClass::other})
    if (cursor.skip(wanted) > 0) return cursor.at();
  return white_space_end(text, at);
}

std::size_t llama3_end(std::string_view text, std::size_t at, std::size_t most_digits) {
  if (const std::size_t bytes = contraction(text, at, true); bytes > 0) return at + bytes;
  Cursor letters(text, at);
  if (!letters.is(CharacterClass::letter) && !letters.is(CharacterClass::number) && !letters.is_line_end())
    letters.step();
  if (letters.skip(CharacterClass::letter) > 0) return letters.at();

  Cursor cursor(text, at);
  if (cursor.skip(CharacterClass::number, most_digits) > 0) return cursor.at();
  if (cursor.value() == ' ') cursor.step();
  if (cursor.skip(CharacterClass::other) > 0) {
    while (cursor.is_line_end()) cursor.step();
    return cursor.at();
  }
  const std::size_t lines = line_ends_end(text, at);
  return lines > at ? lines : white_space_end(text, at);
}

std::size_t digits_end(std::string_view text, std::size_t at) {
  Cursor cursor(text, at);
  if (cursor.skip(CharacterClass::number, 1) > 0) return cursor.at();
  while (!cursor.done() && !cursor.is(CharacterClass::number)) cursor.step();
  return cursor.at();
}

// Neither part of BLOOM's words nor white space: the signs in its pattern, its parentheses and its bar.
bool is_bloom_sign(std::int32_t value) {
  constexpr std::array<std::int32_t, 14> signs{'(',    ')',    '|',    '.',    ',',    '!',    '?',
                                               0x2026, 0x3002, 0xFF0C, 0x3001, 0x0964, 0x06D4, 0x060C};
  return std::ranges::find(signs, value) != signs.end();
}

// A match of the pattern, or everything before the next one.
std::size_t bloom_end(std::string_view text, std::size_t at) {
  const auto in_word = [](const Cursor& cursor) {
    return !cursor.done() && !cursor.is(CharacterClass::space) && !is_bloom_sign(cursor.value());
  };
  const auto begins_word = [&](Cursor cursor) {
    if (!cursor.done() && cursor.value() == ' ') cursor.step();
    return in_word(cursor);
  };
  Cursor cursor(text, at);
  if (begins_word(cursor)) {
    do cursor.step();
    while (in_word(cursor));
  } else {
    do cursor.step();
    while (!cursor.done() && !begins_word(cursor));
  }
  return cursor.at();
}

constexpr std::int32_t first_substitute = 0x100;

bool stands_for_itself(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD);
}

std::array<std::string, 256> make_alphabet() {
  std::array<std::string, 256> alphabet;
  for (int byte = 0; byte < 256; ++byte)
    append_code_point(alphabet[static_cast<std::size_t>(byte)],
                      byte_level_character(static_cast<unsigned char>(byte)));
  return alphabet;
}

const std::array<std::string, 256>& alphabet() {
  static const std::array<std::string, 256> made = make_alphabet();
  return made;
}

// The byte that a character of the alphabet represents, or −1.
int byte_of(std::int32_t character) {
  if (character < 0) return -1;
  if (character < 0x100) return stands_for_itself(character) ? character : -1;
  static const std::vector<int> substituted = [] {
    std::vector<int> bytes;
    for (int byte = 0; byte < 256; ++byte)
      if (!stands_for_itself(byte)) bytes.push_back(byte);
    return bytes;
  }();
  const auto which = static_cast<std::size_t>(character - first_substitute);
  return which < substituted.size() ? substituted[which] : -1;
}

std::string in_alphabet(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += alphabet()[static_cast<unsigned char>(byte)];
  return text;
}

class ByteLevelBpe : public TokenizerModel {
 public:
  ByteLevelBpe(std::shared_ptr<const TokenizerVocabulary> vocabulary,
               const std::vector<std::pair<std::string, std::string>>& merges, const BytePairOptions& options,
               const std::string& where);

  std::string kind() const override { return "byte-level BPE"; }
  AlignedText normalised(const AlignedText& text) const override {
    return options_.nfc ? composed(text) : text;
  }
  void encode(const AlignedText& text, std::size_t begin, std::size_t end,
              std::vector<EncodedToken>& into) const override;
  std::string decode(std::span<const std::string_view> pieces) const override;

 private:
  using Into = std::vector<EncodedToken>&;
  void split(const AlignedText& text, std::size_t begin, std::size_t end, std::size_t step, Into into) const;
  void encode_section(const AlignedText& text, std::size_t begin, std::size_t end, Into into) const;
  void encode_word(std::string_view word, const AlignedText& text, std::size_t begin, bool prefixed,
                   Into into) const;
  std::vector<PairSymbol> symbols_of(std::string_view word) const;

  std::shared_ptr<const TokenizerVocabulary> vocabulary_;
  BytePairOptions options_;
  std::array<std::optional<TokenId>, 256> byte_ids_;
  std::optional<TokenId> unknown_;
  PairMerges merges_;
};

ByteLevelBpe::ByteLevelBpe(std::shared_ptr<const TokenizerVocabulary> vocabulary,
                           const std::vector<std::pair<std::string, std::string>>& merges,
                           const BytePairOptions& options, const std::string& where)
    : vocabulary_(std::move(vocabulary)), options_(options), merges_(*vocabulary_, merges, where) {
  for (std::size_t byte = 0; byte < 256; ++byte) byte_ids_[byte] = vocabulary_->find_own(alphabet()[byte]);
  if (!options_.unk_token.empty()) {
    unknown_ = vocabulary_->find_own(options_.unk_token);
    if (!unknown_)
      refuse_input(where, "the vocabulary has no unk_token", fmt::format("'{}'", options_.unk_token),
                   "a piece of the vocabulary");
  }
}

void ByteLevelBpe::encode(const AlignedText& text, std::size_t begin, std::size_t end, Into into) const {
  split(text, begin, end, 0, into);
}

void ByteLevelBpe::split(const AlignedText& text, std::size_t begin, std::size_t end, std::size_t step,
                         Into into) const {
  if (step == options_.splits.size()) return encode_section(text, begin, end, into);
  const std::string_view section = text.text().substr(begin, end - begin);
  for (std::size_t at = 0; at < section.size();) {
    const std::size_t next = split_word_end(options_.splits[step], section, at);
    split(text, begin + at, begin + next, step + 1, into);
    at = next;
  }
}

void ByteLevelBpe::encode_section(const AlignedText& text, std::size_t begin, std::size_t end, Into into) const {
  std::string_view section = text.text().substr(begin, end - begin);
  const bool prefixed = options_.byte_level.add_prefix_space && !section.starts_with(' ');
  std::string with_space;
  if (prefixed) section = with_space = " " + std::string(section);
  for (std::size_t at = 0; at < section.size();) {
    const std::size_t next = split_word_end(options_.byte_level.split, section, at);
    // The added space represents no text: the first word begins a byte before its text.
    const bool first = prefixed && at == 0;
    encode_word(section.substr(at, next - at), text, begin + at - (prefixed && !first ? 1 : 0), first, into);
    at = next;
  }
}

// `begin`: offset of the word in the text; a prefixed one has a leading space that is not in the text.
void ByteLevelBpe::encode_word(std::string_view word, const AlignedText& text, std::size_t begin,
                               bool prefixed, Into into) const {
  std::vector<PairSymbol> symbols;
  if (const auto whole = options_.ignore_merges ? vocabulary_->find_own(in_alphabet(word)) : std::nullopt) {
    append_symbol(symbols, *whole, 0, word.size(), false);
  } else {
    symbols = symbols_of(word);
    merges_.merge(symbols);
  }
  const auto in_text = [&](std::size_t at) { return begin + (prefixed && at > 0 ? at - 1 : at); };
  constexpr std::size_t none = PairSymbol::no_symbol;
  for (std::size_t i = symbols.empty() ? none : 0; i != none; i = symbols[i].next) {
    const std::size_t from = in_text(symbols[i].begin), to = in_text(symbols[i].end);
    // A lone space that was added belongs to what comes next, or to what came last.
    const ByteRange range = from < to                   ? text.origin(from, to)
                            : from < text.text().size() ? ByteRange{text.origin(from, from + 1).begin,
                                                                    text.origin(from, from + 1).begin}
                                                        : ByteRange{};
    into.push_back({symbols[i].id, vocabulary_->piece(symbols[i].id), range.begin, range.end, false,
                    symbols[i].unknown});
  }
}

std::vector<PairSymbol> ByteLevelBpe::symbols_of(std::string_view word) const {
  std::vector<PairSymbol> symbols;
  symbols.reserve(word.size());
  for (std::size_t at = 0; at < word.size(); ++at) {
    const std::optional<TokenId> id = byte_ids_[static_cast<unsigned char>(word[at])];
    if (!id && !unknown_) continue;
    if (!id && options_.fuse_unk && !symbols.empty() && symbols.back().unknown) {
      symbols.back().end = at + 1;
      continue;
    }
    append_symbol(symbols, id ? *id : *unknown_, at, at + 1, !id);
  }
  return symbols;
}

std::string ByteLevelBpe::decode(std::span<const std::string_view> pieces) const {
  std::string text;
  for (const std::string_view piece : pieces) {
    std::string bytes;
    bool in_alphabet_only = true;
    for (std::size_t at = 0; in_alphabet_only && at < piece.size();) {
      const CodePoint point = code_point_at(piece, at);
      const int byte = byte_of(point.value);
      in_alphabet_only = byte >= 0;
      bytes.push_back(static_cast<char>(byte));
      at += point.bytes;
    }
    // An added token is written literally.
    text += in_alphabet_only ? std::string_view(bytes) : piece;
  }
  return text;
}

}  // namespace

std::optional<SplitPattern> known_split_pattern(std::string_view regex) {
  for (const KnownPattern& known : known_patterns)
    if (known.regex == regex) return known.pattern;
  return std::nullopt;
}

std::size_t split_word_end(SplitPattern pattern, std::string_view text, std::size_t at) {
  switch (pattern) {
    case SplitPattern::gpt2:
      return gpt2_end(text, at);
    case SplitPattern::llama3:
      return llama3_end(text, at, 3);
    case SplitPattern::qwen2:
      return llama3_end(text, at, 1);
    case SplitPattern::bloom:
      return bloom_end(text, at);
    case SplitPattern::digits:
      return digits_end(text, at);
    case SplitPattern::none:
      break;
  }
  return text.size();
}

std::int32_t byte_level_character(unsigned char byte) {
  if (stands_for_itself(byte)) return byte;
  std::int32_t before = 0;
  for (int other = 0; other < byte; ++other) before += stands_for_itself(other) ? 0 : 1;
  return first_substitute + before;
}

std::unique_ptr<TokenizerModel> make_byte_level_bpe(std::shared_ptr<const TokenizerVocabulary> vocabulary,
                                                    const std::vector<std::pair<std::string, std::string>>& merges,
                                                    const BytePairOptions& options, const std::string& where) {
  return std::make_unique<ByteLevelBpe>(std::move(vocabulary), merges, options, where);
}

}  // namespace headwise
