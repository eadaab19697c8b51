#include "core/model/tokenizer/tokenizer_vocabulary.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/tensor/error.h"

namespace headwise {

namespace {

// The maximum number of unused ids; models round the vocabulary size up to a multiple of some hundred at most.
constexpr std::size_t most_gaps = 100'000;

std::int64_t largest_id(const std::vector<VocabularyEntry>& entries, const std::string& where) {
  std::int64_t largest = -1;
  for (const VocabularyEntry& entry : entries) {
    if (entry.second < 0 || entry.second >= most_token_ids) {
      throw Error(ExitStatus::input, {.where = where,
                                      .what = "an id of the vocabulary is out of range",
                                      .got = fmt::format("'{}' = {}", entry.first, entry.second),
                                      .expected = fmt::format("0 to {}", most_token_ids - 1)});
    }
    largest = std::max(largest, entry.second);
  }
  return largest;
}

}  // namespace

TokenizerVocabulary::TokenizerVocabulary(std::vector<VocabularyEntry> own,
                                         const std::vector<VocabularyEntry>& added, const std::string& where) {
  const auto size = static_cast<std::size_t>(std::max(largest_id(own, where), largest_id(added, where)) + 1);
  if (size > own.size() + added.size() + most_gaps) {
    throw Error(ExitStatus::input,
                {.where = where,
                 .what = "the ids of the vocabulary have wide gaps",
                 .got = fmt::format("{} pieces, the largest id {}", own.size() + added.size(), size - 1),
                 .expected = "consecutive ids from 0"});
  }
  pieces_.resize(size);
  taken_.resize(pieces_.size());
  own_.reserve(own.size());
  for (VocabularyEntry& entry : own) {
    longest_ = std::max(longest_, entry.first.size());
    put(own_, std::move(entry.first), static_cast<std::size_t>(entry.second), where);
  }
  for (const VocabularyEntry& entry : added) {
    const std::optional<TokenId> id = find_own(entry.first);
    if (id && *id != entry.second) {
      throw Error(ExitStatus::input, {.where = where,
                                      .what = fmt::format("the added token '{}' has two ids", entry.first),
                                      .got = fmt::format("{}, and {} in the vocabulary", entry.second, *id),
                                      .expected = "one id"});
    }
    if (!id) put(added_, entry.first, static_cast<std::size_t>(entry.second), where);
  }
}

void TokenizerVocabulary::put(Ids& ids, std::string piece, std::size_t id, const std::string& where) {
  if (taken_[id]) {
    throw Error(ExitStatus::input, {.where = where,
                                    .what = fmt::format("two pieces have the id {}", id),
                                    .got = fmt::format("'{}' and '{}'", pieces_[id], piece),
                                    .expected = "an id for each piece"});
  }
  taken_[id] = true;
  pieces_[id] = std::move(piece);
  if (!ids.emplace(pieces_[id], static_cast<TokenId>(id)).second) {
    throw Error(ExitStatus::input, {.where = where,
                                    .what = "a piece occurs twice in the vocabulary",
                                    .got = fmt::format("'{}'", pieces_[id]),
                                    .expected = "each piece once"});
  }
}

std::optional<TokenId> TokenizerVocabulary::find_own(std::string_view piece) const {
  const auto found = own_.find(piece);
  if (found == own_.end()) return std::nullopt;
  return found->second;
}

std::optional<TokenId> TokenizerVocabulary::find(std::string_view piece) const {
  if (const std::optional<TokenId> id = find_own(piece)) return id;
  const auto found = added_.find(piece);
  if (found == added_.end()) return std::nullopt;
  return found->second;
}

bool TokenizerVocabulary::contains(TokenId id) const {
  return id >= 0 && id < end() && taken_[static_cast<std::size_t>(id)];
}

}  // namespace headwise
