#include "core/attention/rules.h"

#include <algorithm>
#include <functional>

#include "core/tensor/error.h"

namespace headwise {
namespace {

Index digit_of(const AxisTerm& term, Index x) {
  const Index quotient = x / term.divide;
  const Index digit = term.modulus == 0 ? quotient : quotient % term.modulus;
  return term.mirrored ? term.modulus - 1 - digit : digit;
}

Interval mirror(const Interval& digits, Index modulus) {
  return {modulus - digits.end, modulus - digits.begin};
}

// The digits that a term takes on while its variable runs over a non-empty range.
Interval digits_of(const AxisTerm& term, const Interval& range) {
  const Index first = range.begin / term.divide;
  const Index last = (range.end - 1) / term.divide;
  if (term.modulus == 0) return {first, last + 1};
  // Over a full period, or across its seam, every remainder counts.
  if (last - first + 1 >= term.modulus || first % term.modulus > last % term.modulus)
    return {0, term.modulus};
  const Interval digits{first % term.modulus, last % term.modulus + 1};
  return term.mirrored ? mirror(digits, term.modulus) : digits;
}

// The values in `range` with (x / divide) % modulus == digit.
std::vector<Interval> values_with_digit(const AxisTerm& term, Index digit, const Interval& range) {
  std::vector<Interval> values;
  const auto add = [&](Index quotient) {
    const Interval part{std::max(range.begin, quotient * term.divide),
                        std::min(range.end, (quotient + 1) * term.divide)};
    if (!part.empty()) values.push_back(part);
  };
  if (term.modulus == 0) {
    add(digit);
    return values;
  }
  if (term.mirrored) digit = term.modulus - 1 - digit;
  const Index first_turn = range.begin / term.divide / term.modulus;
  const Index last_turn = (range.end - 1) / term.divide / term.modulus;
  for (Index turn = first_turn; turn <= last_turn; ++turn) add(turn * term.modulus + digit);
  return values;
}

// Terms that are whole multiples of `unit`, and the rest with the offset.
struct Split {
  AxisMap multiples, rest;
};

Split split_by(const AxisMap& map, Index unit) {
  Split split;
  split.rest.offset = map.offset;
  for (const AxisTerm& term : map.terms) {
    (term.times % unit == 0 ? split.multiples : split.rest).terms.push_back(term);
  }
  return split;
}

bool stays_below(const AxisMap& map, Index bound, std::span<const Interval> ranges) {
  const Interval indices = mapped_interval(map, ranges);
  return indices.begin >= 0 && indices.end <= bound;
}

// A digit of a single variable: (x / divide) % modulus, with nothing added.
bool is_digit(const AxisMap& map) {
  return map.offset == 0 && map.terms.size() == 1 && map.terms[0].times == 1 && !map.terms[0].mirrored;
}

std::optional<AxisMap> quotient(AxisMap map, Index divide, std::span<const Interval> ranges) {
  if (divide == 1) return map;
  Split split = split_by(map, divide);
  if (stays_below(split.rest, divide, ranges)) {
    for (AxisTerm& term : split.multiples.terms) term.times /= divide;
    return split.multiples;
  }
  if (!is_digit(map) || map.terms[0].modulus % divide != 0) return std::nullopt;
  map.terms[0].divide *= divide;
  map.terms[0].modulus /= divide;
  return map;
}

std::optional<AxisMap> remainder(AxisMap map, Index modulus, std::span<const Interval> ranges) {
  if (modulus == 0) return map;
  Split split = split_by(map, modulus);
  if (stays_below(split.rest, modulus, ranges)) return split.rest;
  if (!is_digit(map) || map.terms[0].modulus % modulus != 0) return std::nullopt;
  map.terms[0].modulus = modulus;
  return map;
}

}  // namespace

AxisMap axis_fixed(Index index) {
  return {index, {}};
}

AxisMap axis_of(int variable, Index offset) {
  return {offset, {{.variable = variable}}};
}

AxisMap axis_group(int variable, Index group) {
  return {0, {{.variable = variable, .divide = group}}};
}

AxisMap axis_within(int variable, Index group) {
  return {0, {{.variable = variable, .modulus = group}}};
}

AxisMap axis_neighbour(int variable) {
  return {0,
          {{.variable = variable, .divide = 2, .times = 2},
           {.variable = variable, .modulus = 2, .mirrored = true}}};
}

AxisMap axis_joined(int outer, Index inner_size, int inner, Index offset) {
  return {offset, {{.variable = outer, .times = inner_size}, {.variable = inner}}};
}

Index mapped_index(const AxisMap& map, std::span<const Index> variables) {
  Index index = map.offset;
  for (const AxisTerm& term : map.terms) {
    index += term.times * digit_of(term, variables[static_cast<std::size_t>(term.variable)]);
  }
  return index;
}

Interval mapped_interval(const AxisMap& map, std::span<const Interval> ranges) {
  Interval indices{map.offset, map.offset + 1};
  for (const AxisTerm& term : map.terms) {
    const Interval digits = digits_of(term, ranges[static_cast<std::size_t>(term.variable)]);
    indices.begin += term.times * digits.begin;
    indices.end += term.times * (digits.end - 1);
  }
  return indices;
}

std::optional<AxisMap> substituted(const AxisMap& map, std::span<const AxisMap> values,
                                   std::span<const Interval> ranges) {
  AxisMap result{map.offset, {}};
  for (const AxisTerm& term : map.terms) {
    auto part = quotient(values[static_cast<std::size_t>(term.variable)], term.divide, ranges);
    if (part) part = remainder(std::move(*part), term.modulus, ranges);
    if (!part) return std::nullopt;
    if (term.mirrored) {
      if (!is_digit(*part) || part->terms[0].modulus != term.modulus) return std::nullopt;
      part->terms[0].mirrored = true;
    }
    result.offset += term.times * part->offset;
    for (AxisTerm& inner : part->terms) {
      inner.times *= term.times;
      result.terms.push_back(inner);
    }
  }
  std::ranges::stable_sort(result.terms, std::greater{}, &AxisTerm::times);
  return result;
}

std::vector<std::vector<Interval>> variables_leading_to(std::span<const Index> index,
                                                        std::span<const AxisMap> maps,
                                                        std::span<const Interval> ranges) {
  std::vector<std::vector<Interval>> values(ranges.size());
  for (std::size_t v = 0; v < ranges.size(); ++v) {
    if (ranges[v].empty()) return std::vector<std::vector<Interval>>(ranges.size());
    values[v] = {ranges[v]};
  }
  for (std::size_t axis = 0; axis < maps.size(); ++axis) {
    // The terms are digits of index − offset, the largest place first.
    Index rest = index[axis] - maps[axis].offset;
    for (const AxisTerm& term : maps[axis].terms) {
      std::vector<Interval>& candidates = values[static_cast<std::size_t>(term.variable)];
      const Index digit = rest < 0 ? -1 : rest / term.times;
      std::vector<Interval> remaining;
      if (digit >= 0 && (term.modulus == 0 || digit < term.modulus)) {
        for (const Interval& range : candidates) {
          const std::vector<Interval> parts = values_with_digit(term, digit, range);
          remaining.insert(remaining.end(), parts.begin(), parts.end());
        }
      }
      if (remaining.empty()) return std::vector<std::vector<Interval>>(ranges.size());
      candidates = std::move(remaining);
      rest -= digit * term.times;
    }
    if (rest != 0) return std::vector<std::vector<Interval>>(ranges.size());
  }
  return values;
}

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

std::vector<RotaryPiece> rotary_pieces(const Rotation& rotation, Index shift, int column) {
  const Index pairs = rotation.count(), first = rotation.first;
  const AxisMap own = axis_of(column, shift);
  if (rotation.pairs == RotaryPairs::halves)
    return {{{first, first + pairs}, own, axis_of(column, shift + pairs)},
            {{first + pairs, first + 2 * pairs}, own, axis_of(column, shift - pairs)}};
  if (first % 2 == 0) {
    AxisMap partner = axis_neighbour(column);
    partner.offset += shift;
    return {{{first, first + 2 * pairs}, own, partner}};
  }
  std::vector<RotaryPiece> pieces;  // no digit of an odd column is its partner's
  for (Index j = 0; j < 2 * pairs; ++j)
    pieces.push_back({{first + j, first + j + 1}, own, axis_fixed(first + shift + (j ^ 1))});
  return pieces;
}

bool holds_at(const Product& product, std::span<const Index> index) {
  const bool inside = std::ranges::all_of(product.where, [&](const IndexCondition& where) {
    return where.range.contains(index[static_cast<std::size_t>(where.axis)]);
  });
  if (!inside || !product.band) return inside;
  const auto is_known = [&](const AxisTerm& term) {
    return static_cast<std::size_t>(term.variable) < index.size();
  };
  const auto& [row, column, ahead] = *product.band;
  const bool known = std::ranges::all_of(row.terms, is_known) && std::ranges::all_of(column.terms, is_known);
  return !known || ahead.contains(mapped_index(column, index) - mapped_index(row, index));
}

std::vector<std::vector<Interval>> ranges_in_band(const Product& product, const std::vector<Interval>& ranges) {
  if (!product.band) return {ranges};
  std::vector<std::vector<Interval>> parts;
  const auto& [row, column, ahead] = *product.band;
  const Interval rows = mapped_interval(row, ranges), columns = mapped_interval(column, ranges);
  for (Index r = rows.begin; r < rows.end; ++r) {
    const Interval seen{std::max(columns.begin, r + ahead.begin), std::min(columns.end, r + ahead.end)};
    if (seen.empty()) continue;
    std::vector<Interval>& part = parts.emplace_back(ranges);
    const auto narrow = [&part](const AxisMap& map, Interval values) {
      if (map.terms.empty()) return;
      part[static_cast<std::size_t>(map.terms[0].variable)] = {values.begin - map.offset,
                                                               values.end - map.offset};
    };
    narrow(row, {r, r + 1});
    narrow(column, seen);
  }
  return parts;
}

std::vector<Interval> variable_ranges(const Rule& rule, const Product& product) {
  std::vector<Interval> ranges;
  for (const Index size : rule.sizes) ranges.push_back({0, size});
  for (const IndexCondition& where : product.where) {
    Interval& range = ranges[static_cast<std::size_t>(where.axis)];
    range = {std::max(range.begin, where.range.begin), std::min(range.end, where.range.end)};
  }
  for (const SummedAxis& sum : product.sums) ranges.push_back({0, sum.size});
  return ranges;
}

}  // namespace headwise
