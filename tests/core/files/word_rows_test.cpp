// Tables and lists of words: what is read, and what is refused.
#include "core/files/word_rows.h"

#include <string>

#include "core/tensor/error.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

std::string table_refusal(std::string_view text) {
  return test::refusal_line([&] { word_rows(text, "words.txt"); });
}

}  // namespace

TEST_CASE("a table has a row for each line that is neither empty nor a comment") {
  const auto rows =
      word_rows("# KEY = VALUE\n\na = b c\nQuery, key: 1 == 2 = x = y # z\nnothing =\nend = e", "");
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].key == "a");
  CHECK(rows[0].value == "b c");
  CHECK(rows[1].key == "Query, key: 1 == 2");
  CHECK(rows[1].value == "x = y # z");
  CHECK(rows[2].key == "nothing");
  CHECK(rows[2].value.empty());
  CHECK(rows[3].value == "e");
  CHECK(word_rows({}, "").empty());
  const auto long_rows = word_rows("a = b\n  c\n d\n# no\n  row\ne =\n  f", "");
  REQUIRE(long_rows.size() == 2);
  CHECK(words_in(long_rows[0].value) == std::vector<std::string_view>{"b", "c", "d"});
  CHECK(long_rows[1].key == "e");
  CHECK(words_in(long_rows[1].value) == std::vector<std::string_view>{"f"});
}

TEST_CASE("a line that is no row is refused with its number, and so is a key that stands there twice") {
  CHECK(table_refusal("a = b\n\nno row\n").find("words.txt: line 3: this is no row of the table: got no row") ==
        0);
  CHECK_CONTAINS(table_refusal(" = b\n"), "line 1");
  CHECK_CONTAINS(table_refusal("a = b\nb = c\na = d\n"), "line 3: an earlier row has this key");
  CHECK(table_refusal("a = b\n c\nno row\n").find("words.txt: line 3") == 0);
  CHECK(table_refusal("a = b\nab = c\n").empty());
}

TEST_CASE("a list has the words of all lines but the comments, and a text has parts") {
  const auto words = word_list("# not these\na  b\n\n c\nd");
  CHECK(words == std::vector<std::string_view>{"a", "b", "c", "d"});
  CHECK(words_in("").empty());
  CHECK(parts_in("a b |  c\n d | | e") == std::vector<std::string_view>{"a b", "c\n d", "", "e"});
  CHECK(parts_in(" ") == std::vector<std::string_view>{""});
  CHECK(words_in("  \n ").empty());
}
