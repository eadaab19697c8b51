#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "core/attention/latent_attention.h"
#include "core/attention/score_path.h"
#include "core/attention/tensor_names.h"
#include "core/scenario/plan_parts.h"

namespace headwise {
namespace {

constexpr const char* heads_after_length_hint =
    "is query (N,L,H,D)? heads come before the length, (N,H,L,D): a.transpose(0, 2, 1, 3) in NumPy, "
    "tensor.transpose(1, 2) in PyTorch";

[[noreturn]] void disagree(const Scenario& scenario, const std::string& path, Index written, const char* letter,
                           const SizeFact& fact, const std::optional<SizeFact>& length = {}) {
  const bool turned = length && length->size == written;
  throw Error(
      ExitStatus::input,
      {.where = place_of_value(scenario, "attention." + path),
       .what = "the scenario and the arrays disagree",
       .got = fmt::format("{} = {} written, {} = {} in {}", path, written, letter, fact.size, fact.source),
       .expected = "the same",
       .remedy = turned           ? heads_after_length_hint
                 : fact.size == 0 ? "give an array that is not empty"
                                  : fmt::format("leave {} out, or set it to {}", path, fact.size)});
}

}  // namespace

Index size_of(const Scenario& scenario, const char* name, const char* letter, Index value, Index default_value,
              const std::optional<SizeFact>& fact, const std::optional<SizeFact>& length) {
  if (!fact) return value;
  if (fact->size != value &&
      is_written(scenario, (std::string("attention.") + name).c_str(), value, default_value)) {
    disagree(scenario, name, value, letter, *fact, length);
  }
  return fact->size;
}

Index size_of(const Scenario& scenario, const char* name, const char* letter, const std::optional<Index>& value,
              const std::optional<SizeFact>& fact, Index follows, const std::optional<SizeFact>& length) {
  if (value && fact && *value != fact->size) disagree(scenario, name, *value, letter, *fact, length);
  return value ? *value : fact ? fact->size : follows;
}

void plan_latent_heads(ScenarioPlan& plan, const Scenario& scenario, const GivenSizes& sizes) {
  const AttentionSpec& a = scenario.attention;
  AttentionOptions& o = plan.options;
  constexpr Index most_width = std::numeric_limits<Index>::max() / 2;  // larger ones are refused for memory
  o.num_heads = size_of(scenario, "num_heads", "H", a.num_heads, AttentionSpec{}.num_heads, sizes.num_heads);
  o.num_kv_heads = is_absorbed(o) ? 1 : o.num_heads;
  o.head_dim = std::min(a.qk_nope_head_dim.value_or(1), most_width) +
               std::min(a.qk_rope_head_dim.value_or(1), most_width);
  o.v_head_dim = a.v_head_dim.value_or(a.qk_nope_head_dim.value_or(1));
  o.vdim = o.kdim;
}

void check_latent_attention(const ScenarioPlan& plan, const Scenario& scenario, const GivenArrays& given,
                            const GivenSizes& sizes, Contradictions& wrong) {
  const AttentionSpec& a = scenario.attention;
  const AttentionOptions& o = plan.options;
  for (const auto& [name, size] : {std::pair("kv_lora_rank", a.kv_lora_rank),
                                   {"qk_nope_head_dim", a.qk_nope_head_dim},
                                   {"qk_rope_head_dim", a.qk_rope_head_dim}})
    wrong.check(
        size.has_value(),
        fmt::format("multi_head_latent_attention needs attention.{0}, which is null: set {0} to 1 or more",
                    name));
  const auto absent = [&](bool set, const std::string& key, const char* remedy) {
    wrong.check(!set, fmt::format("multi_head_latent_attention has no {}: {}", key, remedy));
  };
  absent(a.num_kv_heads.has_value(), "num_kv_heads", "its heads follow from attention.layout; set it to null");
  absent(a.head_dim.has_value(), "head_dim",
         "it is qk_nope_head_dim + qk_rope_head_dim; set those, and head_dim to null");
  absent(a.vdim.has_value(), "vdim", "keys and values are both made of key; set it to null");
  absent(a.add_bias_kv, "add_bias_kv", "set it to false");
  std::vector<const char*> others = set_options(a, not_latent);
  std::ranges::copy(set_options(scenario.mask, not_latent), std::back_inserter(others));
  for (const char* const option : others)
    absent(true, option, "leave it out, or set op to multi_head_attention");
  for (const auto& [name, array] : given)
    if (const auto tensor = find_tensor_name(name);
        tensor && !tensor->gradient && !latent_reads(tensor->id) &&
        tensor_entry(tensor->id).role != TensorRole::intermediate && !is_past(tensor->id))
      wrong.add(fmt::format("multi_head_latent_attention has no {}: leave it out, or set op to "
                            "multi_head_attention",
                            name),
                true);
  wrong.check(!plan.self_attention || o.kdim == o.embed_dim,
              fmt::format("in self-attention key is the query, but kdim = {}{} beside embed_dim = {}{}: set "
                          "inputs.self_attention to false",
                          o.kdim, size_source(sizes.kdim), o.embed_dim, size_source(sizes.embed_dim)),
              sizes.kdim || sizes.embed_dim);
  wrong.check(scenario.parameters.source != ParameterSource::hand_made,
              "the hand-made heads are those of multi_head_attention: set parameters.source to \"random\"");
}

void plan_heads(ScenarioPlan& plan, const Scenario& scenario, const GivenSizes& sizes, Contradictions& wrong) {
  const AttentionSpec& a = scenario.attention;
  AttentionOptions& o = plan.options;
  o.num_heads = size_of(scenario, "num_heads", "H", a.num_heads, AttentionSpec{}.num_heads, sizes.num_heads,
                        sizes.query_length);
  o.num_kv_heads = size_of(scenario, "num_kv_heads", "G", a.num_kv_heads, sizes.num_kv_heads, o.num_heads,
                           sizes.key_length);
  const bool needs_division = !a.head_dim && !sizes.head_dim;
  wrong.check(!needs_division || (o.num_heads > 0 && o.embed_dim % o.num_heads == 0),
              fmt::format("num_heads = {} does not divide embed_dim = {}{}: set num_heads to a divisor, or "
                          "attention.head_dim to choose the head width freely",
                          o.num_heads, o.embed_dim, size_source(sizes.embed_dim)),
              sizes.embed_dim.has_value());
  const auto divides = [](const std::optional<SizeFact>& of, Index size) {
    return of && size > 0 && of->size > 0 && of->size % size == 0;
  };
  // Query alone with its heads behind the length, or key too.
  const bool heads_after_length = sizes.num_heads && sizes.query_length &&
                                  (sizes.query_length->size == o.num_kv_heads ||
                                   (sizes.key_length && sizes.query_length->size < o.num_heads &&
                                    divides(sizes.query_length, sizes.key_length->size)));
  wrong.check(
      o.num_kv_heads > 0 && o.num_heads % o.num_kv_heads == 0,
      fmt::format("num_kv_heads = {}{} does not divide num_heads = {}{}: {}", o.num_kv_heads,
                  size_source(sizes.num_kv_heads), o.num_heads, size_source(sizes.num_heads),
                  heads_after_length ? heads_after_length_hint
                                     : "each key/value head must serve the same number of query heads"),
      sizes.num_heads || sizes.num_kv_heads);
  o.head_dim = size_of(scenario, "head_dim", "D", a.head_dim, sizes.head_dim,
                       o.num_heads > 0 ? o.embed_dim / o.num_heads : 0);
  o.v_head_dim = size_of(scenario, "v_head_dim", "Dv", a.v_head_dim, sizes.v_head_dim, o.head_dim);
}

}  // namespace headwise
