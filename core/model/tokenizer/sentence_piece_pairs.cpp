#include "core/model/tokenizer/sentence_piece_pairs.h"

#include <array>
#include <optional>
#include <queue>

#include <fmt/format.h>

#include "core/files/input_file.h"
#include "core/model/tokenizer/unicode_text.h"

namespace headwise {
namespace {

constexpr std::size_t none = PairSymbol::no_symbol;

std::uint64_t pair_of(TokenId left, TokenId right) {
  return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

// A merge that was possible when it was queued.
struct Candidate {
  std::uint32_t rank;
  std::size_t left;
  TokenId made;
  // For a queue with the lowest rank on top; ties go to the leftmost.
  bool operator<(const Candidate& other) const {
    return rank != other.rank ? rank > other.rank : left > other.left;
  }
};

class SentencePiecePairs : public TokenizerModel {
 public:
  SentencePiecePairs(std::shared_ptr<const TokenizerVocabulary> vocabulary,
                     const std::vector<std::pair<std::string, std::string>>& merges,
                     const SentencePieceOptions& options, const std::string& where);

  std::string kind() const override { return "SentencePiece BPE"; }
  AlignedText normalised(const AlignedText& text) const override;
  void encode(const AlignedText& text, std::size_t begin, std::size_t end,
              std::vector<EncodedToken>& into) const override;
  std::string decode(std::span<const std::string_view> pieces) const override;

 private:
  std::vector<PairSymbol> symbols_of(std::string_view text) const;
  bool append_bytes(std::vector<PairSymbol>& symbols, std::string_view text, std::size_t begin,
                    std::size_t end) const;

  std::shared_ptr<const TokenizerVocabulary> vocabulary_;
  SentencePieceOptions options_;
  PairMerges merges_;
  std::array<std::optional<TokenId>, 256> byte_ids_;
  std::optional<TokenId> unknown_;
};

SentencePiecePairs::SentencePiecePairs(std::shared_ptr<const TokenizerVocabulary> vocabulary,
                                       const std::vector<std::pair<std::string, std::string>>& merges,
                                       const SentencePieceOptions& options, const std::string& where)
    : vocabulary_(std::move(vocabulary)), options_(options), merges_(*vocabulary_, merges, where) {
  for (int byte = 0; options_.byte_fallback && byte < 256; ++byte)
    byte_ids_[static_cast<std::size_t>(byte)] = vocabulary_->find_own(byte_piece(byte));
  if (options_.unk_token.empty()) return;
  unknown_ = vocabulary_->find_own(options_.unk_token);
  if (!unknown_)
    refuse_input(where, "the vocabulary has no unk_token", fmt::format("'{}'", options_.unk_token),
                 "a piece of the vocabulary");
}

// Inserts the space marks: here rather than in encode,
// so that added tokens of the normalised text are found after them.
AlignedText SentencePiecePairs::normalised(const AlignedText& text) const {
  if (options_.space_before != SpaceBefore::every_section) return text;
  const std::string_view bytes = text.text();
  AlignedText marked;
  if (bytes.empty()) return marked;
  const std::uint32_t start = text.origin(0, 1).begin;
  marked.append(space_mark, {start, start});
  for (std::size_t at = 0; at < bytes.size(); ++at)
    marked.append(bytes[at] == ' ' ? space_mark : bytes.substr(at, 1), text.origin(at, at + 1));
  return marked;
}

void SentencePiecePairs::encode(const AlignedText& text, std::size_t begin, std::size_t end,
                                std::vector<EncodedToken>& into) const {
  if (begin == end) return;
  const AlignedText marked = with_marks(text, begin, end, options_.space_before);
  const std::string_view row = marked.text();
  std::vector<PairSymbol> symbols;
  if (const auto whole = options_.ignore_merges ? vocabulary_->find_own(row) : std::nullopt) {
    append_symbol(symbols, *whole, 0, row.size(), false);
  } else {
    symbols = symbols_of(row);
    merges_.merge(symbols);
  }
  for (std::size_t i = symbols.empty() ? none : 0; i != none; i = symbols[i].next) {
    const ByteRange range = marked.origin(symbols[i].begin, symbols[i].end);
    into.push_back({symbols[i].id, vocabulary_->piece(symbols[i].id), range.begin, range.end, false,
                    symbols[i].unknown});
  }
}

// Appends the bytes of [begin, end) as symbols if all of them have a piece; returns whether they do.
bool SentencePiecePairs::append_bytes(std::vector<PairSymbol>& symbols, std::string_view text,
                                      std::size_t begin, std::size_t end) const {
  const auto id_at = [&](std::size_t at) { return byte_ids_[static_cast<unsigned char>(text[at])]; };
  for (std::size_t at = begin; at < end; ++at)
    if (!id_at(at)) return false;
  for (std::size_t at = begin; at < end; ++at) append_symbol(symbols, *id_at(at), at, at + 1, false);
  return true;
}

std::vector<PairSymbol> SentencePiecePairs::symbols_of(std::string_view text) const {
  std::vector<PairSymbol> symbols;
  symbols.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = at + code_point_at(text, at).bytes;
    if (const auto id = vocabulary_->find_own(text.substr(at, next - at))) {
      append_symbol(symbols, *id, at, next, false);
    } else if (!append_bytes(symbols, text, at, next) && unknown_) {
      if (options_.fuse_unk && !symbols.empty() && symbols.back().unknown)
        symbols.back().end = next;
      else
        append_symbol(symbols, *unknown_, at, next, true);
    }
    at = next;
  }
  return symbols;
}

std::string SentencePiecePairs::decode(std::span<const std::string_view> pieces) const {
  std::string text;
  for (const std::string_view piece : pieces) {
    if (const int byte = options_.byte_fallback ? represented_byte(piece) : -1; byte >= 0) {
      text.push_back(static_cast<char>(byte));
      continue;
    }
    append_unmarked(text, piece);
  }
  if (options_.strip_space && text.starts_with(' ')) text.erase(0, 1);
  return text;
}

}  // namespace

void append_symbol(std::vector<PairSymbol>& symbols, TokenId id, std::size_t begin, std::size_t end,
                   bool unknown) {
  const std::size_t index = symbols.size();
  if (index > 0) symbols.back().next = index;
  symbols.push_back({id, begin, end, index == 0 ? none : index - 1, none, unknown});
}

PairMerges::PairMerges(const TokenizerVocabulary& vocabulary,
                       const std::vector<std::pair<std::string, std::string>>& merges,
                       const std::string& where) {
  merges_.reserve(merges.size());
  for (std::size_t i = 0; i < merges.size(); ++i)
    add(vocabulary, merges[i].first, merges[i].second, static_cast<std::uint32_t>(i), where);
}

void PairMerges::add(const TokenizerVocabulary& vocabulary, const std::string& left, const std::string& right,
                     std::uint32_t rank, const std::string& where) {
  const std::string joined = left + right;
  for (const std::string* piece : {&left, &right, &joined}) {
    if (vocabulary.find_own(*piece)) continue;
    refuse_input(where, fmt::format("merge {} needs a piece that the vocabulary does not have", rank),
                 fmt::format("'{}' and '{}', without '{}'", left, right, *piece),
                 "both pieces and the merged piece",
                 "vocabulary and merges may come from different models: download both again");
  }
  // For a duplicate pair the last counts, as in `tokenizers`.
  merges_.insert_or_assign(pair_of(*vocabulary.find_own(left), *vocabulary.find_own(right)),
                           Merge{rank, *vocabulary.find_own(joined)});
}

void PairMerges::merge(std::vector<PairSymbol>& symbols) const {
  std::priority_queue<Candidate> candidates;
  const auto consider = [&](std::size_t left) {
    if (left == none || symbols[left].next == none) return;
    const auto found = merges_.find(pair_of(symbols[left].id, symbols[symbols[left].next].id));
    if (found != merges_.end()) candidates.push({found->second.rank, left, found->second.made});
  };
  for (std::size_t i = 0; i + 1 < symbols.size(); ++i) consider(i);
  while (!candidates.empty()) {
    const Candidate best = candidates.top();
    candidates.pop();
    PairSymbol& left = symbols[best.left];
    // By now it may be gone, or part of another pair.
    if (left.begin == left.end || left.next == none) continue;
    PairSymbol& right = symbols[left.next];
    const auto still = merges_.find(pair_of(left.id, right.id));
    if (still == merges_.end() || still->second.made != best.made) continue;
    left.id = best.made;
    left.end = right.end;
    left.unknown = false;
    right.begin = right.end;  // gone
    left.next = right.next;
    if (left.next != none) symbols[left.next].previous = best.left;
    consider(left.previous);
    consider(best.left);
  }
}

std::unique_ptr<TokenizerModel> make_sentence_piece_pairs(
    std::shared_ptr<const TokenizerVocabulary> vocabulary,
    const std::vector<std::pair<std::string, std::string>>& merges, const SentencePieceOptions& options,
    const std::string& where) {
  return std::make_unique<SentencePiecePairs>(std::move(vocabulary), merges, options, where);
}

}  // namespace headwise
