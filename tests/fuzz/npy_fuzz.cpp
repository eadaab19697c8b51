// Any bytes as a .npy file.
#include "tests/fuzz/array_file_check.h"
#include "tests/fuzz/fuzz_target.h"

using namespace headwise;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A byte of i1 becomes eight of i64.
  fuzz::check_array_file({data, size}, 16, [](const std::string& path, const std::vector<NamedTensor>& arrays) {
    if (arrays.size() == 1) {
      write_npy(path, *arrays.front().tensor);
    } else {
      write_npz(path, arrays);
    }
  });
  return 0;
}
