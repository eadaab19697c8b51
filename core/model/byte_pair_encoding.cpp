#include "core/model/byte_pair_encoding.h"

#include <fmt/format.h>

#include <array>
#include <queue>
#include <unordered_map>

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

// The byte that a character of the alphabet stands for, or −1.
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

struct Merge {
  std::uint32_t rank;
  TokenId made;
};

std::uint64_t pair_of(TokenId left, TokenId right) {
  return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

// A token of a word while it is being merged; a list through indices.
struct Symbol {
  TokenId id;
  std::size_t begin, end;
  std::size_t previous, next;
  bool unknown;
};
constexpr std::size_t none = static_cast<std::size_t>(-1);

// A merge that was possible when it was found.
struct Candidate {
  std::uint32_t rank;
  std::size_t left;
  TokenId made;
  // For a queue with the lowest rank on top, of equal ones the leftmost.
  bool operator<(const Candidate& other) const {
    return rank != other.rank ? rank > other.rank : left > other.left;
  }
};

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
  std::vector<Symbol> symbols_of(std::string_view word) const;
  void merge(std::vector<Symbol>& symbols) const;
  void add_merge(const std::string& left, const std::string& right, std::uint32_t rank,
                 const std::string& where);

  std::shared_ptr<const TokenizerVocabulary> vocabulary_;
  BytePairOptions options_;
  std::array<std::optional<TokenId>, 256> byte_ids_;
  std::optional<TokenId> unknown_;
  std::unordered_map<std::uint64_t, Merge> merges_;
};

ByteLevelBpe::ByteLevelBpe(std::shared_ptr<const TokenizerVocabulary> vocabulary,
                           const std::vector<std::pair<std::string, std::string>>& merges,
                           const BytePairOptions& options, const std::string& where)
    : vocabulary_(std::move(vocabulary)), options_(options) {
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
  merges_.reserve(merges.size());
  for (std::size_t i = 0; i < merges.size(); ++i)
    add_merge(merges[i].first, merges[i].second, static_cast<std::uint32_t>(i), where);
}

void ByteLevelBpe::add_merge(const std::string& left, const std::string& right, std::uint32_t rank,
                             const std::string& where) {
  const std::string joined = left + right;
  for (const std::string* piece : {&left, &right, &joined}) {
    if (vocabulary_->find_own(*piece)) continue;
    throw Error(ExitStatus::input,
                {.where = where,
                 .what = fmt::format("merge {} needs a piece that the vocabulary does not have", rank),
                 .got = fmt::format("'{}' and '{}', without '{}'", left, right, *piece),
                 .expected = "the pieces and what they make",
                 .remedy = "vocabulary and merges may be of two models: fetch both again"});
  }
  // Of a pair that stands there twice the last counts, as in `tokenizers`.
  merges_.insert_or_assign(pair_of(*vocabulary_->find_own(left), *vocabulary_->find_own(right)),
                           Merge{rank, *vocabulary_->find_own(joined)});
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

void ByteLevelBpe::encode_section(const AlignedText& text, std::size_t begin, std::size_t end,
                                  Into into) const {
  std::string_view section = text.text().substr(begin, end - begin);
  const bool prefixed = options_.byte_level.add_prefix_space && !section.starts_with(' ');
  std::string with_space;
  if (prefixed) section = with_space = " " + std::string(section);
  for (std::size_t at = 0; at < section.size();) {
    const std::size_t next = split_word_end(options_.byte_level.split, section, at);
    // The added space stands for nothing of the text: the first word begins a byte earlier than its text.
    const bool first = prefixed && at == 0;
    encode_word(section.substr(at, next - at), text, begin + at - (prefixed && !first ? 1 : 0), first, into);
    at = next;
  }
}

// `begin`: of the word in the text; a prefixed one has a space before it that is not there.
void ByteLevelBpe::encode_word(std::string_view word, const AlignedText& text, std::size_t begin,
                               bool prefixed, Into into) const {
  std::vector<Symbol> symbols;
  if (const auto whole = options_.ignore_merges ? vocabulary_->find_own(in_alphabet(word)) : std::nullopt) {
    symbols.push_back({*whole, 0, word.size(), none, none, false});
  } else {
    symbols = symbols_of(word);
    merge(symbols);
  }
  const auto in_text = [&](std::size_t at) { return begin + (prefixed && at > 0 ? at - 1 : at); };
  for (std::size_t i = symbols.empty() ? none : 0; i != none; i = symbols[i].next) {
    const std::size_t from = in_text(symbols[i].begin), to = in_text(symbols[i].end);
    // A space alone that was added stands before what comes next, or behind what came last.
    const ByteRange range = from < to                   ? text.origin(from, to)
                            : from < text.text().size() ? ByteRange{text.origin(from, from + 1).begin,
                                                                    text.origin(from, from + 1).begin}
                                                        : ByteRange{};
    into.push_back({symbols[i].id, vocabulary_->piece(symbols[i].id), range.begin, range.end, false,
                    symbols[i].unknown});
  }
}

std::vector<Symbol> ByteLevelBpe::symbols_of(std::string_view word) const {
  std::vector<Symbol> symbols;
  symbols.reserve(word.size());
  for (std::size_t at = 0; at < word.size(); ++at) {
    const std::optional<TokenId> id = byte_ids_[static_cast<unsigned char>(word[at])];
    if (!id && !unknown_) continue;
    if (!id && options_.fuse_unk && !symbols.empty() && symbols.back().unknown) {
      symbols.back().end = at + 1;
      continue;
    }
    const std::size_t index = symbols.size();
    if (index > 0) symbols.back().next = index;
    symbols.push_back({id ? *id : *unknown_, at, at + 1, index == 0 ? none : index - 1, none, !id});
  }
  return symbols;
}

void ByteLevelBpe::merge(std::vector<Symbol>& symbols) const {
  std::priority_queue<Candidate> candidates;
  const auto look_at = [&](std::size_t left) {
    if (left == none || symbols[left].next == none) return;
    const auto found = merges_.find(pair_of(symbols[left].id, symbols[symbols[left].next].id));
    if (found != merges_.end()) candidates.push({found->second.rank, left, found->second.made});
  };
  for (std::size_t i = 0; i + 1 < symbols.size(); ++i) look_at(i);
  while (!candidates.empty()) {
    const Candidate best = candidates.top();
    candidates.pop();
    Symbol& left = symbols[best.left];
    // It may be gone by now, or have become another pair.
    if (left.begin == left.end || left.next == none) continue;
    Symbol& right = symbols[left.next];
    const auto still = merges_.find(pair_of(left.id, right.id));
    if (still == merges_.end() || still->second.made != best.made) continue;
    left.id = best.made;
    left.end = right.end;
    left.unknown = false;
    right.begin = right.end;  // gone
    left.next = right.next;
    if (left.next != none) symbols[left.next].previous = best.left;
    look_at(left.previous);
    look_at(best.left);
  }
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
    // An added token is written as it is to be read.
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

std::unique_ptr<TokenizerModel> make_byte_level_bpe(
    std::shared_ptr<const TokenizerVocabulary> vocabulary,
    const std::vector<std::pair<std::string, std::string>>& merges, const BytePairOptions& options,
    const std::string& where) {
  return std::make_unique<ByteLevelBpe>(std::move(vocabulary), merges, options, where);
}

}  // namespace headwise
