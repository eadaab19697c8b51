#include "core/export/table.h"

#include <doctest/doctest.h>

#include "core/tensor/error.h"
#include "tests/core/export/sample_heatmaps.h"

using namespace headwise;

namespace {

template <class... Args>
std::string csv(const Args&... args) {
  std::string text;
  write_csv(args..., [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace

TEST_CASE("a table has headings on both sides and its axes in the corner") {
  const TableSpec table{matrix_of(2, 3, {1, -2.5, 0, 1e-20, 3, 4}), "L", "S", {"The", "cat"}, {"a", "b", "c"}};
  CHECK(csv(table) == "L\\S,a,b,c\r\nThe,1,-2.5,0\r\ncat,1e-20,3,4\r\n");
  CHECK(csv(TableSpec{matrix_of(1, 2, {1, 2}), "", "E", {}, {}}) == "E,0,1\r\n0,1,2\r\n");
}

TEST_CASE("many tables follow each other under one line of headings, told apart by a leading column") {
  const TableSpec first{matrix_of(1, 2, {1, 2}), "L", "S", {}, {}},
      second{matrix_of(1, 2, {3, 4}), "L", "S", {}, {}};
  CHECK(csv(std::vector{first, second}, std::string("head"), std::vector<std::string>{"0", "1"}) ==
        "head,L\\S,0,1\r\n0,0,1,2\r\n1,0,3,4\r\n");
}

TEST_CASE("numbers read back to the same bits, in f32 and in f64") {
  const double third = 1.0 / 3.0;
  const auto f64 = std::make_shared<Tensor>(Shape{{"E", 2}}, std::vector<double>{third, -0.0});
  const auto f32 =
      std::make_shared<Tensor>(Shape{{"E", 2}}, std::vector<float>{static_cast<float>(third), 0.1f});
  CHECK(csv(TableSpec{matrix_view(f64), "", "E", {}, {}}) == "E,0,1\r\n0,0.3333333333333333,-0\r\n");
  CHECK(csv(TableSpec{matrix_view(f32), "", "E", {}, {}}) == "E,0,1\r\n0,0.33333334,0.1\r\n");
  const Index large = (Index{1} << 53) + 1;
  const auto i64 = std::make_shared<Tensor>(Shape{{"E", 1}}, std::vector<std::int64_t>{large});
  CHECK(csv(TableSpec{matrix_view(i64), "", "E", {}, {}}) == "E,0\r\n0,9007199254740993\r\n");
}

TEST_CASE("what is not a finite number is written as Python, R and pandas read it") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(csv(TableSpec{matrix_of(1, 3, {std::nan(""), infinity, -infinity}), "L", "S", {}, {}}) ==
        "L\\S,0,1,2\r\n0,nan,inf,-inf\r\n");
}

TEST_CASE("labels are quoted where they must be, and no spreadsheet takes one for a formula") {
  const std::vector<std::string> labels = {"a,b", "say \"x\"", "two\nlines", "=1+1",
                                           "-",   "@x",        " padded",    "\xff"};
  const TableSpec table{matrix_of(8, 1, std::vector<double>(8, 0.0)), "L", "S", labels, {"+"}};
  CHECK(csv(table) ==
        "L\\S,'+\r\n\"a,b\",0\r\n\"say \"\"x\"\"\",0\r\n\"two\nlines\",0\r\n'=1+1,0\r\n'-,0\r\n'@x,0\r\n\" "
        "padded\",0\r\n"
        "\uFFFD,0\r\n");
}

TEST_CASE("tables without rows or columns are only headings, and tables that disagree are refused") {
  CHECK(csv(TableSpec{matrix_of(0, 2, {}), "L", "S", {}, {}}) == "L\\S,0,1\r\n");
  CHECK(csv(TableSpec{matrix_of(2, 0, {}), "L", "S", {}, {}}) == "L\\S\r\n0\r\n1\r\n");
  const TableSpec two{matrix_of(1, 2, {1, 2}), "L", "S", {}, {}}, one{matrix_of(1, 1, {3}), "L", "S", {}, {}};
  CHECK_THROWS_AS(csv(std::vector{two, one}, std::string("head"), std::vector<std::string>{"0", "1"}), Error);
  CHECK_THROWS_AS(csv(std::vector{two}, std::string("head"), std::vector<std::string>{}), Error);
}

TEST_CASE("for a clipboard the fields are parted by tabs, and a label keeps to its field") {
  const std::vector<std::string> labels = {"The", "a,b", "two\tfields\nand lines", "=1", "\"x\""};
  const TableSpec table{
      matrix_of(5, 2, {1, 2, -2.5, 0, 1e-20, 3, std::nan(""), 4, 5, 6}), "L", "S", labels, {"a", "\t=b"}};
  std::string text;
  write_tsv(table, [&](std::string_view piece) { text += piece; });
  CHECK(text ==
        "L\\S\ta\t\" =b\"\nThe\t1\t2\na,b\t-2.5\t0\ntwo fields and lines\t1e-20\t3\n'=1\tnan\t4\n"
        "\"\"\"x\"\"\"\t5\t6\n");
}
