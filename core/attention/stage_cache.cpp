#include "core/attention/stage_cache.h"

#include <algorithm>
#include <initializer_list>
#include <tuple>
#include <utility>
#include <vector>

#include "core/attention/attention_mask.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/indexer.h"
#include "core/attention/score_path.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/progress.h"
#include "core/tensor/random.h"

namespace headwise {
namespace {

using Id = TensorId;

// In multiply-adds: the cost of moving a number from one tensor to another, and of an exponential.
constexpr double copy = 4.0, exponential = 16.0;

double number(Index size) {
  return static_cast<double>(size);
}

std::map<TensorId, StageCost> costs_by_stage(const std::vector<std::pair<Id, double>>& costs) {
  double total = 0.0;
  for (const auto& [id, cost] : costs) total += cost;
  std::map<TensorId, StageCost> shares;
  double done = 0.0;
  for (const auto& [id, cost] : costs) {
    if (cost > 0.0) shares[id] = {done / total, (done + cost) / total};
    done += cost;
  }
  return shares;
}

// Of multi_head_latent_attention, as far as they are worth mentioning.
std::map<TensorId, StageCost> latent_stage_costs(const AttentionOptions& options, const AttentionSizes& s,
                                                 bool masked, bool backward) {
  const double queries = number(s.batch) * number(s.queries), keys = number(s.batch) * number(s.keys);
  const double own_keys = number(s.batch) * number(s.new_keys());
  const double scores = queries * number(s.heads) * number(s.all_keys);
  const double q_width = number(s.heads) * number(s.head_dim), compressed = number(s.latent) + number(s.rope);
  const double kv_width = number(s.heads) * (number(s.nope) + number(s.v_head_dim));
  const double out_width = number(s.heads) * number(s.v_head_dim), embed_dim = number(s.embed_dim);
  const double q_depth = s.query_latent > 0 ? number(s.query_latent) : embed_dim;
  const double q_a = queries * embed_dim * number(s.query_latent), q = queries * q_depth * q_width,
               kv_a = own_keys * number(options.kdim) * compressed, joining = queries * out_width * embed_dim,
               expanding =
                   (s.absorbed ? queries : keys) * number(s.latent) * kv_width / (s.absorbed ? 2.0 : 1.0);
  const double multiplying = scores * (number(s.score_width()) + copy),
               adding = scores * (number(s.value_width()) + copy), touching = scores * copy,
               weighing = scores * (exponential + copy);
  const double dropping = options.dropout > 0.0 ? scores * (cost_of_random + copy) : 0.0;
  const Id queries_of = path_of_queries(options).back(), keys_of = path_of_keys(options).back();
  const Id q_weight = s.query_latent > 0 ? Id::q_b_weight : Id::q_proj_weight;
  if (!backward)
    return costs_by_stage({{Id::q_a, q_a},
                           {Id::q, q},
                           {Id::kv_a, kv_a},
                           {s.absorbed ? Id::q_absorbed : Id::kv_b, expanding},
                           {Id::scores, multiplying},
                           {Id::scaled_scores, touching},
                           {Id::masked_scores, masked ? touching : 0.0},
                           {Id::lse, weighing},
                           {Id::attn_weights, weighing},
                           {Id::dropped_weights, dropping},
                           {sum_of_values(options), adding},
                           {s.absorbed ? Id::head_output : Id::concat, s.absorbed ? expanding : 0.0},
                           {Id::output, joining}});
  return costs_by_stage({{Id::concat, joining},
                         {Id::out_proj_weight, joining},
                         {Id::dropped_weights, adding},
                         {Id::masked_scores, weighing},
                         {Id::scores, touching},
                         {queries_of, multiplying},
                         {keys_of, multiplying},
                         {Id::kv_b_weight, expanding},
                         {latents_of_heads(options), s.absorbed ? adding : expanding},
                         {q_weight, q},
                         {Id::q_a_weight, q_a},
                         {Id::kv_a_weight, kv_a},
                         {Id::query, q + q_a + kv_a}});
}

}  // namespace

std::map<TensorId, StageCost> stage_costs(const AttentionOptions& options, const TraceTensors& tensors,
                                          bool backward) {
  const AttentionSizes s = attention_sizes(options, tensors);
  if (is_latent(options))
    return latent_stage_costs(options, s, has_any_mask(options, given_masks(tensors)), backward);
  const double queries = number(s.batch) * number(s.queries), keys = number(s.batch) * number(s.key_rows());
  const double scores = queries * number(s.heads) * number(s.all_keys);
  const double q_width = number(s.heads) * number(s.head_dim),
               k_width = number(s.kv_heads) * number(s.head_dim);
  const double v_width = number(s.kv_heads) * number(s.v_head_dim);
  const double out_width = number(s.heads) * number(s.v_head_dim), embed_dim = number(s.embed_dim);
  const bool projects = headwise::projects(options.op);
  const bool masked = has_any_mask(options, given_masks(tensors));
  const double projecting_q = queries * embed_dim * q_width,
               projecting_k = keys * number(options.kdim) * k_width,
               projecting_v = keys * number(options.vdim) * v_width, joining = queries * out_width * embed_dim;
  const double multiplying_keys = scores * (number(s.head_dim) + copy),
               adding_values = scores * (number(s.v_head_dim) + copy);
  const double dropping = options.dropout > 0.0 ? scores * (cost_of_random + copy) : 0.0;
  const double weighing = scores * (exponential + copy), touching = scores * copy;

  const Id joined = options.output_gate ? Id::gated_concat : Id::concat;
  const double gate_width =
      tensors.output_gate_weight ? queries * number(tensors.output_gate_weight->shape().size(0)) : 0.0;
  const std::vector<Id> of_q = path_of_queries(options), of_k = path_of_keys(options);
  std::vector<std::pair<Id, double>> costs;
  const double moving_q = queries * q_width * copy, moving_k = keys * k_width * copy,
               moving_v = keys * v_width * copy;
  // Back from the scores to the heads, or from there to the projection.
  const auto add_way_back = [&](bool behind_heads) {
    for (const auto& [path, heads, cost] :
         {std::tuple(of_q, Id::q_heads, moving_q), {of_k, Id::k_heads, moving_k}}) {
      const auto split = std::ranges::find(path, heads) - path.begin();
      for (auto i = behind_heads ? std::ssize(path) - 1 : split; i > (behind_heads ? split : 0); --i)
        costs.emplace_back(path[static_cast<std::size_t>(i - 1)], cost);
    }
  };
  if (backward) {
    if (projects)
      costs = {
          {joined, joining}, {Id::out_proj_weight, joining}, {Id::head_output, queries * out_width * copy}};
    if (projects && options.output_gate)
      costs.insert(costs.end(), {{Id::concat, gate_width * exponential},
                                 {Id::output_gate, gate_width * exponential},
                                 {Id::output_gate_weight, gate_width * embed_dim}});
    costs.insert(costs.end(), {{Id::dropped_weights, adding_values},
                               {path_of_values(options).back(), adding_values},
                               {Id::attn_weights, dropping},
                               {Id::masked_scores, weighing},
                               {Id::scores, touching},
                               {of_q.back(), multiplying_keys},
                               {of_k.back(), multiplying_keys}});
    add_way_back(true);
    if (!projects) return costs_by_stage(costs);
    add_way_back(false);
    costs.emplace_back(Id::v, moving_v);
    if (tensors.in_proj_weight)
      costs.emplace_back(Id::in_proj_weight, projecting_q + projecting_k + projecting_v);
    else
      costs.insert(costs.end(), {{Id::q_proj_weight, projecting_q},
                                 {Id::k_proj_weight, projecting_k},
                                 {Id::v_proj_weight, projecting_v}});
    const bool self_attention = tensors.key == tensors.query && tensors.value == tensors.query;
    costs.emplace_back(Id::query, self_attention ? projecting_q + projecting_k + projecting_v : projecting_q);
    if (!self_attention) costs.insert(costs.end(), {{Id::key, projecting_k}, {Id::value, projecting_v}});
    return costs_by_stage(costs);
  }

  if (projects) {
    costs = {{Id::q, projecting_q}, {Id::k, projecting_k}, {Id::v, projecting_v}};
  }
  for (const auto& [path, cost] :
       {std::pair(of_q, moving_q), {of_k, moving_k}, {path_of_values(options), moving_v}})
    for (std::size_t i = 1; i < path.size(); ++i) costs.emplace_back(path[i], cost);
  if (const auto& indexer = options.indexer) {
    const double columns = number(indexer->heads * indexer->width);
    if (projects)
      costs.insert(costs.end(), {{Id::indexer_q, queries * number(indexer_source_width(options)) * columns},
                                 {Id::indexer_k, keys * number(options.kdim) * number(indexer->width)},
                                 {Id::indexer_weights, queries * embed_dim * number(indexer->heads)}});
    costs.emplace_back(Id::indexer_scores, queries * number(s.keys) * columns);
  }
  costs.insert(costs.end(), {{Id::scores, multiplying_keys}, {Id::scaled_scores, touching}});
  if (options.relative_bias) costs.emplace_back(Id::position_bias, touching / number(s.batch));
  if (masked) costs.insert(costs.end(), {{Id::mask_bias, touching}, {Id::masked_scores, touching}});
  costs.emplace_back(Id::lse, weighing);
  if (options.indexer) costs.emplace_back(Id::full_weights, weighing + touching);
  costs.insert(
      costs.end(),
      {{Id::attn_weights, weighing}, {Id::dropped_weights, dropping}, {Id::head_output, adding_values}});
  if (projects) {
    costs.insert(costs.end(), {{Id::concat, queries * out_width * copy}, {Id::output, joining}});
    if (options.output_gate)
      costs.insert(costs.end(), {{Id::output_gate, gate_width * embed_dim},
                                 {Id::gated_concat, queries * out_width * exponential}});
    if (options.need_weights && options.average_attn_weights)
      costs.emplace_back(Id::attn_output_weights, touching);
  }
  return costs_by_stage(costs);
}

void StageCache::take(Stage stage) {
  const TensorId id = stage.id;
  if (!costs_) costs_ = stage_costs(trace_.options, trace_.tensors, backward_);
  const auto cost = costs_->find(id);
  std::optional<ProgressPart> part;
  if (cost != costs_->end()) part.emplace(cost->second.from, cost->second.to, tensor_entry(id).name.data());
  TensorPtr& tensor = slot(id);
  TensorPtr before;
  if (previous_) {
    const auto& stages = backward_ ? previous_->gradient_stages : previous_->stages;
    const auto earlier = stages.find(id);
    if (earlier != stages.end()) {
      before = previous_->tensor({id, backward_});
      if (earlier->second == stage.key) {
        tensor = before;
      } else if (before && stage.update) {
        check_cancelled();
        tensor = stage.update(earlier->second, before);
      }
    }
  }
  const bool shared = tensor && tensor == before;
  if (!shared) {
    check_cancelled();
    if (!tensor) tensor = std::make_shared<const Tensor>(stage.compute());
    (backward_ ? trace_.computed_gradients : trace_.computed).push_back(id);
  }
  (backward_ ? trace_.gradient_stages : trace_.stages).insert_or_assign(id, std::move(stage.key));
}

namespace {

bool have_same(const TraceTensors& a, const TraceTensors& b,
               std::initializer_list<TensorPtr TraceTensors::*> arrays) {
  return std::ranges::all_of(arrays, [&](const auto array) { return a.*array == b.*array; });
}

}  // namespace

bool have_same_projection_parameters(const Trace& before, const AttentionInputs& inputs) {
  return before.options.op == inputs.options.op && before.dtype == inputs.dtype &&
         attention_sizes(before.options, before.tensors) == attention_sizes(inputs) &&
         have_same(before.tensors, inputs.tensors, {&TraceTensors::past_key,
                                                    &TraceTensors::past_value,
                                                    &TraceTensors::past_compressed_kv,
                                                    &TraceTensors::past_k_rot,
                                                    &TraceTensors::in_proj_weight,
                                                    &TraceTensors::q_proj_weight,
                                                    &TraceTensors::k_proj_weight,
                                                    &TraceTensors::v_proj_weight,
                                                    &TraceTensors::in_proj_bias,
                                                    &TraceTensors::bias_k,
                                                    &TraceTensors::bias_v,
                                                    &TraceTensors::static_k,
                                                    &TraceTensors::static_v,
                                                    &TraceTensors::q_a_weight,
                                                    &TraceTensors::q_a_bias,
                                                    &TraceTensors::q_a_norm_weight,
                                                    &TraceTensors::q_b_weight,
                                                    &TraceTensors::kv_a_weight,
                                                    &TraceTensors::kv_a_bias,
                                                    &TraceTensors::kv_a_norm_weight,
                                                    &TraceTensors::kv_b_weight});
}

bool have_same_projections(const Trace& before, const AttentionInputs& inputs) {
  const TraceTensors &a = before.tensors, &b = inputs.tensors;
  if (!have_same_projection_parameters(before, inputs)) return false;
  // In that case a trace stores its inputs under the names of the heads.
  if (before.options.op == Op::scaled_dot_product_attention)
    return a.q_heads == b.query && a.k_heads == b.key && a.v_heads == b.value;
  return have_same(a, b, {&TraceTensors::query, &TraceTensors::key, &TraceTensors::value});
}

bool have_same_attention(const Trace& before, const AttentionInputs& inputs) {
  const AttentionOptions now = resolved_options(inputs);
  AttentionOptions then = before.options;
  then.head_gain = now.head_gain;
  for_options_with<AttentionOptions>(read_last,
                                     [&](const OptionRow&, auto member) { then.*member = now.*member; });
  const bool given_scores = now.op == Op::scaled_dot_product_attention;
  return then == now &&
         (!given_scores ||
          have_same(before.tensors, inputs.tensors,
                    {&TraceTensors::indexer_q, &TraceTensors::indexer_k, &TraceTensors::indexer_weights})) &&
         have_same(
             before.tensors, inputs.tensors,
             {&TraceTensors::q_norm_weight, &TraceTensors::k_norm_weight, &TraceTensors::sinks,
              &TraceTensors::relative_bias_weight, &TraceTensors::indexer_wq_b, &TraceTensors::indexer_wk,
              &TraceTensors::indexer_k_norm_weight, &TraceTensors::indexer_k_norm_bias,
              &TraceTensors::indexer_weights_proj, &TraceTensors::attn_mask, &TraceTensors::key_padding_mask,
              &TraceTensors::valid_lens, &TraceTensors::nonpad_kv_seqlen, &TraceTensors::frozen_weights});
}

bool have_same_output(const Trace& before, const AttentionInputs& inputs) {
  const auto& query = before.tensors.query;
  return before.options.head_gain == inputs.options.head_gain &&
         before.options.output_gate == inputs.options.output_gate &&
         (!before.options.output_gate || query == inputs.tensors.query) &&
         have_same(before.tensors, inputs.tensors,
                   {&TraceTensors::head_gain, &TraceTensors::out_proj_weight, &TraceTensors::out_proj_bias,
                    &TraceTensors::output_gate_weight, &TraceTensors::output_gate_bias});
}

}  // namespace headwise
