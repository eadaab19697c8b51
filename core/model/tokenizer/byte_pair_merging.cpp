#include "core/model/tokenizer/byte_pair_merging.h"

#include <fmt/format.h>

#include <queue>

#include "core/tensor/error.h"

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
    throw Error(ExitStatus::input,
                {.where = where,
                 .what = fmt::format("merge {} needs a piece that the vocabulary does not have", rank),
                 .got = fmt::format("'{}' and '{}', without '{}'", left, right, *piece),
                 .expected = "both pieces and the merged piece",
                 .remedy = "vocabulary and merges may come from different models: download both again"});
  }
  // For a duplicate pair the last counts, as in `tokenizers`.
  merges_.insert_or_assign(pair_of(*vocabulary.find_own(left), *vocabulary.find_own(right)),
                           Merge{rank, *vocabulary.find_own(joined)});
}

void PairMerges::merge(std::vector<PairSymbol>& symbols) const {
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
    look_at(left.previous);
    look_at(best.left);
  }
}

}  // namespace headwise
