// Strict JSON parsing for file formats: nothing is repaired, dropped or guessed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace headwise {

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

}  // namespace headwise
