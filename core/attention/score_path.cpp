#include "core/attention/score_path.h"

#include <algorithm>
#include <optional>

#include "core/attention/rotary_embedding.h"

namespace headwise {
namespace {

using Id = TensorId;

struct Names {
  Id projected, heads, normed, rotary;
  std::optional<Id> present;
};
constexpr Names of_queries{Id::q, Id::q_heads, Id::q_normed, Id::q_rotary, {}};
constexpr Names of_keys{Id::k, Id::k_heads, Id::k_normed, Id::k_rotary, Id::present_key};

std::vector<Id> latent_path(const AttentionOptions& o) {
  std::vector<Id> ids{Id::q, Id::q_heads};
  if (has_rotary_embedding(o)) ids.push_back(Id::q_rotary);
  if (is_absorbed(o)) ids.push_back(Id::q_absorbed);
  return ids;
}

std::vector<Id> path(const Names& of, const AttentionOptions& o) {
  std::vector<Id> ids;
  if (projects(o.op)) ids.push_back(of.projected);
  if (o.qk_norm == QkNorm::whole) ids.push_back(of.normed);
  ids.push_back(of.heads);
  if (o.qk_norm == QkNorm::per_head) ids.push_back(of.normed);
  if (has_rotary_embedding(o)) ids.push_back(of.rotary);
  if (o.qk_norm == QkNorm::per_head_after_rotary) ids.push_back(of.normed);
  if (o.past_length && of.present) ids.push_back(*of.present);
  return ids;
}

const TensorPtr& factor(const TensorPtr& heads, const TensorPtr& normed, const TensorPtr& rotary,
                        const AttentionOptions& o) {
  if (normed && o.qk_norm == QkNorm::per_head_after_rotary) return normed;
  if (rotary) return rotary;
  return normed && o.qk_norm == QkNorm::per_head ? normed : heads;
}

}  // namespace

std::vector<Id> path_of_queries(const AttentionOptions& options) {
  return is_latent(options) ? latent_path(options) : path(of_queries, options);
}

std::vector<Id> path_of_keys(const AttentionOptions& options) {
  if (is_latent(options)) return {is_absorbed(options) ? Id::k_absorbed : Id::k_heads};
  return path(of_keys, options);
}

std::vector<Id> path_of_values(const AttentionOptions& options) {
  if (is_latent(options)) return {is_absorbed(options) ? latents_of_heads(options) : Id::v_heads};
  std::vector<Id> ids{Id::v_heads};
  if (projects(options.op)) ids.insert(ids.begin(), Id::v);
  if (options.past_length) ids.push_back(Id::present_value);
  return ids;
}

Id made_of(Id id, const AttentionOptions& options) {
  if (id == Id::present_compressed_kv) return Id::compressed_kv;
  if (id == Id::present_k_rot) return Id::k_rot;
  for (const std::vector<Id>& ids : {path_of_queries(options), path_of_keys(options), path_of_values(options)})
    if (const auto at = std::ranges::find(ids, id); at != ids.end() && at != ids.begin()) return *(at - 1);
  return id;
}

std::array<CachedTensor, 2> cached_tensors(Op op) {
  const std::size_t first = is_latent(op) ? 2 : 0;
  return {cached_by_any[first], cached_by_any[first + 1]};
}

std::optional<Id> past_before(Id id) {
  const auto* const found = std::ranges::find(cached_by_any, id, &CachedTensor::present);
  return found == cached_by_any.end() ? std::nullopt : std::optional(found->past);
}

bool is_past(Id id) {
  return std::ranges::find(cached_by_any, id, &CachedTensor::past) != cached_by_any.end();
}

Id latents_of_heads(const AttentionOptions& options) {
  return options.past_length ? Id::present_compressed_kv : Id::compressed_kv;
}

Id rotated_keys_of_heads(const AttentionOptions& options) {
  return options.past_length ? Id::present_k_rot : Id::k_rot;
}

const TensorPtr& queries_of_scores(const TraceTensors& t, const AttentionOptions& options) {
  if (t.q_absorbed) return t.q_absorbed;
  return factor(t.q_heads, t.q_normed, t.q_rotary, options);
}

const TensorPtr& keys_of_scores(const TraceTensors& t, const AttentionOptions& options) {
  if (t.k_absorbed) return t.k_absorbed;
  return t.present_key ? t.present_key : factor(t.k_heads, t.k_normed, t.k_rotary, options);
}

const TensorPtr& values_of_sum(const TraceTensors& t) {
  if (t.present_value) return t.present_value;
  if (t.v_heads) return t.v_heads;
  return t.present_compressed_kv ? t.present_compressed_kv : t.compressed_kv;
}

Id sum_of_values(const AttentionOptions& options) {
  return is_absorbed(options) ? Id::latent_output : Id::head_output;
}

}  // namespace headwise
