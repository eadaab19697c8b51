// How a JSON file is read: by values that know their place in it, and refuse what is not as expected.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/tensor/error.h"
#include "core/tensor/shape.h"

namespace headwise {

// Strict JSON parsing for file formats: nothing is repaired, dropped or guessed.

// Bounds on the memory and the stack that a file can use; each at least what the format needs.
struct JsonLimits {
  std::size_t levels;
  std::size_t values;
  std::size_t keys;  // in one object
};

// Why a text is rejected, in terms for the caller's error message.
struct JsonRefusal {
  std::string place;  // "line 2, column 7"; empty if it is the whole text
  std::string what, got, expected;
  bool too_large = false;  // it has too many values
  bool is_json = true;     // though not one that is accepted
};

// What a file may have beyond RFC 8259. Python's json writes bare Infinity, -Infinity and NaN, which models'
// files may have: each is read as the object {"__float__": "Infinity"} by which newer versions of
// transformers write it, so that it is no number by mistake.
enum class JsonDialect { rfc8259, python };
inline constexpr std::string_view python_number_key = "__float__";

// The text with those numbers replaced; itself if there are none.
std::string python_json_text(std::string_view text);

// RFC 8259 JSON (a UTF-8 byte order mark is skipped). Throws JsonRefusal for malformed text, a zero byte, a
// duplicate key in one object, NaN, Infinity (unless the dialect has them), numbers beyond double (1e400),
// and anything beyond the limits.
nlohmann::json parse_strict_json(std::string_view text, const JsonLimits& limits,
                                 JsonDialect dialect = JsonDialect::rfc8259);

// A value as its file has it, on one line of at most `most_bytes`: those numbers without the object they are
// read as.
std::string json_as_written(const nlohmann::json& value, std::size_t most_bytes = 80);
// "object", "string" …; for those numbers, the number.
std::string json_kind(const nlohmann::json& value);

// The parts of the refusal of a number beyond double, in a text in which nlohmann's parser has found one.
JsonRefusal number_out_of_range(std::string_view text, const nlohmann::json::exception& error);

// Whether a text is UTF-16, which Windows programs write: by its byte order mark, or by its zero bytes.
bool looks_like_utf16(std::string_view text);

using Json = nlohmann::json;

// What holds for every file of a format.
struct JsonFormat {
  JsonLimits limits{};
  ExitStatus status = ExitStatus::input;
  JsonDialect dialect = JsonDialect::rfc8259;
  bool whole_floats = false;        // 8.0 is read as 8, up to 2^53
  const char* problem = nullptr;    // what is wrong with a value; null: its type, its range …
  const char* remedy = "";          // ends every message
  const char* too_large = nullptr;  // ends that of a text with too many values, instead
};

// Throws Error, naming line and column, for what parse_strict_json refuses.
Json parse_json(std::string_view text, const std::string& where, const JsonFormat& format);
// The object in a file of at most 64 MiB. Throws Error(input) that names the file: it is missing,
// too large, damaged or no object.
Json read_json_object(const std::string& path, const JsonFormat& format);

// A value as messages show it: "8", "a list of 3", "an object".
std::string describe(const Json& value);

// A value of a file, or null where the file has none. Refers to its tree and its format. Whatever reads it
// throws Error: place, what is wrong, the value, what was expected.
class JsonValue {
 public:
  // `place` begins messages: "scenario.json".
  JsonValue(const Json& json, std::string place, const JsonFormat& format)
      : json_(&json), place_(std::move(place)), format_(&format) {}

  const Json& json() const { return *json_; }
  const std::string& place() const { return place_; }  // "scenario.json: edits[0].index"

  // The value of a key: null if it is absent, or empty, or this is no object.
  const Json& at(std::string_view key) const;
  JsonValue operator[](std::string_view key) const { return {at(key), place_of(key), *format_, true}; }
  bool contains(std::string_view key) const { return json_->is_object() && json_->contains(key); }
  bool has(std::string_view key) const { return !at(key).is_null(); }
  // Throws if the key is missing; `expected`: what has to be there.
  JsonValue needed(std::string_view key, const std::string& expected = "") const;

  // Calls f(entry) for each entry of a list, which null has none of; if they are numbered,
  // their places are too: "edits[0]".
  template <class F>
  void each(F f, bool numbered = false) const {
    JsonValue entry(*json_, place_, *format_, true);
    std::size_t number = 0;
    if (!json_->is_null()) list("a list");
    for (const Json& one : *json_) {
      if (numbered) entry.place_ = place_ + "[" + std::to_string(number++) + "]";
      entry.json_ = &one;
      f(static_cast<const JsonValue&>(entry));
    }
  }

  std::vector<JsonValue> entries() const;  // numbered

  const JsonValue& object(const std::string& expected = "an object") const;
  const JsonValue& list(const std::string& expected) const;
  // Refuses other keys than these, with the nearest of them.
  const JsonValue& only(const std::vector<std::string>& keys, const std::string& expected = "") const;

  bool boolean() const;
  std::string text(const std::string& expected = "a string") const;
  std::int64_t integer(std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                       std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
  std::uint64_t unsigned_integer() const;  // all 64 bits
  // A range has contains(number) and text().
  template <class Range>
  double number(const Range& range) const {
    if (!json_->is_number()) refuse("wrong type", range.text());
    const double number = json_->get<double>();
    if (!range.contains(number)) refuse("out of range", range.text());
    return number;
  }
  double number() const;
  // The index of the word.
  std::size_t choice(const std::vector<std::string>& words) const;

  // Reads the value into a member, by its type; null empties an optional one.
  void read(bool& member) const { member = boolean(); }
  void read(std::string& member) const { member = text(); }
  void read(std::uint64_t& member) const { member = unsigned_integer(); }
  void read(std::int64_t& member) const { member = integer(); }
  void read(double& member) const { member = number(); }
  template <class Range>
  void read(std::int64_t& member, const Range& range) const {
    member = integer(range.least);
  }
  template <class Range>
  void read(double& member, const Range& range) const {
    member = number(range);
  }
  template <class Enum, class Words>
  requires std::is_enum_v<Enum>
  void read(Enum& member, const Words& words) const {
    member = static_cast<Enum>(choice({words.begin(), words.end()}));
  }
  template <class T, class... Rest>
  void read(std::optional<T>& member, const Rest&... rest) const {
    if (json_->is_null()) return member.reset();
    read(member.emplace(), rest...);
  }
  // Of a key; what is not there stays as it is.
  template <class T, class... Rest>
  void read_key(std::string_view key, T& member, const Rest&... rest) const {
    if (contains(key)) (*this)[key].read(member, rest...);
  }

  // Of a key that may be absent or null.
  bool flag(std::string_view key, bool otherwise) const;
  std::string text(std::string_view key, const std::string& otherwise) const;
  double number(std::string_view key, double otherwise, double most) const;  // above 0
  Index whole(std::string_view key, Index otherwise, Index most) const;      // from 0

  // Throws: what is wrong with the value, which is shown; or with what is computed from it.
  [[noreturn]] void refuse(const std::string& what, const std::string& expected = "",
                           const std::string& remedy = "") const;
  [[noreturn]] void refuse_got(const std::string& what, const std::string& got,
                               const std::string& expected = "", const std::string& remedy = "") const;

 private:
  JsonValue(const Json& json, std::string place, const JsonFormat& format, bool is_inside)
      : json_(&json), place_(std::move(place)), format_(&format), is_inside_(is_inside) {}
  std::string place_of(std::string_view key) const;

  const Json* json_;
  std::string place_;
  const JsonFormat* format_;
  bool is_inside_ = false;  // the place ends with a key, not with the file
};

}  // namespace headwise
