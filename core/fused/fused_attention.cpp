#include "core/fused/fused_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/dropout.h"
#include "core/attention/scaled_dot_product_attention.h"

namespace headwise {
namespace {

// Keys whose scores with one panel are kept at once: 2048·48 floats are 384 KiB, less than half of a usual second
// cache; a multiple of every block.
constexpr Index keys_at_once = 2048;
constexpr float infinity = std::numeric_limits<float>::infinity();

// One panel of queries of one head.
struct PanelTask {
  Index n, h, g, p, first, last;  // queries [first, last)
};

PanelTask panel_task(const FusedAttention& a, Index task) {
  PanelTask t{};
  t.p = task % a.q.count;
  t.h = task / a.q.count % a.heads;
  t.n = task / a.q.count / a.heads;
  t.g = t.h / (a.heads / a.kv_heads);
  t.first = t.p * a.q.lanes;
  t.last = std::min(t.first + a.q.lanes, a.queries);
  return t;
}

// The weights of a strip, not yet divided by their sum, into attn_weights.
void keep_weights(const FusedAttention& a, const PanelTask& t, const KeyStrip& strip, const float* weights) {
  float* rows = a.attn_weights + ((t.n * a.heads + t.h) * a.queries + t.first) * a.all_keys + strip.from;
  read_panel(weights, t.last - t.first, strip.to - strip.from, a.q.lanes, rows, a.all_keys);
}

// Weights of another maximum than the last one, made comparable; then every row divided by its sum. Blocked keys get 0.
void finish_weights(const FusedAttention& a, const PanelTask& t, const std::vector<KeyStrip>& strips,
                    const std::vector<std::vector<float>>& maxima, const float* maximum,
                    const float* factor) {
  for (Index query = t.first; query < t.last; ++query) {
    const auto lane = static_cast<std::size_t>(query - t.first);
    float* row = a.attn_weights + ((t.n * a.heads + t.h) * a.queries + query) * a.all_keys;
    const float gap = factor[lane] * 0.0f;  // a row of NaN is NaN at blocked keys too
    Index done = 0;
    for (std::size_t s = 0; s < strips.size(); ++s) {
      std::fill(row + done, row + strips[s].from, gap);
      const float before = maxima[s][lane];
      const float shrink = before == maximum[lane] ? 1.0f : std::exp(before - maximum[lane]);
      for (Index key = strips[s].from; key < strips[s].to; ++key) row[key] *= shrink * factor[lane];
      done = strips[s].to;
    }
    std::fill(row + done, row + a.all_keys, gap);
  }
}

void drop(const FusedAttention& a, const PanelTask& t, const KeyStrip& strip, float* weights) {
  for (Index query = t.first; query < t.last; ++query) {
    const Index first_cell = ((t.n * a.heads + t.h) * a.queries + query) * a.all_keys;
    for (Index key = strip.from; key < strip.to; ++key) {
      weights[(key - strip.from) * a.q.lanes + query - t.first] *=
          static_cast<float>(dropout_factor(a.options.dropout, a.options.dropout_seed, first_cell + key));
    }
  }
}

}  // namespace

Index fused_attention_tasks(const FusedAttention& attention) {
  return attention.batch * attention.heads * attention.q.count;
}

FusedScratch fused_attention_scratch(const FusedAttention& a) {
  const Index block = a.kernels.block, lanes = a.kernels.lanes;
  const Index keys = std::min(keys_at_once, a.all_keys) + 2 * block;
  const Index width = (a.v_head_dim + block - 1) / block * block;
  return {FusedBuffer(keys * lanes), FusedBuffer(a.masks ? keys * lanes : 0),
          FusedBuffer((width + 4) * lanes)};
}

void fused_attention_task(const FusedAttention& a, Index task, FusedScratch& scratch) {
  const FusedKernels& kernels = a.kernels;
  const Index lanes = kernels.lanes, block = kernels.block;
  const PanelTask t = panel_task(a, task);
  const Blocks& keys = a.keys.keys[static_cast<std::size_t>(t.n * a.kv_heads + t.g)];
  const Blocks& values = a.keys.values[static_cast<std::size_t>(t.n * a.kv_heads + t.g)];
  const float* const q = a.q.panel(t.n, t.p) + t.h * a.head_dim * lanes;
  float* const scores = scratch.scores.at(0);
  float* const sums = scratch.sums.at(0);  // [Dv padded][lanes]
  float* const maximum = sums + values.count * block * lanes;
  float* const sum = maximum + lanes;
  float* const shrink = sum + lanes;
  std::fill_n(maximum, lanes, -infinity);
  std::fill_n(sum, lanes, 0.0f);
  std::fill_n(sums, values.count * block * lanes, 0.0f);

  const ScoreScale scaling = score_scale(a.options);
  const auto scale = static_cast<float>(scaling.scale / scaling.temperature);
  const auto cap = static_cast<float>(scaling.softcap);

  std::vector<KeyStrip> strips;
  if (a.masks) {
    strips = a.masks->strips(t.n, t.first, t.last, keys_at_once);
  } else {
    for (Index from = 0; from < a.all_keys; from += keys_at_once)
      strips.push_back({from, std::min(from + keys_at_once, a.all_keys), false});
  }
  std::vector<std::vector<float>> maxima;
  for (const KeyStrip& strip : strips) {
    // Products come by whole blocks: those that a strip begins or ends in are computed and not used.
    const Index first_block = strip.from / block, end_block = (strip.to + block - 1) / block;
    std::fill_n(scores, (end_block - first_block) * block * lanes, 0.0f);
    multiply_deep(kernels, keys.block(first_block), keys.stride(), end_block - first_block, a.head_dim, q,
                  scores);
    float* const own = scores + (strip.from - first_block * block) * lanes;
    const Index count = strip.to - strip.from;
    if (cap > 0.0f) {
      for (Index i = 0; i < count * lanes; ++i) own[i] = cap * std::tanh(own[i] * scale / cap);
    }
    const float* bias = nullptr;
    if (strip.masked) {
      a.masks->fill(t.n, t.h, t.first, t.last, strip, lanes, scratch.bias.at(0));
      bias = scratch.bias.at(0);
    }
    kernels.exponentials(own, bias, count, cap > 0.0f ? 1.0f : scale, maximum, sum, shrink);
    if (a.attn_weights) {
      keep_weights(a, t, strip, own);
      maxima.emplace_back(maximum, maximum + lanes);
    }
    if (a.options.dropout > 0.0) drop(a, t, strip, own);
    if (&strip != &strips.front()) kernels.multiply_lanes(sums, values.count * block, shrink);
    multiply_deep(kernels, values.block(0) + strip.from * block, values.stride(), values.count, count, own,
                  sums);
  }

  float* const factor = shrink;
  for (Index lane = 0; lane < lanes; ++lane) {
    const bool nothing = sum[lane] == 0.0f && a.options.fully_masked_rows == FullyMaskedRows::zero;
    factor[lane] = nothing ? 0.0f : 1.0f / sum[lane];
    if (sum[lane] == 0.0f && !nothing) factor[lane] = std::numeric_limits<float>::quiet_NaN();
  }
  if (a.attn_weights) finish_weights(a, t, strips, maxima, maximum, factor);
  if (a.gains) {
    for (Index lane = 0; lane < lanes; ++lane) factor[lane] *= a.gains[t.h];
  }
  kernels.multiply_lanes(sums, values.count * block, factor);
  std::copy_n(sums, a.v_head_dim * lanes, a.out.panel(t.n, t.p) + t.h * a.v_head_dim * lanes);
}

}  // namespace headwise
