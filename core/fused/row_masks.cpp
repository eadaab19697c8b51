#include "core/fused/row_masks.h"

#include <algorithm>
#include <limits>

#include "core/attention/attention_mask.h"
#include "core/attention/indexer.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

constexpr float blocked = -std::numeric_limits<float>::infinity();

// What a cell of a given mask adds.
float added(std::uint8_t cell, bool true_blocks) {
  return (cell != 0) == true_blocks ? blocked : 0.0f;
}
float added(float cell, bool) {
  return cell;
}
float added(double cell, bool) {
  return static_cast<float>(cell);
}

// Calls f with the values of a mask in their stored type.
template <class F>
void visit_mask(const Tensor& mask, F&& f) {
  if (mask.dtype() == DType::boolean) f(mask.values<std::uint8_t>().data());
  if (mask.dtype() == DType::f32) f(mask.values<float>().data());
  if (mask.dtype() == DType::f64) f(mask.values<double>().data());
}

// bias[i] += what the cells first, first + step … of a mask add.
void add_mask(const Tensor& mask, Index first, Index step, Index count, bool true_blocks, float* bias) {
  visit_mask(mask, [&](const auto* cells) {
    if (step == 1) {
      for (Index i = 0; i < count; ++i) bias[i] += added(cells[first + i], true_blocks);
    } else {
      for (Index i = 0; i < count; ++i) bias[i] += added(cells[first + i * step], true_blocks);
    }
  });
}

}  // namespace

RowMasks::RowMasks(const AttentionOptions& options, const TraceTensors& tensors, const AttentionSizes& sizes)
    : options_(options),
      given_(given_masks(tensors)),
      queries_(sizes.queries),
      keys_(sizes.keys),
      all_keys_(sizes.all_keys),
      any_(has_any_mask(options, given_)) {
  const GivenMasks& given = given_;
  const Index batch = sizes.batch, queries = queries_, keys = keys_, all_keys = all_keys_;
  if (given.attn_mask)
    view_ =
        view_attn_mask(options.op, given.attn_mask->shape(), batch, options.num_heads, queries, keys).value();
  if (options.alibi) slopes_ = alibi_slopes(options.num_heads, options.alibi_scale);
  // Appended keys are beyond every reach; with a finite mask.value every key takes part.
  if (options.relative_bias)
    relative_.emplace(*options.relative_bias, *given.relative_bias_weight, keys + queries);
  adds_ = any_ && (given.attn_mask || options.alibi || options.relative_bias || options.indexer ||
                   all_keys > keys || options.mask_value);
  if (options.indexer) choose_keys(tensors, sizes);
  if (!given.key_padding_mask) return;
  std::vector<float> padding(static_cast<std::size_t>(keys));
  for (Index n = 0; n < batch; ++n) {
    std::ranges::fill(padding, 0.0f);
    add_mask(*given.key_padding_mask, n * keys, 1, keys, true, padding.data());
    auto from = padding.end();
    while (from != padding.begin() && from[-1] == blocked) --from;
    padding_from_.push_back(from - padding.begin());
    if (std::any_of(padding.begin(), from, [](float cell) { return cell != 0.0f; })) adds_ = true;
  }
}

void RowMasks::choose_keys(const TraceTensors& tensors, const AttentionSizes& sizes) {
  const TensorPtr scores = exact_indexer_scores(options_, tensors);
  if (view_ && view_->step_h != 0) chosen_heads_ = sizes.heads;
  chosen_.resize(static_cast<std::size_t>(sizes.batch * chosen_heads_ * queries_ * keys_));
  const Index rows = sizes.batch * chosen_heads_ * queries_;
  for_ranges(rows, 32.0 * static_cast<double>(keys_), [&](Index first, Index last) {
    std::vector<float> bias(static_cast<std::size_t>(keys_));
    std::vector<char> allowed(bias.size());
    for (Index row = first; row < last; ++row) {
      const Index n = row / queries_ / chosen_heads_, h = row / queries_ % chosen_heads_, l = row % queries_;
      fill_others(n, h, l, 0, keys_, bias.data());
      for (std::size_t s = 0; s < bias.size(); ++s) allowed[s] = bias[s] != blocked;
      const ChosenKeys chosen(indexer_row(*scores, n, l), allowed, options_.indexer->k);
      for (Index s = 0; s < keys_; ++s)
        chosen_[static_cast<std::size_t>(row * keys_ + s)] = chosen(s) ? 1 : 0;
    }
  });
}

Index RowMasks::own_key(Index n, Index query) const {
  return query + causal_offset(options_, given_, n, queries_, keys_);
}

KeyReach RowMasks::reach(Index n, Index query) const {
  if (options_.mask_value || all_keys_ > keys_) return {0, all_keys_};
  KeyReach reach{0, valid_keys(given_, n, query, queries_, keys_)};
  const Index own = own_key(n, query);
  const PositionWindow seen = seen_by_position(options_);
  reach.from = std::max(reach.from, own - seen.behind);
  reach.to = std::min(reach.to, own + seen.ahead + 1);
  if (given_.key_padding_mask) reach.to = std::min(reach.to, padding_from_[static_cast<std::size_t>(n)]);
  reach.to = std::max(reach.to, reach.from);
  return reach;
}

void RowMasks::fill(Index n, Index h, Index query, Index from, Index to, float* bias) const {
  fill_others(n, h, query, from, to, bias);
  if (chosen_.empty()) return;
  const char* const chosen = chosen_row(n, h, query);
  for (Index key = from; key < to; ++key)
    if (!chosen[key]) bias[key - from] = blocked;
}

void RowMasks::fill_others(Index n, Index h, Index query, Index from, Index to, float* bias) const {
  std::fill_n(bias, to - from, 0.0f);
  to = std::min(to, keys_);  // appended keys get 0
  if (view_) {
    const bool true_blocks = projects(options_.op);
    const Index given_to = std::clamp(view_->keys, from, to);
    const Index first = n * view_->step_n + h * view_->step_h + query * view_->step_l + from * view_->step_s;
    add_mask(*given_.attn_mask, first, view_->step_s, given_to - from, true_blocks, bias);
    for (Index key = given_to; key < to; ++key) bias[key - from] += blocked;
  }
  if (given_.key_padding_mask) add_mask(*given_.key_padding_mask, n * keys_ + from, 1, to - from, true, bias);
  const Index own = own_key(n, query), valid = valid_keys(given_, n, query, queries_, keys_);
  const PositionWindow seen = seen_by_position(options_);
  if (seen.bounds() || valid < keys_) {
    Index begin = own - seen.behind, end = std::min(own + seen.ahead + 1, valid);
    begin = std::clamp(begin, from, to);
    end = std::clamp(end, begin, to);
    for (Index key = from; key < begin; ++key) bias[key - from] += blocked;
    for (Index key = end; key < to; ++key) bias[key - from] += blocked;
  }
  if (options_.alibi) {
    const double slope = slopes_[static_cast<std::size_t>(h)];
    for (Index key = from; key < to; ++key)
      bias[key - from] += static_cast<float>(alibi_bias(slope, own - key, options_.is_causal));
  }
  if (relative_)
    for (Index key = from; key < to; ++key)
      bias[key - from] += static_cast<float>((*relative_)(h, key - own));
}

}  // namespace headwise
