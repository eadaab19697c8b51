#include "core/tensor/error.h"

#include <doctest/doctest.h>

#include "core/tensor/edit_distance.h"

using namespace headwise;

TEST_CASE("an error line holds where, what, got, expected and remedy, and leaves out what is empty") {
  const Error full(ExitStatus::input, {"a.npy", "the header is wrong", "12", "13", "save it again"});
  CHECK(std::string(full.what()) == "a.npy: the header is wrong: got 12; expected 13; save it again");
  CHECK(full.status() == ExitStatus::input);
  const Error sparse(ExitStatus::usage, {"", "nothing to do", "", "a command", ""});
  CHECK(std::string(sparse.what()) == "nothing to do; expected a command");
}

TEST_CASE("one_line escapes control characters and bytes that are not UTF-8") {
  CHECK(one_line("a\nb\tc\x1b[31m") == "a\\nb\\tc\\x1b[31m");
  CHECK(one_line("\xff\xc3\xa9\xc3") == "\\xff\xc3\xa9\\xc3");
  CHECK(one_line("\xc2\x9b") == "\\xc2\\x9b");           // a C1 control introducer
  CHECK(one_line("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // a surrogate
}

TEST_CASE("one_line cuts on a character boundary") {
  CHECK(one_line("ééé", 5) == "éé…");
  CHECK(one_line("abc", 3) == "abc");
}

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
