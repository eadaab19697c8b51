#include "core/model/tokenizer/byte_pair_encoding.h"

#include <fmt/format.h>

#include <array>

#include "core/model/tokenizer/byte_pair_merging.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

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
    for (int byte = 0; byte < 256; ++byte) {
      if (!stands_for_itself(byte)) bytes.push_back(byte);
    }
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
    if (!unknown_) {
      throw Error(ExitStatus::input, {.where = where,
                                      .what = "the vocabulary has no unk_token",
                                      .got = fmt::format("'{}'", options_.unk_token),
                                      .expected = "a piece of the vocabulary"});
    }
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
