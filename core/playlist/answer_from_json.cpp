#include "core/playlist/answer_from_json.h"

#include <fmt/format.h>

#include "core/answers/live_text.h"
#include "core/playlist/answer_key.h"
#include "core/playlist/page_fields.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

// A text that must be there and not be blank.
std::string needed_text(const Json& json, const char* key, const std::string& where, const char* expected) {
  const auto found = json.find(key);
  if (found == json.end()) wrong_value(where, fmt::format("the key \"{}\" is missing", key), "", expected);
  const std::string text = text_of(*found, fmt::format("{}.{}", where, key));
  if (text.find_first_not_of(" \n\t") == std::string::npos)
    wrong_value(fmt::format("{}.{}", where, key), "the text is empty", describe(*found), expected);
  return text;
}

double tolerance_of(const Json& value, const std::string& where) {
  const char* expected = "a number above 0";
  if (!value.is_number()) wrong_value(where, "wrong type", describe(value), expected);
  const double number = value.get<double>();
  if (!(number > 0.0)) wrong_value(where, "out of range", describe(value), expected);
  return number;
}

// What is wrong with an expression or a live text, with the place in the file before it.
template <class Check>
void checked(const std::string& where, Check check) {
  try {
    check();
  } catch (const Error& error) {
    throw Error(ExitStatus::usage, {.where = where, .what = error.what()});
  }
}

AnswerOption option_of(const Json& json, const std::string& where) {
  if (!json.is_object()) wrong_value(where, "wrong type", describe(json), "an object with text and is");
  check_keys(json, where, {"text", "is", "why", "see"});
  AnswerOption option;
  option.text = needed_text(json, "text", where, "what can be chosen");
  option.is = needed_text(json, "is", where, "the condition under which it is right");
  if (json.contains("why")) option.why = text_of(json["why"], where + ".why");
  if (json.contains("see")) option.see = text_of(json["see"], where + ".see");
  checked(where + ".is", [&] { check_condition_key(option.is); });
  checked(where + ".text", [&] { check_live_text(option.text); });
  checked(where + ".why", [&] { check_live_text(option.why); });
  return option;
}

}  // namespace

PageAnswer answer_from_json(const Json& json, const std::string& where) {
  if (!json.is_object()) wrong_value(where, "wrong type", describe(json), "an object with the key \"kind\"");
  const auto kind = json.find("kind");
  if (kind == json.end()) wrong_value(where, "the key \"kind\" is missing", "", "number or choice");
  PageAnswer answer;
  if (choice_of(*kind, where + ".kind", {"number", "choice"}) == 0) {
    check_keys(json, where, {"kind", "is", "within", "within_share", "unit"});
    answer.is = needed_text(json, "is", where, "an expression over the trace");
    if (json.contains("within")) answer.within = tolerance_of(json["within"], where + ".within");
    if (json.contains("within_share"))
      answer.within_share = tolerance_of(json["within_share"], where + ".within_share");
    if (answer.within == 0.0 && answer.within_share == 0.0) answer.within_share = PageAnswer::usual_share;
    if (json.contains("unit")) answer.unit = text_of(json["unit"], where + ".unit");
    checked(where + ".is", [&] { check_number_key(answer.is); });
    return answer;
  }
  check_keys(json, where, {"kind", "options"});
  const auto options = json.find("options");
  const bool missing = options == json.end();
  if (missing || !options->is_array() || options->size() < PageAnswer::least_options ||
      options->size() > PageAnswer::most_options) {
    wrong_value(where + ".options", missing ? "the options are missing" : "wrong options",
                missing ? "" : describe(*options), "a list of 2 to 9 objects with text and is");
  }
  for (const Json& option : *options)
    answer.options.push_back(option_of(option, fmt::format("{}.options[{}]", where, answer.options.size())));
  return answer;
}

}  // namespace headwise
