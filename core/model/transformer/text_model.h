// Everything belonging to one model on disk, opened once: its files, its attention layers, its transformer
// and its tokenizer, or why it has none.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/files/model_files.h"
#include "core/model/tokenizer/tokenizer.h"
#include "core/model/transformer/transformer.h"

namespace headwise {

// A text as the model reads it.
struct ModelText {
  std::vector<TokenId> ids;
  std::vector<std::string> labels;   // one per token, as TextModel::label
  std::vector<bool> special;         // [CLS], <|endoftext|> …
  std::vector<EncodedToken> tokens;  // all tokens, with everything the tokenizer knows about them
  std::vector<std::string> notices;  // words outside the vocabulary, what was truncated: one sentence each
};

class TextModel {
 public:
  // A folder, an index or an array file, like ModelFiles. The most recently requested model is kept, and any
  // still in use is shared, as long as its files do not change. Throws Error(input) if the files are not a
  // model or their config.json is invalid; a model that cannot read text opens all the same.
  static std::shared_ptr<const TextModel> open(const std::string& path);

  const ModelFiles& files() const { return *files_; }
  const AttentionLayers& layers() const { return layers_; }
  const std::shared_ptr<const Transformer>& transformer() const {
    return transformer_;
  }  // null: no_transformer() says why
  const std::string& no_transformer() const { return no_transformer_; }
  const Tokenizer* tokenizer() const { return tokenizer_ ? &*tokenizer_ : nullptr; }  // null: no_tokenizer()
  const std::string& no_tokenizer() const { return no_tokenizer_; }
  // How many of the model's tokens have no text in its tokenizer, a sentence; empty if they are only padding.
  const std::string& nameless_words() const { return nameless_words_; }
  const TrainedTask& task() const { return task_; }
  // Why the model cannot read text, one line; empty if it can.
  const std::string& no_text() const { return transformer_ ? no_tokenizer_ : no_transformer_; }

  // The tokens of a text. If there are more than the model has positions, they are truncated, keeping what
  // follows a text (the [SEP] of BERT) at the end. Throws Error(input) with no_text() if the model cannot
  // read text, Error(usage) that names the unknown words if its vocabulary has no token for them.
  ModelText read(const std::string& text) const;

  // A human-readable token: a WordPiece piece as it is ("##ing"), a byte-level one as the text that it
  // represents, with spaces as "·" and bytes that are not a character as \xNN; of characters "␣" for a space
  // and "↵" for the end of a line; "#17" for an id that is not in the tokenizer.
  std::string label(TokenId id) const;

 private:
  explicit TextModel(const std::string& path);

  std::shared_ptr<const ModelFiles> files_;
  AttentionLayers layers_;
  std::shared_ptr<const Transformer> transformer_;
  std::optional<Tokenizer> tokenizer_;
  std::string no_transformer_, no_tokenizer_, nameless_words_;
  TrainedTask task_;
};

}  // namespace headwise
