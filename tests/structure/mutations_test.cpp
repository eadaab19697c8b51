// The mistakes of tests/mutation are mistakes in the code as it is:
// each text that one replaces stands in its file once.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int count_of(const std::string& part, const std::string& text) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

}  // namespace

TEST_CASE("every mistake that the tests are tried with matches the code exactly once") {
  const std::string root = HEADWISE_SOURCE_DIR "/";
  const nlohmann::json mistakes = nlohmann::json::parse(content_of(root + "tests/mutation/mutations.json"));
  CHECK(mistakes.size() > 90);
  std::set<std::string> names;
  for (const nlohmann::json& mistake : mistakes) {
    const auto text = [&](const char* key) { return mistake.at(key).get<std::string>(); };
    CAPTURE(text("what"));
    CHECK(names.insert(text("what")).second);
    CHECK(text("before") != text("after"));
    CHECK_MESSAGE(count_of(text("before"), content_of(root + text("file"))) == 1, text("file"),
                  " has to have this once: ", text("before"));
  }
}
