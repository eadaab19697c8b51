#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/attention/latent_attention.h"
#include "core/attention/score_path.h"

namespace headwise {
namespace {

using Id = TensorId;

void refuse_tensor(const TraceTensors& tensors, const TensorEntry& entry) {
  const TensorPtr& tensor = tensors.*(entry.member);
  require(!tensor, {std::string(entry.name), "multi_head_latent_attention has no such tensor",
                    tensor ? tensor->shape().sizes_text() : "",
                    "keys and values are made of kv_a_proj_with_mqa.weight and kv_b_proj.weight",
                    "leave it out, or choose multi_head_attention"});
}

}  // namespace

bool latent_reads(TensorId id) {
  switch (id) {
    case Id::value:
    case Id::past_key:
    case Id::past_value:
    case Id::in_proj_weight:
    case Id::k_proj_weight:
    case Id::v_proj_weight:
    case Id::in_proj_bias:
    case Id::q_norm_weight:
    case Id::k_norm_weight:
    case Id::bias_k:
    case Id::bias_v:
    case Id::static_k:
    case Id::static_v:
      return false;
    default:
      return tensor_entry(id).role != TensorRole::intermediate;
  }
}

void check_latent_options(const AttentionOptions& o, const TraceTensors& tensors) {
  for (const TensorEntry& entry : tensor_entries())
    if (entry.role != TensorRole::intermediate && !latent_reads(entry.id) && !is_past(entry.id))
      refuse_tensor(tensors, entry);
  for (const char* const option : set_options(o, not_latent))
    refuse({option, "multi_head_latent_attention has no such option", "", "",
            "choose multi_head_attention, or leave it out"});
  for (const auto& [name, size] : {std::pair("kv_lora_rank", o.kv_lora_rank),
                                   {"qk_nope_head_dim", o.qk_nope_head_dim},
                                   {"qk_rope_head_dim", o.qk_rope_head_dim}})
    require(size.has_value(), {name, "multi_head_latent_attention needs this size", "null", "1 or more", ""});
  require(!o.indexer || o.q_lora_rank,
          {"mask.indexer", "the indexer's queries are made of compressed_q", "q_lora_rank null", "1 or more",
           "set q_lora_rank, or leave the indexer out"});
  const Index head_dim = *o.qk_nope_head_dim + *o.qk_rope_head_dim, kv_heads = is_absorbed(o) ? 1 : o.num_heads;
  require(o.head_dim == head_dim, {"head_dim", "it is qk_nope_head_dim + qk_rope_head_dim",
                                   fmt::format("{}", o.head_dim), fmt::format("{}", head_dim), ""});
  require(o.num_kv_heads == kv_heads,
          {"num_kv_heads", "it follows from the layout: all heads read one key, or each its own",
           fmt::format("{}", o.num_kv_heads), fmt::format("{}", kv_heads), ""});
}

void check_latent_parameters(const AttentionOptions& o, const TraceTensors& t, const AttentionSizes& s,
                             Refusals& refusals) {
  const auto check = [&](Id id, bool needed, const char* remedy) {
    const TensorEntry& entry = tensor_entry(id);
    const TensorPtr& given = t.*(entry.member);
    refusals.run([&] {
      const Shape expected = computed_shape(id, o, s);
      require(given || !needed,
              {std::string(entry.name), "the parameter is missing", "", letters_and_sizes(expected), remedy});
      if (given) expect_shape(entry.name.data(), *given, expected, remedy);
    });
  };
  const auto refuse_with = [&](Id id, bool wanted, const char* remedy) {
    const TensorEntry& entry = tensor_entry(id);
    const TensorPtr& given = t.*(entry.member);
    refusals.run([&] {
      require(wanted || !given, {std::string(entry.name), "nothing is computed from it",
                                 given ? given->shape().sizes_text() : "", "", remedy});
    });
  };
  const bool compressed = o.q_lora_rank.has_value();
  const char* const without = "q_lora_rank is null: set it, or give q_proj_weight alone";
  for (const Id id : {Id::q_a_weight, Id::q_a_bias, Id::q_a_norm_weight, Id::q_b_weight})
    refuse_with(id, compressed, without);
  refuse_with(Id::q_proj_weight, !compressed, "q_lora_rank is set: give q_a_proj.weight and q_b_proj.weight");
  if (compressed) {
    check(Id::q_a_weight, true, "it compresses query into q_lora_rank numbers");
    check(Id::q_a_bias, false, "");
    check(Id::q_a_norm_weight, false, "one factor for each number of q_a");
    check(Id::q_b_weight, true, "it has a row for each number of all heads' queries");
  } else {
    check(Id::q_proj_weight, true, "it has qk_nope_head_dim + qk_rope_head_dim rows for each head");
  }
  check(Id::kv_a_weight, true, "its last qk_rope_head_dim rows make k_rot");
  check(Id::kv_a_bias, false, "");
  check(Id::kv_a_norm_weight, false, "one factor for each number of the latent");
  check(Id::kv_b_weight, true, "of each head qk_nope_head_dim rows for keys, then v_head_dim rows for values");
}

}  // namespace headwise
