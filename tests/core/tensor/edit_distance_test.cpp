#include "core/tensor/edit_distance.h"

#include <doctest/doctest.h>

using namespace headwise;

TEST_CASE("a typing error means the name that is nearest") {
  const std::vector<std::string> names{"source", "text", "query_length", "key_length", "is_causal"};
  CHECK(nearest_name("txt", names) == "text");
  CHECK(nearest_name("sourec", names) == "source");
  CHECK(nearest_name("key_lenght", names) == "key_length");
  CHECK(nearest_name("", names) == "text");
  CHECK(nearest_name("anything", {}).empty());
}

TEST_CASE("another word means the first name that has it as a part") {
  const std::vector<std::string> names{"source", "text", "query_length", "key_length", "is_causal"};
  CHECK(nearest_name("length", names) == "query_length");
  CHECK(nearest_name("causal", names) == "is_causal");
  CHECK(nearest_name("leng", names) == "text");  // no part between underscores
}
