#include "core/answers/live_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "core/answers/head_width_comparison.h"
#include "core/answers/layout_comparison.h"
#include "core/answers/operation_counts.h"
#include "core/answers/traced_inputs.h"
#include "core/tensor/error.h"
#include "core/trace/attention_sizes.h"

namespace headwise {
namespace {

constexpr std::string_view missing = "–", not_computed = "…";
constexpr std::string_view summaries[] = {"sum", "mean", "max", "min", "deviation"};
constexpr std::string_view letters[] = {"N", "L", "S", "S′", "E", "H", "G", "D", "Dv"};
constexpr Index to_the_end = std::numeric_limits<Index>::max();

struct Range {
  Index from = 0, to = to_the_end;  // to: behind the last
};

struct Box {
  TensorName tensor;
  std::vector<Range> ranges;  // empty: all of the tensor
};

struct Wanted {
  std::string_view
      word;  // a summary, "cell", "difference", "shape", "layouts", "wide", "parameters", or a letter
  std::string_view argument;
  std::vector<Box> boxes;
};

[[noreturn]] void refuse(std::string_view number, const std::string& what, const std::string& expected) {
  throw Error(ExitStatus::usage, {.where = "a number in a text",
                                  .what = what,
                                  .got = fmt::format("{{{}}}", number),
                                  .expected = expected});
}

Index read_index(std::string_view text, std::string_view number) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0)
    refuse(number, "an index cannot be read", "a whole number from 0, ':' or 'from:to'");
  return value;
}

Range read_range(std::string_view text, std::string_view number) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    const Index at = read_index(text, number);
    return {at, at + 1};
  }
  Range range;
  if (colon > 0) range.from = read_index(text.substr(0, colon), number);
  if (colon + 1 < text.size()) range.to = read_index(text.substr(colon + 1), number);
  return range;
}

Box read_box(std::string_view text, std::string_view number) {
  const std::size_t bracket = text.find('[');
  const std::string_view name = text.substr(0, bracket);
  const auto tensor = find_tensor_name(name);
  if (!tensor)
    refuse(number, fmt::format("there is no tensor '{}'", name),
           fmt::format("a tensor, such as {}", nearest_tensor_name(name)));
  Box box{*tensor, {}};
  if (bracket == std::string_view::npos) return box;
  if (text.back() != ']') refuse(number, "a box does not end", "']' behind the last index");
  std::string_view rest = text.substr(bracket + 1, text.size() - bracket - 2);
  while (true) {
    const std::size_t comma = rest.find(',');
    box.ranges.push_back(read_range(rest.substr(0, comma), number));
    if (comma == std::string_view::npos) return box;
    rest.remove_prefix(comma + 1);
  }
}

Wanted read_wanted(std::string_view number) {
  const std::size_t space = number.find(' ');
  Wanted wanted{number.substr(0, space), {}, {}};
  if (space != std::string_view::npos) wanted.argument = number.substr(space + 1);
  const auto is = [&](std::string_view word) { return wanted.word == word; };
  const bool bare = space == std::string_view::npos;
  if (bare && (std::ranges::find(letters, wanted.word) != std::end(letters) || is("parameters")))
    return wanted;
  if (bare) {
    wanted.boxes = {read_box(number, number)};
    wanted.word = "cell";
    return wanted;
  }
  if (std::ranges::find(summaries, wanted.word) != std::end(summaries) || is("shape")) {
    wanted.boxes = {read_box(wanted.argument, number)};
  } else if (is("difference")) {
    const std::size_t second = wanted.argument.find(' ');
    if (second == std::string_view::npos)
      refuse(number, "a difference needs two tensors", "{difference A B}");
    wanted.boxes = {read_box(wanted.argument.substr(0, second), number),
                    read_box(wanted.argument.substr(second + 1), number)};
  } else if (is("wide")) {
    if (wanted.argument != "output" && wanted.argument != "scores" && !find_tensor_name(wanted.argument))
      refuse(number, "one wide head has no such number", "output, scores or a gradient, such as grad.query");
  } else if (!(is("layouts") && wanted.argument == "output")) {
    refuse(number, "no such number",
           "a cell, sum, mean, max, min, deviation, difference, shape, layouts or wide");
  }
  return wanted;
}

// The numbers of a box, row-major; none where the trace has no such cells.
std::optional<std::vector<double>> numbers_of(const Box& box, const Trace& trace) {
  const TensorPtr tensor = trace.tensor(box.tensor);
  if (!tensor) return {};
  const Shape& shape = tensor->shape();
  std::vector<Range> ranges = box.ranges;
  if (ranges.empty()) ranges.resize(static_cast<std::size_t>(shape.rank()));
  if (static_cast<Index>(ranges.size()) != shape.rank()) return {};
  std::vector<Index> index;
  for (std::size_t axis = 0; axis < ranges.size(); ++axis) {
    const Index size = shape.size(static_cast<Index>(axis));
    if (ranges[axis].to == to_the_end) ranges[axis].to = size;
    if (ranges[axis].from >= ranges[axis].to || ranges[axis].to > size) return {};
    index.push_back(ranges[axis].from);
  }
  std::vector<double> numbers;
  while (true) {
    numbers.push_back(tensor->at(index));
    std::size_t axis = index.size();
    while (axis > 0 && ++index[axis - 1] == ranges[axis - 1].to) {
      index[axis - 1] = ranges[axis - 1].from;
      --axis;
    }
    if (axis == 0) return numbers;
  }
}

// std::max keeps its first where the second is NaN; here NaN wins, as it does in the operator.
double larger(double a, double b) {
  return std::isnan(a) || a > b ? a : b;
}

double summary(std::string_view word, const std::vector<double>& numbers) {
  double sum = 0.0, most = numbers.front(), least = -numbers.front();
  for (const double number : numbers) {
    sum += number;
    most = larger(most, number);
    least = larger(least, -number);
  }
  if (word == "sum") return sum;
  if (word == "max") return most;
  if (word == "min") return -least;
  const double mean = sum / static_cast<double>(numbers.size());
  if (word == "mean") return mean;
  double squares = 0.0;
  for (const double number : numbers) squares += (number - mean) * (number - mean);
  return std::sqrt(squares / static_cast<double>(numbers.size()));
}

Index size_of(std::string_view letter, const AttentionSizes& sizes) {
  if (letter == "N") return sizes.batch;
  if (letter == "L") return sizes.queries;
  if (letter == "S") return sizes.keys;
  if (letter == "S′") return sizes.all_keys;
  if (letter == "E") return sizes.embed_dim;
  if (letter == "H") return sizes.heads;
  if (letter == "G") return sizes.kv_heads;
  if (letter == "D") return sizes.head_dim;
  return sizes.v_head_dim;
}

std::string wide_head_number(std::string_view what, const Trace& trace) {
  const HeadWidthComparison comparison = compare_head_width(trace);
  if (!comparison.possible()) return std::string(missing);
  if (what == "output") return live_number(comparison.output.difference);
  if (what == "scores") return live_number(comparison.score_sum_difference);
  const auto name = find_tensor_name(what);
  for (const TensorDistance& gradient : comparison.gradients)
    if (name && gradient.tensor == name->id) return live_number(gradient.difference);
  return std::string(missing);
}

std::string layouts_number(const Trace& trace) {
  const LayoutComparison comparison = compare_layouts(trace);
  if (!comparison.not_asked.empty()) return std::string(missing);
  double worst = 0.0;
  for (const LayoutAnswer& layout : comparison.layouts)
    if (layout.possible()) worst = larger(worst, layout.output_difference);
  return live_number(worst);
}

std::string difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::string(missing);
  double worst = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = larger(worst, std::abs(a[i] - b[i]));
  return live_number(worst);
}

std::string text_of(const Wanted& wanted, const Trace& trace) {
  if (wanted.word == "layouts") return layouts_number(trace);
  if (wanted.word == "wide") return wide_head_number(wanted.argument, trace);
  if (wanted.word == "parameters") {
    Index all = 0;
    for (const ParameterCount& count : parameter_counts(traced_inputs(trace))) all += count.numbers;
    return fmt::format("{}", all);
  }
  if (wanted.word == "shape") {
    const TensorPtr tensor = trace.tensor(wanted.boxes[0].tensor);
    return tensor ? tensor->shape().sizes_text() : std::string(missing);
  }
  if (wanted.boxes.empty()) {
    return fmt::format("{}", size_of(wanted.word, attention_sizes(trace.options, trace.tensors)));
  }
  std::vector<std::vector<double>> numbers;
  for (const Box& box : wanted.boxes) {
    auto of_box = numbers_of(box, trace);
    if (!of_box) return std::string(missing);
    numbers.push_back(std::move(*of_box));
  }
  if (wanted.word == "difference") return difference(numbers[0], numbers[1]);
  if (wanted.word == "cell")
    return numbers[0].size() == 1 ? live_number(numbers[0][0]) : std::string(missing);
  return live_number(summary(wanted.word, numbers[0]));
}

// Calls plain(text) and number(inside of the braces) in turn; and lone(the rest) at a brace without its partner.
template <class Plain, class Number, class Lone>
void walk(std::string_view text, const Plain& plain, const Number& number, const Lone& lone) {
  while (!text.empty()) {
    const std::size_t brace = std::min(text.find_first_of("{}"), text.size());
    plain(text.substr(0, brace));
    text.remove_prefix(brace);
    if (text.empty()) return;
    const std::size_t end = text.find_first_of("{}", 1);
    if (text.front() == '}' || end == std::string_view::npos || text[end] == '{') {
      lone(text);
      plain(text.substr(0, 1));
      text.remove_prefix(1);
    } else {
      number(text.substr(1, end - 1));
      text.remove_prefix(end + 1);
    }
  }
}

}  // namespace

std::string live_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  const double size = std::abs(value);
  std::string text;
  if (size == 0.0) {
    text = "0";
  } else if (size < 1e-3 || size >= 1e6) {
    text = fmt::format("{:.2e}", size);
    const std::size_t e = text.find('e');
    const int exponent = std::stoi(text.substr(e + 1));
    text = fmt::format("{}e{}{}", text.substr(0, e), exponent < 0 ? "−" : "", std::abs(exponent));
  } else {
    const int whole = std::max(0, static_cast<int>(std::floor(std::log10(size))));
    text = fmt::format("{:.{}f}", size, size < 1.0 ? 3 : std::max(0, 2 - whole));
  }
  return value < 0.0 ? "−" + text : text;
}

void check_live_text(std::string_view text) {
  walk(
      text, [](std::string_view) {}, [](std::string_view number) { read_wanted(number); },
      [](std::string_view rest) {
        throw Error(ExitStatus::usage, {.where = "a number in a text",
                                        .what = "a brace has no partner",
                                        .got = std::string(rest.substr(0, 40)),
                                        .expected = "{tensor[index]}"});
      });
}

std::vector<std::string> live_gaps(std::string_view text, const Trace& trace) {
  std::vector<std::string> gaps;
  walk(
      text, [](std::string_view) {},
      [&](std::string_view number) {
        if (live_text(fmt::format("{{{}}}", number), trace) == missing) gaps.emplace_back(number);
      },
      [](std::string_view) {});
  return gaps;
}

std::string live_text(std::string_view text, const Trace& trace, LiveAnswers answers) {
  std::string result;
  walk(
      text, [&](std::string_view plain) { result += plain; },
      [&](std::string_view number) {
        Wanted wanted;
        try {
          wanted = read_wanted(number);
        } catch (const Error&) {
          result += fmt::format("{{{}}}", number);
          return;
        }
        if (answers == LiveAnswers::quick && (wanted.word == "layouts" || wanted.word == "wide")) {
          result += not_computed;
          return;
        }
        try {
          result += text_of(wanted, trace);
        } catch (const Error& error) {
          // An answer that would not fit is no reason to lose the sentence around it.
          if (error.status() == ExitStatus::cancelled) throw;
          result += missing;
        }
      },
      [](std::string_view) {});
  return result;
}

}  // namespace headwise
