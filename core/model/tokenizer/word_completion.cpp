#include "core/model/tokenizer/word_completion.h"

#include <algorithm>

namespace headwise {
namespace {

// The start of the character that ends before `at`; at > 0.
std::size_t character_before(std::string_view text, std::size_t at) {
  --at;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) --at;
  return at;
}

bool is_letter_at(std::string_view text, std::size_t at) {
  const std::int32_t value = code_point_at(text, at).value;
  return character_class(value) == CharacterClass::letter || is_nonspacing_mark(value);
}

// A word of letters, not a piece that continues one.
bool is_whole_word(std::string_view piece, const std::string& prefix) {
  if (!prefix.empty() && piece.starts_with(prefix)) return false;
  for (std::size_t at = 0; at < piece.size(); at += code_point_at(piece, at).bytes)
    if (!is_letter_at(piece, at)) return false;
  return true;
}

}  // namespace

std::optional<std::size_t> typed_word_begin(std::string_view text, std::size_t at) {
  if (at < text.size() && is_letter_at(text, at)) return std::nullopt;
  std::size_t begin = at, letters = 0;
  while (begin > 0) {
    const std::size_t before = character_before(text, begin);
    if (!is_letter_at(text, before)) break;
    begin = before;
    ++letters;
  }
  return letters >= least_typed_letters ? std::optional(begin) : std::nullopt;
}

std::vector<std::string> completions(const Tokenizer& tokenizer, std::string_view typed, std::size_t most) {
  if (!tokenizer.has_whole_words() || typed.empty()) return {};
  const TokenizerVocabulary& vocabulary = tokenizer.vocabulary();
  const std::string beginning = tokenizer.normalised(typed), prefix = tokenizer.continuing_prefix();
  if (beginning.empty()) return {};
  std::vector<std::string_view> words;
  for (TokenId id = 0; id < vocabulary.end(); ++id) {
    if (!vocabulary.contains(id) || tokenizer.is_special(id)) continue;
    const std::string_view piece = vocabulary.piece(id);
    if (piece.size() > beginning.size() && piece.starts_with(beginning) && is_whole_word(piece, prefix))
      words.push_back(piece);
  }
  std::ranges::stable_sort(words, {}, [](std::string_view word) { return word.size(); });
  std::vector<std::string> made;
  for (std::size_t i = 0; i < std::min(most, words.size()); ++i)
    made.push_back(std::string(typed) + std::string(words[i].substr(beginning.size())));
  return made;
}

}  // namespace headwise
