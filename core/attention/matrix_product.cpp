#include "core/attention/matrix_product.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "core/tensor/double_kernels.h"
#include "core/tensor/progress.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

constexpr Index columns = DoubleKernels::columns;

// The depth processed at a time: a panel of it and a block of rows stay in the L1 cache.
constexpr Index depth_at_once = 256;

// Rows of a task: whole blocks of every instruction set; this much of their depth stays in the L2 cache.
constexpr Index rows_at_once = 96;
constexpr Index panels_at_once = 8;

// In multiply-adds; less is not worth waking a thread for.
constexpr double least_shared_work = 2e5;

Index parts(Index count, Index part) {
  return (count + part - 1) / part;
}

using Buffer = std::unique_ptr<double[]>;

Buffer buffer(Index count) {
  return std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(count));
}

// Where the tasks of each product begin among all tasks.
struct Shares {
  std::vector<Index> first{0};
  void add(Index tasks) { first.push_back(first.back() + tasks); }
  Index count() const { return first.back(); }
  std::size_t product_of(Index task) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(first, task) - first.begin() - 1);
  }
};

// A panel of the right side, [depth][columns], padded with zeros after its last column.
void fill_panel(const DoubleProduct& of, Index panel, double* to) {
  const Index first = panel * columns, made = std::min(columns, of.columns - first);
  const double* const from = of.right + first * of.right_column_step;
  if (made < columns) std::fill_n(to, of.depth * columns, 0.0);
  if (of.right_column_step == 1) {
    for (Index k = 0; k < of.depth; ++k) std::copy_n(from + k * of.right_row_step, made, to + k * columns);
    return;
  }
  for (Index c = 0; c < made; ++c) {
    const double* const column = from + c * of.right_column_step;
    for (Index k = 0; k < of.depth; ++k) to[k * columns + c] = column[k * of.right_row_step];
  }
}

// Rows of the left side, starting at `depth`, as blocks [depth][height], zeros below the last row.
void fill_blocks(const DoubleProduct& of, Index first_row, Index rows, Index first_depth, Index depth,
                 Index height, double* to) {
  for (Index block = 0; block < rows; block += height, to += depth * height) {
    const Index made = std::min(height, rows - block);
    if (made < height) std::fill_n(to, depth * height, 0.0);
    const double* const from = of.left + (first_row + block) * of.left_step + first_depth;
    for (Index r = 0; r < made; ++r)
      for (Index k = 0; k < depth; ++k) to[k * height + r] = from[r * of.left_step + k];
  }
}

// Some rows of a product, where `panels` is its right side.
void multiply_rows(const DoubleKernels& kernels, const DoubleProduct& of, const double* panels, Index first,
                   Index rows, double* scratch) {
  const Index height = kernels.rows;
  for (Index k = 0; k < of.depth; k += depth_at_once) {
    const Index depth = std::min(depth_at_once, of.depth - k);
    fill_blocks(of, first, rows, k, depth, height, scratch);
    for (Index c = 0; c < of.columns; c += columns) {
      const double* const panel = panels + c * of.depth + k * columns;
      const double* block = scratch;
      for (Index r = 0; r < rows; r += height, block += depth * height)
        kernels.multiply(block, panel, depth, of.out + (first + r) * of.out_step + c, of.out_step,
                         std::min(height, rows - r), std::min(columns, of.columns - c), k > 0);
    }
  }
  if (!of.bias && of.depth > 0) return;
  for (Index r = first; r < first + rows; ++r) {
    double* const out = of.out + r * of.out_step;
    if (of.depth == 0) std::fill_n(out, of.columns, 0.0);
    for (Index c = 0; of.bias && c < of.columns; ++c) out[c] += of.bias[c];
  }
}

}  // namespace

void multiply_doubles(std::span<const DoubleProduct> products) {
  const DoubleKernels& kernels = double_kernels();
  double work = 0.0;
  Index scratch_size = 0;
  Shares packing, making;
  std::vector<Buffer> right;  // of each product: its panels, [depth][columns] each
  for (const DoubleProduct& product : products) {
    work += static_cast<double>(product.rows) * static_cast<double>(product.columns) *
            static_cast<double>(product.depth);
    const Index panels = parts(product.columns, columns);
    right.push_back(buffer(panels * columns * product.depth));
    packing.add(parts(panels, panels_at_once));
    making.add(parts(product.rows, rows_at_once));
    const Index rows = std::min(rows_at_once, parts(product.rows, kernels.rows) * kernels.rows);
    scratch_size = std::max(scratch_size, rows * std::min(depth_at_once, product.depth));
  }
  const int threads = work < least_shared_work ? 1 : available_threads();
  std::optional<ProgressPart> part(std::in_place, 0.0, 0.05);
  run_tasks(packing.count(), threads, [&](Index task, int) {
    const std::size_t i = packing.product_of(task);
    const Index first = (task - packing.first[i]) * panels_at_once;
    const Index end = std::min(first + panels_at_once, parts(products[i].columns, columns));
    for (Index panel = first; panel < end; ++panel)
      fill_panel(products[i], panel, right[i].get() + panel * columns * products[i].depth);
  });
  std::vector<Buffer> scratch(static_cast<std::size_t>(threads));
  part.emplace(0.05, 1.0);
  run_tasks(making.count(), threads, [&](Index task, int worker) {
    Buffer& own = scratch[static_cast<std::size_t>(worker)];
    if (!own) own = buffer(scratch_size);
    const std::size_t i = making.product_of(task);
    const Index first = (task - making.first[i]) * rows_at_once;
    multiply_rows(kernels, products[i], right[i].get(), first,
                  std::min(rows_at_once, products[i].rows - first), own.get());
  });
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

DoubleProduct rows_of_run(DoubleProduct product, const Run& run) {
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
    for (const Run& run : changes[i].rows) rows.push_back(rows_of_run(of, run));
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
