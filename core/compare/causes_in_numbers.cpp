#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "core/attention/attention_sizes.h"
#include "core/attention/heads.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/attention/score_path.h"
#include "core/attention/softmax.h"
#include "core/compare/likely_causes.h"
#include "core/compare/tensor_readings.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

using Id = TensorId;
using Causes = std::vector<LikelyCause>;

constexpr Index searched_cells = Index{1} << 20;
constexpr Index enough_cells = 4;  // fewer numbers agree with anything by chance
constexpr double largest_f16 = 65504.0;

// One tensor that differs, and the answer to "would this have agreed?".
struct Question {
  const Trace& trace;
  const ComparedArray& array;
  Id id;

  const Tensor& ours() const { return *array.ours; }
  const Tensor& theirs() const { return *array.theirs; }
  bool agrees(const Tensor& variant) const { return agree(variant, theirs()); }
  bool agree(const Tensor& a, const Tensor& b) const {
    return compare_tensors(array.tensor, a, b, array.tolerance, array.least_unit).agrees();
  }
  // Ours with every cell transformed.
  Tensor mapped(const std::function<double(Index, double)>& change) const {
    Tensor result = ours().converted(DType::f64);
    for (Index i = 0; i < result.size(); ++i) result.set_flat(i, change(i, result.flat(i)));
    return result;
  }
};

void add_other_tensors(const Question& q, Causes& causes) {
  std::vector<std::string> equal;
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorName name{entry.id, q.array.tensor.gradient};
    const TensorPtr other = q.trace.tensor(name);
    const bool comparable =
        other && entry.id != q.id && other != q.array.ours && other->shape().same_sizes(q.ours().shape());
    if (!comparable || !q.agrees(*other)) continue;
    equal.push_back(name.gradient ? to_string(name) : fmt::format("{} ({})", entry.name, entry.what));
  }
  if (!equal.empty()) causes.push_back({fmt::format("theirs equals our {}", join(equal, ", and our ")), ""});
}

// The constants that a factor may be, by name.
std::string factor_name(const Trace& trace, double factor) {
  const AttentionSizes s = attention_sizes(trace.options, trace.tensors);
  const auto number = [](Index size) { return static_cast<double>(size); };
  const double d = number(s.head_dim), dv = number(s.v_head_dim), e = number(s.embed_dim), h = number(s.heads);
  const double p = trace.options.dropout, t = trace.options.temperature;
  const std::vector<std::pair<const char*, double>> known{{"√D", std::sqrt(d)},
                                                          {"D", d},
                                                          {"√√D", std::sqrt(std::sqrt(d))},
                                                          {"√E", std::sqrt(e)},
                                                          {"E", e},
                                                          {"√Dv", std::sqrt(dv)},
                                                          {"H", h},
                                                          {"the batch N", number(s.batch)},
                                                          {"N·L", number(s.batch * s.queries)},
                                                          {"N·L·E", number(s.batch * s.queries) * e},
                                                          {"(1−p) of the dropout", 1 - p},
                                                          {"the temperature", t},
                                                          {"log2(e)", 1.4426950408889634}};
  for (const auto& [name, value] : known) {
    if (value == 1.0 || value == 0.0) continue;
    if (std::abs(factor - value) <= 1e-4 * value) return std::string(" = ") + name;
    if (std::abs(factor * value - 1.0) <= 1e-4)
      return fmt::format(" = 1/{}", std::string_view(name).find("·") == std::string_view::npos
                                        ? name
                                        : fmt::format("({})", name));
  }
  return "";
}

void add_constant_factor(const Question& q, Causes& causes) {
  Index largest = -1, numbers = 0;
  for (Index i = 0; i < q.ours().size(); ++i) {
    const double value = std::abs(q.ours().flat(i));
    if (!std::isfinite(value) || value == 0.0 || !std::isfinite(q.theirs().flat(i))) continue;
    ++numbers;
    if (largest < 0 || value > std::abs(q.ours().flat(largest))) largest = i;
  }
  if (numbers < enough_cells) return;
  const double factor = q.theirs().flat(largest) / q.ours().flat(largest);
  if (!q.agrees(q.mapped([&](Index, double x) { return x == 0.0 ? x : x * factor; }))) return;
  if (factor == 0.0) return;  // no evidence of anything (likely_causes.cpp)
  if (std::abs(factor + 1.0) < 1e-4) {
    causes.push_back({"theirs is ours with the opposite sign", ""});
  } else {
    causes.push_back(
        {fmt::format("theirs is ours times {:.6g}{}, in every cell", factor, factor_name(q.trace, factor)),
         ""});
  }
}

// Ours with its joined last axis split into heads, so that orders can refer to them: q is (N,L,H,D).
Shape with_heads_apart(const Question& q) {
  const Shape& shape = q.ours().shape();
  const AttentionSizes s = attention_sizes(q.trace.options, q.trace.tensors);
  const auto split = [&](const char* letter, Index heads, const char* width) {
    return heads == 0 || shape.size(2) % heads != 0
               ? shape
               : Shape{shape.axes()[0], shape.axes()[1], {letter, heads}, {width, shape.size(2) / heads}};
  };
  if (shape.rank() != 3) return shape;
  switch (q.id) {
    case Id::q:
      return split("H", s.heads, "D");
    case Id::k:
      return split("G", s.kv_heads, "D");
    case Id::v:
      return split("G", s.kv_heads, "Dv");
    case Id::concat:
    case Id::gated_concat:
      return split("H", s.heads, "Dv");
    default:
      return shape;
  }
}

// Theirs is stored in another order of our axes: transposed, or reshaped where a transpose was needed.
void add_stored_orders(const Question& q, Causes& causes) {
  const Shape shape = with_heads_apart(q);
  if (shape.rank() < 2 || shape.rank() > 4) return;
  const Tensor ours = q.ours().reshaped(shape);
  std::vector<int> axes(static_cast<std::size_t>(shape.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  while (std::ranges::next_permutation(axes).found) {
    AxisOrder order;
    for (const int axis : axes) order.groups.push_back({axis});
    if (!q.agree(ours, in_our_order(q.theirs(), shape, order))) continue;
    const std::string text = order_text(shape, order);
    const bool same_sizes =
        shape.rank() == q.ours().shape().rank() && order_sizes(shape, order) == shape.sizes();
    const bool length_first = shape.rank() == 3 && shape.name(0) == "N" && axes == std::vector<int>{1, 0, 2};
    causes.push_back({fmt::format("theirs lies as {} where ours is {}: {}", text, shape.letters(),
                                  length_first ? "is inputs.batch_first false over there?"
                                  : same_sizes ? "a transpose is missing, or one too many"
                                               : "a view or reshape in place of a transpose?"),
                      ""});
    return;
  }
}

// Heads taken from every H-th column, instead of D adjacent ones.
void add_interleaved_heads(const Question& q, Causes& causes) {
  if (q.array.tensor.gradient || q.trace.options.op != Op::multi_head_attention || q.ours().shape().rank() != 4)
    return;
  const TensorPtr joined = q.id == Id::q_heads   ? q.trace.tensors.q
                           : q.id == Id::k_heads ? q.trace.tensors.k
                           : q.id == Id::v_heads ? q.trace.tensors.v
                                                 : nullptr;
  if (!joined || joined->size() != q.ours().size()) return;
  const AxisOrder columns{{{0}, {2}, {3}, {1}}};  // (N,L,D,H)
  if (q.agrees(in_our_order(*joined, q.ours().shape(), columns))) {
    causes.push_back(
        {"theirs splits the columns as (D,H), every H-th column one head; ours as (H,D), neighbouring "
         "columns one head",
         ""});
  }
}

void add_repeats(const Question& q, Causes& causes) {
  const Index heads = q.trace.options.num_heads, kv_heads = q.trace.options.num_kv_heads;
  if ((q.id != Id::k_heads && q.id != Id::v_heads) || q.array.tensor.gradient || heads == kv_heads) return;
  if (q.ours().shape().size(1) != heads) return;
  const Tensor& own = *q.trace.tensor(q.array.tensor);
  const Index block = own.shape().size(2) * own.shape().size(3);
  const Tensor tiled = q.mapped([&](Index i, double) {
    const Index head = i / block % heads, batch = i / block / heads;
    return own.flat((batch * kv_heads + head % kv_heads) * block + i % block);
  });
  if (q.agrees(tiled))
    causes.push_back(
        {"key/value heads are tiled (query head h reads head h % G), not repeated in place (h // (H/G))", ""});
}

// Rotated with another convention than ours: adjacent columns, backwards, positions from 1 on.
void add_rotary_conventions(const Question& q, Causes& causes) {
  const bool of_queries = q.id == Id::q_rotary;
  if ((!of_queries && q.id != Id::k_rotary) || q.array.tensor.gradient) return;
  const TensorPtr heads = q.trace.tensor(made_of(q.id, q.trace.options));
  if (!heads || !heads->shape().same_sizes(q.ours().shape())) return;
  const AttentionOptions& o = q.trace.options;
  const AttentionSizes s = attention_sizes(o, q.trace.tensors);
  const Rotation rotation = rotation_of(o);
  Rotation other = rotation;
  const bool ours_is_halves = rotation.pairs == RotaryPairs::halves;
  other.pairs = ours_is_halves ? RotaryPairs::neighbours : RotaryPairs::halves;
  const Index first = of_queries ? rotary_first_query(o, s.queries, s.keys) : rotary_first_key(o);
  const Tensor x = heads->converted(DType::f64);
  if (rotation.count() > 1 && q.agrees(rotary_embedding(x, other, first)))
    causes.push_back(
        {ours_is_halves ? "theirs rotates neighbouring columns (2j, 2j + 1) together, ours halves "
                          "(j, j + D/2): the rows of W_q and W_k are then in another order too"
                        : "theirs rotates halves (j, j + D/2) together, ours neighbouring columns "
                          "(2j, 2j + 1): the rows of W_q and W_k are then in another order too",
         ours_is_halves ? "--set attention.rotary_pairs=neighbours" : "--set attention.rotary_pairs=halves"});
  if (q.agrees(rotary_embedding_gradient(x, rotation, first)))
    causes.push_back({"theirs rotates the other way: the sign of sin θ is opposite", ""});
  if (q.agrees(rotary_embedding(x, rotation, first + 1)))
    causes.push_back({"theirs counts positions from 1, ours from 0", ""});
}

void add_softmax_mistakes(const Question& q, Causes& causes) {
  if (q.array.tensor.gradient) return;
  const bool weights = q.id == Id::attn_weights || q.id == Id::dropped_weights;
  const TensorPtr scores = q.trace.tensors.masked_scores;
  if (weights && scores && scores->shape().same_sizes(q.ours().shape())) {
    const Shape& s = scores->shape();
    const AxisOrder swapped{{{0}, {1}, {3}, {2}}};
    const Shape over_queries{s.axes()[0], s.axes()[1], s.axes()[3], s.axes()[2]};
    const Tensor softmaxed =
        softmax(in_our_order(*scores, over_queries, swapped), q.trace.options.fully_masked_rows);
    if (q.agrees(in_our_order(softmaxed, s, swapped)))
      causes.push_back({"the softmax runs over the queries (axis L), not over the keys (axis S)", ""});
    if (s.size(1) > 1) {
      const AxisOrder heads_last{{{0}, {2}, {3}, {1}}};
      const Shape over_heads{s.axes()[0], s.axes()[2], s.axes()[3], s.axes()[1]};
      const AxisOrder back{{{0}, {3}, {1}, {2}}};
      const Tensor of_heads =
          softmax(in_our_order(*scores, over_heads, back), q.trace.options.fully_masked_rows);
      if (q.agrees(in_our_order(of_heads, s, heads_last)))
        causes.push_back({"the softmax runs over the heads (axis H), not over the keys (axis S)", ""});
    }
    const Index keys = s.size(3);
    const auto row_maximum = [&](Index i) {
      double maximum = -std::numeric_limits<double>::infinity();
      for (Index j = i / keys * keys; j < i / keys * keys + keys; ++j)
        maximum = std::max(maximum, scores->flat(j));
      return maximum;
    };
    if (q.agrees(q.mapped([&](Index i, double) { return std::exp(scores->flat(i)); })))
      causes.push_back({"theirs is exp(score), not divided by its sum over the row", ""});
    if (q.agrees(q.mapped([&](Index i, double) { return std::exp(scores->flat(i) - row_maximum(i)); })))
      causes.push_back({"theirs is exp(score − row maximum), not divided by its sum over the row", ""});
  }
  if (q.id == Id::attn_output_weights && q.trace.options.average_attn_weights &&
      q.trace.options.dropout > 0 && q.agrees(average_over_heads(*q.trace.tensors.attn_weights))) {
    causes.push_back({"theirs averages the weights before dropout; PyTorch returns them as dropped", ""});
  }
}

// Every differing cell satisfies `same`; at least one does.
bool all_differing(const Question& q, const std::function<bool(double ours, double theirs)>& same) {
  Index found = 0;
  for (Index i = 0; i < q.ours().size(); ++i) {
    const double a = q.ours().flat(i), b = q.theirs().flat(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const double close = q.array.tolerance * std::max({std::abs(a), std::abs(b), 1.0});
    if (std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= close) continue;
    if (!same(a, b)) return false;
    ++found;
  }
  return found > 0;
}

void add_blocked_cells(const Question& q, Causes& causes) {
  if (q.array.tensor.gradient) return;
  const auto minus_infinite = [](double x) { return std::isinf(x) && x < 0; };
  if (q.id == Id::attn_mask || q.id == Id::key_padding_mask || q.id == Id::mask_bias) {
    const bool flags = q.ours().dtype() == DType::boolean;
    const Tensor opposite = q.mapped([&](Index, double x) {
      return flags               ? 1.0 - x
             : minus_infinite(x) ? 0.0
             : x == 0.0          ? -std::numeric_limits<double>::infinity()
                                 : x;
    });
    if (q.agrees(opposite))
      causes.push_back({"theirs blocks what ours keeps, and keeps what ours blocks", ""});
  }
  if (q.id != Id::mask_bias && q.id != Id::masked_scores) return;
  std::optional<double> fill;
  const auto filled = [&](double a, double b) {
    if (!fill) fill = b;
    return minus_infinite(a) && std::isfinite(b) && b == *fill;
  };
  if (all_differing(q, filled)) {
    causes.push_back({fmt::format("theirs blocks with {:g} where ours has -inf", *fill),
                      fmt::format("--set mask.value={:.9g}", *fill)});
    return;
  }
  const TensorPtr scores = q.trace.tensors.scaled_scores;
  if (q.id != Id::masked_scores || !scores || q.array.difference.worst.empty()) return;
  const Index worst = q.ours().shape().offset(q.array.difference.worst);
  const double added = q.theirs().flat(worst) - scores->flat(worst);
  if (!minus_infinite(q.ours().flat(worst)) || !std::isfinite(added)) return;
  const double rounded = std::round(added);
  if (q.agrees(q.mapped([&](Index i, double x) { return minus_infinite(x) ? scores->flat(i) + rounded : x; })))
    causes.push_back({fmt::format("theirs adds {:g} to blocked scores where ours has -inf", rounded), ""});
}

// Some weights 0 and all others scaled up by one factor: a module in training.
void add_dropout(const Question& q, Causes& causes) {
  if ((q.id != Id::attn_weights && q.id != Id::dropped_weights) || q.array.tensor.gradient) return;
  double factor = 0.0;
  Index dropped = 0;
  for (Index i = 0; i < q.ours().size(); ++i) {
    const double a = q.ours().flat(i), b = q.theirs().flat(i);
    if (a != 0.0 && b == 0.0) ++dropped;
    if (factor == 0.0 && a != 0.0 && b != 0.0) factor = b / a;
  }
  if (dropped == 0 || !(factor > 1.0) || !std::isfinite(factor)) return;
  if (!q.agrees(q.mapped([&](Index i, double x) { return q.theirs().flat(i) == 0.0 ? 0.0 : x * factor; })))
    return;
  causes.push_back(
      {fmt::format(
           "theirs drops weights: {} of {} are 0, and the others are ours times {:.6g} = 1/(1 − {:.4g}). "
           "Is the module in training? model.eval() switches dropout off",
           dropped, q.ours().size(), factor, 1.0 - 1.0 / factor),
       ""});
}

void add_roundings(const Question& q, Causes& causes) {
  if (q.array.stored_dtype == "f16" && all_differing(q, [](double a, double b) {
        return std::isinf(b) && std::abs(a) > largest_f16 && (a > 0) == (b > 0);
      })) {
    causes.push_back({"the numbers are beyond f16, whose largest is 65504, and became infinite there", ""});
  }
  if (q.theirs().dtype() != DType::i64) return;
  if (q.agrees(q.mapped([](Index, double x) { return std::trunc(x); })))
    causes.push_back(
        {fmt::format("theirs is stored as {}: the fractions are cut off", q.array.stored_dtype), ""});
  else if (q.agrees(q.mapped([](Index, double x) { return std::round(x); })))
    causes.push_back(
        {fmt::format("theirs is stored as {}: rounded to whole numbers", q.array.stored_dtype), ""});
}

}  // namespace

std::vector<LikelyCause> causes_in_numbers(const Trace& ours, const ComparedArray& array) {
  Causes causes;
  if (!array.ours || !array.theirs || array.ours->size() > searched_cells || array.ours->size() < enough_cells)
    return causes;
  const Question question{ours, array, array.tensor.id};
  for (const auto& search :
       {add_other_tensors, add_constant_factor, add_stored_orders, add_interleaved_heads, add_repeats,
        add_rotary_conventions, add_softmax_mistakes, add_blocked_cells, add_dropout, add_roundings}) {
    search(question, causes);
  }
  return causes;
}

}  // namespace headwise
