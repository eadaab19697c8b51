// Everything belonging to one model on disk, opened once: its files, its attention layers, its transformer
// and what makes tokens of a text or a picture, or why it has none.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/model/files/model_files.h"
#include "core/model/picture/picture_processor.h"
#include "core/model/tokenizer/tokenizer.h"
#include "core/model/transformer/transformer.h"

namespace headwise {

// A picture as the model reads it.
struct ModelPicture {
  std::string path, identity;  // identity: changes with the file
  PatchGrid grid;
  RgbPicture shown;        // resized and cropped, what the patches are cut from
  TensorPtr pixel_values;  // (C,H,W) in f32
  std::string notice;      // a sentence, or empty
};

// A text or a picture as the model reads it.
struct ModelText {
  std::vector<TokenId> ids;          // of a text; a picture's tokens have none
  std::vector<std::string> labels;   // one per token, as TextModel::label
  std::vector<bool> special;         // [CLS], <|endoftext|> …
  std::vector<EncodedToken> tokens;  // all tokens, with everything the tokenizer knows about them
  std::vector<std::string> notices;  // words outside the vocabulary, what was truncated: one sentence each
  std::shared_ptr<const ModelPicture> picture = nullptr;  // null: it is a text

  Index length() const { return static_cast<Index>(labels.size()); }
  // Whether it is the same for the model.
  friend bool operator==(const ModelText& a, const ModelText& b) {
    return a.ids == b.ids && a.picture == b.picture;
  }
};

class TextModel {
 public:
  // A folder, an index or an array file, like ModelFiles. The most recently requested model is kept, and any
  // still in use is shared, as long as its files do not change. Throws Error(input) if the files are not a
  // model or their config.json is invalid; a model that cannot read text opens all the same.
  static std::shared_ptr<const TextModel> open(const std::string& path);

  const ModelFiles& files() const { return *files_; }
  const AttentionLayers& layers() const { return layers_; }
  // Null: no_text() says why.
  const std::shared_ptr<const Transformer>& transformer() const { return transformer_; }
  const Tokenizer* tokenizer() const { return tokenizer_ ? &*tokenizer_ : nullptr; }  // null: no_tokenizer()
  const std::string& no_tokenizer() const { return no_tokenizer_; }
  // How many of the model's tokens have no text in its tokenizer, a sentence; empty if they are only padding.
  const std::string& nameless_words() const { return nameless_words_; }
  const TrainedTask& task() const { return task_; }
  // Why the model cannot read text, one line; empty if it can. The same of a picture.
  const std::string& no_text() const { return transformer_ ? no_tokenizer_ : no_transformer_; }
  const std::string& no_picture() const { return transformer_ ? no_picture_ : no_transformer_; }

  // The tokens of a text. If there are more than the model has positions, they are truncated, keeping what
  // follows a text (the [SEP] of BERT) at the end. Throws Error(input) with no_text() if the model cannot
  // read text, Error(usage) that names the unknown words if its vocabulary has no token for them.
  ModelText read(const std::string& text) const;
  // The patches of the PNG at `path`, as preprocessor_config.json prepares it. Throws Error(input) with
  // no_picture(), and for a PNG that cannot be read. The last one read is kept as long as its file does not
  // change.
  ModelText read_picture(const std::string& path) const;
  // What the transformer computes of either.
  Transformer::Pass run(const ModelText& read, const Transformer::RunOptions& options) const {
    return read.picture ? transformer_->run(*read.picture->pixel_values, options)
                        : transformer_->run(read.ids, options);
  }

  // A human-readable token: a WordPiece piece as it is ("##ing"), a byte-level one as the text that it
  // represents, with spaces as "·" and bytes that are not a character as \xNN; of characters "␣" for a space
  // and "↵" for the end of a line; "#17" for an id that is not in the tokenizer. Of a model of pictures the
  // name of a class, as config.json gives it (id2label).
  std::string label(TokenId id) const;

 private:
  explicit TextModel(const std::string& path);

  std::shared_ptr<const ModelFiles> files_;
  AttentionLayers layers_;
  std::shared_ptr<const Transformer> transformer_;
  std::optional<Tokenizer> tokenizer_;
  std::vector<std::string> classes_;  // of a model of pictures
  std::optional<PictureProcessor> processor_;
  std::string no_transformer_, no_tokenizer_, no_picture_, nameless_words_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const ModelPicture> last_picture_;
  TrainedTask task_;
};

}  // namespace headwise
