// A tokenizer.json, as Hugging Face's `tokenizers` writes it.
#pragma once

#include <string>
#include <string_view>

#include "core/model/tokenizer/tokenizer.h"

namespace headwise {

// Supported: model WordPiece with BertNormalizer and BertPreTokenizer; model BPE over bytes (pre_tokenizer
// ByteLevel, or a Sequence of Split with a known regular expression, Digits and ByteLevel), with no
// normalizer or NFC; model BPE over characters with "▁" for spaces (SentencePiece: the normalizers Prepend
// and Replace, or Metaspace that does not split); model WordLevel split at white space (WhitespaceSplit) or
// into characters (Split at [\s\S]); model Unigram behind WhitespaceSplit, Metaspace, both or none, with the
// normalizers of core/model/tokenizer/text_normalizers.h. Post-processors: BertProcessing, RobertaProcessing,
// TemplateProcessing, ByteLevel, and a Sequence of them. Padding and truncation are ignored. Throws
// Error(input), beginning with `where`, that names what is not supported: an unknown normalizer or regular
// expression, and anything damaged.
Tokenizer tokenizer_from_json(std::string_view json, const std::string& where);

}  // namespace headwise
