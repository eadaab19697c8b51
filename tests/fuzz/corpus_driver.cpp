// Drives a fuzz target without libFuzzer: every file of the folders that are named, and changed copies of
// them, the same ones in every run.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "tests/fuzz/fuzz_target.h"

namespace {

using Bytes = std::vector<std::uint8_t>;
using Random = std::mt19937_64;

constexpr std::size_t changed_copies = 6000;  // of all files together: a second or two

std::vector<std::filesystem::path> files_in(int folders, char** folder) {
  std::vector<std::filesystem::path> files;
  for (int i = 0; i < folders; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(folder[i])) {
      if (entry.is_regular_file() && entry.path().extension() != ".py") files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

Bytes content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A place in the bytes, the end included; early ones are likelier: headers are where the decisions are.
std::size_t place(Random& random, std::size_t size) {
  const std::size_t at = random() % (size + 1);
  return random() % 2 == 0 ? std::min<std::size_t>(at, random() % 128) : at;
}

// A number that is at the edge of something, little-endian over 1, 2, 4 or 8 bytes.
void overwrite_number(Random& random, Bytes& bytes) {
  constexpr std::array<std::uint64_t, 10> edges{0,          1,          0x7F,       0xFF,       0xFFFF,
                                                0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, ~0ull >> 1, ~0ull};
  std::uint64_t number = random() % 3 == 0 ? bytes.size() : edges[random() % edges.size()];
  const std::size_t at = place(random, bytes.size());
  for (std::size_t i = 0; i < (std::size_t{1} << random() % 4) && at + i < bytes.size(); ++i, number >>= 8) {
    bytes[at + i] = static_cast<std::uint8_t>(number);
  }
}

// One change: a cut, a flipped bit, a number, a piece left out, doubled, or taken from another file.
void change(Random& random, Bytes& bytes, const Bytes& other) {
  const std::size_t at = place(random, bytes.size());
  const auto offset = [](const Bytes& of, std::size_t position) {
    return of.begin() + static_cast<std::ptrdiff_t>(position);
  };
  const std::size_t length = std::min<std::size_t>(random() % 32, bytes.size() - at);
  switch (random() % 10) {
    case 0:
      bytes.resize(at);
      break;
    case 1:
    case 2:
    case 3:
    case 4:
      if (at < bytes.size()) bytes[at] ^= static_cast<std::uint8_t>(1u << random() % 8);
      break;
    case 5:
    case 6:
      overwrite_number(random, bytes);
      break;
    case 7:
      bytes.erase(offset(bytes, at), offset(bytes, at + length));
      break;
    case 8: {
      const Bytes piece(offset(bytes, at), offset(bytes, at + length));
      bytes.insert(offset(bytes, at), piece.begin(), piece.end());
      break;
    }
    default: {
      const std::size_t from = place(random, other.size());
      const std::size_t count = std::min<std::size_t>(random() % 64, other.size() - from);
      bytes.insert(offset(bytes, at), offset(other, from), offset(other, from + count));
    }
  }
}

}  // namespace

int main(int count, char** words) {
  std::vector<Bytes> seeds, accepted;
  for (const auto& path : files_in(count - 1, words + 1)) {
    const std::size_t before = headwise::fuzz::outcomes().accepted;
    seeds.push_back(content_of(path));
    LLVMFuzzerTestOneInput(seeds.back().data(), seeds.back().size());
    if (headwise::fuzz::outcomes().accepted > before) accepted.push_back(seeds.back());
  }
  headwise::fuzz::require(!accepted.empty(), "there is no file to begin with");
  LLVMFuzzerTestOneInput(nullptr, 0);
  Random random(1);
  for (std::size_t i = 0; i < changed_copies; ++i) {
    // Every other copy is of a file that was accepted: the longest way goes through those.
    Bytes bytes = i % 2 == 0 ? seeds[i / 2 % seeds.size()] : accepted[i / 2 % accepted.size()];
    const Bytes& other = seeds[random() % seeds.size()];
    for (std::size_t changes = 1 + random() % 3; changes > 0; --changes) change(random, bytes, other);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  const headwise::fuzz::Outcomes outcomes = headwise::fuzz::outcomes();
  fmt::print("{} files, {} changed copies: {} accepted, {} refused\n", seeds.size(), changed_copies,
             outcomes.accepted, outcomes.refused);
  headwise::fuzz::require(outcomes.accepted >= 50 && outcomes.refused >= 50, "the copies test one side only");
  return 0;
}
