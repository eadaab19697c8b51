#include "core/playlist/answer_from_json.h"

#include <fmt/format.h>

#include "core/answers/live_text.h"
#include "core/playlist/answer_key.h"
#include "core/playlist/page_fields.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

// `draft`: what is still being written is read as it is.
struct AnswerReader {
  const bool draft;

  // A text that must be there and not be blank.
  std::string needed_text(const Json& json, const char* key, const std::string& where, const char* expected) {
    const auto found = json.find(key);
    if (draft) return found == json.end() ? "" : text_of(*found, fmt::format("{}.{}", where, key));
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
    if (draft) return;
    try {
      check();
    } catch (const Error& error) {
      throw Error(ExitStatus::usage, {.where = where, .what = error.what()});
    }
  }

  // The name of a tensor that can be clicked.
  std::string clicked_tensor(const Json& json, const std::string& where) {
    if (!json.contains("tensor")) wrong_value(where, "the key \"tensor\" is missing", "", "the tensor that is clicked");
    const TensorName name = tensor_of(json["tensor"], where + ".tensor");
    if (name.gradient)
      wrong_value(where + ".tensor", "a gradient is not clicked", describe(json["tensor"]), "a tensor");
    return std::string(tensor_entry(name.id).name);
  }

  AnswerOption option_of(const Json& json, bool tensor, const std::string& where) {
    const char* key = tensor ? "tensor" : "text";
    if (!json.is_object())
      wrong_value(where, "wrong type", describe(json), fmt::format("an object with {} and is", key));
    check_keys(json, where, {key, "is", "why", "see"});
    AnswerOption option;
    option.text = tensor && !draft ? clicked_tensor(json, where) : needed_text(json, key, where, "what can be chosen");
    option.is = needed_text(json, "is", where, "the condition under which it is right");
    if (json.contains("why")) option.why = text_of(json["why"], where + ".why");
    if (json.contains("see")) option.see = text_of(json["see"], where + ".see");
    checked(where + ".is", [&] { check_condition_key(option.is); });
    checked(where + ".text", [&] { check_live_text(option.text); });
    checked(where + ".why", [&] { check_live_text(option.why); });
    return option;
  }

  // A row of weights, or a mask: an expression over boxes of cells.
  PageAnswer cells_answer(const Json& json, AnswerKind kind, const std::string& where) {
    PageAnswer answer;
    answer.kind = kind;
    const bool weights = kind == AnswerKind::weights;
    if (weights)
      check_keys(json, where, {"kind", "is", "within"});
    else
      check_keys(json, where, {"kind", "is"});
    answer.is = needed_text(json, "is", where, weights ? "attn_weights[0,0,8,:]" : "mask_bias[0,0,:,:] = -inf");
    if (weights) answer.within = PageAnswer::usual_misplaced;
    if (json.contains("within")) answer.within = tolerance_of(json["within"], where + ".within");
    checked(where + ".is", [&] { weights ? check_weights_key(answer.is) : check_mask_key(answer.is); });
    return answer;
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
    if (draft) return answer;
    if (answer.row.empty() && answer.column.empty())
      wrong_value(where, "the keys \"row\" and \"column\" are missing", "", "at least one of them");
    if (!reads) {
      wrong_value(where, "the key is a constant", "", "a row or column that reads the page's numbers",
                  "write argmax attn_weights[0,0,8,:]");
    }
    return answer;
  }

  PageAnswer answer(const Json& json, const std::string& where) {
    if (!json.is_object()) wrong_value(where, "wrong type", describe(json), "an object with the key \"kind\"");
    const auto kind = json.find("kind");
    if (kind == json.end())
      wrong_value(where, "the key \"kind\" is missing", "",
                  "number, choice, shape, head, cell, tensor, weights or mask");
    PageAnswer answer;
    answer.kind = static_cast<AnswerKind>(choice_of(*kind, where + ".kind", names_of(answer_kind_words)));
    if (answer.kind == AnswerKind::shape || answer.kind == AnswerKind::head) {
      check_keys(json, where, {"kind", "is"});
      const bool shape = answer.kind == AnswerKind::shape;
      answer.is = needed_text(json, "is", where, shape ? "\"shape k_heads\"" : "an expression over the trace");
      checked(where + ".is", [&] { shape ? check_shape_key(answer.is) : check_number_key(answer.is); });
      return answer;
    }
    if (answer.kind == AnswerKind::cell) return cell_answer(json, where);
    if (answer.kind == AnswerKind::weights || answer.kind == AnswerKind::mask)
      return cells_answer(json, answer.kind, where);
    if (answer.kind == AnswerKind::number) {
      check_keys(json, where, {"kind", "is", "within", "within_share", "unit", "why"});
      answer.is = needed_text(json, "is", where, "an expression over the trace");
      if (json.contains("within")) answer.within = tolerance_of(json["within"], where + ".within");
      if (json.contains("within_share"))
        answer.within_share = tolerance_of(json["within_share"], where + ".within_share");
      if (answer.within == 0.0 && answer.within_share == 0.0) answer.within_share = PageAnswer::usual_share;
      if (json.contains("unit")) answer.unit = text_of(json["unit"], where + ".unit");
      if (json.contains("why")) answer.why = needed_text(json, "why", where, "why the number is right");
      checked(where + ".why", [&] { check_live_text(answer.why); });
      checked(where + ".is", [&] { check_number_key(answer.is, answer.why); });
      return answer;
    }
    check_keys(json, where, {"kind", "options"});
    const auto options = json.find("options");
    const bool missing = options == json.end();
    if (missing || !options->is_array() || options->size() < PageAnswer::least_options ||
        options->size() > PageAnswer::most_options) {
      wrong_value(where + ".options", missing ? "the options are missing" : "wrong options",
                  missing ? "" : describe(*options),
                  fmt::format("a list of 2 to 9 objects with {} and is",
                              answer.kind == AnswerKind::tensor ? "tensor" : "text"));
    }
    for (const Json& option : *options) {
      const std::string place = fmt::format("{}.options[{}]", where, answer.options.size());
      AnswerOption read = option_of(option, answer.kind == AnswerKind::tensor, place);
      if (!draft && answer.kind == AnswerKind::tensor && names_option(answer, read.text))
        wrong_value(place + ".tensor", "an option names this tensor already", describe(option["tensor"]), "another one");
      answer.options.push_back(std::move(read));
    }
    return answer;
  }
};

}  // namespace

PageAnswer answer_from_json(const Json& json, const std::string& where, PlaylistText text) {
  return AnswerReader{text == PlaylistText::draft}.answer(json, where);
}

}  // namespace headwise
