// Any bytes as a .safetensors file.
#include "tests/fuzz/array_file_check.h"
#include "tests/fuzz/fuzz_target.h"

using namespace headwise;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The header as a tree of JSON values: a few hundred bytes for each comma.
  fuzz::check_array_file({data, size}, 256, [](const std::string& path, const std::vector<NamedTensor>& arrays) {
    write_safetensors(path, arrays);
  });
  return 0;
}
