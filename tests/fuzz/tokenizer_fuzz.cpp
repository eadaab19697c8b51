// Any bytes as a tokenizer.json.
#include <string_view>

#include "core/model/tokenizer/tokenizer_from_json.h"
#include "tests/fuzz/fuzz_target.h"

using namespace headwise;
using namespace headwise::fuzz;

namespace {

constexpr std::string_view where = "tokenizer.json";
constexpr std::string_view text =
    "The heads' 12 weights <|end|> [MASK]\n  na\u00efve e\u0301\u4e2d \xFF aab ";

// Ranges inside the text, ids of the vocabulary, and a way back to text.
void encode(const Tokenizer& tokenizer) {
  std::vector<TokenId> ids;
  for (const EncodedToken& token : tokenizer.encode(text)) {
    require(token.begin <= token.end && token.end <= text.size(), "a token outside of the text");
    if (token.id == no_token) {
      require(token.unknown, "a known word without an id");
      continue;
    }
    require(tokenizer.vocabulary().contains(token.id), "an id that the vocabulary does not have");
    ids.push_back(token.id);
  }
  tokenizer.decode(ids);
  tokenizer.decode(ids, SpecialTokens::add);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    // A gap of a hundred thousand ids, and a few hundred bytes for each comma.
    const MemoryLimit limit((std::size_t{16} << 20) + 512 * size);
    const Tokenizer tokenizer =
        tokenizer_from_json({reinterpret_cast<const char*>(data), size}, std::string(where));
    encode(tokenizer);
    ++outcomes().accepted;
  } catch (const Error& error) {
    require_refusal(error, std::string(where), ExitStatus::input);
    ++outcomes().refused;
  }
  return 0;
}
