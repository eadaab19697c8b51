#include "core/trace/rules.h"

#include <algorithm>

#include "core/tensor/error.h"
#include "core/trace/forward_rules.h"
#include "core/trace/gradient_rules.h"

namespace headwise {
Rule declared_rule(const Trace& trace, TensorName tensor) {
  const TensorPtr values = trace.tensor(tensor);
  if (!values) {
    const bool forward_only = tensor.gradient && !has_backward_pass(trace);
    throw Error(ExitStatus::usage, {to_string(tensor), "this trace has no such tensor",
                                    forward_only ? "a trace without a backward pass" : "", "", ""});
  }
  if (tensor.gradient) return gradient_rule(trace, tensor.id);
  Rule rule;
  rule.result = tensor;
  rule.sizes = values->shape().sizes();
  declare_forward_rule(trace, rule);
  for (Product& product : rule.products) {
    for (Operand& factor : product.factors) factor.tensor = first_name(trace, factor.tensor);
  }
  return rule;
}

std::vector<TensorName> rule_sources(const Rule& rule) {
  std::vector<TensorName> sources;
  for (const Product& product : rule.products) {
    for (const Operand& factor : product.factors) {
      if (std::ranges::find(sources, factor.tensor) == sources.end()) sources.push_back(factor.tensor);
    }
  }
  return sources;
}

TensorName first_name(const Trace& trace, TensorName tensor) {
  const TraceTensors& t = trace.tensors;
  if (tensor.gradient || !trace.tensor(tensor)) return tensor;
  if (tensor.id == TensorId::value && t.value == t.key) tensor.id = TensorId::key;
  const bool is_query = trace.tensor(tensor) == t.query;
  if (is_query && (tensor.id == TensorId::value || tensor.id == TensorId::key)) tensor.id = TensorId::query;
  return tensor;
}

bool holds_at(const Product& product, std::span<const Index> index) {
  return std::ranges::all_of(product.where, [&](const Where& where) {
    return where.range.contains(index[static_cast<std::size_t>(where.axis)]);
  });
}

std::vector<Interval> variable_ranges(const Rule& rule, const Product& product) {
  std::vector<Interval> ranges;
  for (const Index size : rule.sizes) ranges.push_back({0, size});
  for (const Where& where : product.where) {
    Interval& range = ranges[static_cast<std::size_t>(where.axis)];
    range = {std::max(range.begin, where.range.begin), std::min(range.end, where.range.end)};
  }
  for (const SummedAxis& sum : product.sums) ranges.push_back({0, sum.size});
  return ranges;
}

}  // namespace headwise
