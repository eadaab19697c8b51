// Masks as a question asked of every cell, and what programs do with a row in which a mask leaves nothing.
#pragma once

#include <functional>
#include <optional>

#include "core/compare/program_variants.h"

namespace headwise {

// Whether the score of query l and key s, of batch n and head h, is blocked.
using Blocks = std::function<bool(Index n, Index h, Index l, Index s)>;

// Which of the given masks are merged.
struct MaskChoice {
  bool attn_mask = true, padding = true;  // padding: key_padding_mask and valid_lens
  bool by_position = true;                // is_causal, sliding_window, ALiBi
};

// mask_bias of some of the masks alone, in f64; of none: zeros.
Tensor merged_masks(const Trace& so_far, const MaskChoice& choice);

// A change of mask_bias to that of `others`, with −inf where `blocks` says so; appended columns are never blocked.
StageChange blocked_where(const MaskChoice& others, Blocks blocks);

// The variant as it is, and with what other programs do with blocked cells: a fully masked row as NaN or as zeros,
// blocked cells filled with a finite number, or such a number added to them. `seen` is the number that theirs shows.
void add_with_row_answers(const AttentionOptions& options, const ProgramVariant& variant,
                          ProgramVariants& variants);

}  // namespace headwise
