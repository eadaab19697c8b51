#include "core/fused/mask_strips.h"

#include <algorithm>
#include <limits>

#include "core/attention/alibi.h"

namespace headwise {
namespace {

constexpr float blocked = -std::numeric_limits<float>::infinity();

// A cell of a given mask as what it adds.
float added(const Tensor& mask, Index cell, bool true_blocks) {
  if (mask.dtype() != DType::boolean) return static_cast<float>(mask.flat(cell));
  return (mask.values<std::uint8_t>()[static_cast<std::size_t>(cell)] != 0) == true_blocks ? blocked : 0.0f;
}

}  // namespace

MaskStrips::MaskStrips(const AttentionOptions& options, const GivenMasks& given, Index batch, Index queries,
                       Index keys, Index all_keys, bool skip_blocked)
    : options_(options),
      given_(given),
      batch_(batch),
      queries_(queries),
      keys_(keys),
      all_keys_(all_keys),
      offset_(headwise::causal_offset(options.causal_alignment, queries, keys)),
      skip_blocked_(skip_blocked) {
  if (given.attn_mask)
    view_ =
        view_attn_mask(options.op, given.attn_mask->shape(), batch, options.num_heads, queries, keys).value();
  if (options.alibi) slopes_ = alibi_slopes(options.num_heads);
  if (!given.key_padding_mask) return;
  for (Index n = 0; n < batch; ++n) {
    Index from = keys;
    while (from > 0 && added(*given.key_padding_mask, n * keys + from - 1, true) == blocked) --from;
    padding_from_.push_back(from);
  }
}

Index MaskStrips::valid_len(Index n, Index query) const {
  const bool per_query = given_.valid_lens->shape().rank() == 2;
  const Index len =
      given_.valid_lens
          ->values<std::int64_t>()[static_cast<std::size_t>(per_query ? n * queries_ + query : n)];
  return std::clamp<Index>(len, 0, keys_);
}

std::vector<KeyStrip> MaskStrips::strips(Index n, Index first, Index last, Index longest) const {
  // Keys in [seen_from, seen_to) are seen by some of the queries, those in [free_from, free_to) by all of them.
  Index seen_from = 0, seen_to = keys_, free_from = 0, free_to = keys_;
  if (options_.is_causal) {
    seen_to = std::min(seen_to, last + offset_);
    free_to = std::min(free_to, first + offset_ + 1);
  }
  if (options_.sliding_window) {  // −window < query + offset − key < window
    const Index reach = std::min(*options_.sliding_window - 1, keys_ + queries_);
    seen_from = std::max(seen_from, first + offset_ - reach);
    seen_to = std::min(seen_to, last - 1 + offset_ + reach + 1);
    free_from = std::max(free_from, last - 1 + offset_ - reach);
    free_to = std::min(free_to, first + offset_ + reach + 1);
  }
  if (given_.valid_lens) {
    Index shortest = keys_, furthest = 0;
    for (Index query = first; query < last; ++query) {
      shortest = std::min(shortest, valid_len(n, query));
      furthest = std::max(furthest, valid_len(n, query));
    }
    seen_to = std::min(seen_to, furthest);
    free_to = std::min(free_to, shortest);
  }
  if (given_.key_padding_mask) {
    seen_to = std::min(seen_to, padding_from_[static_cast<std::size_t>(n)]);
    free_to = 0;
  }
  if (given_.attn_mask || options_.alibi) free_to = 0;
  if (!skip_blocked_) {
    seen_from = 0;
    seen_to = keys_;
  }
  seen_to = std::max(seen_to, seen_from);
  free_from = std::clamp(free_from, seen_from, seen_to);
  free_to = std::clamp(free_to, free_from, seen_to);

  std::vector<KeyStrip> strips;
  const auto add = [&](Index from, Index to, bool masked) {
    for (; from < to; from += longest) strips.push_back({from, std::min(from + longest, to), masked});
  };
  add(seen_from, free_from, true);
  add(free_from, free_to, false);
  add(free_to, seen_to, true);
  add(keys_, all_keys_, false);
  return strips;
}

void MaskStrips::fill(Index n, Index h, Index first, Index last, const KeyStrip& strip, Index lanes,
                      float* bias) const {
  const Index window = options_.sliding_window.value_or(std::numeric_limits<Index>::max());
  const bool true_blocks = options_.op == Op::multi_head_attention;
  std::fill_n(bias, (strip.to - strip.from) * lanes, 0.0f);
  for (Index query = first; query < last; ++query) {
    float* cell = bias + (query - first);
    const Index len = given_.valid_lens ? valid_len(n, query) : keys_;
    for (Index key = strip.from; key < strip.to; ++key, cell += lanes) {
      const Index distance = query + offset_ - key;  // how far back the key lies
      float sum = 0.0f;
      if (view_) {
        const Index at = n * view_->step_n + h * view_->step_h + query * view_->step_l + key * view_->step_s;
        sum += key < view_->keys ? added(*given_.attn_mask, at, true_blocks) : blocked;
      }
      if (given_.key_padding_mask) sum += added(*given_.key_padding_mask, n * keys_ + key, true);
      if (key >= len || (options_.is_causal && distance < 0) || distance >= window || distance <= -window)
        sum += blocked;
      if (options_.alibi) {
        sum += static_cast<float>(
            alibi_bias(slopes_[static_cast<std::size_t>(h)], distance, options_.is_causal));
      }
      *cell = sum;
    }
  }
}

}  // namespace headwise
