// Any bytes as the index of a model in parts.
#include "core/model/layers/attention_layers.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/model_folder.h"

using namespace headwise;
using namespace headwise::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool written = (write_model_arrays(Parts::two), true);
  require(written, "");
  write_bytes("model.safetensors.index.json", data, size);
  try {
    const MemoryLimit limit((std::size_t{16} << 20) + 512 * size);
    const ModelFiles files(model_folder());
    for (const auto& [name, info] : files.arrays())
      require(files.read(name)->shape().sizes() == info.sizes, "an array has another shape than its entry");
    for (const AttentionLayer& layer : find_attention_layers(files).layers)
      require(layer.family != nullptr, "a layer without a family");
    ++outcomes().accepted;
  } catch (const Error& error) {
    require_refusal(error, model_folder(), ExitStatus::input);
    ++outcomes().refused;
  }
  return 0;
}
