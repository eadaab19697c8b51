#include "core/lessons/query_row.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/attention/scaled_dot_product_attention.h"
#include "core/attention/score_path.h"
#include "core/attention/softmax.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

// Where the row of a head's query begins in a tensor (N,H,L,…).
Index row_offset(const Tensor& tensor, Index n, Index h, Index l) {
  return tensor.shape().offset(std::vector<Index>{n, h, l, 0});
}

// One row (1,1,1,S′) of a tensor (N,H,L,S′).
Tensor one_row(const Tensor& tensor, Index n, Index h, Index l) {
  const Index keys = tensor.shape().size(3), from = keys > 0 ? row_offset(tensor, n, h, l) : 0;
  Tensor row(Shape{{"N", 1}, {"H", 1}, {"L", 1}, {"S", keys}}, DType::f64);
  for (Index s = 0; s < keys; ++s) row.set_flat(s, tensor.flat(from + s));
  return row;
}

// The keys (1,1,S′,D) of the group that serves head h.
Tensor keys_of_head(const Tensor& keys, Index n, Index group) {
  const Index rows = keys.shape().size(2), width = keys.shape().size(3);
  const Index from = rows * width > 0 ? row_offset(keys, n, group, 0) : 0;
  Tensor own(Shape{{"N", 1}, {"G", 1}, {"S", rows}, {"D", width}}, DType::f64);
  for (Index i = 0; i < own.size(); ++i) own.set_flat(i, keys.flat(from + i));
  return own;
}

std::vector<double> numbers(const Tensor& tensor) {
  const auto values = tensor.values<double>();
  return {values.begin(), values.end()};
}

// Throws unless the trace has this row.
const Tensor& queries_with_row(const Trace& trace, Index n, Index h, Index l) {
  const TensorPtr& q = queries_of_scores(trace.tensors, trace.options);
  const bool has = q && keys_of_scores(trace.tensors, trace.options) && trace.tensors.attn_weights &&
                   n >= 0 && h >= 0 && l >= 0 && n < q->shape().size(0) && h < q->shape().size(1) &&
                   l < q->shape().size(2);
  if (!has)
    throw Error(ExitStatus::usage, {.where = "query row",
                                    .got = fmt::format("batch {}, head {}, query {}", n, h, l),
                                    .expected = "a query of a trace with scores",
                                    .remedy = "choose a query that the trace has"});
  return *q;
}

}  // namespace

std::vector<double> query_vector(const Trace& trace, Index n, Index h, Index l) {
  const Tensor& q = queries_with_row(trace, n, h, l);
  const Index width = q.shape().size(3), from = width > 0 ? row_offset(q, n, h, l) : 0;
  std::vector<double> vector;
  for (Index d = 0; d < width; ++d) vector.push_back(q.flat(from + d));
  return vector;
}

QueryRow query_row_with(const Trace& trace, Index n, Index h, Index l, std::span<const double> q) {
  const Tensor& queries = queries_with_row(trace, n, h, l);
  const Tensor& all_keys = *keys_of_scores(trace.tensors, trace.options);
  const Index width = queries.shape().size(3);
  if (static_cast<Index>(q.size()) != width)
    throw Error(ExitStatus::usage, {.where = "query row",
                                    .got = fmt::format("a query of {} numbers", q.size()),
                                    .expected = fmt::format("{}, the width of a head", width),
                                    .remedy = "give the query as many numbers as the head has columns"});
  const Index sharing = queries.shape().size(1) / std::max<Index>(all_keys.shape().size(1), 1);
  const Tensor keys = keys_of_head(all_keys, n, h / std::max<Index>(sharing, 1));
  Tensor query(Shape{{"N", 1}, {"H", 1}, {"L", 1}, {"D", width}}, DType::f64);
  for (Index d = 0; d < width; ++d) query.set_flat(d, q[static_cast<std::size_t>(d)]);

  const Tensor scores =
      attention_scores(query, keys, Shape{{"N", 1}, {"H", 1}, {"L", 1}, {"S", keys.shape().size(2)}});
  QueryRow row{numbers(scores), {}};
  if (std::ranges::find(trace.options.frozen_heads, h) != trace.options.frozen_heads.end()) {
    row.weights = numbers(one_row(*trace.tensors.attn_weights, n, h, l));
    return row;
  }
  const Tensor scaled = scale_scores(scores, score_scale(trace.options));
  const TensorPtr& bias = trace.tensors.mask_bias;
  const Tensor masked = bias ? mask_scores(scaled, one_row(*bias, n, h, l), trace.options.mask_value) : scaled;
  std::vector<double> sinks = sinks_of_heads(trace.options, trace.tensors, trace.options.num_heads);
  if (!sinks.empty()) sinks = {sinks[static_cast<std::size_t>(h)]};
  const Tensor sink(Shape{{"H", std::ssize(sinks)}}, sinks);
  row.weights = numbers(softmax(masked, trace.options.fully_masked_rows, sinks.empty() ? nullptr : &sink));
  return row;
}

}  // namespace headwise
