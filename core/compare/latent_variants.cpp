// Mistakes that only multi_head_latent_attention has, and those of its rotated columns.
#include <fmt/format.h>

#include "core/attention/latent_attention.h"
#include "core/attention/rotary_embedding.h"
#include "core/compare/program_variants.h"

namespace headwise {
namespace {

// The first columns of what the norm is given, as they are.
StageChange not_normalised(TensorId id, TensorId given) {
  return {id, [id, given](const Trace& so_far) {
            return columns_of(required(so_far, given), 0, required(so_far, id).shape());
          }};
}

ProgramVariant with_option(std::string text, std::string setting, std::function<void(AttentionOptions&)> set) {
  return {std::move(text), "--set attention." + setting,
          [set = std::move(set)](AttentionInputs& other) { set(other.options); }};
}

void set_base(AttentionOptions& o, std::optional<double> base) {
  o.rotary_base = base;
  o.rotary_inverse_frequencies.clear();
  o.rotary_factor = 1.0;
}

}  // namespace

void add_latent_variants(const AttentionInputs& inputs, ProgramVariants& variants) {
  const AttentionOptions& o = inputs.options;
  variants.push_back({"the latents of keys and values are not normalised",
                      {not_normalised(TensorId::compressed_kv, TensorId::kv_a)}});
  if (o.q_lora_rank)
    variants.push_back({"the latents of queries are not normalised",
                        {not_normalised(TensorId::compressed_q, TensorId::q_a)}});
  for (const double epsilon : {1e-6, 1e-5, 1e-8})
    if (epsilon != o.latent_norm_epsilon)
      variants.push_back(with_option(fmt::format("the epsilon of the norm of the latents is {:g}", epsilon),
                                     fmt::format("latent_norm_epsilon={:g}", epsilon),
                                     [=](AttentionOptions& p) { p.latent_norm_epsilon = epsilon; }));
  if (!has_rotary_embedding(o)) return;
  variants.push_back(with_option("neither q nor k_rot is rotated by its position",
                                 "rotary_base=null --set attention.rotary_inverse_frequencies=null",
                                 [](AttentionOptions& p) { set_base(p, std::nullopt); }));
  if (rotary_width(o) > 2) {
    const bool halves = o.rotary_pairs == RotaryPairs::halves;
    variants.push_back(with_option(
        halves ? "RoPE turns neighbouring columns (2j, 2j + 1) together, not halves (j, j + R/2)"
               : "RoPE turns halves (j, j + R/2) together, not neighbouring columns (2j, 2j + 1)",
        halves ? "rotary_pairs=neighbours" : "rotary_pairs=halves", [halves](AttentionOptions& p) {
          p.rotary_pairs = halves ? RotaryPairs::neighbours : RotaryPairs::halves;
        }));
  }
  if (!o.rotary_base || rotary_width(o) == 2) return;
  for (const double base : {1e4, 5e5, 1e6, 1e5, 1e3, 100.0})
    if (base != *o.rotary_base)
      variants.push_back(with_option(fmt::format("the base of RoPE is {:g}", base),
                                     fmt::format("rotary_base={:.0f}", base),
                                     [base](AttentionOptions& p) { set_base(p, base); }));
}

}  // namespace headwise
