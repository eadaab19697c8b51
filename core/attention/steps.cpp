#include "core/attention/steps.h"

#include <algorithm>
#include <array>

#include "core/attention/indexer.h"
#include "core/attention/output_gate.h"
#include "core/attention/rules.h"
#include "core/attention/score_path.h"

namespace headwise {
namespace {

using Id = TensorId;

constexpr std::array<StepEntry, step_count> step_table{{
    {Step::inputs, "Inputs", "what does attention see? one row of numbers for each token",
     "query: L × E    key: S × E    value: S × E",
     "Every token is a row of E numbers. The query rows become queries, the key rows keys and the value rows "
     "values; in self-attention all three are the same rows."},
    {Step::project, "Project", "each row is projected three times: to a query, a key and a value",
     "q = query W_qᵀ + b_q    k = key W_kᵀ + b_k    v = value W_vᵀ + b_v",
     "Three linear layers, each for all heads at once: column c of q is the dot product of a token's whole "
     "row with row c of W_q, plus a bias. The heads are not split yet."},
    {Step::split_heads, "Split heads",
     "when are the heads split? here, after the projection, and no number changes", "Qₕ = q[:, h·D : (h+1)·D]",
     "Head h takes D neighbouring columns of q, k and v. Each head's columns come from its own D rows of "
     "W_q, so it has its own view of the whole token, not a piece of the token."},
    {Step::scores, "Scores", "how well does each query match each key, in this head's columns?",
     "scoresₕ = Qₕ Kₕᵀ",
     "One number for each pair of tokens: the dot product of a query row with a key row, over this head's D "
     "columns only. It is large and positive if the two rows are long and point the same way."},
    {Step::scale, "Scale", "why divide by √D? so that wide heads are no sharper than narrow ones",
     "scaledₕ = scoresₕ / √D",
     "A sum of D uncorrelated products of variance 1 has a standard deviation of √D, and divided by √D one "
     "of 1, whatever D is. (The products of real queries and keys have other variances.) Without the scale "
     "the softmax of a wide head tends to all or nothing, where almost no gradient is left to learn from."},
    {Step::mask, "Mask", "which keys may this query look at?", "maskedₕ = scaledₕ + mask_bias",
     "A blocked pair gets −∞ added, which the softmax turns into exactly 0; an allowed pair gets 0 added and "
     "is unchanged. All masks are merged into this one number per pair."},
    {Step::softmax, "Softmax", "how does each query distribute its attention over the keys?",
     "Aₕ = exp(maskedₕ − max) / Σ exp(maskedₕ − max)    along each row",
     "Each row becomes weights that sum to 1: exponentiate, then divide by the sum over the keys. The row's "
     "largest score is subtracted first; this changes no result and keeps exp from overflowing."},
    {Step::weighted_sum, "Weighted sum", "what does each query get from the values?", "head_outputₕ = Aₕ Vₕ",
     "Each query gets the sum of the value rows, weighted by its attention weights: a weight of 1 copies a "
     "value row, equal weights take the mean."},
    {Step::concat, "Concat", "the heads are put side by side: nothing is mixed yet",
     "concat = [head_output₀ | head_output₁ | … ]",
     "Head h fills the columns from h·Dv to (h+1)·Dv − 1, times its gain. A muted head has the gain 0: its "
     "own columns become 0, and no other column changes."},
    {Step::output, "Output", "how are the heads' outputs combined?", "output = concat W_Oᵀ + b_O",
     "The last linear layer mixes the heads: every output number is a sum over all columns of concat, so "
     "every head contributes to it. PyTorch's module returns this as attn_output."},
    {Step::normalise, "Norm", "how long is each row of q and k? here all get the same length",
     "q_normed = w ⊙ q / √(mean q² + ε)",
     "All rows get the same length, as the formula says; a model's norm then multiplies each column by a "
     "learned weight. Scores depend on the directions of the rows and on these weights, not on how large the "
     "projections have become."},
    {Step::gate, "Gate", "how much of each number may pass? the token's own input decides",
     "gated_concat = concat ⊙ σ(output_gate)    output_gate = query W_gᵀ",
     "A fifth linear layer of the token's own row gives a gate for each column of concat; σ brings it "
     "between 0 and 1, and what the heads have found is multiplied by it. Where it is near 0, what a head "
     "found has no effect."},
    {Step::past, "Past", "what is not computed again? the keys and values of earlier tokens, from a cache",
     "present_keyₕ = [past_keyₕ; Kₕ]    present_valueₕ = [past_valueₕ; Vₕ]",
     "A model that generates text token by token keeps the keys and values of earlier tokens in a cache. "
     "They are put before the new ones as they are: any norm and RoPE were applied when they were cached. "
     "RoPE and masks count on from the last of them."},
    {Step::choose, "Choose", "which keys are worth looking at? a small attention of its own chooses k of them",
     "I = Σₘ wₘ · ReLU(qₘ·k / √W)    the largest of each row take part",
     "The indexer scores every pair with a few narrow heads, and for each query only the k keys with the "
     "largest scores, of those that the masks leave, take part in the softmax. All heads share the choice. "
     "No gradient goes through it."},
}};

static_assert([] {
  for (std::size_t i = 0; i < step_table.size(); ++i) {
    if (step_table[i].step != static_cast<Step>(i)) return false;
  }
  return true;
}());

// Collects the pictures of a step in order, without results and operands that this trace lacks.
class Pictures {
 public:
  explicit Pictures(const Trace& trace) : trace_(trace) {}

  void map(Id result, std::optional<Id> left = {}, std::optional<Id> other = {}) {
    add({result, left, other, false, 0, 0});
  }
  void product_transposed(Id result, Id left, Id above, Index row_begin = 0, Index row_end = 0) {
    add({result, left, above, true, row_begin, row_end});
  }
  std::vector<StepPicture> take() { return std::move(pictures_); }

 private:
  bool has(Id id) const { return trace_.tensor(id) != nullptr; }
  void add(StepPicture picture) {
    if (!has(picture.result)) return;
    if (picture.left && !has(*picture.left)) picture.left.reset();
    if (picture.above && !has(*picture.above)) {
      picture.above.reset();
      picture.above_transposed = false;
      picture.above_row_begin = picture.above_row_end = 0;
    }
    pictures_.push_back(picture);
  }

  const Trace& trace_;
  std::vector<StepPicture> pictures_;
};

void add_inputs(const Trace& trace, Pictures& pictures) {
  if (trace.options.op == Op::scaled_dot_product_attention) {
    for (const Id id : {Id::q_heads, Id::k_heads, Id::v_heads}) pictures.map(id);
    return;
  }
  const TraceTensors& t = trace.tensors;
  pictures.map(Id::query);
  if (t.key != t.query) pictures.map(Id::key);
  if (t.value != t.query && t.value != t.key) pictures.map(Id::value);
}

// What q and the keys and values are compressed into, and what they are made of again.
void add_latents(const Trace& trace, Pictures& pictures) {
  const bool compressed = trace.options.q_lora_rank.has_value();
  const Id key = first_name(trace, {Id::key}).id;
  pictures.product_transposed(Id::q_a, Id::query, Id::q_a_weight);
  pictures.map(Id::compressed_q, Id::q_a);
  pictures.product_transposed(Id::q, compressed ? Id::compressed_q : Id::query,
                              compressed ? Id::q_b_weight : Id::q_proj_weight);
  pictures.product_transposed(Id::kv_a, key, Id::kv_a_weight);
  pictures.map(Id::compressed_kv, Id::kv_a);
  pictures.map(Id::k_rot, Id::kv_a);
  if (!trace.options.past_length) pictures.product_transposed(Id::kv_b, Id::compressed_kv, Id::kv_b_weight);
}

// From q and the latents to the factors of the scores. After a past, the latents are expanded here.
void split_latents(const Trace& trace, Pictures& pictures) {
  if (trace.options.past_length)
    pictures.product_transposed(Id::kv_b, latents_of_heads(trace.options), Id::kv_b_weight);
  pictures.map(Id::q_heads, Id::q);
  pictures.map(Id::k_heads, Id::kv_b);
  pictures.map(Id::v_heads, Id::kv_b);
  pictures.map(Id::q_rotary, Id::q_heads);
}

void add_projections(const Trace& trace, Pictures& pictures) {
  const AttentionOptions& o = trace.options;
  const TraceTensors& t = trace.tensors;
  if (is_latent(o)) return add_latents(trace, pictures);
  const Index q_rows = o.num_heads * o.head_dim;
  const Index k_rows = o.num_kv_heads * o.head_dim;
  const Index v_rows = o.num_kv_heads * o.v_head_dim;
  const auto add = [&](Id result, Id x, Id separate, Index row_begin, Index rows) {
    const Id left = first_name(trace, {x}).id;  // in self-attention all three read query
    if (t.in_proj_weight) {
      pictures.product_transposed(result, left, Id::in_proj_weight, row_begin, row_begin + rows);
    } else {
      pictures.product_transposed(result, left, separate);
    }
  };
  add(Id::q, Id::query, Id::q_proj_weight, 0, q_rows);
  if (t.static_k) {
    pictures.map(Id::k, Id::static_k);
  } else {
    add(Id::k, Id::key, Id::k_proj_weight, q_rows, k_rows);
  }
  if (t.static_v) {
    pictures.map(Id::v, Id::static_v);
  } else {
    add(Id::v, Id::value, Id::v_proj_weight, q_rows + k_rows, v_rows);
  }
}

void add_made(const Trace& trace, Pictures& pictures, std::initializer_list<Id> results) {
  for (const Id id : results) pictures.map(id, made_of(id, trace.options));
}

// Names the tensor that multiplies the values. Without dropout both names refer to one array;
// attn_weights is the better known.
Id weights_of(const Trace& trace) {
  return trace.options.dropout > 0 ? Id::dropped_weights : Id::attn_weights;
}

void add_weights(const Trace& trace, Pictures& pictures) {
  // If all heads are frozen, no score is read.
  const bool frozen = static_cast<Index>(trace.options.frozen_heads.size()) == trace.options.num_heads;
  pictures.map(Id::attn_weights, frozen ? Id::frozen_weights : Id::masked_scores);
  pictures.map(Id::full_weights, Id::scaled_scores);
  if (trace.options.dropout > 0) pictures.map(Id::dropped_weights, Id::attn_weights);
  if (frozen || !trace.tensors.sinks) return;
  pictures.map(Id::sink_weights, Id::lse);
  pictures.map(Id::lse);  // of all heads; a map of scores is of one
}

void add_outputs(const Trace& trace, Pictures& pictures) {
  if (trace.options.op == Op::scaled_dot_product_attention) {
    pictures.map(Id::output, Id::head_output);
    return;
  }
  pictures.product_transposed(Id::output, rows_of_output(trace.tensors), Id::out_proj_weight);
  pictures.map(Id::residual_output, Id::output, Id::query);
  pictures.map(Id::layer_norm_output, trace.tensors.residual_output ? Id::residual_output : Id::output);
  pictures.map(Id::attn_output_weights, weights_of(trace));
}

}  // namespace

std::span<const StepEntry> step_entries() {
  return step_table;
}

std::vector<Step> shown_steps(const AttentionOptions& options) {
  std::vector<Step> steps;
  for (const StepEntry& entry : step_table) {
    if (entry.step == Step::split_heads && options.qk_norm == QkNorm::whole) steps.push_back(Step::normalise);
    if (entry.step == Step::output && options.output_gate) steps.push_back(Step::gate);
    // Of latents before the heads that are made of them.
    if (entry.step == (is_latent(options) ? Step::split_heads : Step::scores) && options.past_length)
      steps.push_back(Step::past);
    if (entry.step == Step::mask && options.indexer) steps.push_back(Step::choose);
    if (entry.step < Step::normalise) steps.push_back(entry.step);
    if (entry.step == Step::split_heads && options.qk_norm && options.qk_norm != QkNorm::whole)
      steps.push_back(Step::normalise);
  }
  return steps;
}

std::size_t place_of_step(std::span<const Step> shown, Step step) {
  return std::min(static_cast<std::size_t>(std::ranges::find(shown, step) - shown.begin()), shown.size() - 1);
}

std::string_view sign_of_above(const StepPicture& picture) {
  if (picture.above_transposed || picture.result == Id::head_output || picture.result == Id::latent_output)
    return "·";
  return picture.result == Id::gated_concat ? "⊙ σ" : "+";
}

std::vector<StepPicture> step_pictures(Step step, const Trace& trace) {
  Pictures pictures(trace);
  switch (step) {
    case Step::inputs:
      add_inputs(trace, pictures);
      break;
    case Step::project:
      add_projections(trace, pictures);
      break;
    case Step::split_heads:
      if (is_latent(trace.options)) {
        split_latents(trace, pictures);
        pictures.map(Id::q_absorbed, made_of(Id::q_absorbed, trace.options));
        pictures.map(Id::k_absorbed, latents_of_heads(trace.options));
        break;
      }
      if (projects(trace.options.op)) {
        add_made(trace, pictures, {Id::q_heads, Id::k_heads, Id::v_heads});
      }
      if (trace.options.qk_norm != QkNorm::per_head) add_made(trace, pictures, {Id::q_rotary, Id::k_rotary});
      break;
    case Step::normalise:
      if (trace.options.qk_norm) add_made(trace, pictures, {Id::q_normed, Id::k_normed});
      if (trace.options.qk_norm == QkNorm::per_head) add_made(trace, pictures, {Id::q_rotary, Id::k_rotary});
      break;
    case Step::past:
      if (!trace.options.past_length) break;
      for (const CachedTensor& cached : cached_tensors(trace.options.op))
        add_made(trace, pictures, {cached.present});
      break;
    case Step::choose:
      pictures.product_transposed(Id::indexer_scores, Id::indexer_q, Id::indexer_k);
      pictures.map(Id::indexer_q, indexer_source(trace.options));
      pictures.map(Id::indexer_k, first_name(trace, {Id::key}).id);
      pictures.product_transposed(Id::indexer_weights, Id::query, Id::indexer_weights_proj);
      break;
    case Step::scores:
      pictures.product_transposed(Id::scores, path_of_queries(trace.options).back(),
                                  path_of_keys(trace.options).back());
      break;
    case Step::scale:
      pictures.map(Id::scaled_scores, Id::scores);
      break;
    case Step::mask:
      pictures.map(Id::masked_scores, Id::scaled_scores, Id::mask_bias);
      if (trace.options.relative_bias) pictures.map(Id::mask_bias, Id::position_bias);
      break;
    case Step::softmax:
      add_weights(trace, pictures);
      break;
    case Step::weighted_sum:
      if (is_absorbed(trace.options)) {
        pictures.map(Id::latent_output, weights_of(trace), latents_of_heads(trace.options));
        pictures.map(Id::head_output, Id::latent_output);
      } else {
        pictures.map(Id::head_output, weights_of(trace), path_of_values(trace.options).back());
      }
      break;
    case Step::concat:
      pictures.map(Id::concat, Id::head_output);
      break;
    case Step::gate:
      pictures.map(Id::gated_concat, Id::concat, Id::output_gate);
      pictures.product_transposed(Id::output_gate, Id::query, Id::output_gate_weight);
      break;
    case Step::output:
      add_outputs(trace, pictures);
      break;
  }
  return pictures.take();
}

// clang-format off
Step step_of(TensorId id, const AttentionOptions& options) {
  switch (id) {
    case Id::query: case Id::key: case Id::value:
      return Step::inputs;
    case Id::in_proj_weight: case Id::q_proj_weight: case Id::k_proj_weight: case Id::v_proj_weight:
    case Id::in_proj_bias: case Id::bias_k: case Id::bias_v: case Id::static_k: case Id::static_v:
    case Id::q: case Id::k: case Id::v:
    case Id::q_a_weight: case Id::q_a_bias: case Id::q_a_norm_weight: case Id::q_b_weight: case Id::kv_a_weight:
    case Id::kv_a_bias: case Id::kv_a_norm_weight: case Id::kv_b_weight:
    case Id::q_a: case Id::compressed_q: case Id::kv_a: case Id::compressed_kv: case Id::k_rot:
      return Step::project;
    case Id::kv_b:
      return options.past_length ? Step::split_heads : Step::project;
    case Id::q_heads: case Id::k_heads: case Id::v_heads: case Id::q_absorbed: case Id::k_absorbed:
      return Step::split_heads;
    case Id::q_rotary: case Id::k_rotary:
      return options.qk_norm == QkNorm::per_head ? Step::normalise : Step::split_heads;
    case Id::q_norm_weight: case Id::k_norm_weight: case Id::q_normed: case Id::k_normed:
      return Step::normalise;
    case Id::past_key: case Id::past_value: case Id::present_key: case Id::present_value:
    case Id::past_compressed_kv: case Id::past_k_rot: case Id::present_compressed_kv: case Id::present_k_rot:
      return Step::past;
    case Id::scores:
      return Step::scores;
    case Id::scaled_scores:
      return Step::scale;
    case Id::attn_mask: case Id::key_padding_mask: case Id::valid_lens: case Id::nonpad_kv_seqlen:
    case Id::relative_bias_weight: case Id::position_bias: case Id::mask_bias: case Id::masked_scores:
      return Step::mask;
    case Id::indexer_wq_b: case Id::indexer_wk: case Id::indexer_k_norm_weight: case Id::indexer_k_norm_bias:
    case Id::indexer_weights_proj: case Id::indexer_q: case Id::indexer_k: case Id::indexer_weights:
    case Id::indexer_scores:
      return Step::choose;
    case Id::sinks: case Id::lse: case Id::sink_weights: case Id::frozen_weights: case Id::attn_weights:
    case Id::full_weights:
    case Id::dropped_weights:
      return Step::softmax;
    case Id::head_output: case Id::latent_output:
      return Step::weighted_sum;
    case Id::head_gain: case Id::concat:
      return Step::concat;
    case Id::output_gate_weight: case Id::output_gate_bias: case Id::output_gate: case Id::gated_concat:
      return Step::gate;
    case Id::out_proj_weight: case Id::out_proj_bias: case Id::output: case Id::residual_output:
    case Id::layer_norm_output: case Id::attn_output_weights:
      return Step::output;
  }
  return Step::inputs;
}
// clang-format on

}  // namespace headwise
