#include "core/lessons/live_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/attention/attention_sizes.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/score_path.h"
#include "core/attention/score_scale.h"
#include "core/lessons/head_statistics.h"
#include "core/lessons/head_width_comparison.h"
#include "core/lessons/layout_comparison.h"
#include "core/lessons/live_text.h"
#include "core/lessons/operation_counts.h"
#include "core/lessons/traced_inputs.h"
#include "core/scenario/text_inputs.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

using Kind = LiveValue::Kind;

const LiveValue missing{Kind::missing, 0.0, "–"}, not_computed{Kind::not_computed, 0.0, "…"};

// nullopt if the tensor has no such cells.
std::optional<LiveCellRange> resolved(const LiveBox& box, const Shape& shape) {
  std::vector<LiveRange> ranges = box.ranges;
  if (ranges.empty()) ranges.resize(static_cast<std::size_t>(shape.rank()));
  if (static_cast<Index>(ranges.size()) != shape.rank()) return {};
  LiveCellRange result;
  for (std::size_t axis = 0; axis < ranges.size(); ++axis) {
    const Index size = shape.size(static_cast<Index>(axis));
    const auto counted = [&](Index at) { return at < 0 ? at + size : at; };
    result.from.push_back(counted(ranges[axis].from));
    result.to.push_back(ranges[axis].to ? counted(*ranges[axis].to) : size);
    // [−1] is parsed as from −1 to 0: the one cell at the end.
    if (ranges[axis].from == -1 && ranges[axis].to == Index{0}) result.to.back() = size;
    if (result.from.back() < 0 || result.from.back() >= result.to.back() || result.to.back() > size)
      return {};
  }
  return result;
}

// std::max keeps its first argument if the second is NaN; here NaN wins, as in the operator.
double larger(double a, double b) {
  return std::isnan(a) || a > b ? a : b;
}

double deviation_of(const std::vector<double>& numbers) {
  double sum = 0.0, squares = 0.0;
  for (const double number : numbers) sum += number;
  const double mean = sum / static_cast<double>(numbers.size());
  for (const double number : numbers) squares += (number - mean) * (number - mean);
  return std::sqrt(squares / static_cast<double>(numbers.size()));
}

LiveValue distinct_value(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  return live_count_value(std::ranges::unique(numbers).begin() - numbers.begin());
}

LiveValue summary(std::string_view word, const std::vector<double>& numbers) {
  double sum = 0.0, most = numbers.front(), least = -numbers.front();
  for (const double number : numbers) {
    sum += number;
    most = larger(most, number);
    least = larger(least, -number);
  }
  if (word == "sum") return live_number_value(sum);
  if (word == "max") return live_number_value(most);
  if (word == "min") return live_number_value(-least);
  if (word == "mean") return live_number_value(sum / static_cast<double>(numbers.size()));
  if (word == "deviation") return live_number_value(deviation_of(numbers));
  if (word == "finite")
    return live_count_value(std::ranges::count_if(numbers, [](double x) { return std::isfinite(x); }));
  if (word == "distinct") return std::isnan(most) ? missing : distinct_value(numbers);
  // argmax: the first if tied; a row with NaN in it has none
  if (std::isnan(most)) return missing;
  return live_count_value(std::ranges::find(numbers, most) - numbers.begin());
}

LiveValue size_value(std::string_view letter, const AttentionSizes& sizes) {
  if (letter == "N") return live_count_value(sizes.batch);
  if (letter == "L") return live_count_value(sizes.queries);
  if (letter == "S") return live_count_value(sizes.new_keys());
  if (letter == "P") return live_count_value(sizes.past);
  if (letter == "S′") return live_count_value(sizes.all_keys);
  if (letter == "E") return live_count_value(sizes.embed_dim);
  if (letter == "H") return live_count_value(sizes.heads);
  if (letter == "G") return live_count_value(sizes.kv_heads);
  if (letter == "D") return live_count_value(sizes.head_dim);
  return live_count_value(sizes.v_head_dim);
}

LiveValue wide_head_value(std::string_view what, const LiveSubject& subject) {
  if (!subject.head_width)
    subject.head_width = std::make_shared<const HeadWidthComparison>(compare_head_width(subject.trace));
  const HeadWidthComparison& comparison = *subject.head_width;
  if (!comparison.possible()) return missing;
  if (what == "output") return live_number_value(comparison.output.difference);
  if (what == "scores") return live_number_value(comparison.score_sum_difference);
  const auto name = find_tensor_name(what);
  for (const TensorDistance& gradient : comparison.gradients)
    if (name && gradient.tensor == name->id) return live_number_value(gradient.difference);
  return missing;
}

LiveValue layouts_value(const LiveSubject& subject) {
  if (is_latent(subject.trace.options)) return live_number_value(latent_layout_difference(subject.trace));
  if (!subject.layouts)
    subject.layouts = std::make_shared<const LayoutComparison>(compare_layouts(subject.trace));
  const LayoutComparison& comparison = *subject.layouts;
  if (!comparison.not_asked.empty()) return missing;
  double worst = 0.0;
  for (const LayoutAnswer& layout : comparison.layouts)
    if (layout.possible()) worst = larger(worst, layout.output_difference);
  return live_number_value(worst);
}

LiveValue difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return missing;
  double worst = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i)
    // NaN differs from every number, and equal infinities do not differ.
    worst = larger(worst, a[i] == b[i] ? 0.0 : std::abs(a[i] - b[i]));
  return live_number_value(worst);
}

// The deviation of Σ_{c < products} q_c·k_c over all pairs of all heads; missing for a number beyond D.
LiveValue spread_value(Index products, const Trace& trace) {
  const TensorPtr &q = queries_of_scores(trace.tensors, trace.options),
                  &k = keys_of_scores(trace.tensors, trace.options);
  if (!q || !k || products < 1 || products > q->shape().size(3)) return missing;
  const Index batch = q->shape().size(0), heads = q->shape().size(1), queries = q->shape().size(2);
  const Index shared = heads / k->shape().size(1), keys = k->shape().size(2);
  std::vector<double> sums;
  for (Index n = 0; n < batch; ++n)
    for (Index h = 0; h < heads; ++h)
      for (Index i = 0; i < queries; ++i)
        for (Index j = 0; j < keys; ++j) {
          double sum = 0.0;
          for (Index c = 0; c < products; ++c) sum += q->at({n, h, i, c}) * k->at({n, h / shared, j, c});
          sums.push_back(sum);
        }
  return sums.empty() ? missing : live_number_value(deviation_of(sums));
}

// Of a negative pair, counted from the last.
std::optional<double> frequency(const std::vector<double>& of_pairs, Index pair) {
  const auto count = static_cast<Index>(of_pairs.size());
  if (pair < 0) pair += count;
  if (pair < 0 || pair >= count) return {};
  return of_pairs[static_cast<std::size_t>(pair)];
}

LiveValue turn_value(Index pair, const Trace& trace) {
  const auto turn = frequency(rotation_of(trace.options).inverse_frequencies, pair);
  return turn ? live_number_value(*turn) : missing;
}

// How many times more slowly a pair turns than by the scenario's base alone.
LiveValue stretch_value(Index pair, const LiveSubject& subject) {
  if (!subject.scenario || !subject.scenario->attention.rotary_base) return missing;
  const AttentionOptions& options = subject.trace.options;
  const std::vector<double> stretched = rotation_of(options).inverse_frequencies;
  if (stretched.empty()) return missing;
  const auto now = frequency(stretched, pair);
  const auto before = frequency(
      rotary_inverse_frequencies(2 * std::ssize(stretched), *subject.scenario->attention.rotary_base), pair);
  return now && before ? live_number_value(*before / *now) : missing;
}

LiveValue token_value(const std::vector<std::string>& words, Index at) {
  const auto count = static_cast<Index>(words.size());
  if (at < 0) at += count;
  return at < 0 || at >= count ? missing : live_word_value(words[static_cast<std::size_t>(at)]);
}

LiveValue role_value(const std::vector<HeadDescription>& heads, Index head) {
  if (head < 0 || head >= static_cast<Index>(heads.size())) return missing;
  return live_word_value(heads[static_cast<std::size_t>(head)].name);
}

// "induction 2": a score of head 2, in batch 0.
LiveValue habit_value(const std::string& argument, const LiveSubject& subject) {
  const std::size_t blank = argument.find(' ');
  const std::optional<HeadScore> score = head_score_named(argument.substr(0, blank));
  if (!score || !subject.scenario || !subject.inputs) return missing;
  const auto scores = traced_habits(subject.trace, *subject.scenario, *subject.inputs, 0,
                                    std::stoll(argument.substr(blank + 1)));
  if (!scores || !(*scores)[*score].value) return missing;
  return live_number_value(*(*scores)[*score].value);
}

LiveValue trained_value(std::string_view what, const LiveSubject& subject) {
  if (!subject.inputs || !subject.inputs->model_input) return missing;
  const TrainedTask& task = subject.inputs->model_input->model->task();
  if (what == "step") return task.step ? live_count_value(*task.step) : missing;
  const std::optional<double>& number = what == "loss" ? task.held_out_loss : task.held_out_accuracy;
  return number ? live_number_value(*number) : missing;
}

LiveValue computed(const LiveQuantity& quantity, const LiveSubject& subject) {
  const Trace& trace = subject.trace;
  const auto is = [&](std::string_view word) { return quantity.word == word; };
  if (is("layouts")) return layouts_value(subject);
  if (is("wide")) return wide_head_value(quantity.argument, subject);
  if (is("parameters")) return live_count_value(total_parameters(parameter_counts(traced_inputs(trace))));
  if (is("setting")) return subject.scenario ? setting_value(*subject.scenario, quantity.argument) : missing;
  if (is("habit")) return habit_value(quantity.argument, subject);
  if (is("trained")) return trained_value(quantity.argument, subject);
  if (is("spread")) return spread_value(std::stoll(quantity.argument), trace);
  if (is("turn")) return turn_value(std::stoll(quantity.argument), trace);
  if (is("stretch")) return stretch_value(std::stoll(quantity.argument), subject);
  if (is("shape")) {
    const TensorPtr tensor = trace.tensor(quantity.boxes[0].tensor);
    return tensor ? live_word_value(tensor->shape().sizes_text()) : missing;
  }
  if (is("frozen")) {
    const Index head = std::stoll(quantity.argument);
    if (head < 0 || head >= trace.options.num_heads) return missing;
    return live_count_value(std::ranges::count(trace.options.frozen_heads, head));
  }
  if ((is("query") || is("key") || is("role")) && !subject.inputs) return missing;
  if (is("role")) return role_value(subject.inputs->heads, std::stoll(quantity.argument));
  if (is("query")) return token_value(subject.inputs->labels.query, std::stoll(quantity.argument));
  if (is("key") && quantity.boxes.empty())
    return token_value(subject.inputs->labels.key, std::stoll(quantity.argument));
  if (quantity.boxes.empty()) {
    const AttentionSizes sizes = attention_sizes(trace.options, trace.tensors);
    return is("scale") ? live_number_value(score_scale(trace.options).factor())
                       : size_value(quantity.word, sizes);
  }
  std::vector<std::vector<double>> numbers;
  for (const LiveBox& box : quantity.boxes) {
    auto of_box = live_box_numbers(box, trace);
    if (!of_box) return missing;
    numbers.push_back(std::move(*of_box));
  }
  if (is("difference")) return difference(numbers[0], numbers[1]);
  if (is("cell")) return numbers[0].size() == 1 ? live_number_value(numbers[0][0]) : missing;
  if (is("key")) {
    const LiveValue brightest = summary("argmax", numbers[0]);
    return brightest.kind == Kind::number
               ? token_value(subject.inputs->labels.key, static_cast<Index>(brightest.number))
               : missing;
  }
  return summary(quantity.word, numbers[0]);
}

}  // namespace

std::optional<LiveCellRange> live_box_cells(const LiveBox& box, const Trace& trace) {
  const TensorPtr tensor = trace.tensor(box.tensor);
  return tensor ? resolved(box, tensor->shape()) : std::nullopt;
}

std::optional<std::vector<double>> live_box_numbers(const LiveBox& box, const Trace& trace) {
  const TensorPtr tensor = trace.tensor(box.tensor);
  const std::optional<LiveCellRange> cells = live_box_cells(box, trace);
  if (!cells) return {};
  std::vector<Index> index = cells->from;
  std::vector<double> numbers;
  while (true) {
    numbers.push_back(tensor->at(index));
    std::size_t axis = index.size();
    while (axis > 0 && ++index[axis - 1] == cells->to[axis - 1]) {
      index[axis - 1] = cells->from[axis - 1];
      --axis;
    }
    if (axis == 0) return numbers;
  }
}

LiveValue live_number_value(double number) {
  return {Kind::number, number, live_number(number)};
}

LiveValue live_count_value(Index count) {
  return {Kind::number, static_cast<double>(count), count_text(count)};
}

LiveValue live_word_value(std::string word) {
  return {Kind::word, 0.0, std::move(word)};
}

LiveValue live_value(const LiveQuantity& quantity, const LiveSubject& subject, LiveAnswers answers) {
  if (answers == LiveAnswers::quick && (quantity.word == "layouts" || quantity.word == "wide"))
    return not_computed;
  try {
    return computed(quantity, subject);
  } catch (const Error& error) {
    // An answer that would not fit is no reason to drop the sentence around it.
    if (error.status() == ExitStatus::cancelled) throw;
    return missing;
  }
}

}  // namespace headwise
