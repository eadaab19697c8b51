#include "core/lessons/operation_counts.h"

#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "core/attention/attention_sizes.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

Index multiplied(std::initializer_list<Index> factors) {
  Index all = 1;
  for (const Index factor : factors) all = checked_multiply(all, factor, "the number of multiply-adds");
  return all;
}

Index added(Index a, Index b) {
  Index sum = 0;
  if (__builtin_add_overflow(a, b, &sum))
    throw Error(ExitStatus::memory, {"the number of multiply-adds", "it is out of range", "",
                                     "a number that fits in 63 bits", "choose smaller sizes"});
  return sum;
}

// From query and key to the factors of the scores.
template <class Product>
void count_latents(const AttentionSizes& s, Index key_width, const std::string& kdim, const std::string& keys,
                   const Product& product) {
  const Index kv_rows = multiplied({s.heads, added(s.nope, s.v_head_dim)}),
              compressed = added(s.latent, s.rope);
  if (s.query_latent > 0)
    product(TensorId::q_a, "nle,fe->nlf", "N·L·E·Cq", {s.batch, s.queries, s.embed_dim, s.query_latent});
  product(TensorId::q, "nle,fe->nlf", s.query_latent > 0 ? "N·L·Cq·H·D" : "N·L·E·H·D",
          {s.batch, s.queries, s.query_latent > 0 ? s.query_latent : s.embed_dim, s.heads, s.head_dim});
  product(TensorId::kv_a, "nse,fe->nsf", "N·S·" + kdim + "·(C+R)",
          {s.batch, s.new_keys(), key_width, compressed});
  if (s.absorbed)
    product(TensorId::q_absorbed, "nhld,hdc->nhlc", "N·H·L·Dn·C",
            {s.batch, s.heads, s.queries, s.nope, s.latent});
  else
    product(TensorId::kv_b, "nsc,fc->nsf", "N·" + keys + "·C·H·(Dn+Dv)", {s.batch, s.keys, s.latent, kv_rows});
}

}  // namespace

OperationCounts operation_counts(const AttentionInputs& inputs) {
  const AttentionSizes s = attention_sizes(inputs);
  const AttentionOptions& o = inputs.options;
  const TraceTensors& t = inputs.tensors;
  const bool module = projects(o.op);
  const bool grouped = s.kv_heads != s.heads;
  // S, S′ if columns are appended, (P+S) with a past; G, or H if each query head has its own key/value head.
  const std::string keys = s.past == 0 ? s.key_axis() : fmt::format("({})", s.key_axis());
  const std::string groups = grouped ? "G" : "H";
  const std::string kdim = o.kdim == s.embed_dim ? "E" : "kdim";
  const std::string vdim = o.vdim == s.embed_dim ? "E" : "vdim";
  const std::string v_width = s.v_head_dim == s.head_dim && !is_latent(o) ? "D" : "Dv";

  OperationCounts counts;
  const auto product = [&](TensorId result, const char* einsum, std::string letters,
                           std::initializer_list<Index> factors) {
    const Index multiply_adds = multiplied(factors);
    counts.products.push_back({result, step_of(result, o), einsum, std::move(letters), multiply_adds});
    counts.multiply_adds = added(counts.multiply_adds, multiply_adds);
  };
  if (is_latent(o)) {
    count_latents(s, o.kdim, kdim, keys, product);
  } else if (module) {
    product(TensorId::q, "nle,fe->nlf", "N·L·E·H·D", {s.batch, s.queries, s.embed_dim, s.heads, s.head_dim});
    if (!t.static_k)
      product(TensorId::k, "nse,fe->nsf", "N·S·" + kdim + "·" + groups + "·D",
              {s.batch, s.new_keys(), o.kdim, s.kv_heads, s.head_dim});
    if (!t.static_v)
      product(TensorId::v, "nse,fe->nsf", "N·S·" + vdim + "·" + groups + "·" + v_width,
              {s.batch, s.new_keys(), o.vdim, s.kv_heads, s.v_head_dim});
  }
  if (const auto& indexer = o.indexer) {
    if (module) {
      const bool latent = is_latent(o);
      product(TensorId::indexer_q, latent ? "nlc,fc->nlf" : "nle,fe->nlf",
              latent ? "N·L·Cq·Hi·W" : "N·L·E·Hi·W",
              {s.batch, s.queries, latent ? s.query_latent : s.embed_dim, indexer->heads, indexer->width});
      product(TensorId::indexer_k, "nse,fe->nsf", "N·S·" + kdim + "·W",
              {s.batch, s.new_keys(), o.kdim, indexer->width});
      product(TensorId::indexer_weights, "nle,me->nlm", "N·L·E·Hi",
              {s.batch, s.queries, s.embed_dim, indexer->heads});
    }
    product(TensorId::indexer_scores, "nmld,nsd->nmls", "N·Hi·L·S·W",
            {s.batch, indexer->heads, s.queries, s.keys, indexer->width});
  }
  const char* const scores = s.absorbed ? "nhld,nsd->nhls" : grouped ? "nhld,ngsd->nhls" : "nhld,nhsd->nhls";
  product(TensorId::scores, scores, "N·H·L·" + keys + (s.absorbed ? "·(C+R)" : "·D"),
          {s.batch, s.heads, s.queries, s.all_keys, s.score_width()});
  if (s.absorbed) {
    product(TensorId::latent_output, "nhls,nsc->nhlc", "N·H·L·" + keys + "·C",
            {s.batch, s.heads, s.queries, s.all_keys, s.latent});
    product(TensorId::head_output, "nhlc,hwc->nhlw", "N·H·L·C·" + v_width,
            {s.batch, s.heads, s.queries, s.latent, s.v_head_dim});
  } else
    product(TensorId::head_output, grouped ? "nhls,ngsw->nhlw" : "nhls,nhsw->nhlw",
            "N·H·L·" + keys + "·" + v_width, {s.batch, s.heads, s.queries, s.all_keys, s.v_head_dim});
  if (t.output_gate_weight) {
    const Index rows = t.output_gate_weight->shape().size(0);
    product(TensorId::output_gate, "nle,fe->nlf", rows == s.heads ? "N·L·E·H" : "N·L·E·H·" + v_width,
            {s.batch, s.queries, s.embed_dim, rows});
  }
  if (module)
    product(TensorId::output, "nlf,ef->nle", "N·L·H·" + v_width + "·E",
            {s.batch, s.queries, s.heads, s.v_head_dim, s.embed_dim});
  counts.exponentials = multiplied({s.batch, s.heads, s.queries, s.all_keys});
  return counts;
}

std::vector<ParameterCount> parameter_counts(const AttentionInputs& inputs) {
  std::vector<ParameterCount> counts;
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr& tensor = inputs.tensors.*(entry.member);
    const bool learnable = entry.role == TensorRole::parameter && entry.id != TensorId::static_k &&
                           entry.id != TensorId::static_v && entry.id != TensorId::head_gain;
    if (!tensor || !learnable) continue;
    std::string letters(entry.shape);
    if (entry.id == TensorId::indexer_wq_b && is_latent(inputs.options)) letters = "(Hi·W,Cq)";
    counts.push_back({entry.id, std::move(letters), tensor->shape().sizes(), tensor->size()});
  }
  return counts;
}

Index total_parameters(const std::vector<ParameterCount>& counts) {
  Index total = 0;
  for (const ParameterCount& count : counts) total = added(total, count.numbers);
  return total;
}

std::string count_text(Index count) {
  std::string text = std::to_string(count);
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) text.insert(at -= 3, ",");
  return text;
}

}  // namespace headwise
