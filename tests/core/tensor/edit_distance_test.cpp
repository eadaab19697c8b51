#include "core/tensor/edit_distance.h"

#include <doctest/doctest.h>

using namespace headwise;

TEST_CASE("a typing error means the name that is nearest") {
  const std::vector<std::string> names{"source", "text", "query_length", "key_length", "is_causal"};
  CHECK(nearest_name("txt", names) == "text");
  CHECK(nearest_name("sourec", names) == "source");
  CHECK(nearest_name("key_lenght", names) == "key_length");
  CHECK(nearest_name("Texts", names) == "text");
  CHECK(nearest_name("rnu", {"run", "info"}) == "run");
  CHECK(nearest_name("", names).empty());
  CHECK(nearest_name("anything", {}).empty());
}

TEST_CASE("another word means the first name that has it as a part") {
  const std::vector<std::string> names{"source", "text", "query_length", "key_length", "is_causal"};
  CHECK(nearest_name("length", names) == "query_length");
  CHECK(nearest_name("causal", names) == "is_causal");
  CHECK(nearest_name("leng", names).empty());  // no part between underscores
}

TEST_CASE("a word that no name is like suggests none") {
  CHECK(nearest_name("nosuch", {"welcome", "copycat", "random"}).empty());
  CHECK(nearest_name("x", {"q", "k", "v"}).empty());
  CHECK(did_you_mean("nosuch", {"copycat"}).empty());
  CHECK(did_you_mean("copycta", {"copycat"}) == "did you mean \"copycat\"?");
}
