#include "core/attention/matrix_product.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/tensor/instruction_set.h"
#include "core/tensor/task_threads.h"

namespace headwise {

HEADWISE_KERNELS(MatrixKernels, matrix_kernels)

namespace {

// Rows of a task: below that, arranging the right side for the processor takes a part of the time.
constexpr Index rows_at_once = 96;

// In multiply-adds; less is not worth waking a thread for.
constexpr double least_shared_work = 2e5;

DoubleProduct rows_of(DoubleProduct product, Index first, Index count) {
  product.rows = count;
  product.left += first * product.left_step;
  product.out += first * product.out_step;
  return product;
}

}  // namespace

void multiply_doubles(std::span<const DoubleProduct> products) {
  const MatrixKernels& kernels = matrix_kernels();
  double work = 0.0;
  std::vector<DoubleProduct> tasks;
  for (const DoubleProduct& product : products) {
    work += static_cast<double>(product.rows) * static_cast<double>(product.columns) *
            static_cast<double>(product.depth);
    for (Index first = 0; first < product.rows; first += rows_at_once)
      tasks.push_back(rows_of(product, first, std::min(rows_at_once, product.rows - first)));
  }
  run_tasks(static_cast<Index>(tasks.size()), work < least_shared_work ? 1 : available_threads(),
            [&](Index task, int) { kernels.multiply(tasks[static_cast<std::size_t>(task)]); });
}

RowMatrix<double> double_product(const RowMatrix<double>& left, const RowMatrix<double>& right) {
  RowMatrix<double> out(left.rows(), right.cols());
  const DoubleProduct product{.rows = left.rows(),
                              .depth = left.cols(),
                              .columns = right.cols(),
                              .left = left.data(),
                              .left_step = left.cols(),
                              .right = right.data(),
                              .right_row_step = right.cols(),
                              .right_column_step = 1,
                              .out = out.data(),
                              .out_step = right.cols()};
  multiply_doubles({&product, 1});
  return out;
}

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
    for (const Run& run : changes[i].rows) rows.push_back(rows_of(of, run.first, run.count));
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
