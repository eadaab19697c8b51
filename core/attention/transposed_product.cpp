#include "core/attention/transposed_product.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>

namespace headwise {
namespace {

constexpr int no_axis = -1;

// Which axes of the factor give the digits of a variable: its quotient by a group's size, and its remainder.
struct FactorDigits {
  int group_axis = no_axis, within_axis = no_axis;
  Index group = 1;
};

class Transposition {
 public:
  Transposition(const Rule& rule, const Product& product, std::size_t factor,
                const std::vector<Index>& factor_sizes, const std::vector<std::string>& letters)
      : rule_(rule),
        product_(product),
        factor_(factor),
        sizes_(factor_sizes),
        letters_(letters),
        ranges_(variable_ranges(rule, product)),
        values_(ranges_.size()),
        digits_(ranges_.size()) {
    for (const SummedAxis& sum : product.sums) letters_.push_back(sum.letter);
    for (const Index size : sizes_) new_ranges_.push_back({0, std::max<Index>(size, 1)});
  }

  Product transposed() {
    const std::vector<AxisMap>& axes = product_.factors[factor_].axes;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) read_axis(static_cast<int>(axis), axes[axis]);
    for (std::size_t v = 0; v < values_.size(); ++v) {
      if (!values_[v]) solve_from_digits(v);
    }
    Operand& gradient = result_.factors.emplace_back();
    gradient.tensor = {rule_.result.id, true};
    for (std::size_t axis = 0; axis < rule_.sizes.size(); ++axis) gradient.axes.push_back(*values_[axis]);
    for (std::size_t f = 0; f < product_.factors.size(); ++f) {
      if (f == factor_) continue;
      Operand& other = result_.factors.emplace_back();
      other.tensor = product_.factors[f].tensor;
      for (const AxisMap& map : product_.factors[f].axes) other.axes.push_back(substituted_axis(map));
    }
    if (product_.band)
      result_.band = Band{substituted_axis(product_.band->row), substituted_axis(product_.band->column),
                          product_.band->ahead};
    return std::move(result_);
  }

 private:
  void read_axis(int axis, const AxisMap& map) {
    if (map.terms.empty()) return hold_only_at(axis, {map.offset, map.offset + 1});
    const AxisTerm& term = map.terms.front();
    if (map == axis_neighbour(term.variable)) {  // its own inverse
      require(!value_of(term));
      hold_only_at(axis, range_of(term));
      value_of(term) = axis_neighbour(axis);
      return;
    }
    if (map.terms.size() > 1 || (term.divide == 1 && term.modulus == 0)) return read_joined(axis, map);
    require(map.offset == 0 && term.times == 1);
    if (term.modulus == 1) return;  // always 0
    FactorDigits& digits = digits_[static_cast<std::size_t>(term.variable)];
    int& place = term.modulus == 0 ? digits.group_axis : digits.within_axis;
    const Index group = term.modulus == 0 ? term.divide : term.modulus;
    require((term.modulus == 0 || term.divide == 1) && place == no_axis && !value_of(term));
    require((digits.group == 1 || digits.group == group) && range_of(term).begin == 0);
    digits.group = group;
    place = axis;
  }

  // index = offset + times·x + times′·y + …, each variable less than the `times` before its own: its digits.
  void read_joined(int axis, const AxisMap& map) {
    require(map.offset == 0 || (map.terms.size() == 1 && map.terms[0].times == 1));
    std::vector<AxisTerm> terms = map.terms;
    std::ranges::stable_sort(terms, std::greater{}, &AxisTerm::times);
    Index next_place = 0;  // of the previous term: none before the first
    for (const AxisTerm& term : terms) {
      require(term.divide == 1 && term.modulus == 0 && !value_of(term));
      const Interval range = range_of(term);
      if (next_place == 0) {
        hold_only_at(axis, {map.offset + range.begin * term.times, map.offset + range.end * term.times});
        value_of(term) = AxisMap{-map.offset, {{.variable = axis, .divide = term.times}}};
      } else {
        require(next_place % term.times == 0 && range == Interval{0, next_place / term.times});
        value_of(term) =
            AxisMap{0, {{.variable = axis, .divide = term.times, .modulus = next_place / term.times}}};
      }
      next_place = term.times;
    }
    require(next_place == 1);
  }

  // Solves for a variable from the digits that the factor's index gives,
  // with a new sum for one that it leaves open.
  void solve_from_digits(std::size_t variable) {
    const Interval range = ranges_[variable];
    const FactorDigits& digits = digits_[variable];
    if (digits.group_axis == no_axis && digits.within_axis == no_axis) {
      values_[variable] = new_sum(variable, std::max<Index>(range.end - range.begin, 0));
      values_[variable]->offset += range.begin;
      return;
    }
    AxisMap group = digits.group_axis != no_axis ? axis_of(digits.group_axis)
                                                 : new_sum(variable, range.end / digits.group);
    const AxisMap within =
        digits.within_axis != no_axis ? axis_of(digits.within_axis) : new_sum(variable, digits.group);
    require(range.end % digits.group == 0);
    group.offset = group.offset * digits.group + within.offset;
    for (AxisTerm& term : group.terms) term.times = digits.group;
    group.terms.insert(group.terms.end(), within.terms.begin(), within.terms.end());
    values_[variable] = std::move(group);
  }

  void hold_only_at(int axis, Interval range) {
    if (range == Interval{0, sizes_[static_cast<std::size_t>(axis)]}) return;
    result_.where.push_back({axis, range});
  }

  void require(bool condition) const {
    if (!condition) {
      throw std::logic_error("the rule of " + to_string(rule_.result) + " cannot be turned round for " +
                             to_string(product_.factors[factor_].tensor));
    }
  }

  AxisMap new_sum(std::size_t variable, Index size) {
    if (size == 1) return axis_fixed(0);
    const auto number = static_cast<int>(sizes_.size() + result_.sums.size());
    result_.sums.push_back({letters_[variable], size});
    new_ranges_.push_back({0, std::max<Index>(size, 1)});
    return axis_of(number);
  }

  AxisMap substituted_axis(const AxisMap& map) const {
    std::vector<AxisMap> values;
    for (const auto& value : values_) values.push_back(*value);
    const auto axis = substituted(map, values, new_ranges_);
    require(axis.has_value());
    return *axis;
  }

  std::optional<AxisMap>& value_of(const AxisTerm& term) {
    return values_[static_cast<std::size_t>(term.variable)];
  }
  const Interval& range_of(const AxisTerm& term) const {
    return ranges_[static_cast<std::size_t>(term.variable)];
  }

  const Rule& rule_;
  const Product& product_;
  const std::size_t factor_;
  const std::vector<Index>& sizes_;
  std::vector<std::string> letters_;            // of the old variables
  const std::vector<Interval> ranges_;          // of the old variables
  std::vector<std::optional<AxisMap>> values_;  // of the old variables, as maps of the new ones
  std::vector<FactorDigits> digits_;
  std::vector<Interval> new_ranges_;  // of the new variables, at least one value each
  Product result_;
};

}  // namespace

Product transposed_product(const Rule& rule, const Product& product, std::size_t factor,
                           const std::vector<Index>& factor_sizes, const std::vector<std::string>& letters) {
  return Transposition(rule, product, factor, factor_sizes, letters).transposed();
}

}  // namespace headwise
