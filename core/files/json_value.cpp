#include "core/files/json_value.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>
#include <vector>

#include "core/files/input_file.h"
#include "core/files/json_text.h"
#include "core/tensor/edit_distance.h"
#include "core/tensor/join.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

using Json = nlohmann::json;

std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte == 0 ? 0 : std::min(byte - 1, text.size()));
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t newline = before.rfind('\n');
  const std::string_view last = newline == std::string_view::npos ? before : before.substr(newline + 1);
  // Columns count characters, as editors do: continuation bytes of UTF-8 do not count.
  const auto column = 1 + std::ranges::count_if(last, [](char c) { return (c & 0xC0) != 0x80; });
  return fmt::format("line {}, column {}", line, column);
}

// What nlohmann's parser met and what it expected, from its message: "[json.exception…] parse error at line
// 1, column 2: syntax error while parsing object key - unexpected '}'; expected string literal".
std::pair<std::string, std::string> got_and_expected(const std::string& message) {
  constexpr std::string_view place = "parse error", expected = "; expected ";
  std::string got = message.substr(std::min(message.size(), message.find("] ") + 2));
  if (got.starts_with(place)) got = got.substr(got.find(": ") + 2);
  if (got.starts_with("syntax error")) got = got.substr(got.find(" - ") + 3);
  const std::size_t end = got.rfind(expected);
  if (end == std::string::npos) return {got, "JSON (RFC 8259)"};
  return {got.substr(0, end), got.substr(end + expected.size())};
}

// What the parser's callback tracks: the keys of the open objects, and how much has been read.
class Guard {
 public:
  explicit Guard(const JsonLimits& limits) : limits_(limits) {}

  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    if (++values_ > limits_.values)
      throw JsonRefusal{.place = "",
                        .what = "the JSON is too large",
                        .got = fmt::format("more than {} values", limits_.values),
                        .expected = "",
                        .too_large = true};
    if (static_cast<std::size_t>(depth) > limits_.levels)
      refuse("the JSON is nested too deeply", fmt::format("more than {} levels", limits_.levels));
    if (event == Json::parse_event_t::object_start) open_.emplace_back();
    if (event == Json::parse_event_t::object_end) open_.pop_back();
    if (event == Json::parse_event_t::key) add_key(parsed.get_ref<const std::string&>());
    return true;
  }

 private:
  void add_key(const std::string& key) {
    if (!open_.back().insert(key).second)
      throw JsonRefusal{"", fmt::format("the key \"{}\" occurs twice in one object", key), "",
                        "each key once"};
    if (open_.back().size() > limits_.keys)
      refuse("the JSON has too many keys", fmt::format("more than {} keys in one object", limits_.keys));
  }

  [[noreturn]] static void refuse(const std::string& what, const std::string& got) {
    throw JsonRefusal{"", what, got, ""};
  }

  JsonLimits limits_;
  std::size_t values_ = 0;
  std::vector<std::unordered_set<std::string>> open_;
};

constexpr std::array<std::string_view, 3> python_numbers{"-Infinity", "Infinity", "NaN"};

struct PythonText {
  std::string text;
  std::vector<std::pair<std::size_t, std::size_t>> added;  // bytes, behind this many of the new text

  std::size_t original(std::size_t byte) const {
    std::size_t before = 0;
    for (const auto& [end, bytes] : added)
      if (end <= byte) before += bytes;
    return byte - std::min(before, byte);
  }
};

bool is_word_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

PythonText without_python_numbers(std::string_view text) {
  PythonText made;
  made.text.reserve(text.size());
  bool in_string = false;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (in_string || !is_word_part(c)) {
      const std::size_t count = in_string && c == '\\' ? std::min<std::size_t>(2, text.size() - at) : 1;
      if (c == '"') in_string = !in_string;
      made.text.append(text.substr(at, count));
      at += count;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_word_part(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    if (std::ranges::find(python_numbers, word) != python_numbers.end()) {
      const std::string tagged = fmt::format(R"({{"{}":"{}"}})", python_number_key, word);
      made.text += tagged;
      made.added.emplace_back(made.text.size(), tagged.size() - word.size());
    } else {
      made.text.append(word);
    }
    at = end;
  }
  return made;
}

// If the value stands for one of those numbers, its word; else empty.
std::string_view python_number(const Json& value) {
  if (!value.is_object() || value.size() != 1 || value.begin().key() != python_number_key ||
      !value.begin()->is_string())
    return "";
  const auto word = std::ranges::find(python_numbers, value.begin()->get_ref<const std::string&>());
  return word == python_numbers.end() ? "" : *word;
}

// The first place of `word` that is not in a string; the end if there is none.
std::size_t place_outside_strings(std::string_view text, std::string_view word) {
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') in_string = !in_string;
    if (in_string && text[at] == '\\') ++at;
    if (!in_string && text.substr(at).starts_with(word)) return at;
  }
  return text.size();
}

bool may_have_python_numbers(std::string_view text) {
  return text.find("Infinity") != std::string_view::npos || text.find("NaN") != std::string_view::npos;
}

constexpr double largest_exact_integer = 9007199254740992.0;  // 2^53: above this, 8.0 need not mean 8
constexpr std::int64_t least_integer = std::numeric_limits<std::int64_t>::min(),
                       most_integer = std::numeric_limits<std::int64_t>::max();
constexpr Index most_file_bytes = Index{64} << 20;

std::string integer_range(std::int64_t least, std::int64_t most) {
  if (most != most_integer) return fmt::format("an integer from {} to {}", least, most);
  return least == least_integer ? "an integer" : fmt::format("an integer of at least {}", least);
}

}  // namespace

bool looks_like_utf16(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return true;
  // Without a mark, every second byte of Latin text is zero.
  const std::string_view start = text.substr(0, 64);
  std::size_t zeros[2] = {};
  for (std::size_t i = 0; i < start.size(); ++i) zeros[i % 2] += start[i] == '\0';
  const std::size_t pairs = start.size() / 2;
  return pairs >= 4 && std::max(zeros[0], zeros[1]) * 4 >= pairs * 3 && std::min(zeros[0], zeros[1]) == 0;
}

std::string python_json_text(std::string_view text) {
  return may_have_python_numbers(text) ? without_python_numbers(text).text : std::string(text);
}

Json parse_strict_json(std::string_view given, const JsonLimits& limits, JsonDialect dialect) {
  PythonText python;
  if (dialect == JsonDialect::python && may_have_python_numbers(given))
    python = without_python_numbers(given);
  const std::string_view text = python.added.empty() ? given : std::string_view(python.text);
  const std::string not_json = "this is not JSON", rfc = "JSON (RFC 8259)";
  const auto refusal = [](const std::string& place, const std::string& what, const std::string& got,
                          const std::string& expected) {
    return JsonRefusal{.place = place, .what = what, .got = got, .expected = expected, .is_json = false};
  };
  if (looks_like_utf16(text)) throw refusal("", "this text is UTF-16", "", "UTF-8: save the file as UTF-8");
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw refusal("", not_json, "an empty text", rfc);
  // The parser treats a zero byte as the end and would not look beyond it.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    throw refusal(line_and_column(text, zero + 1), not_json, "a zero byte", rfc);
  try {
    Guard guard(limits);
    // The parser copies the callback: pass it a reference, so that there is one state.
    return Json::parse(text.begin(), text.end(), [&guard](int depth, Json::parse_event_t event, Json& parsed) {
      return guard(depth, event, parsed);
    });
  } catch (const Json::parse_error& error) {
    const auto [got, expected] = got_and_expected(error.what());
    throw refusal(line_and_column(given, python.original(error.byte)), not_json, got, expected);
  } catch (const Json::out_of_range& error) {
    throw number_out_of_range(given, error);
  }
}

JsonRefusal number_out_of_range(std::string_view text, const Json::exception& error) {
  const std::string message = error.what();  // "… number overflow parsing '1e999'"
  const std::size_t begin = message.find('\''), end = message.rfind('\'');
  const std::string number = begin < end ? message.substr(begin + 1, end - begin - 1) : message;
  return {.place = line_and_column(text, place_outside_strings(text, number) + 1),
          .what = "a number is out of range",
          .got = number,
          .expected = "numbers of at most ±1.8e308"};
}

std::string json_as_written(const Json& value, std::size_t most_bytes) {
  std::string text = json_text(value, {.replaces_bytes = true});
  for (const std::string_view word : python_numbers) {
    const std::string tagged = json_text(Json{{std::string(python_number_key), std::string(word)}});
    for (std::size_t at = 0; (at = text.find(tagged, at)) != std::string::npos; at += word.size())
      text.replace(at, tagged.size(), word);
  }
  return one_line(text, most_bytes);
}

std::string json_kind(const Json& value) {
  const std::string_view word = python_number(value);
  return word.empty() ? value.type_name() : std::string(word);
}

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
