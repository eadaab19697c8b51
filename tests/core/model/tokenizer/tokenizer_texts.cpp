#include "tests/core/model/tokenizer/tokenizer_texts.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace headwise {
namespace {

using Json = nlohmann::json;

Json unzipped(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  REQUIRE_MESSAGE(file != nullptr, path);
  std::string text;
  std::array<char, 65536> buffer{};
  int count = 0;
  do {
    count = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()));
    text.append(buffer.data(), static_cast<std::size_t>(std::max(count, 0)));
  } while (count > 0);
  gzclose(file);
  REQUIRE(count == 0);
  return Json::parse(text);
}

}  // namespace

std::string golden_tokenizer_path(std::string_view name) {
  return HEADWISE_SOURCE_DIR "/tests/golden/tokenizers/" + std::string(name);
}

std::vector<TokenizerCase> tokenizer_cases(std::string_view name) {
  static const Json texts = unzipped(golden_tokenizer_path("texts.json.gz"));
  const Json results = unzipped(golden_tokenizer_path(name) + "/golden.json.gz");
  REQUIRE(results.size() == texts.size());
  std::vector<TokenizerCase> cases;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    TokenizerCase made{.text = texts[i], .ids = results[i]["ids"], .ranges = {}, .decoded = {}};
    if (results[i].contains("ranges")) made.ranges = results[i]["ranges"];
    made.decoded = results[i].value("decoded", made.text);
    cases.push_back(std::move(made));
  }
  return cases;
}

std::vector<TokenId> ids_of(const std::vector<EncodedToken>& tokens) {
  std::vector<TokenId> ids;
  for (const EncodedToken& token : tokens) ids.push_back(token.id);
  return ids;
}

}  // namespace headwise
