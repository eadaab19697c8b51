// What rotary position embedding, norms of q and k and an indexer require of the rest of a scenario.
#include <algorithm>

#include "core/attention/indexer.h"
#include "core/attention/rotary_embedding.h"
#include "core/scenario/plan_parts.h"

namespace headwise {

void check_rotary_embedding(const ScenarioPlan& plan, const Scenario& scenario, const GivenArrays& given,
                            const GivenSizes& sizes, Contradictions& wrong) {
  const AttentionSpec& a = scenario.attention;
  const AttentionOptions& o = plan.options;
  wrong.check(
      !a.rotary_scaling || a.rotary_base,
      "attention.rotary_scaling stretches the frequencies of attention.rotary_base, which is null: set the "
      "base, or rotary_scaling to null");
  if (!a.rotary_base && !a.rotary_inverse_frequencies) return;
  const std::string key = a.rotary_base ? "attention.rotary_base" : "attention.rotary_inverse_frequencies";
  wrong.check(
      !a.rotary_base || !a.rotary_inverse_frequencies,
      "attention.rotary_base and attention.rotary_inverse_frequencies are both set: set one of them to null");
  const char* const of_width = is_latent(o) ? "qk_rope_head_dim" : "head_dim";
  const Index width = rotary_width(o);
  wrong.check(!a.rotary_base || width % 2 == 0,
              fmt::format("attention.rotary_base rotates columns in pairs, but {0} = {1}{2} is odd: set "
                          "attention.{0} to an even number, or rotary_base to null",
                          of_width, width, size_source(sizes.head_dim)),
              sizes.head_dim.has_value());
  if (a.rotary_inverse_frequencies) {
    const auto count = static_cast<Index>(a.rotary_inverse_frequencies->size());
    wrong.check(count >= 1 && count <= width / 2,
                fmt::format("attention.rotary_inverse_frequencies has {} numbers, but {} = {}{} has {} "
                            "pairs of columns: write one number per pair, 1 to {} of them",
                            count, of_width, width, size_source(sizes.head_dim), width / 2, width / 2));
  }
  const char* unplaced = a.add_bias_kv || given.contains("bias_k") ? "bias_k"
                         : a.add_zero_attn                         ? "add_zero_attn"
                         : given.contains("static_k")              ? "static_k"
                                                                   : nullptr;
  if (unplaced != nullptr)
    wrong.add(
        fmt::format("{} rotates every key by its position, and {} has none: leave one out", key, unplaced),
        given.contains("bias_k") || given.contains("static_k"));
}

void plan_rotary_scaling(ScenarioPlan& plan, const Scenario& scenario, Contradictions& wrong) {
  const AttentionSpec& a = scenario.attention;
  AttentionOptions& o = plan.options;
  const Index all = rotary_width(o);
  if (!a.rotary_scaling || !a.rotary_base || all % 2 != 0 || all == 0) return;
  const double share = a.rotary_scaling->partial_rotary_factor.value_or(1.0);
  const Index width = columns_of_share(share, all);
  const std::string problem =
      width > 0 ? rotary_scaling_problem(*a.rotary_scaling, width)
                : fmt::format(
                      "has a partial_rotary_factor of {:g}, which of {} columns leaves {:g}: choose a "
                      "share that leaves an even number, at most 1",
                      share, all, static_cast<double>(all) * share);
  wrong.check(problem.empty(), "attention.rotary_scaling " + problem);
  if (!problem.empty()) return;
  const Index tokens = rotary_tokens(o, plan.query_length, plan.masked_keys);
  const Rotation rotation = scaled_rotation(*a.rotary_scaling, width, *a.rotary_base, tokens);
  o.rotary_base.reset();
  o.rotary_inverse_frequencies = rotation.inverse_frequencies;
  o.rotary_factor *= rotation.factor;
}

void check_qk_norm(const Scenario& scenario, const GivenArrays& given, Contradictions& wrong) {
  const AttentionSpec& a = scenario.attention;
  if (!a.qk_norm) return;
  const char* const appended = a.add_bias_kv || given.contains("bias_k") ? "bias_k"
                               : a.add_zero_attn                         ? "add_zero_attn"
                               : given.contains("static_k")              ? "static_k"
                                                                         : nullptr;
  if (appended != nullptr)
    wrong.add(
        fmt::format("attention.qk_norm normalises the rows that are projected, and {} is none: leave one out",
                    appended),
        given.contains("bias_k") || given.contains("static_k"));
}

void check_indexer(const ScenarioPlan& plan, const Scenario& scenario, const GivenArrays& given,
                   Contradictions& wrong) {
  const AttentionOptions& o = plan.options;
  if (!o.indexer) return;
  const std::string problem = indexer_problem(o);
  wrong.check(problem.empty(), "mask.indexer." + problem);
  wrong.check(
      !is_latent(o) || o.q_lora_rank,
      "mask.indexer makes its queries of compressed_q, but attention.q_lora_rank is null: set q_lora_rank, "
      "or indexer to null");
  const char* const past = source_of_past(plan, given);
  const char* const unplaced = past                                                         ? past
                               : given.contains("static_k")                                 ? "static_k"
                               : scenario.attention.add_bias_kv || given.contains("bias_k") ? "bias_k"
                               : scenario.attention.add_zero_attn                           ? "add_zero_attn"
                                                                                            : nullptr;
  if (unplaced != nullptr)
    wrong.add(
        fmt::format("mask.indexer has keys of its own, and none for the keys of {}: leave one out", unplaced),
        (past && given.contains(past)) || given.contains("static_k") || given.contains("bias_k"));
}

}  // namespace headwise
