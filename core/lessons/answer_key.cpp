#include "core/lessons/answer_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/lessons/live_text.h"
#include "core/lessons/page_fields.h"
#include "core/tensor/edit_distance.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

// With numbers in place of what it reads.
LiveExpression with_numbers(LiveExpression expression, const std::vector<LiveQuantity>& quantities,
                            const std::vector<double>& numbers) {
  if (expression.operation == "quantity") {
    const auto at = std::ranges::find(quantities, expression.quantity) - quantities.begin();
    expression.operation = "number";
    expression.number = numbers[static_cast<std::size_t>(at)];
  }
  for (LiveExpression& operand : expression.operands)
    operand = with_numbers(std::move(operand), quantities, numbers);
  return expression;
}

[[noreturn]] void refuse_constant(std::string_view written, const char* or_else = "") {
  refuse_live_text(
      written, "the key is a constant",
      fmt::format("an expression that reads the page's numbers, as attn_weights[0,0,8,7]{}", or_else));
}

}  // namespace

LiveExpression whole_expression(std::string_view written) {
  std::string_view rest = written;
  LiveExpression expression = read_live_expression(rest);
  if (rest.find_first_not_of(" \n\t") != std::string_view::npos)
    refuse_live_text(rest, "something is left over after the expression", "one expression");
  return expression;
}

namespace {

bool reads_page(std::string_view expression) {
  std::vector<LiveQuantity> quantities;
  add_quantities(whole_expression(expression), quantities);
  return !quantities.empty();
}

}  // namespace

double misplaced_weight(const std::vector<double>& drawn, const std::vector<double>& right) {
  double sum = 0.0;
  for (std::size_t i = 0; i < right.size(); ++i) sum += std::abs(drawn[i] - right[i]);
  return sum / 2;
}

std::optional<double> typed_number(std::string_view typed) {
  std::string text(typed);
  std::ranges::replace(text, ',', '.');
  for (std::size_t minus = text.find("−"); minus != std::string::npos; minus = text.find("−"))
    text.replace(minus, std::string_view("−").size(), "-");
  text.erase(text.find_last_not_of(" \t") + 1);
  const bool percent = text.ends_with('%');
  if (percent) text.pop_back();
  try {
    const LiveExpression expression = whole_expression(text);
    if (reads_page(text)) return {};
    static const Trace none;
    const LiveValue value = live_value(expression, LiveSubject(none));
    if (value.kind != LiveValue::Kind::number || !std::isfinite(value.number)) return {};
    return percent ? value.number / 100.0 : value.number;
  } catch (const Error&) {
    return {};
  }
}

namespace {

// "8×12×16", "8·12·16" and "8 x 12 x 16" are sizes too. The letter x is only meant so between two of them.
std::string with_crosses_as_spaces(std::string text) {
  for (const std::string_view sign : {"×", "·"}) {
    for (std::size_t at = text.find(sign); at != std::string::npos; at = text.find(sign, at))
      text.replace(at, sign.size(), " ");
  }
  const auto is_size = [](char c) { return c == ' ' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t i = 1; i + 1 < text.size(); ++i)
    if ((text[i] == 'x' || text[i] == '*') && is_size(text[i - 1]) && is_size(text[i + 1])) text[i] = ' ';
  return text;
}

}  // namespace

std::vector<Index> typed_sizes(std::string_view typed, const LiveSubject& subject) {
  std::string text(typed);
  for (const char bracket : {'(', ')', '[', ']', ','}) std::ranges::replace(text, bracket, ' ');
  text = with_crosses_as_spaces(std::move(text));
  std::vector<Index> sizes;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \t", at);
    if (begin == std::string::npos) break;
    at = std::min(text.find_first_of(" \t", begin), text.size());
    try {
      const LiveExpression expression = whole_expression(std::string_view(text).substr(begin, at - begin));
      const LiveValue value = live_value(expression, subject, LiveAnswers::quick);
      if (value.kind != LiveValue::Kind::number || value.number != std::floor(value.number) ||
          value.number < 0.0 || value.number > 1e15)
        return {};
      sizes.push_back(static_cast<Index>(value.number));
    } catch (const Error&) {
      return {};
    }
  }
  return sizes;
}

namespace {

void check_number_key(std::string_view expression, std::optional<std::string_view> why = {}) {
  const LiveExpression written = whole_expression(expression);
  std::vector<LiveQuantity> quantities;
  add_quantities(written, quantities);
  // Irrational steps, so that what it reads hardly falls on a special value of the expression by chance.
  static const Trace none;
  const LiveSubject nothing(none);
  std::vector<LiveValue> values;
  for (const double start : {0.7320508, 5.1961524, 11.4017543}) {
    std::vector<double> numbers;
    for (std::size_t i = 0; i < quantities.size(); ++i)
      numbers.push_back(start + 1.6180340 * static_cast<double>(i) * start);
    values.push_back(live_value(with_numbers(written, quantities, numbers), nothing));
  }
  const auto same = [](const LiveValue& a, const LiveValue& b) {
    return a.kind == b.kind && (a.number == b.number || (std::isnan(a.number) && std::isnan(b.number)));
  };
  const bool word = !quantities.empty() && std::ranges::all_of(quantities, [](const LiveQuantity& quantity) {
    return quantity.word == "query" || quantity.word == "key" || quantity.word == "role";
  });
  if (values[0].kind != LiveValue::Kind::number || word)
    refuse_live_text(expression, "the key is not a number", "an arithmetic expression");
  if (!same(values[0], values[1]) || !same(values[1], values[2])) return;
  if (!why) refuse_constant(expression);
  if (why->find_first_not_of(" \n\t") == std::string_view::npos)
    refuse_constant(expression, ", or the key \"why\" with the reason why a fixed number is right");
}

void check_index_key(std::string_view expression) {
  if (reads_page(expression)) check_number_key(expression);
}

void check_shape_key(std::string_view expression) {
  const LiveExpression written = whole_expression(expression);
  if (written.operation != "quantity" || written.quantity.word != "shape")
    refuse_live_text(expression, "the key is not a shape", "\"shape k_heads\"");
}

void check_condition_key(std::string_view condition) {
  if (!reads_page(condition)) refuse_constant(condition);
}

void check_weights_key(std::string_view expression) {
  check_number_key(expression);
  if (!has_cells(whole_expression(expression)))
    refuse_live_text(expression, "the key is one number", "a row, as attn_weights[0,0,8,:]");
}

void check_mask_key(std::string_view condition) {
  const LiveExpression written = whole_expression(condition);
  check_condition_key(condition);
  constexpr std::array<std::string_view, 10> conditions{"=", "≠", "<",   "≤",   ">",
                                                        "≥", "≈", "not", "and", "or"};
  if (std::ranges::find(conditions, written.operation) == conditions.end())
    refuse_live_text(condition, "the key is no condition", "mask_bias[0,0,:,:] = -inf");
  if (!has_cells(written))
    refuse_live_text(condition, "the key has no map",
                     "a condition on its cells, as mask_bias[0,0,:,:] = -inf");
}

void check_option(const AnswerOption& option, const WrittenPlace& place, const std::string& at) {
  place.check(at + ".is", [&] { check_condition_key(option.is); });
  place.check(at + ".text", [&] { check_live_text(option.text); });
  place.check(at + ".why", [&] { check_live_text(option.why); });
}

}  // namespace

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \n\t") == std::string::npos;
}

void check_choice(const PageAnswer& answer, const WrittenPlace& place) {
  for (std::size_t i = 0; i < answer.options.size(); ++i) {
    if (is_blank(answer.options[i].text)) place.refuse("an option has no text");
    check_option(answer.options[i], place, fmt::format(".options[{}]", i));
  }
}

void check_tensors(const PageAnswer& answer, const WrittenPlace& place) {
  for (std::size_t i = 0; i < answer.options.size(); ++i) {
    const std::string& text = answer.options[i].text;
    const std::string at = fmt::format(".options[{}]", i);
    const std::optional<TensorName> name = find_tensor_name(text);
    if (!name || name->gradient)
      place.refuse(fmt::format("there is no tensor “{}”; {}", text, suggestion(nearest_tensor_name(text))));
    if (&*std::ranges::find(answer.options, text, &AnswerOption::text) != &answer.options[i])
      place.refuse(fmt::format("two options name {}", text), {.where = at + ".tensor",
                                                              .what = "an option names this tensor already",
                                                              .got = describe(Json(text)),
                                                              .expected = "another one"});
    check_option(answer.options[i], place, at);
  }
}

void check_number(const PageAnswer& answer, const WrittenPlace& place) {
  place.check(".why", [&] { check_live_text(answer.why); });
  place.check(".is", [&] { check_number_key(answer.is, answer.why); });
}

void check_cell(const PageAnswer& answer, const WrittenPlace& place) {
  if (!answer.tensor || (is_blank(answer.row) && is_blank(answer.column)))
    place.refuse("the right cell has neither a row nor a column",
                 {.what = "the keys \"row\" and \"column\" are missing", .expected = "at least one of them"});
  bool reads = false;
  for (const auto& [key, part] : {std::pair{".row", &answer.row}, {".column", &answer.column}}) {
    if (part->empty()) continue;
    place.check(key, [&] {
      check_index_key(*part);
      reads = reads || reads_page(*part);
    });
  }
  if (!reads)
    place.refuse("the key is a constant: its row or column must read the page's numbers",
                 {.what = "the key is a constant",
                  .expected = "a row or column that reads the page's numbers",
                  .remedy = "write argmax attn_weights[0,0,8,:]"});
}

void check_shape(const PageAnswer& answer, const WrittenPlace& place) {
  place.check(".is", [&] { check_shape_key(answer.is); });
}

void check_head(const PageAnswer& answer, const WrittenPlace& place) {
  place.check(".is", [&] { check_number_key(answer.is); });
}

void check_weights(const PageAnswer& answer, const WrittenPlace& place) {
  place.check(".is", [&] { check_weights_key(answer.is); });
}

void check_mask(const PageAnswer& answer, const WrittenPlace& place) {
  place.check(".is", [&] { check_mask_key(answer.is); });
}

}  // namespace headwise
