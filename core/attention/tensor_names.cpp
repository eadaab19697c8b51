#include "core/attention/tensor_names.h"

#include <algorithm>
#include <array>

#include "core/tensor/edit_distance.h"

namespace headwise {
namespace {

using T = TraceTensors;
using Id = TensorId;
constexpr auto input = TensorRole::input;
constexpr auto parameter = TensorRole::parameter;
constexpr auto mask = TensorRole::mask;
constexpr auto made = TensorRole::intermediate;

constexpr std::array entries{
    TensorEntry{Id::query, "query", &T::query, input, false, "(N,L,E)", "what asks: one row per query token"},
    TensorEntry{Id::key, "key", &T::key, input, false, "(N,S,kdim)",
                "what is compared with: one row per key token"},
    TensorEntry{Id::value, "value", &T::value, input, false, "(N,S,vdim)",
                "what is taken along: one row per key token"},
    TensorEntry{Id::past_key, "past_key", &T::past_key, input, false, "(N,G,P,D)",
                "keys of earlier tokens, as a cache keeps them"},
    TensorEntry{Id::past_value, "past_value", &T::past_value, input, false, "(N,G,P,Dv)",
                "values of earlier tokens, as a cache keeps them"},
    TensorEntry{Id::past_compressed_kv, "past_compressed_kv", &T::past_compressed_kv, input, false, "(N,P,C)",
                "latents of earlier tokens, as a cache keeps them"},
    TensorEntry{Id::past_k_rot, "past_k_rot", &T::past_k_rot, input, false, "(N,1,P,R)",
                "the rotated part of earlier tokens' keys, as a cache keeps it"},
    TensorEntry{Id::in_proj_weight, "in_proj_weight", &T::in_proj_weight, parameter, false,
                "(H·D+G·D+G·Dv,E)", "W_q, W_k and W_v stacked: 3E rows in PyTorch's module"},
    TensorEntry{Id::q_proj_weight, "q_proj_weight", &T::q_proj_weight, parameter, false, "(H·D,E)",
                "W_q by itself"},
    TensorEntry{Id::k_proj_weight, "k_proj_weight", &T::k_proj_weight, parameter, false, "(G·D,kdim)",
                "W_k by itself"},
    TensorEntry{Id::v_proj_weight, "v_proj_weight", &T::v_proj_weight, parameter, false, "(G·Dv,vdim)",
                "W_v by itself"},
    TensorEntry{Id::in_proj_bias, "in_proj_bias", &T::in_proj_bias, parameter, false, "(H·D+G·D+G·Dv)",
                "the biases of q, k and v, one after the other"},
    TensorEntry{Id::q_a_weight, "q_a_proj.weight", &T::q_a_weight, parameter, false, "(Cq,E)",
                "W_DQ: compresses query into Cq numbers"},
    TensorEntry{Id::q_a_bias, "q_a_proj.bias", &T::q_a_bias, parameter, false, "(Cq)", "the bias of q_a"},
    TensorEntry{Id::q_a_norm_weight, "q_a_layernorm.weight", &T::q_a_norm_weight, parameter, false, "(Cq)",
                "the factors of normalised q_a"},
    TensorEntry{Id::q_b_weight, "q_b_proj.weight", &T::q_b_weight, parameter, false, "(H·D,Cq)",
                "W_UQ: makes all heads' queries of compressed_q"},
    TensorEntry{Id::kv_a_weight, "kv_a_proj_with_mqa.weight", &T::kv_a_weight, parameter, false, "(C+R,kdim)",
                "W_DKV: compresses key into C numbers, and R that are rotated by position"},
    TensorEntry{Id::kv_a_bias, "kv_a_proj_with_mqa.bias", &T::kv_a_bias, parameter, false, "(C+R)",
                "the bias of kv_a"},
    TensorEntry{Id::kv_a_norm_weight, "kv_a_layernorm.weight", &T::kv_a_norm_weight, parameter, false, "(C)",
                "the factors of the normalised latent"},
    TensorEntry{Id::kv_b_weight, "kv_b_proj.weight", &T::kv_b_weight, parameter, false, "(H·(Dn+Dv),C)",
                "of each head W_UK, its Dn rows for keys, then W_UV, its Dv rows for values"},
    TensorEntry{Id::q_norm_weight, "q_norm.weight", &T::q_norm_weight, parameter, false, "(D)",
                "the factors of normalised q: (D), (H,D) or (H·D)"},
    TensorEntry{Id::k_norm_weight, "k_norm.weight", &T::k_norm_weight, parameter, false, "(D)",
                "the factors of normalised k: (D), (G,D) or (G·D)"},
    TensorEntry{Id::sinks, "sinks", &T::sinks, parameter, false, "(H)",
                "the logit beside each row of a head; its weight is dropped"},
    TensorEntry{Id::relative_bias_weight, "relative_attention_bias.weight", &T::relative_bias_weight,
                parameter, false, "(buckets,H)", "what each head adds to a score, by its bucket of distances"},
    TensorEntry{Id::indexer_wq_b, "indexer.wq_b.weight", &T::indexer_wq_b, parameter, false, "(Hi·W,E)",
                "the projection of the indexer's queries"},
    TensorEntry{Id::indexer_wk, "indexer.wk.weight", &T::indexer_wk, parameter, false, "(W,kdim)",
                "the projection of the indexer's keys"},
    TensorEntry{Id::indexer_k_norm_weight, "indexer.k_norm.weight", &T::indexer_k_norm_weight, parameter,
                false, "(W)", "the factors of the indexer's normalised keys"},
    TensorEntry{Id::indexer_k_norm_bias, "indexer.k_norm.bias", &T::indexer_k_norm_bias, parameter, false,
                "(W)", "what is added to the indexer's normalised keys"},
    TensorEntry{Id::indexer_weights_proj, "indexer.weights_proj.weight", &T::indexer_weights_proj, parameter,
                false, "(Hi,E)", "the projection of the weights of the indexer's heads"},
    TensorEntry{Id::bias_k, "bias_k", &T::bias_k, parameter, false, "(G·D)", "a row appended to k"},
    TensorEntry{Id::bias_v, "bias_v", &T::bias_v, parameter, false, "(G·Dv)", "a row appended to v"},
    TensorEntry{Id::static_k, "static_k", &T::static_k, parameter, false, "(N,G,S,D)",
                "replaces the projected k"},
    TensorEntry{Id::static_v, "static_v", &T::static_v, parameter, false, "(N,G,S,Dv)",
                "replaces the projected v"},
    TensorEntry{Id::output_gate_weight, "output_gate.weight", &T::output_gate_weight, parameter, false,
                "(H·Dv,E)", "W_g: query's gate, a number for each column of concat, or (H,E) for each head"},
    TensorEntry{Id::output_gate_bias, "output_gate.bias", &T::output_gate_bias, parameter, false, "(H·Dv)",
                "the bias of the gate"},
    TensorEntry{Id::out_proj_weight, "out_proj.weight", &T::out_proj_weight, parameter, false, "(E,H·Dv)",
                "W_O: mixes the heads"},
    TensorEntry{Id::out_proj_bias, "out_proj.bias", &T::out_proj_bias, parameter, false, "(E)",
                "the bias of the output projection"},
    TensorEntry{Id::attn_mask, "attn_mask", &T::attn_mask, mask, false, "(L,S)",
                "which query may see which key: True blocks in MHA, keeps in SDPA"},
    TensorEntry{Id::key_padding_mask, "key_padding_mask", &T::key_padding_mask, mask, false, "(N,S)",
                "which keys are padding: True is ignored"},
    TensorEntry{Id::valid_lens, "valid_lens", &T::valid_lens, mask, false, "(N)", "how many keys take part"},
    TensorEntry{Id::nonpad_kv_seqlen, "nonpad_kv_seqlen", &T::nonpad_kv_seqlen, mask, false, "(N)",
                "how many keys of a cache are filled; the last query stands at the last of them"},
    TensorEntry{Id::head_gain, "heads.gain", &T::head_gain, parameter, false, "(H)",
                "the factor of each head's output; 0 mutes it"},
    TensorEntry{Id::frozen_weights, "frozen_weights", &T::frozen_weights, input, true, "(N,F,L,S′)",
                "the attention weights that frozen heads keep"},
    TensorEntry{Id::q_a, "q_a", &T::q_a, made, false, "(N,L,Cq)", "query compressed into Cq numbers"},
    TensorEntry{Id::compressed_q, "compressed_q", &T::compressed_q, made, false, "(N,L,Cq)",
                "q_a, each row normalised to the same length"},
    TensorEntry{Id::q, "q", &T::q, made, false, "(N,L,H·D)", "query after its projection"},
    TensorEntry{Id::k, "k", &T::k, made, false, "(N,S′,G·D)", "key after its projection"},
    TensorEntry{Id::v, "v", &T::v, made, false, "(N,S′,G·Dv)", "value after its projection"},
    TensorEntry{Id::kv_a, "kv_a", &T::kv_a, made, false, "(N,S,C+R)",
                "key compressed into C numbers, and R that are rotated by position"},
    TensorEntry{Id::compressed_kv, "compressed_kv", &T::compressed_kv, made, false, "(N,S,C)",
                "the latent, normalised: what a cache keeps of keys and values"},
    TensorEntry{Id::k_rot, "k_rot", &T::k_rot, made, false, "(N,1,S,R)",
                "the part of each key that has its position, the same for all heads"},
    TensorEntry{Id::present_compressed_kv, "present_compressed_kv", &T::present_compressed_kv, made, false,
                "(N,S′,C)", "past_compressed_kv, then the latents of this pass"},
    TensorEntry{Id::present_k_rot, "present_k_rot", &T::present_k_rot, made, false, "(N,1,S′,R)",
                "past_k_rot, then the rotated part of this pass's keys"},
    TensorEntry{Id::kv_b, "kv_b", &T::kv_b, made, false, "(N,S′,H·(Dn+Dv))",
                "all heads' keys and values, made from the latent"},
    TensorEntry{Id::q_heads, "q_heads", &T::q_heads, made, false, "(N,H,L,D)", "q cut into heads"},
    TensorEntry{Id::k_heads, "k_heads", &T::k_heads, made, false, "(N,G,S′,D)", "k cut into heads"},
    TensorEntry{Id::v_heads, "v_heads", &T::v_heads, made, false, "(N,G,S′,Dv)", "v cut into heads"},
    TensorEntry{Id::q_normed, "q_normed", &T::q_normed, made, false, "(N,H,L,D)",
                "q, each row normalised to the same length"},
    TensorEntry{Id::k_normed, "k_normed", &T::k_normed, made, false, "(N,G,S,D)",
                "k, each row normalised to the same length"},
    TensorEntry{Id::q_rotary, "q_rotary", &T::q_rotary, made, false, "(N,H,L,D)",
                "q, each row rotated by its position"},
    TensorEntry{Id::k_rotary, "k_rotary", &T::k_rotary, made, false, "(N,G,S,D)",
                "k, each row rotated by its position"},
    TensorEntry{Id::present_key, "present_key", &T::present_key, made, false, "(N,G,S′,D)",
                "past_key, then the keys of this pass: what the scores are made from"},
    TensorEntry{Id::present_value, "present_value", &T::present_value, made, false, "(N,G,S′,Dv)",
                "past_value, then the values of this pass"},
    TensorEntry{Id::indexer_q, "indexer_q", &T::indexer_q, made, false, "(N,Hi,L,W)",
                "the queries of the indexer, rotated by their positions"},
    TensorEntry{Id::indexer_k, "indexer_k", &T::indexer_k, made, false, "(N,1,S,W)",
                "the keys of the indexer, normalised and rotated: one for all its heads"},
    TensorEntry{Id::indexer_weights, "indexer_weights", &T::indexer_weights, made, false, "(N,L,Hi)",
                "how much each head of the indexer counts"},
    TensorEntry{Id::indexer_scores, "indexer_scores", &T::indexer_scores, made, false, "(N,L,S)",
                "what the indexer chooses by: the k largest of a row take part"},
    TensorEntry{Id::q_absorbed, "q_absorbed", &T::q_absorbed, made, false, "(N,H,L,C+R)",
                "queries with W_UK in them: they meet the latent itself"},
    TensorEntry{Id::k_absorbed, "k_absorbed", &T::k_absorbed, made, false, "(N,1,S′,C+R)",
                "the latent beside k_rot: one key for all heads"},
    TensorEntry{Id::scores, "scores", &T::scores, made, false, "(N,H,L,S′)", "q·kᵀ, not yet scaled"},
    TensorEntry{Id::scaled_scores, "scaled_scores", &T::scaled_scores, made, false, "(N,H,L,S′)",
                "scores after the scale"},
    TensorEntry{Id::position_bias, "position_bias", &T::position_bias, made, false, "(1,H,L,S′)",
                "what the distance of a pair adds to its score"},
    TensorEntry{Id::mask_bias, "mask_bias", &T::mask_bias, made, false, "(N,H,L,S′)",
                "all masks merged, as what is added"},
    TensorEntry{Id::masked_scores, "masked_scores", &T::masked_scores, made, false, "(N,H,L,S′)",
                "scores after the masks"},
    TensorEntry{Id::lse, "lse", &T::lse, made, false, "(N,H,L)", "ln Σ exp of each row of masked_scores"},
    TensorEntry{Id::sink_weights, "sink_weights", &T::sink_weights, made, true, "(N,H,L)",
                "the share of each row that the sink takes"},
    TensorEntry{Id::full_weights, "full_weights", &T::full_weights, made, true, "(N,H,L,S′)",
                "attn_weights as they would be without the indexer"},
    TensorEntry{Id::attn_weights, "attn_weights", &T::attn_weights, made, true, "(N,H,L,S′)",
                "how much of each value a query takes"},
    TensorEntry{Id::dropped_weights, "dropped_weights", &T::dropped_weights, made, true, "(N,H,L,S′)",
                "attn_weights after dropout"},
    TensorEntry{Id::latent_output, "latent_output", &T::latent_output, made, false, "(N,H,L,C)",
                "latents added up, weighted: what each head finds, before W_UV"},
    TensorEntry{Id::head_output, "head_output", &T::head_output, made, false, "(N,H,L,Dv)",
                "values added up, weighted: one answer per head"},
    TensorEntry{Id::concat, "concat", &T::concat, made, false, "(N,L,H·Dv)",
                "the heads side by side, times their gains"},
    TensorEntry{Id::output_gate, "output_gate", &T::output_gate, made, false, "(N,L,H·Dv)",
                "query's gate: σ of it says how much of concat passes"},
    TensorEntry{Id::gated_concat, "gated_concat", &T::gated_concat, made, false, "(N,L,H·Dv)",
                "concat times σ(output_gate)"},
    TensorEntry{Id::output, "output", &T::output, made, false, "(N,L,E)", "after the output projection"},
    TensorEntry{Id::residual_output, "residual_output", &T::residual_output, made, false, "(N,L,E)",
                "query + output"},
    TensorEntry{Id::layer_norm_output, "layer_norm_output", &T::layer_norm_output, made, false, "(N,L,E)",
                "each row brought to mean 0 and deviation 1"},
    TensorEntry{Id::attn_output_weights, "attn_output_weights", &T::attn_output_weights, made, true,
                "(N,L,S′)", "the second result of PyTorch's module"},
};

static_assert([] {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].id != static_cast<Id>(i)) return false;
  }
  return entries.size() == static_cast<std::size_t>(Id::attn_output_weights) + 1;
}());

constexpr std::string_view gradient_prefix = "grad.";

}  // namespace

TraceTensors::TraceTensors() = default;
TraceTensors::TraceTensors(const TraceTensors&) = default;
TraceTensors::TraceTensors(TraceTensors&&) noexcept = default;
TraceTensors& TraceTensors::operator=(const TraceTensors&) = default;
TraceTensors& TraceTensors::operator=(TraceTensors&&) noexcept = default;
TraceTensors::~TraceTensors() = default;

std::span<const TensorEntry> tensor_entries() {
  return entries;
}

const TensorEntry& tensor_entry(TensorId id) {
  return entries[static_cast<std::size_t>(id)];
}

std::string to_string(TensorName name) {
  return (name.gradient ? std::string(gradient_prefix) : std::string()) +
         std::string(tensor_entry(name.id).name);
}

std::optional<TensorName> find_tensor_name(std::string_view text) {
  const bool gradient = text.starts_with(gradient_prefix);
  if (gradient) text.remove_prefix(gradient_prefix.size());
  for (const TensorEntry& entry : entries) {
    if (entry.name == text) return TensorName{entry.id, gradient};
  }
  return std::nullopt;
}

std::string nearest_tensor_name(std::string_view text) {
  text = text.substr(0, 64);
  const bool gradient = text.starts_with(gradient_prefix);
  if (gradient) text.remove_prefix(gradient_prefix.size());
  std::vector<std::string> names;
  for (const TensorEntry& entry : entries) names.emplace_back(entry.name);
  const std::string nearest = nearest_name(text, names);
  return nearest.empty() || !gradient ? nearest : std::string(gradient_prefix) + nearest;
}

}  // namespace headwise
