#include "core/lessons/live_expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/lessons/operation_counts.h"

namespace headwise {
namespace {

using Kind = LiveValue::Kind;
constexpr double nearly = 1e-3;  // of the larger: "≈"

class ExpressionReader {
 public:
  explicit ExpressionReader(std::string_view& text) : text_(text), whole_(text) {}

  LiveExpression any() { return chain(&ExpressionReader::both, {"or"}, &ExpressionReader::take_name); }

 private:
  // Operands with any of the signs between them, the first two joined first.
  LiveExpression chain(LiveExpression (ExpressionReader::*operand)(),
                       std::initializer_list<std::string_view> signs,
                       bool (ExpressionReader::*take_sign)(std::string_view)) {
    LiveExpression left = (this->*operand)();
    while (true) {
      const auto sign =
          std::ranges::find_if(signs, [&](std::string_view each) { return (this->*take_sign)(each); });
      if (sign == signs.end()) return left;
      left = joined(std::string(*sign), std::move(left), (this->*operand)());
    }
  }

  LiveExpression both() { return chain(&ExpressionReader::unit, {"and"}, &ExpressionReader::take_name); }
  LiveExpression sum() { return chain(&ExpressionReader::product, {"+", "-"}, &ExpressionReader::take); }
  LiveExpression product() { return chain(&ExpressionReader::factor, {"*", "/"}, &ExpressionReader::take); }

  LiveExpression unit() {
    const Depth inner(*this);
    if (take_name("not")) return joined("not", unit());
    LiveExpression left = sum();
    constexpr std::array<std::array<std::string_view, 2>, 7> comparisons{
        {{"≠", "!="}, {"≤", "<="}, {"≥", ">="}, {"≈", "~"}, {"=", "="}, {"<", "<"}, {">", ">"}}};
    for (const auto& [sign, typed] : comparisons)
      if (take(sign) || take(typed)) return joined(std::string(sign), std::move(left), sum());
    return left;
  }

  LiveExpression factor() {
    const Depth inner(*this);
    if (take("-")) return joined("negative", factor());
    if (take("√")) return joined("√", factor());
    if (take("(")) {
      LiveExpression inside = any();
      if (!take(")")) refuse_live_text(whole_, "an unmatched bracket", "')'");
      return inside;
    }
    if (take("'")) {
      const std::size_t end = text_.find('\'');
      if (end == std::string_view::npos) refuse_live_text(whole_, "an unterminated word", "a closing '");
      LiveExpression word = of_word(std::string(text_.substr(0, end)));
      text_.remove_prefix(end + 1);
      return word;
    }
    for (const std::string_view word : {"true", "false", "null"})
      if (take_name(word)) return of_word(std::string(word));
    if (take_name("inf")) return of_number(std::numeric_limits<double>::infinity());
    if (take_name("nan")) return of_number(std::numeric_limits<double>::quiet_NaN());
    skip_blanks();
    double number = 0.0;
    if (!text_.empty() && (text_[0] == '.' || (text_[0] >= '0' && text_[0] <= '9'))) {
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
      if (error != std::errc{}) refuse_live_text(whole_, "a number cannot be read", "0.5");
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      return of_number(number);
    }
    LiveExpression leaf;
    leaf.operation = "quantity";
    leaf.quantity = read_live_quantity(text_);
    return leaf;
  }

  // Limits the nesting of brackets, for damaged files.
  struct Depth {
    explicit Depth(ExpressionReader& of) : reader(of) {
      if (++reader.depth_ > 100)
        refuse_live_text(reader.whole_.substr(0, 40), "a condition is too deep", "at most 50 brackets");
    }
    ~Depth() { --reader.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    ExpressionReader& reader;
  };

  static LiveExpression joined(std::string operation, LiveExpression a) {
    LiveExpression result;
    result.operation = std::move(operation);
    result.operands.push_back(std::move(a));
    return result;
  }
  static LiveExpression joined(std::string operation, LiveExpression a, LiveExpression b) {
    LiveExpression result = joined(std::move(operation), std::move(a));
    result.operands.push_back(std::move(b));
    return result;
  }
  static LiveExpression of_word(std::string word) {
    LiveExpression leaf;
    leaf.operation = "word";
    leaf.word = std::move(word);
    return leaf;
  }
  static LiveExpression of_number(double number) {
    LiveExpression leaf;
    leaf.operation = "number";
    leaf.number = number;
    return leaf;
  }

  void skip_blanks() {
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
  }
  bool take(std::string_view sign) {
    skip_blanks();
    if (!text_.starts_with(sign)) return false;
    text_.remove_prefix(sign.size());
    return true;
  }
  // A name that ends here: "or", but not "output".
  bool take_name(std::string_view name) {
    skip_blanks();
    if (!text_.starts_with(name)) return false;
    const std::string_view rest = text_.substr(name.size());
    if (!rest.empty() && rest[0] != ' ' && rest[0] != '(' && rest[0] != ')' && rest[0] != ':') return false;
    text_ = rest;
    return true;
  }

  std::string_view& text_;
  std::string_view whole_;
  int depth_ = 0;
};

std::optional<bool> compared(const std::string& sign, const LiveValue& a, const LiveValue& b) {
  const auto there = [](const LiveValue& v) { return v.kind == Kind::number || v.kind == Kind::word; };
  if (!there(a) || !there(b)) return {};
  if (a.kind != b.kind) return sign == "≠";
  if (a.kind == Kind::word) {
    if (sign == "=" || sign == "≈") return a.text == b.text;
    if (sign == "≠") return a.text != b.text;
    return {};
  }
  const double x = a.number, y = b.number;
  const bool same = x == y || (std::isnan(x) && std::isnan(y));
  if (sign == "=") return same;
  if (sign == "≠") return !same;
  if (sign == "<") return x < y;
  if (sign == "≤") return x <= y;
  if (sign == ">") return x > y;
  if (sign == "≥") return x >= y;
  return same || (std::isfinite(x) && std::isfinite(y) &&
                  std::abs(x - y) <= nearly * std::max(std::abs(x), std::abs(y)));
}

bool may_be_several(const LiveQuantity& quantity) {
  if (quantity.word != "cell" || quantity.boxes.size() != 1) return false;
  const std::vector<LiveRange>& ranges = quantity.boxes[0].ranges;
  return ranges.empty() || std::ranges::any_of(ranges, [](const LiveRange& range) {
           return !range.to || *range.to != range.from + 1;
         });
}

void add_boxes(const LiveExpression& expression, std::vector<LiveQuantity>& found) {
  if (expression.operation == "quantity" && may_be_several(expression.quantity) &&
      std::ranges::find(found, expression.quantity) == found.end())
    found.push_back(expression.quantity);
  for (const LiveExpression& operand : expression.operands) add_boxes(operand, found);
}

LiveExpression at_cell(LiveExpression expression, const std::vector<LiveQuantity>& boxes,
                       const std::vector<std::vector<double>>& numbers, std::size_t cell) {
  if (expression.operation == "quantity") {
    const auto box = std::ranges::find(boxes, expression.quantity);
    if (box == boxes.end()) return expression;
    expression.operation = "number";
    expression.number = numbers[static_cast<std::size_t>(box - boxes.begin())][cell];
    return expression;
  }
  for (LiveExpression& operand : expression.operands)
    operand = at_cell(std::move(operand), boxes, numbers, cell);
  return expression;
}

}  // namespace

void add_quantities(const LiveExpression& expression, std::vector<LiveQuantity>& found) {
  if (expression.operation == "quantity" && std::ranges::find(found, expression.quantity) == found.end())
    found.push_back(expression.quantity);
  for (const LiveExpression& operand : expression.operands) add_quantities(operand, found);
}

LiveExpression read_live_expression(std::string_view& text) {
  return ExpressionReader(text).any();
}

LiveValue live_value(const LiveExpression& e, const LiveSubject& subject, LiveAnswers answers) {
  if (e.operation == "number") return live_number_value(e.number);
  if (e.operation == "word") return live_word_value(e.word);
  if (e.operation == "quantity") return live_value(e.quantity, subject, answers);
  std::vector<double> numbers;
  for (const LiveExpression& operand : e.operands) {
    LiveValue value = live_value(operand, subject, answers);
    if (value.kind == Kind::not_computed) return value;
    if (value.kind != Kind::number) return {Kind::missing, 0.0, "–"};
    numbers.push_back(value.number);
  }
  const auto as_printed = [](double number) {
    const bool whole = std::abs(number) < 1e9 && number == std::floor(number);
    return whole ? LiveValue{Kind::number, number,
                             (number < 0 ? "−" : "") + count_text(static_cast<Index>(std::abs(number)))}
                 : live_number_value(number);
  };
  if (e.operation == "negative") return as_printed(-numbers[0]);
  if (e.operation == "√") return as_printed(std::sqrt(numbers[0]));
  if (e.operation == "+") return as_printed(numbers[0] + numbers[1]);
  if (e.operation == "-") return as_printed(numbers[0] - numbers[1]);
  if (e.operation == "*") return as_printed(numbers[0] * numbers[1]);
  if (e.operation == "/") return as_printed(numbers[0] / numbers[1]);
  return {Kind::missing, 0.0, "–"};
}

std::optional<bool> live_truth(const LiveExpression& e, const LiveSubject& subject, LiveAnswers answers) {
  if (e.operation == "not") {
    const auto inner = live_truth(e.operands[0], subject, answers);
    return inner ? std::optional(!*inner) : inner;
  }
  if (e.operation == "and" || e.operation == "or") {
    const bool decides = e.operation == "or";
    const auto a = live_truth(e.operands[0], subject, answers);
    if (a && *a == decides) return decides;
    const auto b = live_truth(e.operands[1], subject, answers);
    if (b && *b == decides) return decides;
    return a && b ? std::optional(!decides) : std::nullopt;
  }
  constexpr std::array<std::string_view, 7> signs{"=", "≠", "<", "≤", ">", "≥", "≈"};
  for (const std::string_view sign : signs)
    if (e.operation == sign)
      return compared(e.operation, live_value(e.operands[0], subject, answers),
                      live_value(e.operands[1], subject, answers));
  // A value by itself: "mask.is_causal", or a number that only has to exist.
  const LiveValue value = live_value(e, subject, answers);
  if (value.kind == Kind::word) return value.text != "false" && value.text != "null";
  if (value.kind == Kind::number) return value.number != 0.0;
  return {};
}

bool holds(const LiveExpression& condition, const LiveSubject& subject, LiveAnswers answers) {
  return live_truth(condition, subject, answers).value_or(false);
}

std::vector<std::size_t> LiveCells::axes() const {
  std::vector<std::size_t> several;
  for (std::size_t axis = 0; axis < cells.from.size(); ++axis)
    if (size(axis) > 1) several.push_back(axis);
  return several;
}

LiveCells live_cells(const LiveExpression& expression, const LiveSubject& subject, Index most) {
  LiveCells found;
  std::vector<LiveQuantity> boxes;
  add_boxes(expression, boxes);
  std::vector<std::vector<double>> numbers;
  for (const LiveQuantity& quantity : boxes) {
    const LiveBox& box = quantity.boxes[0];
    const std::string name = to_string(box.tensor);
    const std::optional<LiveCellRange> range = live_box_cells(box, subject.trace);
    if (!range) {
      found.problem = fmt::format("the trace has no such cells of {}", name);
      return found;
    }
    Index count = 1;
    for (std::size_t axis = 0; axis < range->from.size(); ++axis)
      count *= range->to[axis] - range->from[axis];
    if (count > most) {
      found.problem =
          fmt::format("the box of {} has {} cells, and at most {} can be asked for", name, count, most);
      return found;
    }
    numbers.push_back(*live_box_numbers(box, subject.trace));
    if (numbers.size() == 1) {
      found.tensor = box.tensor;
      found.cells = *range;
    } else if (numbers.back().size() != numbers.front().size()) {
      found.problem = fmt::format("the boxes of the key have {} and {} cells", numbers.front().size(),
                                  numbers.back().size());
      return found;
    }
    if (std::ranges::any_of(numbers.back(), [](double number) { return std::isnan(number); })) {
      found.problem = fmt::format("a number of {} that the key needs is NaN", name);
      return found;
    }
  }
  if (numbers.empty()) {
    found.problem = "the key has no box of several cells";
    return found;
  }
  for (std::size_t cell = 0; cell < numbers.front().size(); ++cell)
    found.values.push_back(at_cell(expression, boxes, numbers, cell));
  return found;
}

bool has_cells(const LiveExpression& expression) {
  std::vector<LiveQuantity> boxes;
  add_boxes(expression, boxes);
  return !boxes.empty();
}

}  // namespace headwise
