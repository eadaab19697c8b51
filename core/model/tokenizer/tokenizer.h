// Text → the tokens of a trained model, and back:
// computes what Hugging Face's `tokenizers` does from the same files.
//
//   text ──► pieces between added tokens ──► normalised ──► words ──► tokens of the vocabulary ──► [CLS] …
//   [SEP] around them
//            (special tokens in the text)    (BERT: lower case …)     (WordPiece, BPE or Unigram)
//
// load_tokenizer reads one. Immutable; may be used by several threads at once.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/tokenizer/tokenizer_vocabulary.h"
#include "core/model/tokenizer/unicode_text.h"

namespace headwise {

struct EncodedToken {
  TokenId id = 0;     // no_token: an unknown word that has no id
  std::string piece;  // as in the vocabulary: "##ing", "Ġthe", "[CLS]"; empty for no_token
  // The bytes of the text that it represents, including a leading space. Byte-level tokens may begin or end
  // inside a character. begin == end for tokens that represent no bytes: [CLS], [SEP], <s>.
  std::size_t begin = 0, end = 0;
  bool special = false;  // a special token: put around the text, or written in it ("[MASK]", "<|endoftext|>")
  bool unknown = false;  // the vocabulary has nothing for these bytes: [UNK]
};

// What the kinds of tokenizers do differently.
class TokenizerModel {
 public:
  virtual ~TokenizerModel() = default;
  // "WordPiece", "byte-level BPE", "SentencePiece BPE", "SentencePiece Unigram", "word list", "characters"
  virtual std::string kind() const = 0;
  // Whether a word of everyday use is one token as a rule, so that a word of several pieces is a rare one.
  virtual bool has_whole_words() const { return false; }
  // What a piece that continues a word begins with: "##"; empty if no piece says so.
  virtual std::string continuing_prefix() const { return {}; }
  virtual AlignedText normalised(const AlignedText& text) const = 0;
  // Appends the tokens of [begin, end) of a normalised text that contains no added tokens.
  virtual void encode(const AlignedText& text, std::size_t begin, std::size_t end,
                      std::vector<EncodedToken>& into) const = 0;
  // The text of these pieces, joined.
  virtual std::string decode(std::span<const std::string_view> pieces) const = 0;
};

enum class SpecialTokens { add, leave_out };

class Tokenizer {
 public:
  // `prefix` and `suffix` are put around every text. The vocabulary is shared because the model refers to it.
  Tokenizer(std::shared_ptr<const TokenizerVocabulary> vocabulary, std::unique_ptr<TokenizerModel> model,
            std::vector<AddedToken> added, std::vector<TokenId> prefix, std::vector<TokenId> suffix);

  std::string kind() const { return model_->kind(); }
  bool has_whole_words() const { return model_->has_whole_words(); }
  std::string continuing_prefix() const { return model_->continuing_prefix(); }
  // The text as it is looked up in the vocabulary: "The" → "the" for BERT uncased.
  std::string normalised(std::string_view text) const {
    return std::string(model_->normalised(AlignedText(text, 0)).text());
  }
  const TokenizerVocabulary& vocabulary() const { return *vocabulary_; }
  bool is_special(TokenId id) const;

  // The tokens in the order of the text. `leave_out` omits what is put around the text, not what is written
  // in it. No padding, no truncation, whatever the file says. Time is nearly linear in the text. Bytes that
  // are not UTF-8: WordPiece drops them, byte-level BPE keeps them. Throws Error(memory) if the tokens would
  // not fit, Error(input) for a text of 4 GiB.
  std::vector<EncodedToken> encode(std::string_view text, SpecialTokens special = SpecialTokens::add) const;

  // The text of the ids. Byte-level BPE returns the bytes that were encoded, which at a cut may not be a
  // whole character; WordPiece returns what is left after lower casing, with spaces between words.
  // `leave_out` omits all special tokens. Throws Error(input) for an id that is not in the vocabulary.
  std::string decode(std::span<const TokenId> ids, SpecialTokens special = SpecialTokens::leave_out) const;

 private:
  void encode_section(const AlignedText& text, std::vector<EncodedToken>& into) const;
  EncodedToken added_token(std::size_t which, ByteRange range) const;

  std::shared_ptr<const TokenizerVocabulary> vocabulary_;
  std::unique_ptr<TokenizerModel> model_;
  std::vector<AddedToken> added_;
  AddedTokenMatcher in_text_, in_normalised_;
  std::vector<bool> special_;  // by id
  std::vector<TokenId> prefix_, suffix_;
};

// The tokenizer of a model, from the files next to its weights.

// A folder: its tokenizer.json, else vocab.txt, else vocab.json with merges.txt. Or one of these files.
//
//   tokenizer.json          tokenizer_from_json.h
//   vocab.txt               WordPiece, one piece per line, the first has id 0; for a duplicate piece the last
//                           line counts. Its tokenizer_config.json, if any, sets do_lower_case (else true),
//                           strip_accents (else as do_lower_case), tokenize_chinese_chars, and other names
//                           for [UNK], [CLS], [SEP], [PAD], [MASK]. [CLS] and [SEP] are put around a text if
//                           the list has both. A list with <|endoftext|> and without [CLS] is a list of whole
//                           words: a text is split at white space, and <|endoftext|> is put in front.
//   vocab.json, merges.txt  byte-level BPE, by tokenizer_class in tokenizer_config.json: GPT-2 (and OPT),
//                           GPT-NeoX, RoBERTa (<s> and </s> around a text) or Qwen2. Without it, RoBERTa if
//                           <s>, </s> and <mask> are in the vocabulary and <|endoftext|> is not, else GPT-2;
//                           add_prefix_space, add_bos_token and special tokens come from there. With the
//                           config.json of an OPT it must give add_bos_token.
//
// Throws Error(input) if there is none, for SentencePiece's own files (tokenizer.model), for an unsupported
// tokenizer_class, for files above 64 MiB and for damaged ones; Error(memory).
Tokenizer load_tokenizer(const std::string& path);

}  // namespace headwise
