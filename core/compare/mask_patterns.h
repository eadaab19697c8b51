// Masks as a predicate on cells, and what programs do with a row in which a mask blocks everything.
#pragma once

#include <functional>
#include <optional>

#include "core/compare/program_variants.h"

namespace headwise {

// Whether the score of query l and key s, in batch n and head h, is blocked.
using Blocks = std::function<bool(Index n, Index h, Index l, Index s)>;

// Which of the given masks are merged.
struct MaskChoice {
  bool attn_mask = true, padding = true;  // padding: key_padding_mask and valid_lens
  bool by_position = true;                // is_causal, sliding_window, ALiBi
};

// mask_bias of only some of the masks, in f64; without any: zeros.
Tensor merged_masks(const Trace& so_far, const MaskChoice& choice);

// Changes mask_bias to that of `others`, with −inf wherever `blocks` is true; appended columns are never blocked.
StageChange blocked_where(const MaskChoice& others, Blocks blocks);

// Adds the variant as it is, and combined with what other programs do with blocked cells: a fully masked row as NaN or as zeros, blocked
// cells filled with a finite number, or such a number added to them. `seen` is the number found in theirs.
void add_with_row_answers(const AttentionOptions& options, const ProgramVariant& variant,
                          ProgramVariants& variants);

}  // namespace headwise
