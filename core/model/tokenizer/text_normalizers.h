// The normalizer of a tokenizer.json: steps that change a text before it is split into words.
#pragma once

#include <functional>
#include <vector>

#include "core/files/json_value.h"
#include "core/model/tokenizer/unicode_text.h"

namespace headwise {

// One after the other. Throw Error(input) where a text becomes longer than `most` bytes.
using TextSteps = std::vector<std::function<AlignedText(const AlignedText&, std::size_t most)>>;

// From the value of "normalizer"; none if it is null. Supported: Precompiled (the character map of
// SentencePiece), Replace of a string or of " {2,}", NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Strip,
// Prepend, and a Sequence of them. Throws Error(input), which names what is not supported or damaged.
TextSteps read_text_steps(const JsonValue& normalizer);

// Throws Error(input) for a text that the steps make many times as long.
AlignedText after_steps(const TextSteps& steps, const AlignedText& text);

}  // namespace headwise
