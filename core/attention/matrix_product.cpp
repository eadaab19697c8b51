#include "core/attention/matrix_product.h"

#include <algorithm>
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
  const DoubleKernels& kernels = chosen_double_kernels();
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

}  // namespace headwise
