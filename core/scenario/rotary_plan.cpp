#include "core/scenario/rotary_plan.h"

namespace headwise {

void check_rotary_embedding(const ScenarioPlan& plan, const Scenario& scenario, const GivenArrays& given,
                            const GivenSizes& sizes, Contradictions& wrong) {
  const AttentionSpec& a = scenario.attention;
  const AttentionOptions& o = plan.options;
  if (!a.rotary_base && !a.rotary_inverse_frequencies) return;
  const std::string key = a.rotary_base ? "attention.rotary_base" : "attention.rotary_inverse_frequencies";
  wrong.check(
      !a.rotary_base || !a.rotary_inverse_frequencies,
      "attention.rotary_base and attention.rotary_inverse_frequencies are both set: set one of them to null");
  wrong.check(!a.rotary_base || o.head_dim % 2 == 0,
              fmt::format("attention.rotary_base rotates columns in pairs, but head_dim = {}{} is odd: set "
                          "attention.head_dim to an even number, or rotary_base to null",
                          o.head_dim, size_source(sizes.head_dim)),
              sizes.head_dim.has_value());
  if (a.rotary_inverse_frequencies) {
    const auto count = static_cast<Index>(a.rotary_inverse_frequencies->size());
    wrong.check(count >= 1 && count <= o.head_dim / 2,
                fmt::format("attention.rotary_inverse_frequencies has {} numbers, but head_dim = {}{} has {} "
                            "pairs of columns: write one number per pair, 1 to {} of them",
                            count, o.head_dim, size_source(sizes.head_dim), o.head_dim / 2, o.head_dim / 2));
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

}  // namespace headwise
