#include "core/scenario/json_document.h"

#include <fmt/format.h>

#include "core/files/json_text.h"
#include "core/files/strict_json.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

// A scenario needs 4 levels and fewer than 20 keys per object; the number of values bounds the memory of the
// tree to some 300 MB whatever a file of 64 MiB contains.
constexpr JsonLimits limits{.levels = 16, .values = 4'000'000, .keys = 256};

}  // namespace

Json parse_json(std::string_view text, const std::string& where) {
  try {
    return parse_strict_json(text, limits);
  } catch (const JsonRefusal& refusal) {
    throw Error(ExitStatus::usage,
                {.where = refusal.place.empty() ? where : where + ": " + refusal.place,
                 .what = refusal.what,
                 .got = refusal.got,
                 .expected = refusal.expected,
                 .remedy = refusal.too_large ? "put large arrays in an .npz next to it" : ""});
  }
}

bool is_json(std::string_view text) {
  try {
    parse_strict_json(text, limits);
    return true;
  } catch (const JsonRefusal& refusal) {
    return refusal.is_json;
  }
}

std::string describe(const Json& value) {
  if (value.is_array()) return fmt::format("a list of {}", value.size());
  if (value.is_object()) return "an object";
  return json_text(value);
}

void wrong_value(const std::string& where, const std::string& what, const std::string& got,
                 const std::string& expected, const std::string& remedy) {
  throw Error(ExitStatus::usage,
              {.where = where, .what = what, .got = got, .expected = expected, .remedy = remedy});
}

}  // namespace headwise
