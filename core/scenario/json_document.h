// Strict JSON parsing for file formats: nothing is repaired, dropped or guessed. Private to core/scenario and core/playlist.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace headwise {

using Json = nlohmann::json;

// Parses RFC 8259 JSON (a UTF-8 byte order mark is skipped). Throws Error(usage) naming line and column for
// malformed text, and for duplicate keys, NaN, Infinity and numbers beyond double (1e400), more than 16
// levels, more than 256 keys in an object and more than 4 million values.
Json parse_json(std::string_view text, const std::string& where);

// Whether a text is JSON, accepted by parse_json or not.
bool is_json(std::string_view text);

// The text of a file, at most 64 MiB. Throws Error(usage) if it is missing, a folder, too large or cannot be
// read; `kind` is what was expected: "scenario".
std::string read_json_text(const std::string& path, const std::string& kind);

// The value as shown in an error message: "8", "\"random\"", "a list of 3", "an object".
std::string describe(const Json& value);

// Reports a wrong type or a value out of range as "got" and "expected": throws Error(usage).
[[noreturn]] void wrong_value(const std::string& where, const std::string& what, const std::string& got,
                              const std::string& expected, const std::string& remedy = {});

}  // namespace headwise
