#include "app/content/step_words.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/content/cell_terms.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/score_path.h"
#include "core/attention/score_scale.h"
#include "core/export/heatmap.h"
#include "core/export/number_text.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

// Null if there is none; a mask may be shared by all sequences or all heads.
std::optional<MatrixView> map_of(const TensorPtr& tensor, Index batch, Index head) {
  if (!tensor || tensor->shape().rank() != 4 || tensor->size() == 0) return std::nullopt;
  const std::array<Index, 2> place{std::clamp<Index>(batch, 0, tensor->shape().size(0) - 1),
                                   std::clamp<Index>(head, 0, tensor->shape().size(1) - 1)};
  return matrix_view(tensor, place);
}

using Id = TensorId;

// The formulas of a step with several are separated by four spaces.
std::vector<std::string> formula_lines(std::string_view formula) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < formula.size();) {
    const std::size_t end = std::min(formula.find("    ", at), formula.size());
    lines.emplace_back(formula.substr(at, end - at));
    at = std::min(formula.find_first_not_of(' ', end), formula.size());
  }
  return lines;
}

// The formula and the sentence of this row of steps.txt; none if there is no such row.
std::optional<StepWords> own_words(std::string_view key) {
  const auto row = std::ranges::find(step_rows(), key, &WordRow::key);
  if (row == step_rows().end()) return std::nullopt;
  const std::vector<std::string_view> parts = parts_in(row->value);
  return StepWords{formula_lines(parts.front()), std::string(parts.back())};
}

// Given frequencies do not follow from a base.
void without_base(StepWords& words) {
  if (words.formulas.size() == 2) words.formulas[1] = "θ = position · inverse frequency of pair j";
}

std::string scale_formula(const AttentionOptions& options) {
  ScoreScale after = score_scale(options);
  after.steps.erase(after.steps.begin());
  return "scaledₕ = " +
         after.text(options.scale ? fmt::format("{:g} · scoresₕ", *options.scale) : "scoresₕ / √D",
                    {[](double number) { return fmt::format("{:g}", number); }});
}

std::string norm_gain(const StepFacts& facts) {
  const double offset = facts.options.qk_norm_offset;
  return !facts.norm_weights ? "" : offset == 0.0 ? "w ⊙ " : fmt::format("({:g} + w) ⊙ ", offset);
}

// "q_normed = (1 + w) ⊙ q / √(mean q² + ε)", for what is normalised, with what and how.
std::string norm_formula(char letter, const StepFacts& facts) {
  const AttentionOptions& o = facts.options;
  const std::string x(1, letter);
  const std::string normed = o.qk_norm_kind == NormKind::layer
                                 ? fmt::format("({0} − mean {0}) / √(variance + ε)", x)
                             : o.qk_norm_kind == NormKind::rms ? fmt::format("{0} / √(mean {0}² + ε)", x)
                                                               : fmt::format("{0} / √(Σ {0}² + ε)", x);
  return fmt::format("{}_normed = {}{}", x, norm_gain(facts), normed);
}

// "grad q = (dn − n ⊙ mean(dn ⊙ n)) / √(mean q² + ε)" and what dn is, likewise.
std::vector<std::string> norm_gradient_formulas(char letter, const StepFacts& facts) {
  const AttentionOptions& o = facts.options;
  const char* const divided = o.qk_norm_kind == NormKind::layer
                                  ? "(dn − mean dn − n ⊙ mean(dn ⊙ n)) / √(variance + ε)"
                              : o.qk_norm_kind == NormKind::rms ? "(dn − n ⊙ mean(dn ⊙ n)) / √(mean {0}² + ε)"
                                                                : "(dn − n ⊙ Σ(dn ⊙ n)) / √(Σ {0}² + ε)";
  return {fmt::format("grad {0} = {1}", letter, fmt::format(fmt::runtime(divided), letter)),
          fmt::format("dn = {}grad {}_normed", norm_gain(facts), letter)};
}

// "k = key W_kᵀ + b_k" for a layer without biases
void without_bias(StepWords& words) {
  for (std::string& formula : words.formulas) {
    const std::size_t at = formula.find(" + b_");
    if (at != std::string::npos) formula.erase(at);
  }
  constexpr std::string_view said = ", plus a bias";
  if (const std::size_t at = words.sentence.find(said); at != std::string::npos)
    words.sentence.erase(at, said.size());
}

void add_mask_sentence(StepWords& words, const StepFacts& facts) {
  const std::optional<double>& fill = facts.options.mask_value;
  const std::string merged = " All masks are merged into this one number per pair.";
  if (!facts.masked) {
    words.sentence =
        "No mask is set, so nothing is added. A blocked pair would get −∞ added, which the softmax turns "
        "into exactly 0.";
    return;
  }
  if (!facts.blocks) {
    words.sentence =
        (facts.adds ? "Each pair's number from mask_bias is added: the lower it is, the less the key counts. "
                      "No pair of this map is blocked."
                    : "0 is added to every pair of this map, which changes nothing: none is blocked.") +
        merged;
    return;
  }
  const std::string allowed = facts.adds ? "an allowed pair gets its number from mask_bias added."
                                         : "an allowed pair gets 0 added and is unchanged.";
  if (!fill) {
    words.sentence =
        "A blocked pair gets −∞ added, which the softmax turns into exactly 0; " + allowed + merged;
    return;
  }
  const std::string number = decimal_text(*fill, 0);
  words.formulas = {fmt::format("maskedₕ = {} where blocked", number), "else scaledₕ + mask_bias"};
  words.sentence = fmt::format(
      "A blocked pair's score becomes {0}, not −∞: the softmax treats it like any other score, and its "
      "weight is close to 0 only if {0} is far below the row's other scores; {1}{2}",
      number, allowed, merged);
}

// "sums to 1" is said only of rows that do.
void add_row_sentence(StepWords& words, const StepFacts& facts) {
  if (const Index n = facts.nan_rows; n > 0)
    words.sentence += n == 1 ? " 1 row of this map has no finite score: it is NaN."
                             : fmt::format(" {} rows of this map have no finite score: they are NaN.", n);
  if (const Index n = facts.zero_rows; n > 0)
    words.sentence += n == 1 ? " 1 row of this map is fully masked: it is set to 0."
                             : fmt::format(" {} rows of this map are fully masked: they are set to 0.", n);
}

std::string quoted_or_numbered(const std::vector<std::string>& labels, Index at, std::string_view letter) {
  const bool token = at < static_cast<Index>(labels.size());
  const std::string name = token_at(labels, at, letter);
  return token ? "“" + name + "”" : name;
}

// One row of a tensor, whatever its leading axes are;
// a map shared by all sequences or heads is read at its only index.
std::vector<double> row_of(const TensorPtr& tensor, const FollowedRow& row, Index head) {
  if (!tensor || tensor->size() == 0 || tensor->shape().rank() < 2) return {};
  const Shape& shape = tensor->shape();
  std::vector<Index> index(static_cast<std::size_t>(shape.rank()), 0);
  for (Index axis = 0; axis + 1 < shape.rank(); ++axis) {
    const std::string& name = shape.name(axis);
    const Index wanted = name == "N" ? row.batch : name == "H" ? head : name == "L" ? row.token : 0;
    index[static_cast<std::size_t>(axis)] = std::min(wanted, shape.size(axis) - 1);
  }
  std::vector<double> values(static_cast<std::size_t>(shape.size(shape.rank() - 1)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    index.back() = static_cast<Index>(i);
    values[i] = tensor->at(index);
  }
  return values;
}

double length_of(const std::vector<double>& values, std::size_t begin = 0, std::size_t end = SIZE_MAX) {
  double sum = 0.0;
  for (std::size_t i = begin; i < std::min(end, values.size()); ++i) sum += values[i] * values[i];
  return std::sqrt(sum);
}

bool has_nan(const std::vector<double>& values) {
  return std::ranges::any_of(values, [](double value) { return std::isnan(value); });
}

std::string number(double value) {
  return decimal_text(value, 2);
}

struct Row {
  const Trace& trace;
  const TokenLabels& labels;
  const FollowedRow& at;
  Index head;

  std::vector<double> of(Id id) const { return row_of(trace.tensor(id), at, head); }
  std::string name() const { return followed_name(labels, at); }
  std::string key(std::size_t j) const {
    return quoted_or_numbered(labels.key, static_cast<Index>(j), "key ");
  }
};

constexpr const char* not_a_number = "Its row has NaN: some number it was computed from is not one.";

std::size_t best_of(const std::vector<double>& values) {
  return static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
}

// Largest first, those worth 0 left out.
std::vector<std::size_t> largest_two(const std::vector<double>& values) {
  std::vector<std::size_t> order;
  for (std::size_t j = 0; j < values.size(); ++j)
    if (values[j] != 0.0) order.push_back(j);
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return std::abs(values[a]) > std::abs(values[b]); });
  order.resize(std::min<std::size_t>(order.size(), 2));
  return order;
}

std::string inputs_sentence(const Row& row) {
  const std::vector<double> values = row.of(Id::query);
  if (values.empty()) return {};
  if (has_nan(values)) return not_a_number;
  return fmt::format("{} is row {} of query: {} numbers, a vector of length {}.", row.name(), row.at.token,
                     values.size(), number(length_of(values)));
}

std::string project_sentence(const Row& row) {
  const std::vector<double> before = row.of(Id::query), after = row.of(Id::q);
  if (before.empty() || after.empty()) return {};
  if (has_nan(after)) return not_a_number;
  return fmt::format(
      "W_q turns its row of query (length {}) into its row of q (length {}): what it asks of the keys.",
      number(length_of(before)), number(length_of(after)));
}

std::string split_sentence(const Row& row) {
  const std::vector<double> whole = row.of(Id::q), part = row.of(Id::q_heads);
  if (whole.empty() || part.empty()) return {};
  if (has_nan(part)) return not_a_number;
  const auto begin = static_cast<std::size_t>(row.head) * part.size();
  return fmt::format("Head {} takes columns {} to {} of its row of q: {} of {} numbers, of length {}.",
                     row.head, begin, begin + part.size() - 1, part.size(), whole.size(),
                     number(length_of(part)));
}

std::string norm_sentence(const Row& row) {
  const Id before = made_of(Id::q_normed, row.trace.options);
  const std::vector<double> long_row = row.of(before), normed = row.of(Id::q_normed);
  if (long_row.empty() || normed.empty()) return {};
  if (has_nan(normed)) return not_a_number;
  return fmt::format("Its row of {} had the length {}, and now has {}.", tensor_entry(before).name,
                     number(length_of(long_row)), number(length_of(normed)));
}

std::string scores_sentence(const Row& row) {
  const std::vector<double> scores = row.of(Id::scores);
  if (scores.empty()) return {};
  if (has_nan(scores)) return not_a_number;
  const std::size_t best = best_of(scores);
  const auto worst = static_cast<std::size_t>(std::ranges::min_element(scores) - scores.begin());
  if (scores[best] == scores[worst])
    return fmt::format("Its query matches every key alike: {}.", number(scores[best]));
  return fmt::format("Its query matches {} best ({}) and {} least ({}).", row.key(best), number(scores[best]),
                     row.key(worst), number(scores[worst]));
}

std::string scale_sentence(const Row& row) {
  const std::vector<double> before = row.of(Id::scores), after = row.of(Id::scaled_scores);
  if (before.empty() || after.empty()) return {};
  if (has_nan(after)) return not_a_number;
  const auto [low, high] = std::ranges::minmax(before);
  const auto [scaled_low, scaled_high] = std::ranges::minmax(after);
  return fmt::format("Its scores ranged from {} to {}, and now from {} to {}.", number(low), number(high),
                     number(scaled_low), number(scaled_high));
}

std::string mask_sentence(const Row& row) {
  const std::vector<double> scores = row.of(Id::masked_scores);
  if (scores.empty()) return {};
  const std::vector<double> bias = row.of(Id::mask_bias);
  if (bias.empty()) return fmt::format("No mask: it may attend to all {} keys.", scores.size());
  const auto blocked = static_cast<std::size_t>(std::ranges::count(bias, -INFINITY));
  if (blocked == bias.size())
    return fmt::format("All {} keys are blocked: {} may attend to none.", bias.size(), row.name());
  if (has_nan(scores)) return not_a_number;
  const std::size_t best = best_of(scores);
  const std::string rest = fmt::format("the best {}is {} ({}).", blocked == 0 ? "" : "of the rest ",
                                       row.key(best), number(scores[best]));
  if (blocked == 0) return fmt::format("None of its {} keys is blocked; {}", bias.size(), rest);
  return fmt::format("{} of its {} keys {} blocked; {}", blocked, bias.size(), blocked == 1 ? "is" : "are",
                     rest);
}

std::string softmax_sentence(const Row& row) {
  const std::vector<double> weights = row.of(Id::attn_weights);
  if (weights.empty()) return {};
  if (has_nan(weights)) return "Its weights are NaN.";
  const std::vector<std::size_t> largest = largest_two(weights);
  if (largest.empty()) return "It attends to no key: all its weights are 0.";
  const auto share = [&](std::size_t j) {
    const double percent = 100.0 * weights[j];
    return fmt::format("{:.{}f} % ", percent, percent > 99.0 && percent < 100.0 ? 2 : 1);
  };
  std::string sink;
  if (const TensorPtr& sinks = row.trace.tensors.sink_weights)
    sink = fmt::format(" The sink takes {:.1f} %.", 100.0 * sinks->at({row.at.batch, row.head, row.at.token}));
  if (largest.size() == 1)
    return fmt::format("{}of its attention goes to one key, {}.{}", share(largest[0]), row.key(largest[0]),
                       sink);
  return fmt::format("{}of its attention goes to {}, {}to {}.{}", share(largest[0]), row.key(largest[0]),
                     share(largest[1]), row.key(largest[1]), sink);
}

std::string sum_sentence(const Row& row) {
  // What multiplies the values: after dropout, where there is any.
  const std::vector<double> dropped = row.of(Id::dropped_weights);
  const std::vector<double> weights = dropped.empty() ? row.of(Id::attn_weights) : dropped;
  const std::vector<double> made = row.of(Id::head_output);
  if (weights.empty() || made.empty()) return {};
  if (has_nan(made)) return not_a_number;
  const std::vector<std::size_t> largest = largest_two(weights);
  if (largest.empty()) return "Nothing is added up: all its weights are 0.";
  std::string sum;
  for (const std::size_t j : largest)
    sum += fmt::format("{}{} × the value of {}", sum.empty() ? "" : " + ", decimal_text(weights[j], 3),
                       row.key(j));
  const auto others = std::ranges::count_if(weights, [](double weight) { return weight != 0.0; }) -
                      static_cast<std::ptrdiff_t>(largest.size());
  if (others > 0) sum += fmt::format(" + {}", counted(others, "smaller part"));
  return fmt::format("Head {} gives it {}: length {}.", row.head, sum, number(length_of(made)));
}

std::string concat_sentence(const Row& row) {
  const std::vector<double> joined = row.of(Id::concat), own = row.of(Id::head_output);
  if (joined.empty() || own.empty()) return {};
  if (has_nan(joined)) return not_a_number;
  const std::size_t width = own.size(), heads = joined.size() / width;
  std::vector<double> lengths(heads);
  for (std::size_t h = 0; h < heads; ++h) lengths[h] = length_of(joined, h * width, (h + 1) * width);
  const std::size_t longest = best_of(lengths);
  const auto begin = static_cast<std::size_t>(row.head) * width;
  return fmt::format(
      "Head {}’s {} numbers are columns {} to {} of its row; of the {} heads, head {}’s are longest ({}).",
      row.head, width, begin, begin + width - 1, heads, longest, number(lengths[longest]));
}

std::string output_sentence(const Row& row) {
  const std::vector<double> joined = row.of(Id::concat), made = row.of(Id::output);
  if (made.empty()) return {};
  if (has_nan(made)) return not_a_number;
  if (joined.empty()) return fmt::format("Its output: a vector of length {}.", number(length_of(made)));
  return fmt::format("W_O mixes all heads: its row of concat (length {}) becomes its output (length {}).",
                     number(length_of(joined)), number(length_of(made)));
}

}  // namespace

StepFacts step_facts(const Trace& trace, Step step, Index batch, Index head) {
  const TraceTensors& t = trace.tensors;
  StepFacts facts;
  facts.options = trace.options;
  facts.projection_bias = t.in_proj_bias != nullptr;
  facts.norm_weights = t.q_norm_weight != nullptr;
  facts.output_bias = t.out_proj_bias != nullptr;
  facts.sinks = t.sinks != nullptr;
  facts.masked = t.mask_bias != nullptr;
  facts.blocks = false;
  if (const auto mask = step == Step::mask ? map_of(t.mask_bias, batch, head) : std::nullopt) {
    for (Index i = 0; i < mask->rows; ++i)
      for (Index j = 0; j < mask->cols; ++j) {
        const double bias = mask->value(i, j);
        facts.blocks |= bias == -INFINITY;
        facts.adds |= bias != -INFINITY && bias != 0.0;
      }
  }
  if (const auto weights = step == Step::softmax ? map_of(t.attn_weights, batch, head) : std::nullopt) {
    for (Index i = 0; i < weights->rows; ++i) {
      double sum = 0.0;
      for (Index j = 0; j < weights->cols; ++j) sum += weights->value(i, j);
      facts.nan_rows += std::isnan(sum) ? 1 : 0;
      facts.zero_rows += sum == 0.0 ? 1 : 0;
    }
  }
  return facts;
}

namespace embedded {
std::span<const unsigned char> words_steps();
}  // namespace embedded

std::span<const WordRow> step_rows() {
  static const std::vector<WordRow> rows = word_rows(embedded::words_steps(), "steps.txt");
  return rows;
}

StepWords step_words(Step step, const StepPicture& picture, const StepFacts& facts) {
  const AttentionOptions& options = facts.options;
  const Id result = picture.result;
  if (result == Id::output && !picture.above)
    return {{"output = head_output"},
            "scaled_dot_product_attention ends here: the heads are neither concatenated nor mixed."};
  const bool turns = result == Id::q_rotary || result == Id::k_rotary;
  const std::string name(tensor_entry(result).name);
  std::optional<StepWords> own =
      own_words(turns && options.rotary_pairs == RotaryPairs::neighbours ? name + " of neighbours" : name);
  const bool clips = options.clip_qkv && step == Step::split_heads &&
                     (result == Id::q_heads || result == Id::k_heads || result == Id::v_heads);
  const std::string clipped =
      clips ? fmt::format(" Then every number is clipped to [−{0:g}, {0:g}]: clip_qkv.", *options.clip_qkv)
            : "";
  if (own && step != Step::inputs) {
    own->sentence += clipped;
    if (result == Id::k_normed) own->formulas = {norm_formula('k', facts)};
    if (!options.rotary_base) without_base(*own);
    if (turns && options.rotary_factor != 1.0) {
      own->formulas[0] =
          fmt::format("{} = {:.4g} · ({})", own->formulas[0].substr(0, own->formulas[0].find(" = ")),
                      options.rotary_factor, own->formulas[0].substr(own->formulas[0].find(" = ") + 3));
      constexpr std::string_view same_length = " No length changes.";
      if (own->sentence.ends_with(same_length))
        own->sentence.resize(own->sentence.size() - same_length.size());
      own->sentence += fmt::format(" The row is then made {:.4g} times as long.", options.rotary_factor);
    }
    if (step == Step::project && !facts.projection_bias) without_bias(*own);
    return own.value();
  }
  const StepEntry& entry = step_entries()[static_cast<std::size_t>(step)];
  StepWords words{formula_lines(entry.formula), std::string(entry.sentence) + clipped};
  if (step == Step::scale && !is_default_scale(options)) {
    words.formulas = {scale_formula(options)};
    words.sentence += " Here it differs, as the formula above shows.";
  }
  if (step == Step::scores && picture.left && *picture.left != Id::q_heads) {
    words.formulas = {fmt::format("scoresₕ = {0}ₕ {1}ₕᵀ", tensor_entry(*picture.left).name,
                                  tensor_entry(path_of_keys(options).back()).name)};
    words.sentence += options.qk_norm && has_rotary_embedding(options)
                          ? " Both rows were first normalised, and rotated by their positions."
                      : options.qk_norm ? " Both rows were first normalised."
                                        : " Both rows were first rotated by their positions.";
  }
  if (step == Step::normalise) words.formulas = {norm_formula('q', facts)};
  if ((step == Step::project && !facts.projection_bias) || (step == Step::output && !facts.output_bias))
    without_bias(words);
  if (step == Step::mask) add_mask_sentence(words, facts);
  if (step == Step::softmax && facts.sinks)
    words = {
        {"Aₕ = exp(maskedₕ − max) / (exp(sinkₕ − max) + Σ exp(maskedₕ − max))    along each row"},
        "Each row becomes weights that sum to less than 1: the sum below the line has one score more, the "
        "head's sink, which is the same in every row. No value belongs to it, so a head whose keys all "
        "score low adds little to the output."};
  if (step == Step::softmax) add_row_sentence(words, facts);
  // Three products, and the stage shows one of them.
  if (step == Step::project && words.formulas.size() == 3 && result == Id::q) words.formulas.resize(1);
  return words;
}

std::string step_question(Step step, const AttentionOptions& options) {
  if (step == Step::split_heads && has_rotary_embedding(options) && options.qk_norm != QkNorm::per_head) {
    return options.op == Op::multi_head_attention
               ? "when are the heads split? here; then q and k are rotated by their positions"
               : "where are the tokens? q and k are rotated by their positions";
  }
  if (step == Step::split_heads && options.clip_qkv)
    return fmt::format("when are the heads split? here; then numbers beyond ±{:g} are clipped",
                       *options.clip_qkv);
  const std::string question(step_entries()[static_cast<std::size_t>(step)].question);
  if (step == Step::normalise && options.qk_norm == QkNorm::whole)
    return "how long is a whole row of q and k, all heads together? here all are brought to one length";
  if (step != Step::scale || is_default_scale(options)) return question;
  if (options.scale && *options.scale == 1.0 && score_scale(options).steps.size() == 1)
    return "nothing is divided by √D here: how large are the scores?";
  return "not only divided by √D here: how large are the scores?";
}

std::optional<StepWords> backward_words(Step step, const StepPicture& picture, const StepFacts& facts) {
  const StepEntry& entry = step_entries()[static_cast<std::size_t>(step)];
  std::optional<StepWords> words =
      own_words(fmt::format("{}: grad {}", entry.name, tensor_entry(picture.result).name));
  if (!words) return words;
  if (step == Step::scores && picture.left && *picture.left != Id::q_heads) {
    const std::string_view q = tensor_entry(*picture.left).name;
    const std::string_view k = tensor_entry(path_of_keys(facts.options).back()).name;
    words->formulas = {fmt::format("grad {}ₕ = grad scoresₕ {}ₕ", q, k),
                       fmt::format("grad {}ₕ = grad scoresₕᵀ {}ₕ", k, q)};
  }
  if (picture.result == Id::q_normed) words->formulas = norm_gradient_formulas('q', facts);
  if (picture.result == Id::k_normed) words->formulas = norm_gradient_formulas('k', facts);
  if ((picture.result == Id::q_rotary || picture.result == Id::k_rotary) && facts.options.rotary_factor != 1.0)
    words->sentence +=
        fmt::format(" It is also multiplied by {:.4g}, as cos and sin were.", facts.options.rotary_factor);
  if (facts.options.mask_value && facts.blocks && step == Step::mask)
    words->sentence =
        "Addition leaves gradients unchanged. A blocked score was replaced by the fill value, so it gets no "
        "gradient.";
  if (facts.options.clip_qkv && step == Step::split_heads && picture.result == Id::q_heads)
    words->sentence =
        "The gradients of the heads are put back side by side; a clipped number gets no gradient.";
  return words;
}

std::optional<FollowedRow> followed_row(const Trace& trace, const Selection& selection) {
  const auto pinned = selection_within(selection, trace).pinned;
  if (!pinned) return std::nullopt;
  const TensorPtr tensor = trace.tensor(pinned->tensor);
  // The gradient of a tensor may still be on its way: it has the tensor's axes.
  const TensorPtr shaped = tensor ? tensor : trace.tensor(pinned->tensor.id);
  if (!shaped) return std::nullopt;
  FollowedRow row;
  bool found = false;
  for (Index axis = 0; axis < shaped->shape().rank(); ++axis) {
    const Index at = pinned->index[static_cast<std::size_t>(axis)];
    if (shaped->shape().name(axis) == "N") row.batch = at;
    if (shaped->shape().name(axis) == "L") {
      row.token = at;
      found = true;
    }
  }
  return found ? std::optional(row) : std::nullopt;
}

std::optional<FollowedLine> followed_line(const StageMatrix& matrix, const FollowedRow& row) {
  if (!matrix.view.tensor) return std::nullopt;
  const Shape& shape = matrix.view.tensor->shape();
  if (!matrix.leading.empty() && shape.name(0) == "N" && matrix.leading.front() != row.batch)
    return std::nullopt;
  const auto inside = [](Index at, Index count) { return at >= 0 && at < count; };
  const Index at = row.token - matrix.row_begin;
  if (matrix.row_axis == "L" && inside(at, matrix.view.rows)) return FollowedLine{false, at};
  if (matrix.col_axis == "L" && inside(at, matrix.view.cols)) return FollowedLine{true, at};
  return std::nullopt;
}

std::string followed_name(const TokenLabels& labels, const FollowedRow& row) {
  return quoted_or_numbered(labels.query, row.token, "query ");
}

std::string followed_sentence(const Trace& trace, const TokenLabels& labels, const Selection& selection,
                              const FollowedRow& followed) {
  // In the order of Step. Only the module projects and splits.
  constexpr std::array<std::string (*)(const Row&), step_count> sentences{
      inputs_sentence,  project_sentence, split_sentence,  scores_sentence, scale_sentence, mask_sentence,
      softmax_sentence, sum_sentence,     concat_sentence, output_sentence, norm_sentence};
  const Step step = selection.step;
  if ((step == Step::project || step == Step::split_heads) && trace.options.op != Op::multi_head_attention)
    return {};
  return sentences[static_cast<std::size_t>(step)]({trace, labels, followed, selection.head});
}

}  // namespace headwise
