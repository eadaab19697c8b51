#include "core/gpu/attention_plan.h"

#include <doctest/doctest.h>

#include "core/tensor/random.h"

using namespace headwise;

TEST_CASE("blocks that a mask rules out are counted as one would by looking at every bit") {
  const CounterRandom random(3, "blocked blocks");
  std::uint64_t drawn = 0;
  const auto below = [&](Index end) {
    return static_cast<Index>(random.uniform(drawn++) * static_cast<double>(end));
  };
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    const Index batch = 1 + below(3), heads = 1 + below(3), rows = 1 + below(4), columns = 1 + below(150);
    const bool shares_heads = below(2) == 0, shares_batch = below(2) == 0;
    BlockedBlocks blocked;
    blocked.row_step = columns;
    blocked.head_step = shares_heads ? 0 : rows * columns;
    blocked.batch_step = shares_batch ? 0 : (shares_heads ? 1 : heads) * rows * columns;
    const Index bits = (shares_batch ? 1 : batch) * (shares_heads ? 1 : heads) * rows * columns;
    blocked.bits.assign(static_cast<std::size_t>((bits + 31) / 32), 0);
    const double share = random.uniform(drawn++);
    for (Index bit = 0; bit < bits; ++bit)
      if (random.uniform(drawn++) < share)
        blocked.bits[static_cast<std::size_t>(bit / 32)] |= 1u << (bit % 32);
    const Index n = below(batch), h = below(heads), row = below(rows);
    const Index at_once = 1 + below(std::min<Index>(2, rows - row));
    const Index first = below(columns + 1), end = first + below(columns + 1 - first);
    Index expected = 0;
    for (Index column = first; column < end; ++column) {
      bool all = true;
      for (Index r = row; r < row + at_once; ++r) {
        const Index bit = n * blocked.batch_step + h * blocked.head_step + r * blocked.row_step + column;
        all = all && (blocked.bits[static_cast<std::size_t>(bit / 32)] >> (bit % 32) & 1u) != 0;
      }
      expected += all;
    }
    CHECK(blocked.count(n, h, row, at_once, first, end) == expected);
  }
  CHECK(BlockedBlocks{}.count(2, 3, 4, 2, 0, 100) == 0);
}
