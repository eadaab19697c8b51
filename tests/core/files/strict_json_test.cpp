#include "core/files/json_value.h"

#include "tests/checks.h"

using namespace headwise;

namespace {

constexpr JsonLimits limits{.levels = 8, .values = 100, .keys = 100};

std::string python(const std::string& text) {
  return parse_strict_json(text, limits, JsonDialect::python).dump();
}

// Where it is refused, and how; empty: it is not.
std::string refused(const std::string& text, JsonDialect dialect) {
  try {
    parse_strict_json(text, limits, dialect);
  } catch (const JsonRefusal& refusal) {
    return refusal.place + ": " + refusal.what;
  }
  return "";
}

}  // namespace

TEST_CASE("bare Infinity and NaN are read as transformers writes them, where the dialect is Python's") {
  CHECK(python(R"([0.0, Infinity])") == R"([0.0,{"__float__":"Infinity"}])");
  CHECK(python(R"({"a":-Infinity,"b":NaN})") == R"({"a":{"__float__":"-Infinity"},"b":{"__float__":"NaN"}})");
  CHECK(python("Infinity") == R"({"__float__":"Infinity"})");
  CHECK_LACKS(python("[NaN,NaN\t,NaN]"), "null");
  for (const char* text : {"[Infinity]", "[-Infinity]", "[NaN]"})
    CHECK(refused(text, JsonDialect::rfc8259).ends_with(": this is not JSON"));
}

TEST_CASE("in a text, and as part of a word, Infinity and NaN are left alone") {
  for (const char* text : {R"(["NaN"])", R"({"Infinity":"-Infinity"})", R"(["\"NaN, Infinity"])",
                           R"(["\\","NaN\\"])", R"({"a":"NaN","b":1})"})
    CHECK(python(text) == text);
  for (const char* text :
       {"[NaNs]", "[aNaN]", "[--Infinity]", "[-NaN]", "[+Infinity]", "[1Infinity]", "[1-Infinity]",
        "[infinity]", "[nan]", "{NaN:1}", "[NaN NaN]", "[-Infinity-]", "[\"a\"NaN]"}) {
    CAPTURE(text);
    CHECK_CONTAINS(refused(text, JsonDialect::python), "this is not JSON");
  }
}

TEST_CASE("behind a bare number, an error still names the place in the file") {
  CHECK(refused("{\"a\": NaN, \"b\": Infinity, \"c\": x}", JsonDialect::python) ==
        "line 1, column 32: this is not JSON");
  CHECK(refused("[NaN,\nNaN, x]", JsonDialect::python) == "line 2, column 6: this is not JSON");
}

TEST_CASE("a number beyond double is refused as it is written, with its place") {
  const auto number = [](const std::string& text) {
    try {
      parse_strict_json(text, limits, JsonDialect::python);
    } catch (const JsonRefusal& refusal) {
      CHECK(refusal.what == "a number is out of range");
      CHECK(refusal.is_json);
      return refusal.place + ": " + refusal.got;
    }
    return std::string();
  };
  CHECK(number("1e999") == "line 1, column 1: 1e999");
  CHECK(number("{\"a\": \"1e999 \\\" 1e999\",\n \"b\": -1e999}") == "line 2, column 7: -1e999");
  CHECK(number("[NaN, 1.5E+400]") == "line 1, column 7: 1.5E+400");
  CHECK(number("[1e-999, 1e308, 123456789012345678901234567890]").empty());
}

TEST_CASE("a message shows Infinity and NaN as their file has them, wherever they stand in a value") {
  const auto shown = [](const std::string& text) {
    return json_as_written(parse_strict_json(text, limits, JsonDialect::python));
  };
  for (const char* text : {"Infinity", "-Infinity", "NaN", "[1,NaN,-Infinity]", R"({"a":Infinity,"b":[NaN]})",
                           "1.5", R"("NaN")", R"(["{\"__float__\":\"NaN\"}"])"})
    CHECK(shown(text) == text);
  CHECK(json_as_written(nlohmann::json(std::string(200, 'a')), 10).size() < 20);
  const auto kind = [](const std::string& text) {
    return json_kind(parse_strict_json(text, limits, JsonDialect::python));
  };
  CHECK(kind("-Infinity") == "-Infinity");
  CHECK(kind("{}") == "object");
  CHECK(kind(R"({"__float__":"one"})") == "object");
}
