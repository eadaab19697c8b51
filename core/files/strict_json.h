// JSON as strictly as a file format wants it: nothing is repaired, dropped or guessed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace headwise {

// What bounds the memory and the stack that a file can take; each of them at least what the format needs.
struct JsonLimits {
  std::size_t levels;
  std::size_t values;
  std::size_t keys;  // in one object
};

// Why a text is refused, as its reader tells it.
struct JsonRefusal {
  std::string place;  // "line 2, column 7"; empty where it is the whole
  std::string what, got, expected;
  bool too_large = false;  // it has too many values
};

// RFC 8259 JSON (a UTF-8 byte order mark is skipped). Throws JsonRefusal for malformed text, a zero byte, a key that stands twice in
// one object, NaN, Infinity, numbers beyond double (1e400), and what is beyond the limits.
nlohmann::json parse_strict_json(std::string_view text, const JsonLimits& limits);

}  // namespace headwise
