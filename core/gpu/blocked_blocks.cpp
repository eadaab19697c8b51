#include "core/gpu/blocked_blocks.h"

#include <algorithm>
#include <bit>

namespace headwise {
namespace {

constexpr Index word_bits = 32;

// 32 bits from this one on; 0 beyond the last word.
std::uint32_t bits_from(const std::vector<std::uint32_t>& words, Index bit) {
  const auto word = static_cast<std::size_t>(bit / word_bits);
  const std::uint64_t low = words[word], high = word + 1 < words.size() ? words[word + 1] : 0;
  return static_cast<std::uint32_t>((high << word_bits | low) >> (bit % word_bits));
}

}  // namespace

Index BlockedBlocks::count(Index n, Index h, Index row, Index rows, Index first, Index end) const {
  if (bits.empty()) return 0;
  const Index begin = n * batch_step + h * head_step + row * row_step;
  Index all = 0;
  for (Index block = first; block < end; block += word_bits) {
    std::uint32_t blocked = ~std::uint32_t{0};
    for (Index r = 0; r < rows; ++r) blocked &= bits_from(bits, begin + r * row_step + block);
    const Index left = std::min(end - block, word_bits);
    if (left < word_bits) blocked &= (std::uint32_t{1} << left) - 1;
    all += std::popcount(blocked);
  }
  return all;
}

}  // namespace headwise
