// Masks as a predicate on cells, and what programs do with a row in which a mask blocks everything.
#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "core/compare/program_variants.h"

namespace headwise {

// Whether the score of query l and key s, in batch n and head h, is blocked.
using Blocks = std::function<bool(Index n, Index h, Index l, Index s)>;

// Which of the given masks are merged.
struct MaskChoice {
  bool attn_mask = true, padding = true;  // padding: key_padding_mask and valid_lens
  bool by_position = true;                // is_causal, sliding_window, ALiBi and nonpad_kv_seqlen
};

inline bool is_blocked(double bias) {
  return std::isinf(bias) && bias < 0;
}

// mask_bias of only some of the masks, in f64; without any: zeros.
Tensor merged_masks(const Trace& so_far, const MaskChoice& choice);

// The mask_bias of each mask alone, ALiBi among them. With `window_apart`, the causal mask and the sliding
// window are two masks, and the window reaches as far ahead as behind.
std::vector<Tensor> single_masks(const Trace& so_far, bool window_apart);

// Changes masked_scores to value(scaled score, mask_bias) in every cell.
StageChange masked_as(std::function<double(double score, double bias)> value);

// Changes mask_bias to that of ALiBi with these slopes, one per head, beside all other masks.
StageChange alibi_with(std::vector<double> slopes);

// Changes mask_bias to that of `others`, with −inf wherever `blocks` is true;
// appended columns are never blocked.
StageChange blocked_where(const MaskChoice& others, Blocks blocks);

// Adds the variant as it is, and combined with what other programs do with blocked cells: a fully masked row
// as NaN or as zeros, blocked cells filled with a finite number, or such a number added to them. `seen` is
// the number found in theirs.
void add_with_row_answers(const AttentionOptions& options, const ProgramVariant& variant,
                          ProgramVariants& variants);

}  // namespace headwise
