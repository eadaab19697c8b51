#include "core/files/json_value.h"

#include <functional>

#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/refusals.h"

namespace headwise::test {
namespace {

constexpr JsonFormat strict{.limits = {.levels = 8, .values = 100, .keys = 10},
                            .status = ExitStatus::usage,
                            .whole_floats = true,
                            .too_large = "leave some out"};
constexpr JsonFormat of_model{
    .dialect = JsonDialect::python, .problem = "the setting is wrong", .remedy = "download it again"};

// What `read` says of a value.
std::string refusal_of(const std::string& text, const std::function<void(const JsonValue&)>& read,
                       const JsonFormat& format = strict) {
  const Json json = Json::parse(text);
  return refusal_line([&] { read(JsonValue(json, "a.json", format)); }, format.status);
}

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

TEST_CASE("a value that is not as expected is refused with its place") {
  CHECK(refusal_of(R"({"a": {"b": [true, 1]}})", [](const JsonValue& json) {
          json["a"]["b"].each([](const JsonValue& entry) { entry.boolean(); }, true);
        }) == "a.json: a.b[1]: wrong type: got 1; expected true or false");
  CHECK(refusal_of(R"({"a": [[1, 2, 3]]})", [](const JsonValue& json) {
          json["a"].each([](const JsonValue& entry) { entry.text(); });
        }) == "a.json: a: wrong type: got a list of 3; expected a string");
  CHECK(refusal_of("{}", [](const JsonValue& json) { json.needed("a", "a name"); }) ==
        "a.json: the key \"a\" is missing; expected a name");
  CHECK(refusal_of(R"({"colr": 1})", [](const JsonValue& json) {
          json.only({"colour", "size"});
        }) == "a.json: unknown key \"colr\"; did you mean \"colour\"?");
  CHECK(refusal_of(R"({"a": "blu"})", [](const JsonValue& json) {
          json["a"].choice({"red", "blue"});
        }) == "a.json: a: unknown choice: got \"blu\"; expected one of red, blue; did you mean \"blue\"?");
  CHECK(refusal_of("[]", [](const JsonValue& json) { json.object(); }) ==
        "a.json: wrong type: got a list of 0; expected an object");
  CHECK(refusal_of("3", [](const JsonValue& json) { json.each([](const JsonValue&) {}); }) ==
        "a.json: wrong type: got 3; expected a list");
}

TEST_CASE("an integer is read exactly or not at all") {
  const auto integer = [](const std::string& text, const JsonFormat& format = strict) {
    return refusal_of(
        text, [](const JsonValue& json) { json.integer(0); }, format);
  };
  CHECK(integer("9223372036854775807").empty());
  CHECK(integer("9007199254740992.0").empty());
  CHECK(integer("9223372036854775808") ==
        "a.json: out of range: got 9223372036854775808; expected an integer of at least 0 and at most "
        "9223372036854775807");
  CHECK_CONTAINS(integer("9007199254740994.0"), "out of range");
  CHECK(integer("-1") == "a.json: out of range: got -1; expected an integer of at least 0");
  CHECK(integer("1.5") == "a.json: not a whole number: got 1.5; expected an integer of at least 0");
  CHECK(integer("8.0", of_model) ==
        "a.json: the setting is wrong: got 8.0; expected an integer of at least 0; download it again");
  CHECK(refusal_of("9", [](const JsonValue& json) { json.integer(1, 8); }) ==
        "a.json: out of range: got 9; expected an integer from 1 to 8");
  CHECK(refusal_of("18446744073709551615", [](const JsonValue& json) {
          CHECK(json.unsigned_integer() == 18446744073709551615U);
        }).empty());
  CHECK_CONTAINS(refusal_of("18446744073709551616", [](const JsonValue& json) { json.unsigned_integer(); }),
                 "out of range");
}

TEST_CASE("members are read by their type, what is not there stays, and null empties an optional one") {
  const Json parsed = Json::parse(R"({"size": 3, "name": "x", "none": null, "other": {}})");
  const JsonValue json(parsed, "a.json", strict);
  Index size = 0;
  std::string name, same = "as it was";
  std::optional<double> none = 1.0;
  json.read_key("size", size);
  json.read_key("name", name);
  json.read_key("missing", same);
  json.read_key("none", none);
  CHECK(size == 3);
  CHECK(name == "x");
  CHECK(same == "as it was");
  CHECK_FALSE(none);
  CHECK(json.contains("none"));
  CHECK_FALSE(json.has("none"));
  CHECK(json["name"]["deeper"]["still"].json().is_null());
  CHECK(json["none"].entries().empty());
  CHECK(refusal_line([&] { json.read_key("none", name); }, strict.status) ==
        "a.json: none: wrong type: got null; expected a string");
}

TEST_CASE("a setting that is absent or null has its usual value, and Python's numbers are shown as written") {
  const Json parsed =
      Json::parse(R"({"on": true, "null": null, "width": 4, "nan": {"__float__": "NaN"}, "list": [1, 2]})");
  const JsonValue json(parsed, "a.json", of_model);
  CHECK(json.flag("on", false));
  CHECK(json.flag("null", true));
  CHECK(json.text("missing", "usual") == "usual");
  CHECK(json.whole("width", 1, 8) == 4);
  CHECK(json.number("width", 1.0, 8.0) == 4.0);
  CHECK(json.number("null", 1.5, 8.0) == 1.5);
  CHECK(refusal_line([&] { json.number("nan", 1.0, 1e15); }, of_model.status) ==
        "a.json: nan: the setting is wrong: got NaN; expected a number above 0, at most 1e+15; download it "
        "again");
  CHECK(refusal_line([&] { json.whole("list", 1, 8); }, of_model.status) ==
        "a.json: list: the setting is wrong: got [1,2]; expected an integer from 0 to 8; download it again");
}

TEST_CASE("a text with too many values, and a file that holds no object, end with what to do") {
  std::string many = "[0";
  for (int i = 0; i < 200; ++i) many += ",0";
  CHECK_CONTAINS(refusal_line([&] { parse_json(many + "]", "a.json", strict); }, strict.status),
                 "leave some out");
  CHECK(refusal_line([&] { parse_json("{", "a.json", strict); }, strict.status)
            .starts_with("a.json: line 1, column 2"));
  const TemporaryFolder folder;
  constexpr JsonFormat model{.limits = strict.limits, .remedy = "download it again"};
  const std::string path = folder.with_file("b.json", "[1]");
  CHECK(refusal_line([&] { read_json_object(path, model); }, model.status) ==
        path + ": this is not a JSON object: got array; expected an object; download it again");
  CHECK(read_json_object(folder.with_file("c.json", "{}"), model).empty());
}

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

}  // namespace headwise::test
