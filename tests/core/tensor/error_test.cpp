#include "core/tensor/error.h"

#include <doctest/doctest.h>

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
