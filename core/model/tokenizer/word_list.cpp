#include "core/model/tokenizer/word_list.h"

#include <fmt/format.h>

#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

class WordList : public TokenizerModel {
 public:
  WordList(std::shared_ptr<const TokenizerVocabulary> vocabulary, TokenId unknown)
      : vocabulary_(std::move(vocabulary)), unknown_(unknown) {}

  std::string kind() const override { return "word list"; }
  bool has_whole_words() const override { return true; }
  AlignedText normalised(const AlignedText& text) const override { return text; }
  void encode(const AlignedText& text, std::size_t begin, std::size_t end,
              std::vector<EncodedToken>& into) const override;
  std::string decode(std::span<const std::string_view> pieces) const override { return join(pieces, " "); }

 private:
  std::shared_ptr<const TokenizerVocabulary> vocabulary_;
  TokenId unknown_;
};

void WordList::encode(const AlignedText& text, std::size_t begin, std::size_t end,
                      std::vector<EncodedToken>& into) const {
  const std::string_view all = text.text();
  std::size_t word = begin;
  const auto end_word = [&](std::size_t at, std::size_t next) {
    if (at > word) {
      const std::optional<TokenId> found = vocabulary_->find_own(all.substr(word, at - word));
      const TokenId id = found.value_or(unknown_);
      const ByteRange range = text.origin(word, at);
      into.push_back({id, vocabulary_->piece(id), range.begin, range.end, false, id == unknown_});
    }
    word = next;
  };
  for (std::size_t at = begin; at < end;) {
    const CodePoint point = code_point_at(all, at);
    if (is_white_space(point.value)) end_word(at, at + point.bytes);
    at += point.bytes;
  }
  end_word(end, end);
}

}  // namespace

std::unique_ptr<TokenizerModel> make_word_list(std::shared_ptr<const TokenizerVocabulary> vocabulary,
                                               const std::string& unk_token, const std::string& where) {
  const std::optional<TokenId> unknown = vocabulary->find_own(unk_token);
  if (!unknown) {
    throw Error(ExitStatus::input,
                {.where = where,
                 .what = fmt::format("the vocabulary has no '{}', which stands for unknown words", unk_token),
                 .expected = fmt::format("a word '{}'", unk_token),
                 .remedy = "add it to the vocabulary"});
  }
  return std::make_unique<WordList>(std::move(vocabulary), *unknown);
}

}  // namespace headwise
