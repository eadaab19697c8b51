#include "core/tensor/random.h"

#include <array>
#include <cmath>
#include <numbers>

namespace headwise {
namespace {

using Counter = std::array<std::uint32_t, 4>;

// The constants and the ten rounds of the paper.
Counter philox(Counter counter, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53u} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {
        static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key0, static_cast<std::uint32_t>(product1),
        static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key1, static_cast<std::uint32_t>(product0)};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

double to_unit(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

Counter block(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                 static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)},
                static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
}

std::uint64_t low(const Counter& c) {
  return c[0] | std::uint64_t{c[1]} << 32;
}
std::uint64_t high(const Counter& c) {
  return c[2] | std::uint64_t{c[3]} << 32;
}

}  // namespace

CounterRandom::CounterRandom(std::uint64_t seed, std::string_view stream)
    : seed_(seed), stream_(stream_number(stream)) {}

std::uint64_t CounterRandom::stream_number(std::string_view stream) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : stream) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash;
}

std::uint64_t CounterRandom::bits(std::uint64_t index) const {
  return low(block(seed_, stream_, index));
}

double CounterRandom::uniform(std::uint64_t index) const {
  return to_unit(bits(index));
}

double CounterRandom::normal(std::uint64_t index) const {
  const Counter c = block(seed_, stream_, index);
  const double radius = std::sqrt(-2.0 * std::log1p(-to_unit(low(c))));  // log(1-u): u may be 0, never 1
  return radius * std::cos(2.0 * std::numbers::pi * to_unit(high(c)));
}

}  // namespace headwise
