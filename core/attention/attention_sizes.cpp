#include "core/attention/attention_sizes.h"

#include <algorithm>

namespace headwise {

Shape AttentionSizes::scores_shape() const {
  return Shape{{"N", batch}, {"H", heads}, {"L", queries}, {key_axis(), all_keys}};
}

std::optional<Index> given_past_length(const TraceTensors& t) {
  const TensorPtr& past = t.past_key ? t.past_key : t.past_k_rot;
  return past ? std::optional(past->shape().size(2)) : std::nullopt;
}

AttentionSizes attention_sizes(const AttentionInputs& inputs) {
  return attention_sizes(inputs.options, inputs.tensors);
}

AttentionSizes attention_sizes(const AttentionOptions& options, const TraceTensors& t) {
  AttentionSizes sizes;
  sizes.past = given_past_length(t).value_or(0);
  if (options.op == Op::scaled_dot_product_attention) {
    const Shape& query = (t.query ? t.query : t.q_heads)->shape();
    const Shape& key = (t.key ? t.key : t.k_heads)->shape();
    const Shape& value = (t.value ? t.value : t.v_heads)->shape();
    sizes.batch = query.size(0);
    sizes.heads = query.size(1);
    sizes.queries = query.size(2);
    sizes.head_dim = query.size(3);
    sizes.kv_heads = key.size(1);
    sizes.keys = sizes.all_keys = sizes.past + key.size(2);
    sizes.v_head_dim = value.size(3);
    sizes.embed_dim = checked_multiply(sizes.heads, sizes.v_head_dim, "embed_dim");
    return sizes;
  }
  sizes.batch = t.query->shape().size(0);
  sizes.queries = t.query->shape().size(1);
  sizes.keys = sizes.past + (t.static_k   ? t.static_k->shape().size(2)
                             : t.static_v ? t.static_v->shape().size(2)
                                          : t.key->shape().size(1));
  sizes.all_keys = sizes.keys + (t.bias_k ? 1 : 0) + (options.add_zero_attn ? 1 : 0);
  sizes.embed_dim = options.embed_dim;
  sizes.heads = options.num_heads;
  sizes.kv_heads = options.num_kv_heads;
  sizes.head_dim = options.head_dim;
  sizes.v_head_dim = options.v_head_dim;
  if (is_latent(options)) {
    sizes.latent = options.kv_lora_rank.value_or(0);
    sizes.query_latent = options.q_lora_rank.value_or(0);
    sizes.nope = options.qk_nope_head_dim.value_or(0);
    sizes.rope = options.qk_rope_head_dim.value_or(0);
    sizes.absorbed = is_absorbed(options);
  }
  if (t.output_gate_weight) sizes.gates = t.output_gate_weight->shape().size(0);
  return sizes;
}

Shape computed_shape(TensorId id, const AttentionOptions& options, const AttentionSizes& s) {
  const bool sdpa = options.op == Op::scaled_dot_product_attention;
  std::string_view letters = tensor_entry(id).shape;
  if (sdpa && id == TensorId::output) letters = tensor_entry(TensorId::head_output).shape;
  if (id == TensorId::attn_output_weights && !options.average_attn_weights)
    letters = tensor_entry(TensorId::attn_weights).shape;
  if (id == TensorId::output_gate && s.gates == s.heads) letters = "(N,L,H)";
  if (id == TensorId::q_normed && options.qk_norm == QkNorm::whole) letters = "(N,L,H·D)";
  if (id == TensorId::indexer_wq_b && is_latent(options)) letters = "(Hi·W,Cq)";
  if (id == TensorId::k_normed && options.qk_norm == QkNorm::whole) letters = "(N,S,G·D)";
  // k and v have no past, unless they are made of latents that have it.
  const bool heads = (id == TensorId::k_heads || id == TensorId::v_heads) && !is_latent(options);
  const bool rows = heads || id == TensorId::k || id == TensorId::v;
  const auto size_of = [&](std::string_view letter) {
    return letter == "N"         ? s.batch
           : letter == "1"       ? 1
           : letter == "buckets" ? options.relative_bias.value_or(RelativeBias{}).buckets
           : letter == "Hi"      ? options.indexer.value_or(Indexer{}).heads
           : letter == "W"       ? options.indexer.value_or(Indexer{}).width
           : letter == "L"       ? s.queries
           : letter == "P"       ? s.past
           : letter == "S"       ? s.new_keys()
           : letter == "S′"      ? (rows ? s.key_rows() : s.all_keys)
           : letter == "E"       ? s.embed_dim
           : letter == "H"       ? s.heads
           : letter == "G"       ? s.kv_heads
           : letter == "D"       ? s.head_dim
           : letter == "C"       ? s.latent
           : letter == "Cq"      ? s.query_latent
           : letter == "Dn"      ? s.nope
           : letter == "R"       ? s.rope
           : letter == "kdim"    ? options.kdim
                                 : s.v_head_dim;
  };
  // "C+R", "H·D", "H·(Dn+Dv)": a product of sums.
  const auto sum_of = [&](std::string_view text) {
    Index sum = size_of(text.substr(0, text.find('+')));
    for (std::size_t plus = text.find('+'); plus != std::string_view::npos; plus = text.find('+')) {
      text.remove_prefix(plus + 1);
      sum += size_of(text.substr(0, text.find('+')));
    }
    return sum;
  };
  std::vector<Axis> axes;
  letters = letters.substr(1, letters.size() - 2);
  while (!letters.empty()) {
    const std::string_view axis = letters.substr(0, letters.find(','));
    letters.remove_prefix(std::min(letters.size(), axis.size() + 1));
    constexpr std::string_view times = "·";
    const std::size_t product = axis.find(times);
    Index size = sum_of(axis.substr(0, product));
    if (product != std::string_view::npos) {
      std::string_view factor = axis.substr(product + times.size());
      if (factor.starts_with('(')) factor = factor.substr(1, factor.size() - 2);
      size = checked_multiply(size, sum_of(factor), std::string(axis));
    }
    axes.push_back({axis != "S′" ? std::string(axis) : rows ? s.key_rows_axis() : s.key_axis(), size});
  }
  return Shape(std::move(axes));
}

AttentionOptions resolved_options(const AttentionInputs& inputs) {
  AttentionOptions options = inputs.options;
  options.past_length = given_past_length(inputs.tensors);
  if (options.op != Op::scaled_dot_product_attention) return options;
  const AttentionSizes sizes = attention_sizes(inputs);
  options.embed_dim = options.kdim = options.vdim = sizes.embed_dim;
  options.num_heads = sizes.heads;
  options.num_kv_heads = sizes.kv_heads;
  options.head_dim = sizes.head_dim;
  options.v_head_dim = sizes.v_head_dim;
  return options;
}

}  // namespace headwise
