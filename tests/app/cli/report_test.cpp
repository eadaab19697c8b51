#include "app/cli/report.h"

#include <doctest/doctest.h>

using namespace headwise;

namespace {

// With a value only for programs, words only for people,
// a table whose rows are objects and a list with a sum.
Report sample_report() {
  Report report, inner;
  report.add_line("{}: {}\n", {text_cell("file", "a\nb"), {"format", "npz"}, bytes_cell("bytes", 2048)});
  inner.add_rows({{"", "mean"},
                  Row({"scores", number_cell("mean", 0.125, "{:.2f}"), {"cells", 8}}, "of/scores"),
                  Row({"q·k", number_cell("mean", std::nullopt, "{:.2f}")}, "of/output"),
                  {{"free", 7}}});
  report.add_section("numbers", inner);
  report.add_list("tensors",
                  {{"tensor", "shape"},
                   {text_cell("name", "q"), shape_cell("shape", {2, 3}), count_cell("size", 6000)},
                   {text_cell("name", "out"), shape_cell("shape", {4}), count_cell("size", 4)}},
                  {"all", "", count_cell("total", 6004)});
  report.add_list("steps", "  step {}\n", {{integer_cell("step", 10000), {"loss", nullptr}}});
  report.add_lines("notes", {"one", "two"});
  return report;
}

}  // namespace

TEST_CASE("a report is printed for people: cells without words are left out, numbers stand on the right") {
  CHECK(sample_report().printed(false) ==
        "a\\nb: 2.0 KiB\n"
        "          mean\n"
        "  scores  0.12\n"
        "  q·k     -\n"
        "  tensor  shape\n"
        "  q       (2,3)  6,000\n"
        "  out     (4)        4\n"
        "  all            6,004\n"
        "  step 10000\n"
        "  one\n"
        "  two\n");
}

TEST_CASE("a report is printed for programs: in the order of its cells, without those that have no key") {
  Report report = sample_report();
  CHECK(report.json.dump() ==
        R"({"file":"a\nb","format":"npz","bytes":2048,)"
        R"("numbers":{"of":{"scores":{"mean":0.125,"cells":8},"output":{"mean":null}},"free":7},)"
        R"("tensors":[{"name":"q","shape":[2,3],"size":6000},{"name":"out","shape":[4],"size":4}],"total":6004,)"
        R"("steps":[{"step":10000,"loss":null}],"notes":["one","two"]})");
  report.json = {{"name", "\xff"}};  // as in an archive
  CHECK(report.printed(true) == "{\n  \"name\": \"\xEF\xBF\xBD\"\n}\n");
}

TEST_CASE("lines of other people's words are cut, sentences are not") {
  const std::string words(400, 'a');
  Report report;
  report.add_lines("notes", {words});
  CHECK(report.text == "  " + words.substr(0, 300) + "…\n");
  CHECK(report.json.at("notes").at(0) == words);
  report.add_sentences({words});
  CHECK(report.text.ends_with("  " + words + "\n"));
}
