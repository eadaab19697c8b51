#include "core/playlist/answer_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/answers/live_text.h"
#include "core/tensor/edit_distance.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr double rounding = 1e-3;  // by which a row of weights may miss its sum

LiveExpression whole_expression(std::string_view written) {
  std::string_view rest = written;
  LiveExpression expression = read_live_expression(rest);
  if (rest.find_first_not_of(" \n\t") != std::string_view::npos)
    refuse_live_text(rest, "something is left over after the expression", "one expression");
  return expression;
}

void add_quantities(const LiveExpression& expression, std::vector<LiveQuantity>& found) {
  if (expression.operation == "quantity" && std::ranges::find(found, expression.quantity) == found.end())
    found.push_back(expression.quantity);
  for (const LiveExpression& operand : expression.operands) add_quantities(operand, found);
}

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

[[noreturn]] void refuse_fixed_number(std::string_view written) {
  refuse_live_text(written, "the key is a constant",
                   "an expression that reads the page's numbers, as attn_weights[0,0,8,7], or the key "
                   "\"why\" with the reason "
                   "why a fixed number is right");
}

[[noreturn]] void refuse_constant(std::string_view written) {
  refuse_live_text(written, "the key is a constant",
                   "an expression that reads the page's numbers, as attn_weights[0,0,8,7]");
}

std::vector<LiveQuantity> quantities_of(const LiveExpression& expression, std::string_view written) {
  std::vector<LiveQuantity> quantities;
  add_quantities(expression, quantities);
  if (quantities.empty()) refuse_constant(written);
  return quantities;
}

AnswerKey of_choice(const PageAnswer& answer, const LiveSubject& subject, LiveAnswers answers) {
  AnswerKey key;
  std::vector<std::size_t> right;
  for (std::size_t i = 0; i < answer.options.size(); ++i) {
    const std::optional<bool> holds = live_truth(whole_expression(answer.options[i].is), subject, answers);
    if (!holds && answers == LiveAnswers::quick) {
      key.waits = true;
      return key;
    }
    if (!holds) {
      key.problem =
          fmt::format("the trace lacks a number that option {} needs: {}", i + 1, answer.options[i].is);
      return key;
    }
    if (*holds) right.push_back(i);
  }
  if (right.size() == 1) {
    key.option = right[0];
  } else if (right.empty()) {
    key.problem = "none of the options holds here; exactly one must";
  } else {
    key.problem = fmt::format("options {} and {} both hold here; exactly one must", right[0] + 1, right[1] + 1);
  }
  return key;
}

// A whole number of at least 0; else the key's problem says what it is.
std::optional<Index> index_of_key(const std::string& written, const LiveSubject& subject, LiveAnswers answers,
                                  AnswerKey& key) {
  const LiveValue value = live_value(whole_expression(written), subject, answers);
  if (value.kind == LiveValue::Kind::not_computed) {
    key.waits = true;
  } else if (value.kind != LiveValue::Kind::number || value.number != std::floor(value.number) ||
             value.number < 0.0 || value.number > 1e15) {
    key.problem = fmt::format("the key {} is {}, which is no index", written, value.text);
  } else {
    return static_cast<Index>(value.number);
  }
  return {};
}

AnswerKey of_head(const PageAnswer& answer, const LiveSubject& subject, LiveAnswers answers) {
  AnswerKey key;
  key.head = index_of_key(answer.is, subject, answers, key);
  const Index heads = subject.trace.options.num_heads;
  if (key.head && *key.head >= heads) {
    key.problem =
        fmt::format("the key {} is {}, and there are {} heads, counted from 0", answer.is, *key.head, heads);
    key.head.reset();
  }
  return key;
}

AnswerKey of_shape(const PageAnswer& answer, const LiveSubject& subject, LiveAnswers answers) {
  AnswerKey key;
  const LiveValue value = live_value(whole_expression(answer.is), subject, answers);
  if (value.kind == LiveValue::Kind::word) {
    key.shown = value.text;
    key.sizes = typed_sizes(value.text, subject);
  }
  if (key.sizes.empty()) key.problem = fmt::format("the trace lacks what the key needs: {}", answer.is);
  return key;
}

AnswerKey of_cell(const PageAnswer& answer, const LiveSubject& subject, LiveAnswers answers) {
  AnswerKey key;
  const TensorPtr tensor = subject.trace.tensor(*answer.tensor);
  if (!tensor || tensor->shape().rank() < 2) {
    key.problem = fmt::format("this scenario has no map {}", tensor_entry(*answer.tensor).name);
    return key;
  }
  const Index rank = tensor->shape().rank();
  const auto part = [&](const std::string& written, Index axis, const char* what) -> std::optional<Index> {
    if (written.empty()) return {};
    const std::optional<Index> index = index_of_key(written, subject, answers, key);
    if (!index || *index < tensor->shape().size(axis)) return index;
    key.problem = fmt::format("the {} {} lies outside {} {}", what, *index, tensor_entry(*answer.tensor).name,
                              tensor->shape().to_string());
    return {};
  };
  key.row = part(answer.row, rank - 2, "row");
  key.column = part(answer.column, rank - 1, "column");
  if (!key.problem.empty() || key.waits) key.row = key.column = {};
  return key;
}

// "the row of weights" needs numbers from 0 to 1 that sum to 1.
AnswerKey of_weights(const PageAnswer& answer, const LiveSubject& subject, LiveAnswers answers) {
  AnswerKey key;
  const LiveCells cells = live_cells(whole_expression(answer.is), subject, PageAnswer::most_weights);
  key.problem = cells.problem;
  if (!key.problem.empty()) return key;
  const std::vector<std::size_t> axes = cells.axes();
  if (axes.size() != 1) {
    key.problem = fmt::format("the key {} is no row: it {}", answer.is,
                              axes.empty() ? "is one number" : fmt::format("runs along {} axes", axes.size()));
    return key;
  }
  const TensorPtr tensor = subject.trace.tensor(cells.tensor);
  WeightsKey found{
      {}, std::string(tensor->shape().name(static_cast<Index>(axes[0]))), cells.cells.from[axes[0]]};
  double sum = 0.0;
  for (const LiveExpression& each : cells.values) {
    const LiveValue value = live_value(each, subject, answers);
    if (value.kind == LiveValue::Kind::not_computed) {
      key.waits = true;
      return key;
    }
    // Not !(≥ 0 and ≤ 1): NaN is refused too.
    if (value.kind != LiveValue::Kind::number ||
        !(value.number >= -rounding && value.number <= 1.0 + rounding)) {
      key.problem = fmt::format("number {} of the key {} is {}, and a weight lies between 0 and 1",
                                found.weights.size(), answer.is, value.text);
      return key;
    }
    found.weights.push_back(value.number);
    sum += value.number;
  }
  if (std::abs(sum - 1.0) > rounding) {
    key.problem =
        fmt::format("the key {} sums to {}, and a row of weights sums to 1", answer.is, live_number(sum));
    return key;
  }
  key.weights = std::move(found);
  return key;
}

AnswerKey of_mask(const PageAnswer& answer, const LiveSubject& subject, LiveAnswers answers) {
  AnswerKey key;
  const LiveCells cells = live_cells(whole_expression(answer.is), subject, PageAnswer::most_pairs);
  key.problem = cells.problem;
  if (!key.problem.empty()) return key;
  const std::size_t rank = cells.cells.from.size();
  for (const std::size_t axis : cells.axes()) {
    if (rank >= 2 && axis + 2 >= rank) continue;
    key.problem = fmt::format("the key {} is no map: it runs along axis {} of {}", answer.is, axis,
                              to_string(cells.tensor));
    return key;
  }
  if (rank < 2) {
    key.problem = fmt::format("the key {} is no map: {} has no rows", answer.is, to_string(cells.tensor));
    return key;
  }
  MaskKey found{cells.tensor.id,      cells.cells.from[rank - 2], cells.cells.from[rank - 1],
                cells.size(rank - 2), cells.size(rank - 1),       {}};
  for (const LiveExpression& each : cells.values) {
    const std::optional<bool> blocked = live_truth(each, subject, answers);
    if (!blocked && answers == LiveAnswers::quick) {
      key.waits = true;
      return key;
    }
    if (!blocked) {
      key.problem = fmt::format("the trace lacks a number that the key needs: {}", answer.is);
      return key;
    }
    found.blocked.push_back(*blocked);
  }
  key.mask = std::move(found);
  return key;
}

}  // namespace

AnswerKey answer_key(const PageAnswer& answer, const LiveSubject& subject, LiveAnswers answers) {
  switch (answer.kind) {
    case AnswerKind::choice:
    case AnswerKind::tensor:
      return of_choice(answer, subject, answers);
    case AnswerKind::weights:
      return of_weights(answer, subject, answers);
    case AnswerKind::mask:
      return of_mask(answer, subject, answers);
    case AnswerKind::shape:
      return of_shape(answer, subject, answers);
    case AnswerKind::head:
      return of_head(answer, subject, answers);
    case AnswerKind::cell:
      return of_cell(answer, subject, answers);
    case AnswerKind::number:
      break;
  }
  const LiveValue value = live_value(whole_expression(answer.is), subject, answers);
  AnswerKey key;
  if (value.kind == LiveValue::Kind::not_computed) {
    key.waits = true;
  } else if (value.kind == LiveValue::Kind::number && std::isfinite(value.number)) {
    key.number = value.number;
    key.shown = value.text;
  } else if (value.kind == LiveValue::Kind::missing) {
    key.problem = fmt::format("the trace lacks a number that the key needs: {}", answer.is);
  } else {
    key.problem = fmt::format("the key {} is {}, which is not a finite number", answer.is, value.text);
  }
  return key;
}

std::string written_problem(const PageAnswer& answer) {
  const auto blank = [](const std::string& text) {
    return text.find_first_not_of(" \n\t") == std::string::npos;
  };
  try {
    switch (answer.kind) {
      case AnswerKind::number:
        check_number_key(answer.is, answer.why);
        check_live_text(answer.why);
        break;
      case AnswerKind::head:
        check_number_key(answer.is);
        break;
      case AnswerKind::shape:
        check_shape_key(answer.is);
        break;
      case AnswerKind::choice:
        for (const AnswerOption& option : answer.options) {
          if (blank(option.text)) return "an option has no text";
          check_condition_key(option.is);
          check_live_text(option.text);
          check_live_text(option.why);
        }
        break;
      case AnswerKind::tensor:
        for (const AnswerOption& option : answer.options) {
          const std::optional<TensorName> name = find_tensor_name(option.text);
          if (!name || name->gradient)
            return fmt::format("there is no tensor “{}”; {}", option.text,
                               suggestion(nearest_tensor_name(option.text)));
          if (names_option(answer, option.text) != &option)
            return fmt::format("two options name {}", option.text);
          check_condition_key(option.is);
          check_live_text(option.why);
        }
        break;
      case AnswerKind::weights:
        check_weights_key(answer.is);
        break;
      case AnswerKind::mask:
        check_mask_key(answer.is);
        break;
      case AnswerKind::cell:
        if (!answer.tensor || (blank(answer.row) && blank(answer.column)))
          return "the right cell has neither a row nor a column";
        for (const std::string* part : {&answer.row, &answer.column})
          if (!part->empty()) check_index_key(*part);
        if ((answer.row.empty() || !reads_page(answer.row)) &&
            (answer.column.empty() || !reads_page(answer.column)))
          return "the key is a constant: its row or column must read the page's numbers";
        break;
    }
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool is_right(const PageAnswer& answer, double key, double given) {
  const double off = std::abs(given - key);
  return off <= answer.within || off <= answer.within_share * std::abs(key);
}

double misplaced_weight(const std::vector<double>& drawn, const std::vector<double>& right) {
  double sum = 0.0;
  for (std::size_t i = 0; i < right.size(); ++i) sum += std::abs(drawn[i] - right[i]);
  return sum / 2;
}

const AnswerOption* names_option(const PageAnswer& answer, std::string_view tensor) {
  const auto found = std::ranges::find(answer.options, tensor, &AnswerOption::text);
  return found == answer.options.end() ? nullptr : &*found;
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
    std::vector<LiveQuantity> quantities;
    add_quantities(expression, quantities);
    if (!quantities.empty()) return {};
    static const Trace none;
    const LiveValue value = live_value(expression, LiveSubject(none));
    if (value.kind != LiveValue::Kind::number || !std::isfinite(value.number)) return {};
    return percent ? value.number / 100.0 : value.number;
  } catch (const Error&) {
    return {};
  }
}

namespace {

// "8×12×16", "8·12·16" and "8x12x16" are sizes too. The letter x is only meant so between two of them.
std::string with_crosses_as_spaces(std::string text) {
  for (const std::string_view sign : {"×", "·"}) {
    for (std::size_t at = text.find(sign); at != std::string::npos; at = text.find(sign, at))
      text.replace(at, sign.size(), " ");
  }
  const auto is_size = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
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

bool reads_page(std::string_view expression) {
  std::vector<LiveQuantity> quantities;
  add_quantities(whole_expression(expression), quantities);
  return !quantities.empty();
}

void check_index_key(std::string_view expression) {
  if (reads_page(expression)) check_number_key(expression);
}

void check_shape_key(std::string_view expression) {
  const LiveExpression written = whole_expression(expression);
  if (written.operation != "quantity" || written.quantity.word != "shape")
    refuse_live_text(expression, "the key is not a shape", "\"shape k_heads\"");
}

void check_number_key(std::string_view expression, std::optional<std::string_view> why) {
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
  if (why->find_first_not_of(" \n\t") == std::string_view::npos) refuse_fixed_number(expression);
}

void check_condition_key(std::string_view condition) {
  quantities_of(whole_expression(condition), condition);
}

void check_weights_key(std::string_view expression) {
  check_number_key(expression);
  if (!has_cells(whole_expression(expression)))
    refuse_live_text(expression, "the key is one number", "a row, as attn_weights[0,0,8,:]");
}

void check_mask_key(std::string_view condition) {
  const LiveExpression written = whole_expression(condition);
  quantities_of(written, condition);
  constexpr std::array<std::string_view, 10> conditions{"=", "≠", "<",   "≤",   ">",
                                                        "≥", "≈", "not", "and", "or"};
  if (std::ranges::find(conditions, written.operation) == conditions.end())
    refuse_live_text(condition, "the key is no condition", "mask_bias[0,0,:,:] = -inf");
  if (!has_cells(written))
    refuse_live_text(condition, "the key has no map",
                     "a condition on its cells, as mask_bias[0,0,:,:] = -inf");
}

}  // namespace headwise
