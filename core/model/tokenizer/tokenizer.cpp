#include "core/model/tokenizer/tokenizer.h"

#include <fmt/format.h>

#include <limits>

#include "core/tensor/error.h"
#include "core/tensor/memory.h"

namespace headwise {

Tokenizer::Tokenizer(std::shared_ptr<const TokenizerVocabulary> vocabulary,
                     std::unique_ptr<TokenizerModel> model, std::vector<AddedToken> added,
                     std::vector<TokenId> prefix, std::vector<TokenId> suffix)
    : vocabulary_(std::move(vocabulary)),
      model_(std::move(model)),
      added_(std::move(added)),
      special_(static_cast<std::size_t>(vocabulary_->end())),
      prefix_(std::move(prefix)),
      suffix_(std::move(suffix)) {
  std::vector<std::string> raw(added_.size()), normalised(added_.size());
  for (std::size_t i = 0; i < added_.size(); ++i) {
    const AddedToken& token = added_[i];
    special_[static_cast<std::size_t>(token.id)] = token.special;
    if (token.normalized) {
      normalised[i] = model_->normalised(AlignedText(token.content, 0)).text();
    } else {
      raw[i] = token.content;
    }
  }
  in_text_ = AddedTokenMatcher(added_, raw);
  in_normalised_ = AddedTokenMatcher(added_, normalised);
}

bool Tokenizer::is_special(TokenId id) const {
  return vocabulary_->contains(id) && special_[static_cast<std::size_t>(id)];
}

EncodedToken Tokenizer::added_token(std::size_t which, ByteRange range) const {
  const AddedToken& token = added_[which];
  return {token.id, token.content, range.begin, range.end, token.special, false};
}

void Tokenizer::encode_section(const AlignedText& text, std::vector<EncodedToken>& into) const {
  const AlignedText normalised = model_->normalised(text);
  for (const TextSection& section : in_normalised_.sections(normalised.text())) {
    if (section.added >= 0) {
      into.push_back(added_token(static_cast<std::size_t>(section.added),
                                 normalised.origin(section.begin, section.end)));
    } else {
      model_->encode(normalised, section.begin, section.end, into);
    }
  }
}

std::vector<EncodedToken> Tokenizer::encode(std::string_view text, SpecialTokens special) const {
  if (text.size() >= std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ExitStatus::input, {.where = "the text",
                                    .what = "it is too long for a tokenizer",
                                    .got = bytes_text(static_cast<Index>(text.size())),
                                    .expected = "less than 4 GiB"});
  }
  // At most one token per byte, and a range for each byte of the normalised text.
  require_memory(static_cast<Index>(text.size() * (sizeof(EncodedToken) + 2 * sizeof(AlignedCodePoint))),
                 "the tokens of the text");
  std::vector<EncodedToken> tokens;
  const auto add_around = [&](const std::vector<TokenId>& ids, std::size_t at) {
    if (special == SpecialTokens::leave_out) return;
    for (const TokenId id : ids) tokens.push_back({id, vocabulary_->piece(id), at, at, true, false});
  };
  add_around(prefix_, 0);
  for (const TextSection& section : in_text_.sections(text)) {
    if (section.added >= 0) {
      tokens.push_back(
          added_token(static_cast<std::size_t>(section.added),
                      {static_cast<std::uint32_t>(section.begin), static_cast<std::uint32_t>(section.end)}));
    } else {
      encode_section(AlignedText(text.substr(section.begin, section.end - section.begin), section.begin),
                     tokens);
    }
  }
  add_around(suffix_, text.size());
  return tokens;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, SpecialTokens special) const {
  std::vector<std::string_view> pieces;
  pieces.reserve(ids.size());
  for (const TokenId id : ids) {
    if (!vocabulary_->contains(id)) {
      throw Error(ExitStatus::input, {.where = "the ids",
                                      .what = "the vocabulary has no such id",
                                      .got = fmt::format("{}", id),
                                      .expected = fmt::format("0 to {}", vocabulary_->end() - 1)});
    }
    if (special == SpecialTokens::leave_out && is_special(id)) continue;
    pieces.emplace_back(vocabulary_->piece(id));
  }
  return model_->decode(pieces);
}

}  // namespace headwise
