#include "core/files/json_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/files/input_file.h"
#include "core/files/json_text.h"
#include "core/tensor/edit_distance.h"
#include "core/tensor/join.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

constexpr double largest_exact_integer = 9007199254740992.0;  // 2^53: above this, 8.0 need not mean 8
constexpr std::int64_t least_integer = std::numeric_limits<std::int64_t>::min(),
                       most_integer = std::numeric_limits<std::int64_t>::max();
constexpr Index most_file_bytes = Index{64} << 20;

std::string integer_range(std::int64_t least, std::int64_t most) {
  if (most != most_integer) return fmt::format("an integer from {} to {}", least, most);
  return least == least_integer ? "an integer" : fmt::format("an integer of at least {}", least);
}

}  // namespace

Json parse_json(std::string_view text, const std::string& where, const JsonFormat& format) {
  try {
    return parse_strict_json(text, format.limits, format.dialect);
  } catch (const JsonRefusal& refusal) {
    throw Error(format.status,
                {.where = refusal.place.empty() ? where : where + ": " + refusal.place,
                 .what = refusal.what,
                 .got = refusal.got,
                 .expected = refusal.expected,
                 .remedy = refusal.too_large && format.too_large ? format.too_large : format.remedy});
  }
}

std::string describe(const Json& value) {
  if (value.is_array()) return fmt::format("a list of {}", value.size());
  return value.is_object() ? "an object" : json_text(value, {.replaces_bytes = true});
}

const Json& JsonValue::at(std::string_view key) const {
  static const Json none;
  if (key.empty() || !json_->is_object()) return none;
  const auto found = json_->find(key);
  return found == json_->end() ? none : *found;
}

JsonValue JsonValue::needed(std::string_view key, const std::string& expected) const {
  if (!contains(key)) refuse_got(fmt::format("the key \"{}\" is missing", key), "", expected);
  return (*this)[key];
}

std::string JsonValue::place_of(std::string_view key) const {
  std::string place = place_;
  place += is_inside_ ? "." : ": ";
  return place += key;
}

std::vector<JsonValue> JsonValue::entries() const {
  std::vector<JsonValue> all;
  each([&](const JsonValue& entry) { all.push_back(entry); }, true);
  return all;
}

const JsonValue& JsonValue::object(const std::string& expected) const {
  if (!json_->is_object()) refuse("wrong type", expected);
  return *this;
}

const JsonValue& JsonValue::list(const std::string& expected) const {
  if (!json_->is_array()) refuse("wrong type", expected);
  return *this;
}

const JsonValue& JsonValue::only(const std::vector<std::string>& keys, const std::string& expected) const {
  for (const auto& [key, unused] : json_->items())
    if (std::ranges::find(keys, key) == keys.end())
      refuse_got(fmt::format("unknown key \"{}\"", key), "", expected, did_you_mean(key, keys));
  return *this;
}

bool JsonValue::boolean() const {
  if (!json_->is_boolean()) refuse("wrong type", "true or false");
  return json_->get<bool>();
}

std::string JsonValue::text(const std::string& expected) const {
  if (!json_->is_string()) refuse("wrong type", expected);
  return json_->get<std::string>();
}

std::int64_t JsonValue::integer(std::int64_t least, std::int64_t most) const {
  const auto check = [&](bool passes, const char* what, bool is_too_large = false) {
    if (passes) return;
    std::string expected = integer_range(least, most);
    if (is_too_large && most == most_integer)
      expected += fmt::format(" {} at most {}", least == least_integer ? "of" : "and", most);
    refuse(what, expected);
  };
  check(json_->is_number() && (format_->whole_floats || json_->is_number_integer()), "wrong type");
  if (json_->is_number_float()) {
    const double number = json_->get<double>();
    check(number == std::floor(number), "not a whole number");
    check(std::abs(number) <= largest_exact_integer, "out of range", true);
  } else if (json_->is_number_unsigned()) {
    check(json_->get<std::uint64_t>() <= static_cast<std::uint64_t>(most_integer), "out of range", true);
  }
  const auto integer = json_->get<std::int64_t>();
  check(integer >= least && integer <= most, "out of range");
  return integer;
}

std::uint64_t JsonValue::unsigned_integer() const {
  if (json_->is_number_unsigned()) return json_->get<std::uint64_t>();
  const char* const expected = "an integer from 0 to 18446744073709551615";
  if (!json_->is_number() || !(format_->whole_floats || json_->is_number_integer()))
    refuse("wrong type", expected);
  const double number = json_->get<double>();
  if (number != std::floor(number)) refuse("not a whole number", expected);
  if (number < 0 || number > largest_exact_integer) refuse("out of range", expected);
  return static_cast<std::uint64_t>(number);
}

double JsonValue::number() const {
  if (!json_->is_number()) refuse("wrong type", "a number");
  return json_->get<double>();
}

std::size_t JsonValue::choice(const std::vector<std::string>& words) const {
  const std::string expected = fmt::format("one of {}", join(words, ", "));
  if (!json_->is_string()) refuse("wrong type", expected);
  const std::string& got = json_->get_ref<const std::string&>();
  const auto found = std::ranges::find(words, got);
  if (found == words.end()) refuse("unknown choice", expected, did_you_mean(got, words));
  return static_cast<std::size_t>(found - words.begin());
}

bool JsonValue::flag(std::string_view key, bool otherwise) const {
  return has(key) ? (*this)[key].boolean() : otherwise;
}

std::string JsonValue::text(std::string_view key, const std::string& otherwise) const {
  return has(key) ? (*this)[key].text() : otherwise;
}

double JsonValue::number(std::string_view key, double otherwise, double most) const {
  if (!has(key)) return otherwise;
  struct AboveZero {
    double most;
    bool contains(double number) const { return number > 0.0 && number <= most; }
    std::string text() const { return fmt::format("a number above 0, at most {:g}", most); }
  };
  return (*this)[key].number(AboveZero{most});
}

Index JsonValue::whole(std::string_view key, Index otherwise, Index most) const {
  return has(key) ? (*this)[key].integer(0, most) : otherwise;
}

void JsonValue::refuse(const std::string& what, const std::string& expected, const std::string& remedy) const {
  const bool as_written = format_->dialect == JsonDialect::python;
  refuse_got(format_->problem ? format_->problem : what,
             as_written ? json_as_written(*json_) : describe(*json_), expected, remedy);
}

void JsonValue::refuse_got(const std::string& what, const std::string& got, const std::string& expected,
                           const std::string& remedy) const {
  throw Error(format_->status, {place_, what, got, expected, remedy.empty() ? format_->remedy : remedy});
}

Json read_json_object(const std::string& path, const JsonFormat& format) {
  const InputFile file(path);
  Json json;
  const auto size = static_cast<Index>(file.size());
  if (size > most_file_bytes)
    JsonValue(json, path, format)
        .refuse_got("the file is too large", bytes_text(size), "at most " + bytes_text(most_file_bytes));
  json = parse_json(file.read_text(0, file.size()), path, format);
  if (json_kind(json) != "object")
    JsonValue(json, path, format).refuse_got("this is not a JSON object", json_kind(json), "an object");
  return json;
}

}  // namespace headwise
