// Mistakes that only multi_head_latent_attention has: in the norms of its latents, and in the order of what
// one projection makes.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "core/attention/attention_sizes.h"
#include "core/attention/latent_attention.h"
#include "core/attention/norm.h"
#include "core/attention/rotary_embedding.h"
#include "core/compare/program_variants.h"

namespace headwise {
namespace {

using Id = TensorId;
using Weight = TensorPtr TraceTensors::*;

// A latent, the columns it is made of, and the weight of its norm.
struct Latent {
  const char* of;
  Id made, given;
  Weight weight;
};
constexpr Latent latent_of_keys{"keys and values", Id::compressed_kv, Id::kv_a,
                                &TraceTensors::kv_a_norm_weight};
constexpr Latent latent_of_queries{"queries", Id::compressed_q, Id::q_a, &TraceTensors::q_a_norm_weight};

// A latent of the columns from `first` on, normalised as `norm` says.
template <class Normalise>
StageChange made_by(const Latent& latent, Index first, Normalise normalise) {
  return {latent.made, [=](const Trace& so_far) {
            const Tensor columns =
                columns_of(required(so_far, latent.given), first, required(so_far, latent.made).shape());
            return normalise(columns, so_far);
          }};
}

StageChange not_normalised(const Latent& latent) {
  return made_by(latent, 0, [](const Tensor& columns, const Trace&) { return columns; });
}

// x ∘ weight, row by row, if there is a weight.
Tensor times_weight(Tensor x, const TensorPtr& weight) {
  for (Index i = 0; weight && i < x.size(); ++i) x.set_flat(i, x.flat(i) * weight->flat(i % weight->size()));
  return x;
}

void add_norms_of(const Latent& latent, const AttentionInputs& inputs, ProgramVariants& variants) {
  const Weight member = latent.weight;
  variants.push_back({fmt::format("the latents of {} are not normalised", latent.of), {not_normalised(latent)}});
  variants.push_back(
      {fmt::format("the norm of the latents of {} subtracts the mean (LayerNorm, not RMSNorm)", latent.of),
       {made_by(latent, 0, [member](const Tensor& columns, const Trace& so_far) {
         Norm norm = latent_norm_of(so_far.options);
         norm.kind = NormKind::layer;
         return normalised(columns, (so_far.tensors.*member).get(), norm);
       })}});
  if (!(inputs.tensors.*member)) return;
  variants.push_back(
      {fmt::format("the latents of {} are not normalised, but multiplied by the weight of their norm", latent.of),
       {made_by(latent, 0, [member](const Tensor& columns, const Trace& so_far) {
         return times_weight(columns, so_far.tensors.*member);
       })}});
  variants.push_back({fmt::format("the norm of the latents of {} has no weight", latent.of),
                      [member](AttentionInputs& other) { other.tensors.*member = nullptr; }});
  variants.push_back({fmt::format("the norm of the latents of {} multiplies by 1 + weight", latent.of),
                      [member](AttentionInputs& other) {
                        TensorPtr& weight = other.tensors.*member;
                        if (weight)
                          weight = shared_tensor(mapped_cells(*weight, [](double x) { return 1.0 + x; }));
                      }});
}

// k_rot of other columns of kv_a, or of changed ones.
StageChange key_of(Index first, std::function<Tensor(const Tensor& columns, const Trace& so_far)> change = {}) {
  return {Id::k_rot, [=](const Trace& so_far) {
            const AttentionOptions& o = so_far.options;
            Tensor columns = columns_of(required(so_far, Id::kv_a), first, required(so_far, Id::k_rot).shape());
            if (change) columns = change(columns, so_far);
            const Rotation rotation = rotation_of_keys(o);
            return rotation ? rotary_embedding(columns, rotation, rotary_first_key(o)) : columns;
          }};
}

// x divided row by row by the root mean square of the rows of kv_a, which are longer.
Tensor divided_by_whole(const Tensor& x, const Trace& so_far) {
  const Tensor& whole = required(so_far, Id::kv_a);
  if (whole.size() == 0) return x;
  const Index rows = whole.shape().size(0) * whole.shape().size(1), all = whole.size() / rows;
  const Index width = x.size() / rows;
  Tensor result = x;
  for (Index row = 0; row < rows; ++row) {
    double squares = 0.0;
    for (Index i = row * all; i < (row + 1) * all; ++i) squares += whole.flat(i) * whole.flat(i);
    const double length = std::sqrt(squares / static_cast<double>(all) + so_far.options.latent_norm_epsilon);
    for (Index i = row * width; i < (row + 1) * width; ++i) result.set_flat(i, x.flat(i) / length);
  }
  return result;
}

// The norm reaches the columns of k_rot, which it should leave alone.
void add_norms_of_key(Index latent, ProgramVariants& variants) {
  variants.push_back({"one norm covers the latent and k_rot together, not the latent alone",
                      {made_by(latent_of_keys, 0,
                               [](const Tensor& columns, const Trace& so_far) {
                                 return times_weight(divided_by_whole(columns, so_far),
                                                     so_far.tensors.kv_a_norm_weight);
                               }),
                       key_of(latent, divided_by_whole)}});
  variants.push_back({"k_rot is normalised, too", {key_of(latent, [](const Tensor& columns, const Trace& t) {
                        return normalised(columns, nullptr, latent_norm_of(t.options));
                      })}});
}

// What stands side by side in one matrix, taken in another order.
void add_orders(const AttentionSizes& s, ProgramVariants& variants) {
  variants.push_back({"the first R columns of kv_a are taken for k_rot, not the last",
                      {made_by(latent_of_keys, s.rope,
                               [](const Tensor& columns, const Trace& so_far) {
                                 return normalised(columns, so_far.tensors.kv_a_norm_weight.get(),
                                                   latent_norm_of(so_far.options));
                               }),
                       key_of(0)}});
  const auto turned_first = [nope = s.nope, rope = s.rope](const Cells& q, Index n, Index h, Index l, Index d) {
    return q(n, h, l, d < nope ? d + rope : d - nope);
  };
  variants.push_back({"the first R columns of each query are taken for the rotated ones, not the last",
                      {with_cells(Id::q_heads, turned_first)}});
  const auto rows = [&](const char* text, auto place) {
    std::vector<Index> source;
    for (Index h = 0; h < s.heads; ++h) {
      for (Index d = 0; d < s.nope; ++d) source.push_back(place(h, d, true));
      for (Index d = 0; d < s.v_head_dim; ++d) source.push_back(place(h, d, false));
    }
    variants.push_back({text, [source](AttentionInputs& other) {
                          other.tensors.kv_b_weight = with_blocks(*other.tensors.kv_b_weight, 1, source);
                        }});
  };
  const Index keys = s.nope, values = s.v_head_dim, heads = s.heads;
  rows("the rows of kv_b_proj are taken as values, then keys, of each head",
       [=](Index h, Index d, bool key) { return h * (keys + values) + (key ? values : 0) + d; });
  if (heads > 1)
    rows("the rows of kv_b_proj are taken as the keys of all heads, then the values of all",
         [=](Index h, Index d, bool key) { return key ? h * keys + d : heads * keys + h * values + d; });
}

}  // namespace

void add_latent_variants(const AttentionInputs& inputs, ProgramVariants& variants) {
  const AttentionOptions& o = inputs.options;
  if (!is_latent(o)) return;
  const AttentionSizes sizes = attention_sizes(inputs);
  add_norms_of(latent_of_keys, inputs, variants);
  if (o.q_lora_rank) {
    add_norms_of(latent_of_queries, inputs, variants);
    variants.push_back({"neither the latents of keys and values nor those of queries are normalised",
                        {not_normalised(latent_of_keys), not_normalised(latent_of_queries)}});
  }
  for (const double epsilon : {1e-6, 1e-5, 1e-8})
    if (epsilon != o.latent_norm_epsilon)
      variants.push_back({fmt::format("the epsilon of the norm of the latents is {:g}", epsilon),
                          fmt::format("--set attention.latent_norm_epsilon={:g}", epsilon),
                          [=](AttentionInputs& other) { other.options.latent_norm_epsilon = epsilon; }});
  add_norms_of_key(sizes.latent, variants);
  add_orders(sizes, variants);
}

}  // namespace headwise
