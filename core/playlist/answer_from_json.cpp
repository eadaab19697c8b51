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

PageAnswer cell_answer(const Json& json, const std::string& where) {
  check_keys(json, where, {"kind", "tensor", "row", "column"});
  PageAnswer answer;
  answer.kind = AnswerKind::cell;
  if (!json.contains("tensor"))
    wrong_value(where, "the key \"tensor\" is missing", "", "the map that is clicked");
  const TensorName name = tensor_of(json["tensor"], where + ".tensor");
  if (name.gradient)
    wrong_value(where + ".tensor", "a gradient is not clicked", describe(json["tensor"]), "a tensor");
  answer.tensor = name.id;
  bool reads = false;
  for (auto [key, text] : {std::pair{"row", &answer.row}, {"column", &answer.column}}) {
    if (!json.contains(key)) continue;
    *text = needed_text(json, key, where, "an expression over the trace");
    checked(fmt::format("{}.{}", where, key), [&] {
      check_index_key(*text);
      reads = reads || reads_page(*text);
    });
  }
  if (answer.row.empty() && answer.column.empty())
    wrong_value(where, "the keys \"row\" and \"column\" are missing", "", "at least one of them");
  if (!reads) {
    wrong_value(where, "the key is a constant", "", "a row or column that reads the page's numbers",
                "write argmax attn_weights[0,0,8,:]");
  }
  return answer;
}

}  // namespace

PageAnswer answer_from_json(const Json& json, const std::string& where) {
  if (!json.is_object()) wrong_value(where, "wrong type", describe(json), "an object with the key \"kind\"");
  const auto kind = json.find("kind");
  if (kind == json.end())
    wrong_value(where, "the key \"kind\" is missing", "", "number, choice, shape, head or cell");
  PageAnswer answer;
  answer.kind = static_cast<AnswerKind>(
      choice_of(*kind, where + ".kind", {"number", "choice", "shape", "head", "cell"}));
  if (answer.kind == AnswerKind::shape || answer.kind == AnswerKind::head) {
    check_keys(json, where, {"kind", "is"});
    const bool shape = answer.kind == AnswerKind::shape;
    answer.is = needed_text(json, "is", where, shape ? "\"shape k_heads\"" : "an expression over the trace");
    checked(where + ".is", [&] { shape ? check_shape_key(answer.is) : check_number_key(answer.is); });
    return answer;
  }
  if (answer.kind == AnswerKind::cell) return cell_answer(json, where);
  if (answer.kind == AnswerKind::number) {
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
