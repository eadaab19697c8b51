#include "core/model/tokenizer/word_list.h"

#include <utility>

#include "core/tensor/join.h"

namespace headwise {
namespace {

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

std::unique_ptr<TokenizerModel> make_word_list(std::shared_ptr<const TokenizerVocabulary> vocabulary,
                                               const WordListOptions& options) {
  return std::make_unique<WordList>(std::move(vocabulary), options);
}

}  // namespace headwise
