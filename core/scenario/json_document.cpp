#include "core/scenario/json_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/tensor/error.h"

namespace headwise {
namespace {

// A scenario needs 4 levels and fewer than 20 keys an object; the number of values bounds the memory of the
// tree to some 300 MB whatever a file of 64 MiB holds.
constexpr std::size_t most_levels = 16;
constexpr std::size_t most_keys = 256;
constexpr std::size_t most_values = 4'000'000;

std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte == 0 ? 0 : std::min(byte - 1, text.size()));
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t newline = before.rfind('\n');
  const std::string_view last = newline == std::string_view::npos ? before : before.substr(newline + 1);
  // Columns count characters, as editors do: continuation bytes of UTF-8 do not count.
  const auto column = 1 + std::ranges::count_if(last, [](char c) { return (c & 0xC0) != 0x80; });
  return fmt::format("line {}, column {}", line, column);
}

// nlohmann's message without its own prefix "[json.exception…] parse error at line 1, column 2: ".
std::string plain_message(const std::string& message) {
  const std::size_t bracket = message.find("] ");
  std::string rest = bracket == std::string::npos ? message : message.substr(bracket + 2);
  if (rest.starts_with("parse error")) {
    const std::size_t colon = rest.find(": ");
    if (colon != std::string::npos) rest = rest.substr(colon + 2);
  }
  return rest;
}

// What the parser's callback watches: the keys of the objects that are open, and how much has been read.
class Guard {
 public:
  explicit Guard(std::string where) : where_(std::move(where)) {}

  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    if (++values_ > most_values)
      refuse("too large", "more than 4000000 values", "put large arrays into an .npz beside it");
    if (static_cast<std::size_t>(depth) > most_levels) refuse("nested too deeply", "more than 16 levels", "");
    switch (event) {
      case Json::parse_event_t::object_start:
        open_.emplace_back();
        break;
      case Json::parse_event_t::object_end:
        open_.pop_back();
        break;
      case Json::parse_event_t::key:
        add_key(parsed.get_ref<const std::string&>());
        break;
      default:
        break;
    }
    return true;
  }

 private:
  void add_key(const std::string& key) {
    if (!open_.back().insert(key).second) {
      throw Error(ExitStatus::usage, {.where = where_,
                                      .what = fmt::format("the key \"{}\" stands twice in one object", key),
                                      .expected = "each key once"});
    }
    if (open_.back().size() > most_keys) refuse("too many keys", "more than 256 keys in one object", "");
  }

  [[noreturn]] void refuse(const std::string& what, const std::string& got, const std::string& remedy) {
    throw Error(ExitStatus::usage, {.where = where_, .what = what, .got = got, .remedy = remedy});
  }

  std::string where_;
  std::vector<std::set<std::string>> open_;
  std::size_t values_ = 0;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& where) {
  // The parser takes a zero byte for the end and would not look behind it.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    throw Error(ExitStatus::usage, {.where = where + ": " + line_and_column(text, zero + 1),
                                    .what = "this is not JSON",
                                    .got = "a zero byte",
                                    .expected = "JSON (RFC 8259)"});
  }
  try {
    Guard guard(where);
    // The callback is copied by the parser: hand it a reference, so that there is one state.
    return Json::parse(
        text.begin(), text.end(),
        [&guard](int depth, Json::parse_event_t event, Json& parsed) { return guard(depth, event, parsed); });
  } catch (const Json::parse_error& error) {
    throw Error(ExitStatus::usage, {.where = where + ": " + line_and_column(text, error.byte),
                                    .what = "this is not JSON",
                                    .got = plain_message(error.what()),
                                    .expected = "JSON (RFC 8259)"});
  } catch (const Json::out_of_range& error) {
    throw Error(ExitStatus::usage, {.where = where,
                                    .what = "a number is out of range",
                                    .got = plain_message(error.what()),
                                    .expected = "numbers of at most ±1.8e308"});
  }
}

std::string describe(const Json& value) {
  if (value.is_array()) return fmt::format("a list of {}", value.size());
  if (value.is_object()) return "an object";
  return value.dump();
}

void wrong_value(const std::string& where, const std::string& what, const std::string& got,
                 const std::string& expected, const std::string& remedy) {
  throw Error(ExitStatus::usage,
              {.where = where, .what = what, .got = got, .expected = expected, .remedy = remedy});
}

}  // namespace headwise
