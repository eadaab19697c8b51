#include "core/attention/trace_warnings.h"
#include "core/attention/score_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <initializer_list>
#include <map>
#include <set>

#include "core/attention/attention_sizes.h"
#include "core/attention/grad_output.h"
#include "core/attention/indexer.h"
#include "core/attention/latent_attention.h"
#include "core/attention/norm.h"
#include "core/attention/softmax.h"
#include "core/tensor/float_dispatch.h"
#include "core/tensor/join.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

// To avoid flooding a terminal, only this many of each kind are listed, the rest is counted.
constexpr std::size_t named_cells = 4;    // non-finite cells of a tensor
constexpr std::size_t named_ranges = 24;  // of one list of indices
constexpr std::size_t named_sets = 32;    // of fully masked rows

// {3,5,6,7} → "3, 5–7"
std::string ranges_text(const std::vector<Index>& ascending) {
  std::string text;
  std::size_t ranges = 0;
  for (std::size_t i = 0; i < ascending.size();) {
    if (++ranges > named_ranges) return text + fmt::format(" and {} more", ascending.size() - i);
    std::size_t last = i;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += last == i ? fmt::format("{}", ascending[i]) : fmt::format("{}–{}", ascending[i], ascending[last]);
    i = last + 1;
  }
  return text;
}

const char* outcome(const Trace& trace) {
  if (trace.tensors.sinks || !trace.options.sink.empty()) return "0: the sink takes all of it";
  return trace.options.fully_masked_rows == FullyMaskedRows::nan
             ? "NaN, as in PyTorch's softmax over nothing but -inf (mask.fully_masked_rows \"zero\" makes it "
               "0)"
             : "0, so the head adds nothing";
}

// "head 3", "heads 0–2"
std::string counted(const char* one, const char* many, const std::vector<Index>& which) {
  return fmt::format("{} {}", which.size() == 1 ? one : many, ranges_text(which));
}

// One warning per set of heads and queries; batches that agree are reported together, as are heads.
void warn_of_fully_masked_rows(const Trace& trace, const std::vector<Index>& rows, const Shape& shape,
                               std::vector<std::string>& warnings) {
  if (rows.empty()) return;
  const Index heads = shape.size(1);
  const Index queries = shape.size(2);
  std::map<Index, std::map<Index, std::vector<Index>>> queries_of;  // batch → head → queries
  const std::vector<Index>& frozen = trace.options.frozen_heads;
  for (const Index row : rows) {
    if (std::ranges::find(frozen, row / queries % heads) != frozen.end()) continue;  // its weights are frozen
    queries_of[row / queries / heads][row / queries % heads].push_back(row % queries);
  }
  using HeadsAndQueries = std::pair<std::vector<Index>, std::vector<Index>>;  // heads, queries
  std::map<HeadsAndQueries, std::vector<Index>> batches_of;
  for (const auto& [batch, by_head] : queries_of) {
    std::map<std::vector<Index>, std::vector<Index>> heads_of;  // queries → heads
    for (const auto& [head, which] : by_head) heads_of[which].push_back(head);
    for (const auto& [which, in_heads] : heads_of) batches_of[{in_heads, which}].push_back(batch);
  }
  std::vector<std::pair<std::vector<Index>, HeadsAndQueries>> sets;  // ordered by the first batch
  for (const auto& [which, batches] : batches_of) sets.emplace_back(batches, which);
  std::ranges::stable_sort(sets);
  for (std::size_t i = 0; i < std::min(sets.size(), named_sets); ++i) {
    const auto& [batches, which] = sets[i];
    const bool all = static_cast<Index>(which.first.size()) == heads;
    warnings.push_back(fmt::format("attn_weights: {}, {}, {}: every key is blocked; the row becomes {}",
                                   counted("batch", "batches", batches),
                                   all ? "every head" : counted("head", "heads", which.first),
                                   counted("query", "queries", which.second), outcome(trace)));
  }
  if (sets.size() > named_sets) {
    warnings.push_back(
        fmt::format("attn_weights: {} more such sets of rows; {} of {} rows are fully masked altogether",
                    sets.size() - named_sets, rows.size(), shape.size(0) * heads * queries));
  }
}

// Eight parallel sums, so that it is vectorised: 0 times a non-finite number is NaN.
template <class T>
bool all_finite(std::span<const T> values) {
  std::atomic<bool> finite = true;
  for_ranges(static_cast<Index>(values.size()), 1.0, [&](Index first, Index last) {
    T sums[8] = {};
    const T* value = values.data() + first;
    const T* const end = values.data() + last;
    for (; end - value >= 8; value += 8)
      for (int lane = 0; lane < 8; ++lane) sums[lane] += T{0} * value[lane];
    for (; value < end; ++value) sums[0] += T{0} * *value;
    if (std::ranges::any_of(sums, [](T sum) { return std::isnan(sum); })) finite = false;
  });
  return finite;
}

// Returns whether there is such a number.
bool warn_of_non_finite(const TensorEntry& entry, const Tensor& tensor, std::vector<std::string>& warnings) {
  const bool is_mask = entry.role == TensorRole::mask;
  const std::string cells = non_finite_cells(entry.name, tensor, is_mask);
  if (cells.empty()) return false;
  const char* effect = is_mask ? "the rows that it is added to are not finite either"
                               : "what reads it is not finite either, even where a mask blocks it";
  warnings.push_back(fmt::format("{}: {}", cells, effect));
  return true;
}

// What to change where a tensor that is made of finite numbers is not finite itself.
std::string remedy_of_overflow(const Trace& trace, TensorId id) {
  using Id = TensorId;
  const auto is_one_of = [&](std::initializer_list<Id> ids) { return std::ranges::count(ids, id) > 0; };
  const char* smaller = "smaller numbers";
  if (is_one_of({Id::q_normed, Id::k_normed, Id::compressed_q, Id::compressed_kv})) {
    if (norm_of(trace.options, id).epsilon == 0.0)
      return fmt::format("a row is divided by 0: set attention.{} above 0",
                         is_latent(trace.options) ? "latent_norm_epsilon" : "qk_norm_epsilon");
  } else if (is_one_of({Id::q_rotary, Id::k_rotary, Id::k_rot}) ||
             (id == Id::scores && trace.options.rotary_factor > 1.0)) {
    smaller = "a smaller attention.rotary_factor or slower frequencies";
  } else if (id == Id::scaled_scores) {
    smaller = "a smaller attention.scale or a larger attention.temperature";
  } else if (is_one_of({Id::mask_bias, Id::masked_scores})) {
    smaller = "smaller numbers in masks and in mask.alibi_scale";
  }
  const bool narrow = trace.dtype == DType::f32;
  return fmt::format("a number is beyond {}: {}choose {}", dtype_name(trace.dtype),
                     narrow ? "compute in f64 (--dtype f64), or " : "", smaller);
}

// The first tensor, in the order of the operator, that is not finite though all that is given is: numbers
// that their type cannot hold, or a division by 0. Such a number reaches the output; only where all scores
// of a row are -inf may a row of zeros hide it.
bool warn_of_overflow(const Trace& trace, bool rows_are_blocked, std::vector<std::string>& warnings) {
  const TensorPtr output = trace.tensor(last_output(trace.tensors));
  const auto is_spoilt = [](const TensorPtr& tensor) {
    return tensor && !non_finite_cells("", *tensor).empty();
  };
  if (output && !is_spoilt(output) && !(rows_are_blocked && is_spoilt(trace.tensors.scaled_scores)))
    return false;
  const bool has_nan_rows =
      rows_are_blocked && !trace.tensors.sinks && trace.options.fully_masked_rows == FullyMaskedRows::nan;
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr tensor = trace.tensor(entry.id);
    if (!tensor || is_given(trace, {entry.id})) continue;
    const bool behind_masks = entry.id >= TensorId::mask_bias;  // which block by -inf
    if (behind_masks && has_nan_rows) break;
    const std::string cells = non_finite_cells(entry.name, *tensor, behind_masks);
    if (cells.empty()) continue;
    warnings.push_back(fmt::format("{}, although all that is given is finite: {}", cells,
                                   remedy_of_overflow(trace, entry.id)));
    return true;
  }
  return false;
}

// Queries of which the k-th place goes to one of several keys with the same score.
void warn_of_tied_choices(const Trace& trace, std::vector<std::string>& warnings) {
  const TensorPtr& scores = (trace.exact ? *trace.exact : trace).tensors.indexer_scores;
  if (!trace.options.indexer || !scores) return;
  const Index k = trace.options.indexer->k, queries = scores->shape().size(1);
  for (Index n = 0; n < scores->shape().size(0); ++n) {
    std::vector<Index> tied;
    for (Index l = 0; l < queries; ++l) {
      const std::vector<double> row = indexer_row(*scores, n, l);
      if (std::set<double>(row.begin(), row.end()).size() == row.size()) continue;
      const ChosenKeys chosen = chosen_keys(trace, n, 0, l);
      const auto score = [&](Index rank) {
        return row[static_cast<std::size_t>(chosen.order()[static_cast<std::size_t>(rank)])];
      };
      if (k > 0 && chosen.allowed() > k && score(k - 1) == score(k)) tied.push_back(l);
    }
    if (!tied.empty())
      warnings.push_back(fmt::format(
          "mask.indexer: batch {}, {}: two or more keys tie for place {}: the first of them are kept, but "
          "another program may keep others",
          n, counted("query", "queries", tied), k));
  }
}

}  // namespace

std::string non_finite_cells(std::string_view name, const Tensor& tensor, bool pass_minus_infinity) {
  if (tensor.dtype() != DType::f32 && tensor.dtype() != DType::f64) return "";
  const bool finite = dispatch_float(tensor.dtype(), [&]<class T>() { return all_finite(tensor.values<T>()); });
  if (finite) return "";
  std::vector<std::string> cells;
  std::size_t count = 0;
  dispatch_float(tensor.dtype(), [&]<class T>() {
    const std::span<const T> values = tensor.values<T>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isfinite(values[i]) || (pass_minus_infinity && std::isinf(values[i]) && values[i] < 0))
        continue;
      if (++count > named_cells) continue;
      const std::vector<Index> index = tensor.shape().index_of(static_cast<Index>(i));
      // A NaN's sign means nothing.
      cells.push_back(fmt::format("[{}] is {}", join(index, ","),
                                  std::isnan(values[i]) ? std::abs(values[i]) : values[i]));
    }
  });
  if (count == 0) return "";
  const std::string more = count > named_cells ? fmt::format(", and {} more", count - named_cells) : "";
  return fmt::format("{}{}{}", name, join(cells, ", "), more);
}

std::vector<std::string> trace_warnings(const Trace& trace) {
  const TensorPtr& masked = trace.tensors.masked_scores;
  return masked ? trace_warnings(trace, fully_masked_rows(*masked), masked->shape())
                : trace_warnings(trace, {}, Shape{});
}

std::vector<std::string> trace_warnings(const Trace& trace, const std::vector<Index>& blocked_rows,
                                        const Shape& scores) {
  std::vector<std::string> warnings;
  bool all_given_finite = true;
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr tensor = trace.tensor(entry.id);
    const bool twice =
        (entry.id == TensorId::key && tensor == trace.tensors.query) ||
        (entry.id == TensorId::value && (tensor == trace.tensors.key || tensor == trace.tensors.query));
    if (is_given(trace, {entry.id}) && tensor && !twice && warn_of_non_finite(entry, *tensor, warnings))
      all_given_finite = false;
  }
  const std::vector<std::string> of_options = option_warnings(trace);
  warnings.insert(warnings.end(), of_options.begin(), of_options.end());
  warn_of_tied_choices(trace, warnings);
  // Rows whose scores are -inf because they are too large are not blocked.
  if (all_given_finite && warn_of_overflow(trace, !blocked_rows.empty(), warnings)) return warnings;
  warn_of_fully_masked_rows(trace, blocked_rows, scores, warnings);
  return warnings;
}

std::vector<std::string> option_warnings(const Trace& trace) {
  const auto& indexer = trace.options.indexer;
  if (!indexer) return {};
  const Index keys = attention_sizes(trace.options, trace.tensors).keys;
  if (indexer->k < keys) return {};
  return {fmt::format("mask.indexer: k = {} of {} keys: every key that the masks leave takes part",
                      indexer->k, keys)};
}

bool is_given(const Trace& trace, TensorName name) {
  if (name.gradient) return false;
  const bool heads =
      name.id == TensorId::q_heads || name.id == TensorId::k_heads || name.id == TensorId::v_heads;
  return tensor_entry(name.id).role != TensorRole::intermediate ||
         ((heads || is_given_to_sdpa(name.id)) && trace.options.op == Op::scaled_dot_product_attention);
}

std::string why_absent(const Trace& trace, TensorName name) {
  if (name.gradient && !trace.grad.output) return "gradients were not computed: add --backward";
  if (name.gradient && trace.tensor(name.id)) {
    if (name.id == TensorId::key || name.id == TensorId::value)
      return "key and value are the query in self-attention: grad.query is the total";
    if (name.id == TensorId::frozen_weights) return "the weights of a frozen head are a constant";
    if (is_of_indexer(name.id)) return "no gradient goes through the indexer's choice of keys";
    return "a tensor of this kind has no gradient";
  }
  const bool sdpa = trace.options.op == Op::scaled_dot_product_attention;
  if (sdpa && (name.id == TensorId::query || name.id == TensorId::key || name.id == TensorId::value))
    return "scaled_dot_product_attention calls query, key and value q_heads, k_heads and v_heads";
  const TensorEntry& entry = tensor_entry(name.id);
  const bool is_mask = entry.role == TensorRole::mask && name.id != TensorId::head_gain;
  const bool latent = is_latent(trace.options);
  const auto is_one_of = [&](std::initializer_list<TensorId> ids) {
    return std::ranges::find(ids, name.id) != ids.end();
  };
  using Id = TensorId;
  if (!latent && (is_latent_parameter(name.id) ||
                  is_one_of({Id::past_compressed_kv, Id::past_k_rot, Id::q_a, Id::compressed_q, Id::kv_a,
                             Id::compressed_kv, Id::k_rot, Id::present_compressed_kv, Id::present_k_rot,
                             Id::kv_b, Id::q_absorbed, Id::k_absorbed, Id::latent_output})))
    return "only multi_head_latent_attention has it";
  if (latent && is_one_of({Id::q_absorbed, Id::k_absorbed, Id::latent_output}))
    return "this scenario makes each head's own keys and values: attention.layout is expanded";
  if (latent && is_one_of({Id::kv_b, Id::k_heads, Id::v_heads}))
    return "this scenario makes no head's own keys and values: attention.layout is absorbed";
  if (latent && is_one_of({Id::q_a, Id::compressed_q, Id::q_a_weight, Id::q_b_weight}))
    return "this scenario compresses keys alone: attention.q_lora_rank is null";
  if (latent && is_one_of({Id::q_a_norm_weight, Id::kv_a_norm_weight}))
    return "no weights are given: all are 1";
  if (latent && is_one_of({Id::q_a_bias, Id::kv_a_bias}))
    return "this scenario has no biases: attention.bias is false";
  if (latent &&
      (is_one_of({Id::k, Id::v, Id::k_rotary, Id::k_normed, Id::q_normed, Id::present_key, Id::present_value}) ||
       (entry.role != TensorRole::intermediate && !is_mask && !latent_reads(name.id))))
    return "multi_head_latent_attention has no such tensor";
  if (name.id == TensorId::frozen_weights) return "no head is frozen: heads.frozen is null";
  if (name.id == TensorId::q_rotary || name.id == TensorId::k_rotary)
    return "this scenario rotates nothing by its position: attention.rotary_base is null";
  if (name.id == TensorId::q_normed || name.id == TensorId::k_normed)
    return "this scenario normalises neither q nor k: attention.qk_norm is null";
  if (name.id == TensorId::sinks || name.id == TensorId::sink_weights)
    return "this scenario has no sink: attention.sink is null";
  if (name.id == TensorId::relative_bias_weight || name.id == TensorId::position_bias)
    return trace.options.relative_bias
               ? "only the reference backend keeps it"
               : "this scenario has no relative bias: attention.relative_bias is null";
  if (is_of_indexer(name.id)) {
    if (!trace.options.indexer) return "this scenario has no indexer: mask.indexer is null";
    if (tensor_entry(name.id).role == TensorRole::intermediate) return "only the reference backend keeps it";
    if (!sdpa) return "no weights are given: the norm of the indexer's keys has 1 and 0";
  }
  if (is_past(name.id) || past_before(name.id))
    return fmt::format("this scenario has no past: inputs.past_length is 0, and no {} is given",
                       tensor_entry(cached_tensors(trace.options.op)[0].past).name);
  if (name.id == TensorId::lse) return "only the reference backend keeps it";
  if (sdpa && !is_mask && name.id != TensorId::mask_bias)
    return "scaled_dot_product_attention has no such tensor";
  switch (name.id) {
    case TensorId::in_proj_weight:
      return "the parameters of this scenario are separate: q_proj_weight, k_proj_weight, v_proj_weight";
    case TensorId::q_proj_weight:
    case TensorId::k_proj_weight:
    case TensorId::v_proj_weight:
      return "the parameters of this scenario are packed: in_proj_weight";
    case TensorId::mask_bias:
      return "this scenario has no mask";
    case TensorId::q_norm_weight:
    case TensorId::k_norm_weight:
      return trace.options.qk_norm ? "no weights are given: all are 1"
                                   : "this scenario normalises neither q nor k: attention.qk_norm is null";
    case TensorId::static_k:
    case TensorId::static_v:
    case TensorId::bias_k:
    case TensorId::bias_v:
      return "this scenario has none; give it with --input, or bias_k and bias_v by attention.add_bias_kv";
    case TensorId::output_gate_bias:
      if (trace.options.output_gate) return "this scenario has no biases: attention.bias is false";
      [[fallthrough]];
    case TensorId::output_gate_weight:
    case TensorId::output_gate:
    case TensorId::gated_concat:
      return "this scenario has no output gate: attention.output_gate is false";
    case TensorId::residual_output:
      return "this scenario adds no residual: attention.residual is false";
    case TensorId::layer_norm_output:
      return "this scenario does not normalise: attention.layer_norm is false";
    case TensorId::head_gain:
      return "this scenario has no gains: heads.gain is null";
    case TensorId::attn_output_weights:
      return "this scenario returns no weights: attention.need_weights is false";
    case TensorId::attn_mask:
    case TensorId::key_padding_mask:
    case TensorId::valid_lens:
    case TensorId::nonpad_kv_seqlen:
      return "this scenario has no such mask; give it with --input";
    default:
      return "this scenario has no such tensor";
  }
}

}  // namespace headwise
