#include "core/model/tokenizer/tokenizer_vocabulary.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/files/input_file.h"
#include "core/model/tokenizer/unicode_text.h"

namespace headwise {
namespace {

// The maximum number of unused ids; models round the vocabulary size up to a multiple of some hundred at
// most.
constexpr std::size_t most_gaps = 100'000;

std::int64_t largest_id(const std::vector<VocabularyEntry>& entries, const std::string& where) {
  std::int64_t largest = -1;
  for (const VocabularyEntry& entry : entries) {
    if (entry.second < 0 || entry.second >= most_token_ids)
      refuse_input(where, "an id of the vocabulary is out of range",
                   fmt::format("'{}' = {}", entry.first, entry.second),
                   fmt::format("0 to {}", most_token_ids - 1));
    largest = std::max(largest, entry.second);
  }
  return largest;
}

// The beginning of the code point that ends at `end`.
std::size_t previous(std::string_view text, std::size_t end) {
  std::size_t begin = end - 1;
  while (begin > 0 && end - begin < 4 && (text[begin] & 0xC0) == 0x80) --begin;
  return begin;
}

bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
  const bool before = begin > 0 && is_word_character(code_point_at(text, previous(text, begin)).value);
  return !before && !(end < text.size() && is_word_character(code_point_at(text, end).value));
}

std::size_t without_space_before(std::string_view text, std::size_t least, std::size_t at) {
  while (at > least && is_white_space(code_point_at(text, previous(text, at)).value)) at = previous(text, at);
  return at;
}

std::size_t behind_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_white_space(code_point_at(text, at).value))
    at += code_point_at(text, at).bytes;
  return at;
}

}  // namespace

TokenizerVocabulary::TokenizerVocabulary(std::vector<VocabularyEntry> own,
                                         const std::vector<VocabularyEntry>& added, const std::string& where) {
  const auto size = static_cast<std::size_t>(std::max(largest_id(own, where), largest_id(added, where)) + 1);
  if (size > own.size() + added.size() + most_gaps)
    refuse_input(where, "the ids of the vocabulary have wide gaps",
                 fmt::format("{} pieces, the largest id {}", own.size() + added.size(), size - 1),
                 "consecutive ids from 0");
  pieces_.resize(size);
  taken_.resize(pieces_.size());
  own_.reserve(own.size());
  for (VocabularyEntry& entry : own) {
    longest_ = std::max(longest_, entry.first.size());
    put(own_, std::move(entry.first), static_cast<std::size_t>(entry.second), where);
  }
  for (const VocabularyEntry& entry : added) {
    const std::optional<TokenId> id = find_own(entry.first);
    if (id && *id != entry.second)
      refuse_input(where, fmt::format("the added token '{}' has two ids", entry.first),
                   fmt::format("{}, and {} in the vocabulary", entry.second, *id), "one id");
    if (!id) put(added_, entry.first, static_cast<std::size_t>(entry.second), where);
  }
}

void TokenizerVocabulary::put(Ids& ids, std::string piece, std::size_t id, const std::string& where) {
  if (taken_[id])
    refuse_input(where, fmt::format("two pieces have the id {}", id),
                 fmt::format("'{}' and '{}'", pieces_[id], piece), "an id for each piece");
  taken_[id] = true;
  pieces_[id] = std::move(piece);
  if (!ids.emplace(pieces_[id], static_cast<TokenId>(id)).second)
    refuse_input(where, "a piece occurs twice in the vocabulary", fmt::format("'{}'", pieces_[id]),
                 "each piece once");
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

std::vector<VocabularyEntry> entries_of(const std::vector<AddedToken>& tokens) {
  std::vector<VocabularyEntry> entries;
  entries.reserve(tokens.size());
  for (const AddedToken& token : tokens) entries.emplace_back(token.content, token.id);
  return entries;
}

AddedTokenMatcher::AddedTokenMatcher(const std::vector<AddedToken>& tokens,
                                     const std::vector<std::string>& patterns)
    : tokens_(tokens) {
  token_at_.push_back(-1);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    std::uint32_t node = 0;
    for (const char c : patterns[i]) {
      const std::uint64_t edge = std::uint64_t{node} * 256 + static_cast<unsigned char>(c);
      const auto [found, fresh] = next_.emplace(edge, static_cast<std::uint32_t>(token_at_.size()));
      if (fresh) token_at_.push_back(-1);
      node = found->second;
    }
    if (!patterns[i].empty()) token_at_[node] = static_cast<int>(i);
  }
}

AddedTokenMatcher::Match AddedTokenMatcher::longest_at(std::string_view text, std::size_t at) const {
  Match match;
  std::uint32_t node = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    const auto found = next_.find(std::uint64_t{node} * 256 + static_cast<unsigned char>(text[i]));
    if (found == next_.end()) break;
    node = found->second;
    if (token_at_[node] >= 0) match = {token_at_[node], i + 1 - at};
  }
  return match;
}

std::vector<TextSection> AddedTokenMatcher::sections(std::string_view text) const {
  std::vector<TextSection> sections;
  std::size_t done = 0;
  for (std::size_t at = 0; !next_.empty() && at < text.size();) {
    const Match match = longest_at(text, at);
    if (match.token < 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<std::size_t>(match.token)];
    std::size_t begin = at, end = at + match.length;
    at = end;
    if (token.single_word && !stands_alone(text, begin, end)) continue;
    if (token.lstrip) begin = without_space_before(text, done, begin);
    if (token.rstrip) at = end = behind_space(text, end);
    if (begin > done) sections.push_back({done, begin, -1});
    sections.push_back({begin, end, match.token});
    done = end;
  }
  if (done < text.size()) sections.push_back({done, text.size(), -1});
  return sections;
}

}  // namespace headwise
