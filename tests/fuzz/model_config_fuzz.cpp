// Any bytes as the config.json of a model.
#include <array>

#include "core/model/transformer/transformer.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/model_folder.h"

using namespace headwise;
using namespace headwise::fuzz;

namespace {

// Whatever the configuration says, a text goes through and words come out.
void run(const Transformer& encoder) {
  const std::array<TokenId, 3> ids{0, 5, 2};
  const auto length = std::min<Index>(encoder.config().max_positions, 3);
  const Transformer::Pass pass = encoder.run(std::span(ids).first(static_cast<std::size_t>(length)));
  require(pass.last_hidden->shape().sizes() == std::vector<Index>{1, length, 4}, "another shape came out");
  if (encoder.no_words().empty()) encoder.logits(*pass.last_hidden, 0, length);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool written = (write_model_arrays(Parts::one), true);
  require(written, "");
  write_bytes("config.json", data, size);
  try {
    const MemoryLimit limit((std::size_t{16} << 20) + 512 * size);
    const auto files = std::make_shared<const ModelFiles>(model_folder());
    run(*Transformer::open(files, find_attention_layers(*files)));
    ++outcomes().accepted;
  } catch (const Error& error) {
    require_refusal(error, model_folder(), ExitStatus::input);
    ++outcomes().refused;
  }
  return 0;
}
