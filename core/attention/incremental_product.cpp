#include "core/attention/incremental_product.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

struct Run {
  Index first, count;
};

// What has to be computed in one product.
struct Changes {
  std::vector<Run> rows, columns;
  bool any() const { return !rows.empty() || !columns.empty(); }
};

std::vector<Run> runs(const std::vector<bool>& changed) {
  std::vector<Run> found;
  for (Index i = 0; i < static_cast<Index>(changed.size()); ++i) {
    if (!changed[static_cast<std::size_t>(i)]) continue;
    if (!found.empty() && found.back().first + found.back().count == i)
      ++found.back().count;
    else
      found.push_back({i, 1});
  }
  return found;
}

Index total(const std::vector<Run>& runs) {
  Index count = 0;
  for (const Run& run : runs) count += run.count;
  return count;
}

bool same_bytes(const double* a, const double* b, Index count) {
  return a == b || std::memcmp(a, b, static_cast<std::size_t>(count) * sizeof(double)) == 0;
}

std::vector<Run> changed_rows(const DoubleProduct& of, const EarlierProduct& before) {
  std::vector<bool> changed(static_cast<std::size_t>(of.rows));
  for (Index r = 0; r < of.rows; ++r)
    changed[static_cast<std::size_t>(r)] =
        !same_bytes(of.left + r * of.left_step, before.left + r * of.left_step, of.depth);
  return runs(changed);
}

// Either the columns or the rows of the right matrix are contiguous.
std::vector<Run> changed_columns(const DoubleProduct& of, const EarlierProduct& before) {
  std::vector<bool> changed(static_cast<std::size_t>(of.columns));
  if (of.right_row_step == 1) {
    for (Index c = 0; c < of.columns; ++c)
      changed[static_cast<std::size_t>(c)] =
          !same_bytes(of.right + c * of.right_column_step, before.right + c * of.right_column_step, of.depth);
  } else {
    for (Index k = 0; k < of.depth; ++k) {
      const double* const row = of.right + k * of.right_row_step;
      const double* const row_before = before.right + k * of.right_row_step;
      if (of.right_column_step == 1 && same_bytes(row, row_before, of.columns)) continue;
      for (Index c = 0; c < of.columns; ++c) {
        const Index at = c * of.right_column_step;
        if (!same_bytes(row + at, row_before + at, 1)) changed[static_cast<std::size_t>(c)] = true;
      }
    }
  }
  for (Index c = 0; of.bias && c < of.columns; ++c)
    if (!same_bytes(of.bias + c, before.bias + c, 1)) changed[static_cast<std::size_t>(c)] = true;
  return runs(changed);
}

DoubleProduct rows_of(DoubleProduct product, const Run& run) {
  product.rows = run.count;
  product.left += run.first * product.left_step;
  product.out += run.first * product.out_step;
  return product;
}

DoubleProduct columns_of(DoubleProduct product, const Run& run) {
  product.columns = run.count;
  product.right += run.first * product.right_column_step;
  product.out += run.first;
  if (product.bias) product.bias += run.first;
  return product;
}

}  // namespace

ProductChange incremental_product(std::span<const DoubleProduct> products,
                                  std::span<const EarlierProduct> earlier) {
  std::vector<Changes> changes(products.size());
  double sizes = 0.0;
  for (const DoubleProduct& of : products)
    sizes += static_cast<double>(of.rows + of.columns) * static_cast<double>(of.depth);
  const auto count = static_cast<Index>(products.size());
  for_ranges(count, sizes / static_cast<double>(std::max<Index>(count, 1)), [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      const auto at = static_cast<std::size_t>(i);
      changes[at] = {changed_rows(products[at], earlier[at]), changed_columns(products[at], earlier[at])};
    }
  });
  if (std::ranges::none_of(changes, &Changes::any)) return ProductChange::none;

  double all = 0.0, left = 0.0;
  std::vector<DoubleProduct> columns, rows;
  for (std::size_t i = 0; i < products.size(); ++i) {
    const DoubleProduct& of = products[i];
    const double cells = static_cast<double>(of.rows) * static_cast<double>(of.columns);
    const double changed =
        static_cast<double>(total(changes[i].rows) * of.columns + total(changes[i].columns) * of.rows);
    all += cells * static_cast<double>(of.depth);
    left += std::min(changed, cells) * static_cast<double>(of.depth);
    if (2.0 * changed > cells) {
      changes[i] = {{{0, of.rows}}, {}};  // as a whole
    }
    for (const Run& run : changes[i].columns) columns.push_back(columns_of(of, run));
    for (const Run& run : changes[i].rows) rows.push_back(rows_of(of, run));
  }
  if (4.0 * left > all) return ProductChange::most;

  for_ranges(count, all / static_cast<double>(count), [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const DoubleProduct& of = products[at];
      if (total(changes[at].rows) == of.rows) continue;
      for (Index r = 0; r < of.rows; ++r)
        std::copy_n(earlier[at].out + r * of.out_step, of.columns, of.out + r * of.out_step);
    }
  });
  multiply_doubles(columns);
  multiply_doubles(rows);  // after the columns, so that cells where both cross are not written concurrently
  return ProductChange::some;
}

}  // namespace headwise
