// Byte-level byte-pair encoding (Sennrich et al. 2016; over bytes as in GPT-2, Radford et al. 2019): each
// byte is a character of a printable alphabet, each word a sequence of them, and the pair that comes first in
// the list of merges is joined until none is left.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/tokenizer/tokenizer.h"

namespace headwise {

// How byte-level BPE splits a text into words before merging:
// the regular expressions of model families, matched by hand.

enum class SplitPattern {
  none,    // the whole text is one word
  gpt2,    // GPT-2, RoBERTa, GPT-NeoX, OPT
  llama3,  // Llama 3, GPT-4 (cl100k): up to 3 digits per word
  qwen2,   // Qwen2 and 2.5: as Llama 3, but one digit per word
  bloom,   // BLOOM: a space and a run of neither white space nor punctuation
  digits,  // each number is a word of its own, what is between them another (SmolLM, StarCoder; before gpt2)
};

// The pattern with this regular expression, compared character by character; nullopt if it is not known.
std::optional<SplitPattern> known_split_pattern(std::string_view regex);

// The end of the word that begins at `at`. No byte is skipped: words tile the text. at < text.size().
std::size_t split_word_end(SplitPattern pattern, std::string_view text, std::size_t at);

// The step that turns bytes into the alphabet; it may split, too.
struct ByteLevelStep {
  bool add_prefix_space = false;  // before what does not begin with a space
  SplitPattern split = SplitPattern::gpt2;
};

struct BytePairOptions {
  bool nfc = false;                  // the text is first normalised to NFC (Qwen2, GPT-NeoX)
  std::vector<SplitPattern> splits;  // applied in order, before `byte_level`
  ByteLevelStep byte_level;
  bool ignore_merges =
      false;              // a word that is in the vocabulary is one token, whatever the merges say (Llama 3)
  std::string unk_token;  // for a byte that is not in the vocabulary; "": the byte is dropped
  bool fuse_unk = false;  // one for several such bytes in a row
};

// merges[i] joins two pieces; the first has the lowest rank. A byte missing from the vocabulary is dropped if
// there is no unk_token, as in `tokenizers`. Throws Error(input), beginning with `where`: a merge of pieces,
// or one producing a piece, that is not in the vocabulary; an unk_token that is not in it.
std::unique_ptr<TokenizerModel> make_byte_level_bpe(std::shared_ptr<const TokenizerVocabulary> vocabulary,
                                                    const std::vector<std::pair<std::string, std::string>>& merges,
                                                    const BytePairOptions& options, const std::string& where);

// The printable character that represents a byte: itself from ! to ~ and from ¡ to ÿ except the soft hyphen,
// the others from U+0100 on. Space is Ġ.
std::int32_t byte_level_character(unsigned char byte);

}  // namespace headwise
