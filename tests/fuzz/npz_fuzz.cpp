// Any bytes as a .npz file.
#include "tests/fuzz/array_file_check.h"
#include "tests/fuzz/fuzz_target.h"

using namespace headwise;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Deflate makes at most 1032 bytes of one, and a byte of i1 becomes eight of i64.
  fuzz::check_array_file(
      {data, size}, 8 * 1032 + 256,
      [](const std::string& path, const std::vector<NamedTensor>& arrays) { write_npz(path, arrays); });
  return 0;
}
