// The tokenizer of a model, from the files that lie beside its weights.
#pragma once

#include <string>

#include "core/model/tokenizer/tokenizer.h"

namespace headwise {

// A folder: of its tokenizer.json, else vocab.txt, else vocab.json with merges.txt. Or one of these files.
//
//   tokenizer.json          tokenizer_from_json.h
//   vocab.txt               WordPiece, a piece a line, the first has id 0; of a piece that stands there twice the last
//                           line counts. Its tokenizer_config.json, where there is one, says do_lower_case (else true),
//                           strip_accents (else as do_lower_case), tokenize_chinese_chars, and other names for [UNK],
//                           [CLS], [SEP], [PAD], [MASK]. [CLS] and [SEP] are put around a text where the list has both.
//                           One with <|endoftext|> and without [CLS] is a list of whole words: a text is cut at white space,
//                           <|endoftext|> stands in front.
//   vocab.json, merges.txt  byte-level BPE as tokenizer_class of tokenizer_config.json says: GPT-2 (and OPT), GPT-NeoX, RoBERTa
//                           (<s> and </s> around a text) or Qwen2. Where nothing says it, RoBERTa with <s>, </s> and <mask>
//                           in the vocabulary and no <|endoftext|>, else GPT-2; add_prefix_space, add_bos_token and special
//                           tokens from there. Beside a config.json of an OPT it has to say add_bos_token.
//
// Throws Error(input) where there is none, for SentencePiece's own files (tokenizer.model), for a tokenizer_class of another kind, for files above
// 64 MiB and for what is damaged; Error(memory).
Tokenizer load_tokenizer(const std::string& path);

}  // namespace headwise
