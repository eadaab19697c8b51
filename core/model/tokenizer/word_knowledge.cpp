#include "core/model/tokenizer/word_knowledge.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr std::size_t longest_shown = 40, most_shown_pieces = 12;  // bytes of a word; pieces of it

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

class WordList : public TokenizerModel {
 public:
  WordList(std::shared_ptr<const TokenizerVocabulary> vocabulary, WordListOptions options)
      : vocabulary_(std::move(vocabulary)),
        options_(std::move(options)),
        unknown_(vocabulary_->find_own(options_.unk_token)) {}

  std::string kind() const override { return options_.splits_characters ? "characters" : "word list"; }
  bool has_whole_words() const override { return !options_.splits_characters; }
  AlignedText normalised(const AlignedText& text) const override { return text; }
  void encode(const AlignedText& text, std::size_t begin, std::size_t end,
              std::vector<EncodedToken>& into) const override;
  std::string decode(std::span<const std::string_view> pieces) const override {
    return join(pieces, options_.between);
  }

 private:
  EncodedToken token(const AlignedText& text, std::size_t begin, std::size_t end) const;

  std::shared_ptr<const TokenizerVocabulary> vocabulary_;
  WordListOptions options_;
  std::optional<TokenId> unknown_;
};

EncodedToken WordList::token(const AlignedText& text, std::size_t begin, std::size_t end) const {
  const std::optional<TokenId> found = vocabulary_->find_own(text.text().substr(begin, end - begin));
  const TokenId id = found.value_or(unknown_.value_or(no_token));
  const ByteRange range = text.origin(begin, end);
  return {id,          id == no_token ? "" : vocabulary_->piece(id),
          range.begin, range.end,
          false,       id == no_token || id == unknown_};
}

void WordList::encode(const AlignedText& text, std::size_t begin, std::size_t end,
                      std::vector<EncodedToken>& into) const {
  const std::string_view all = text.text();
  std::size_t word = begin;
  const auto end_word = [&](std::size_t at, std::size_t next) {
    if (at > word) into.push_back(token(text, word, at));
    word = next;
  };
  for (std::size_t at = begin; at < end;) {
    const CodePoint point = code_point_at(all, at);
    const std::size_t next = at + point.bytes;
    if (options_.splits_characters) {
      end_word(next, next);
    } else if (is_white_space(point.value)) {
      end_word(at, next);
    }
    at = next;
  }
  end_word(end, end);
}

}  // namespace

std::vector<HardlyKnownWord> hardly_known_words(const Tokenizer& tokenizer,
                                                std::span<const EncodedToken> tokens) {
  const std::string prefix = tokenizer.continuing_prefix();
  const bool split_counts = tokenizer.has_whole_words() && !prefix.empty();
  std::vector<HardlyKnownWord> words;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const EncodedToken& token = tokens[i];
    if (token.special) continue;
    if (token.unknown) words.push_back({token.begin, token.end, WordKnowledge::unknown, {token.piece}});
    const auto continues = [&](std::size_t at) {
      return at < tokens.size() && !tokens[at].special && !tokens[at].unknown &&
             tokens[at].piece.starts_with(prefix);
    };
    if (token.unknown || !split_counts || !continues(i + 1)) continue;
    HardlyKnownWord word{token.begin, token.end, WordKnowledge::split, {token.piece}};
    for (; continues(i + 1); ++i) {
      word.pieces.push_back(tokens[i + 1].piece);
      word.end = tokens[i + 1].end;
    }
    words.push_back(std::move(word));
  }
  return words;
}

std::vector<HardlyKnownWord> hardly_known_words(const Tokenizer& tokenizer, std::string_view text) {
  return hardly_known_words(tokenizer, tokenizer.encode(text, SpecialTokens::leave_out));
}

std::string knowledge_sentence(const HardlyKnownWord& word, std::string_view text) {
  const std::string shown =
      one_line(std::string(text.substr(word.begin, word.end - word.begin)), longest_shown);
  if (word.knowledge == WordKnowledge::unknown && word.pieces.front().empty())
    return fmt::format("“{}” is not in the model's vocabulary, which has no token for unknown words.", shown);
  if (word.knowledge == WordKnowledge::unknown)
    return fmt::format("“{}” is not in the model's vocabulary: it is read as {}.", shown, word.pieces.front());
  std::vector<std::string> pieces = word.pieces;
  if (pieces.size() > most_shown_pieces) {
    pieces.resize(most_shown_pieces);
    pieces.emplace_back("…");
  }
  return fmt::format("“{}” is split into {} pieces, {}: the model knows it only by these.", shown,
                     word.pieces.size(), join(pieces, " "));
}

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

std::unique_ptr<TokenizerModel> make_word_list(std::shared_ptr<const TokenizerVocabulary> vocabulary,
                                               const WordListOptions& options) {
  return std::make_unique<WordList>(std::move(vocabulary), options);
}

}  // namespace headwise
