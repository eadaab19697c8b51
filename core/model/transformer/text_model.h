// All that belongs to one model on disk, opened once: its files, its attention layers, its transformer and its tokenizer, or why
// there is none.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/tokenizer/tokenizer.h"
#include "core/model/transformer/transformer.h"

namespace headwise {

// A text as the model reads it.
struct ModelText {
  std::vector<TokenId> ids;
  std::vector<std::string> labels;   // one a token, as TextModel::label
  std::vector<bool> special;         // [CLS], <|endoftext|> …
  std::vector<EncodedToken> tokens;  // all of that of each, as the tokenizer has it
  std::vector<std::string> notices;  // words outside the vocabulary, what was cut: a sentence each
};

class TextModel {
 public:
  // A folder, an index or a file of arrays, as ModelFiles. The model that was asked for last is kept, and any that somebody
  // still holds is shared, as long as its files do not change. Throws Error(input) where the files are no model or their
  // config.json is wrong; a model that text cannot go into opens all the same.
  static std::shared_ptr<const TextModel> open(const std::string& path);

  const ModelFiles& files() const { return *files_; }
  const AttentionLayers& layers() const { return layers_; }
  const std::shared_ptr<const Transformer>& transformer() const {
    return transformer_;
  }  // null: no_transformer() says why
  const std::string& no_transformer() const { return no_transformer_; }
  const Tokenizer* tokenizer() const { return tokenizer_ ? &*tokenizer_ : nullptr; }  // null: no_tokenizer()
  const std::string& no_tokenizer() const { return no_tokenizer_; }
  // How many of the model's words its tokenizer has no text for, a sentence; empty where they are no more than padding.
  const std::string& nameless_words() const { return nameless_words_; }
  // Why text cannot go into the model, one line; empty where it can.
  const std::string& no_text() const { return transformer_ ? no_tokenizer_ : no_transformer_; }

  // The tokens of a text. Longer than the model's positions it is cut, what stands behind a text (the [SEP] of BERT) being
  // put behind the rest. Throws Error(input) with no_text() where text cannot go in.
  ModelText read(const std::string& text) const;

  // A token for people: a piece of WordPiece as it stands ("##ing"), a byte-level one as the text that it stands for, its
  // spaces as "·", bytes that are no character as \xNN; "#17" for an id that the tokenizer does not have.
  std::string label(TokenId id) const;

 private:
  explicit TextModel(const std::string& path);

  std::shared_ptr<const ModelFiles> files_;
  AttentionLayers layers_;
  std::shared_ptr<const Transformer> transformer_;
  std::optional<Tokenizer> tokenizer_;
  std::string no_transformer_, no_tokenizer_, nameless_words_;
};

}  // namespace headwise
