#include "core/tensor/strided_layout.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <numeric>

#include "core/tensor/error.h"
#include "core/tensor/random.h"
#include "tests/core/export/python_run.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

// The tensor spelled out: the float of every cell, row by row.
// What a layout says in strides must agree with it.
struct Cells {
  std::vector<Index> sizes;
  std::vector<Index> floats;  // in row-major order of the cells
};

Cells row_major(const std::vector<Index>& sizes) {
  Index count = 1;
  for (const Index size : sizes) count *= size;
  Cells cells{sizes, std::vector<Index>(static_cast<std::size_t>(count))};
  std::iota(cells.floats.begin(), cells.floats.end(), Index{0});
  return cells;
}

// The k-th cell in row-major order.
std::vector<Index> index_at(const std::vector<Index>& sizes, Index k) {
  std::vector<Index> index(sizes.size());
  for (std::size_t i = sizes.size(); i-- > 0;) {
    index[i] = k % sizes[i];
    k /= sizes[i];
  }
  return index;
}

Index place_of(const std::vector<Index>& sizes, const std::vector<Index>& index) {
  Index k = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) k = k * sizes[i] + index[i];
  return k;
}

Cells permuted(const Cells& cells, const std::vector<Index>& order) {
  Cells out;
  for (const Index axis : order) out.sizes.push_back(cells.sizes[static_cast<std::size_t>(axis)]);
  for (std::size_t k = 0; k < cells.floats.size(); ++k) {
    const std::vector<Index> index = index_at(out.sizes, static_cast<Index>(k));
    std::vector<Index> from(index.size());
    for (std::size_t i = 0; i < index.size(); ++i) from[static_cast<std::size_t>(order[i])] = index[i];
    out.floats.push_back(cells.floats[static_cast<std::size_t>(place_of(cells.sizes, from))]);
  }
  return out;
}

// Whether some strides give these floats, in this order, those sizes: by trying the only ones that could.
bool strides_exist(const std::vector<Index>& floats, const std::vector<Index>& sizes) {
  std::vector<Index> strides;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    std::vector<Index> unit(sizes.size(), 0);
    if (sizes[axis] > 1) unit[axis] = 1;
    strides.push_back(floats[static_cast<std::size_t>(place_of(sizes, unit))] - floats[0]);
  }
  for (std::size_t k = 0; k < floats.size(); ++k) {
    const std::vector<Index> index = index_at(sizes, static_cast<Index>(k));
    Index at = floats[0];
    for (std::size_t i = 0; i < sizes.size(); ++i) at += index[i] * strides[i];
    if (at != floats[k]) return false;
  }
  return true;
}

Shape shape_of(const std::vector<Index>& sizes) {
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < sizes.size(); ++i) axes.push_back({fmt::format("A{}", i), sizes[i]});
  return Shape(axes);
}

std::vector<Index> strides_of(const StridedLayout& layout) {
  std::vector<Index> strides;
  for (const StridedAxis& axis : layout.axes()) strides.push_back(axis.stride);
  return strides;
}

void agree(const StridedLayout& layout, const Cells& cells) {
  REQUIRE(layout.shape().sizes() == cells.sizes);
  for (std::size_t k = 0; k < cells.floats.size(); ++k) {
    const std::vector<Index> index = index_at(cells.sizes, static_cast<Index>(k));
    REQUIRE(layout.offset(index) == cells.floats[k]);
    REQUIRE(layout.index_of(cells.floats[k]) == index);
  }
  CHECK(layout.is_contiguous() == std::ranges::is_sorted(cells.floats));
}

// Sizes with the product `count`, drawn.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed, "layouts") {}
  Index below(Index count) {
    return static_cast<Index>(random_.bits(next_++) % static_cast<std::uint64_t>(count));
  }
  std::vector<Index> sizes(Index count) {
    std::vector<Index> sizes;
    while (count > 1) {
      std::vector<Index> divisors;
      for (Index d = 2; d <= count; ++d)
        if (count % d == 0) divisors.push_back(d);
      sizes.push_back(divisors[static_cast<std::size_t>(below(static_cast<Index>(divisors.size())))]);
      count /= sizes.back();
    }
    while (below(3) == 0) sizes.insert(sizes.begin() + below(static_cast<Index>(sizes.size()) + 1), 1);
    if (sizes.empty()) sizes.push_back(1);
    return sizes;
  }
  std::vector<Index> order(Index rank) {
    std::vector<Index> order(static_cast<std::size_t>(rank));
    std::iota(order.begin(), order.end(), Index{0});
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(below(static_cast<Index>(i)))]);
    return order;
  }

 private:
  CounterRandom random_;
  std::uint64_t next_ = 0;
};

constexpr Index counts[]{1, 6, 12, 24, 36, 60, 64, 72};

}  // namespace

TEST_CASE("strides after any views and transposes lead to the floats that index arithmetic finds") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Draw draw(seed);
    const Index count = counts[seed % std::size(counts)];
    std::vector<Index> sizes = draw.sizes(count);
    StridedLayout layout = StridedLayout::contiguous(shape_of(sizes));
    Cells cells = row_major(sizes);
    for (int operation = 0; operation < 5; ++operation) {
      if (draw.below(2) == 0) {
        const std::vector<Index> order = draw.order(layout.rank());
        layout = layout.permuted(order);
        cells = permuted(cells, order);
      } else {
        sizes = draw.sizes(count);
        const auto viewed = layout.viewed(shape_of(sizes));
        REQUIRE(viewed.has_value() == strides_exist(cells.floats, sizes));
        REQUIRE(layout.view_refusal(shape_of(sizes)).empty() == viewed.has_value());
        if (!viewed) continue;
        layout = *viewed;
        cells.sizes = sizes;
      }
      agree(layout, cells);
    }
  }
}

TEST_CASE("a transpose takes the strides along, and twice is none") {
  const StridedLayout q = StridedLayout::contiguous({{"N", 2}, {"L", 3}, {"H", 4}, {"D", 5}});
  CHECK(q.strides_text() == "(60,20,5,1)");
  const StridedLayout heads = q.transposed(1, 2);
  CHECK(heads.strides_text() == "(60,5,20,1)");
  CHECK(heads.shape().letters() == "(N,H,L,D)");
  CHECK(heads.transposed(2, 1) == q);
  CHECK_FALSE(heads.is_contiguous());
  CHECK_THROWS_WITH_AS(q.transposed(1, 4), doctest::Contains("axes 0 to 3"), Error);
  CHECK_THROWS_AS(q.permuted(std::vector<Index>{0, 1, 1, 2}), Error);
  CHECK_THROWS_AS(q.offset(std::vector<Index>{0, 3, 0, 0}), Error);
}

TEST_CASE(
    "a view across two runs of memory is refused in PyTorch's words, and so is another number of cells") {
  const StridedLayout heads =
      StridedLayout::contiguous({{"N", 1}, {"H", 2}, {"L", 3}, {"D", 4}}).transposed(1, 2);
  const Shape joined{{"N", 1}, {"L", 3}, {"E", 8}};
  CHECK_FALSE(heads.viewed(joined));
  CHECK(heads.view_refusal(joined) ==
        "view size is not compatible with input tensor's size and stride (at least one dimension spans "
        "across two "
        "contiguous subspaces). Use .reshape(...) instead.");
  CHECK(heads.view_refusal({{"L", 3}, {"E", 7}}) == "shape '[3, 7]' is invalid for input of size 24");
  // One row or one head: nothing lies between, and the view is possible.
  CHECK(StridedLayout::contiguous({{"N", 1}, {"H", 2}, {"L", 1}, {"D", 4}})
            .transposed(1, 2)
            .view_refusal({{"N", 1}, {"L", 1}, {"E", 8}})
            .empty());
}

TEST_CASE("the offset of a cell is written in letters and in numbers") {
  const StridedLayout q = StridedLayout::contiguous({{"N", 1}, {"L", 12}, {"E", 64}});
  const StridedLayout split = q.viewed({{"N", 1}, {"L", 12}, {"H", 8}, {"D", 8}}).value();
  CHECK(split.offset_letters() == "l·E + h·D + d");
  CHECK(split.offset_numbers(std::vector<Index>{0, 3, 2, 5}) == "3·64 + 2·8 + 5");
  CHECK(split.offset(std::vector<Index>{0, 3, 2, 5}) == 213);
  CHECK(split.transposed(1, 2).offset_letters() == "h·D + l·E + d");
  CHECK(StridedLayout::contiguous({{"N", 2}, {"H", 8}, {"S′", 12}, {"Dv", 4}}).offset_letters() ==
        "n·H·S′·Dv + h·S′·Dv + s·Dv + d");
  CHECK(StridedLayout::contiguous({{"N", 1}}).offset_letters() == "0");
}

TEST_CASE("a tensor without cells has PyTorch's strides, and any view without cells") {
  const StridedLayout empty = StridedLayout::contiguous({{"N", 2}, {"L", 0}, {"E", 3}});
  CHECK(empty.strides_text() == "(3,3,1)");
  CHECK(empty.transposed(0, 2).strides_text() == "(1,3,3)");
  CHECK(empty.transposed(0, 2).viewed({{"A", 0}, {"B", 5}}).value().strides_text() == "(5,1)");
  CHECK(empty.is_contiguous());
  CHECK_FALSE(empty.viewed({{"A", 1}}));
}

TEST_CASE("an installed PyTorch has the same strides and refuses the same views") {
  const std::string python = test::python_with("torch");
  if (python.empty()) {
    MESSAGE("SKIPPED: there is no Python with torch here (HEADWISE_PYTHON names one)");
    return;
  }
  const TemporaryFolder folder;
  const std::string path = folder.file("strides.py");
  std::ofstream program(path);
  program << "import torch\n"
             "def check(x, strides):\n    assert x.stride() == strides, (x.shape, x.stride(), strides)\n"
             "def refuses(x, sizes, words):\n"
             "    try: x.view(sizes)\n"
             "    except RuntimeError as error: assert str(error) == words, (str(error), words)\n"
             "    else: raise AssertionError((x.shape, x.stride(), sizes))\n";
  int refused = 0;
  for (std::uint64_t seed = 1000; seed < 1200; ++seed) {
    Draw draw(seed);
    const Index count = counts[seed % std::size(counts)];
    const std::vector<Index> sizes = draw.sizes(count);
    const std::vector<Index> order = draw.order(static_cast<Index>(sizes.size()));
    const Shape wanted = shape_of(draw.sizes(draw.below(9) == 0 ? count + 1 : count));
    const StridedLayout layout = StridedLayout::contiguous(shape_of(sizes)).permuted(order);
    program << fmt::format("x = torch.arange({}).view([{}]).permute([{}])\ncheck(x, ({},))\n", count,
                           fmt::join(sizes, ","), fmt::join(order, ","), fmt::join(strides_of(layout), ","));
    const std::string to = fmt::format("[{}]", fmt::join(wanted.sizes(), ","));
    if (const auto viewed = layout.viewed(wanted)) {
      program << fmt::format("check(x.view({}), ({},))\n", to, fmt::join(strides_of(*viewed), ","));
    } else {
      program << fmt::format("refuses(x, {}, \"\"\"{}\"\"\")\n", to, layout.view_refusal(wanted));
      ++refused;
    }
    program << fmt::format("assert x.is_contiguous() == {}\n", layout.is_contiguous() ? "True" : "False");
  }
  program.close();
  CHECK(refused > 20);
  CHECK(test::run_python_programs(python, {{path, folder.file("unused")}}, folder.file("")) == "");
}
