// The tokenizer of a model, from the files next to its weights.
#pragma once

#include <string>

#include "core/model/tokenizer/tokenizer.h"

namespace headwise {

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
