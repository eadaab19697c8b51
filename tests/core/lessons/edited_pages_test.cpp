// No sentence of a lesson becomes false, whatever one thing is changed on its page.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/attention/reference_backend.h"
#include "core/attention/rotary_scaling.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/attention/softmax.h"
#include "core/attention/steps.h"
#include "core/lessons/lessons.h"
#include "core/model/transformer/text_model.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/error.h"
#include "core/tensor/random.h"
#include "tests/checks.h"
#include "tests/core/lessons/page_claims.h"
#include "tests/core/lessons/page_edits.h"

using namespace headwise;
using namespace headwise::lessons_test;

namespace {

struct Edited {
  PageEdit edit;
  ScenarioInputs inputs;
  TracePtr trace;
};

// Nothing where the edit makes no valid scenario, or needs a file. As in the window,
// random parameters stay what they were.
std::optional<Edited> edited_page(PageEdit edit, const ScenarioInputs& inputs_before) {
  try {
    ScenarioInputs inputs = make_scenario_inputs(edit.scenario, DType::f32, {}, &inputs_before);
    TracePtr trace = reference_forward(inputs.attention);
    return Edited{std::move(edit), std::move(inputs), std::move(trace)};
  } catch (const Error&) {
    return std::nullopt;
  }
}

Edited unedited_page(const Scenario& page) {
  ScenarioInputs inputs = make_scenario_inputs(page, DType::f32);
  TracePtr trace = reference_forward(inputs.attention);
  return {{"nothing", page}, std::move(inputs), std::move(trace)};
}

std::vector<PageEdit> edits_of(const Edited& page) {
  return page_edits(page.edit.scenario, *page.trace);
}

// "head" or "heads": a word within another part.
bool claims_nothing(const std::string& text) {
  return text.find(' ') == std::string::npos;
}

// The pages of the lessons that share a scenario are edited together.
struct EditedTogether {
  std::shared_ptr<const Scenario> scenario;
  std::vector<const PlaylistPage*> pages;
};

std::vector<EditedTogether> lesson_scenarios() {
  std::vector<EditedTogether> all;
  for (const Lesson& lesson : lessons())
    for (const PlaylistPage& page : lesson_playlist(lesson.name).pages) {
      auto at = std::ranges::find_if(
          all, [&](const EditedTogether& each) { return *each.scenario == *page.scenario; });
      if (at == all.end()) at = all.insert(all.end(), {page.scenario, {}});
      at->pages.push_back(&page);
    }
  return all;
}

// Computes in another way what the pages say of what they have become.
class ClaimChecks {
 public:
  void check(const Edited& edited, const std::vector<const PlaylistPage*>& pages) {
    const LiveSubject subject(*edited.trace, &edited.edit.scenario, &edited.inputs);
    SeenPage seen{edited.edit.scenario, edited.inputs, *edited.trace};
    ++edits;
    for (const PlaylistPage* page : pages) {
      for (const std::string& written : {page->ask, page->caption}) {
        const LiveWords words = live_words(written, subject);
        for (const LiveClaim& claim : words.claims) {
          ++shown;
          seen.text = claim.text;
          bool checked = claims_nothing(claim.text);
          for (const PageClaim& known : page_claims()) {
            if (claim.text.find(known.words) == std::string::npos) continue;
            checked = true;
            made.insert(known.words);
            if (known.holds(seen)) continue;
            CAPTURE(page->title);
            CAPTURE(edited.edit.what);
            CAPTURE(claim.condition);
            FAIL_CHECK(known.words, ": ", claim.text);
          }
          if (!checked) unchecked.insert(page->title + ": " + claim.text);
        }
      }
    }
  }

  std::set<std::string> made, unchecked;
  std::size_t edits = 0, shown = 0;
};

constexpr double infinity = std::numeric_limits<double>::infinity();

struct StandingClaim {
  std::string words;
  std::function<bool()> holds;
};

// All that is said, in one line.
std::string all_words() {
  std::string words;
  for (const Lesson& lesson : lessons()) words += std::string(lesson.json) + " ";
  for (const StepEntry& step : step_entries()) words += std::string(step.sentence) + " ";
  std::ifstream file(HEADWISE_SOURCE_DIR "/docs/glossary.md");
  words.append(std::istreambuf_iterator<char>(file), {});
  std::ranges::replace(words, '\n', ' ');
  return words;
}

TracePtr trace_of(const Scenario& scenario) {
  return reference_forward(make_scenario_inputs(scenario, DType::f64).attention);
}

Tensor row(std::vector<double> values) {
  const auto count = static_cast<Index>(values.size());
  return Tensor(Shape{{"N", 1}, {"H", 1}, {"L", 1}, {"S", count}}, std::move(values));
}

std::vector<double> softmax_of(const std::vector<double>& scores) {
  const Tensor weights = softmax(row(scores), FullyMaskedRows::nan);
  return {weights.values<double>().begin(), weights.values<double>().end()};
}

double deviation(const std::vector<double>& values) {
  double sum = 0.0, squares = 0.0;
  for (const double value : values) sum += value, squares += value * value;
  const auto count = static_cast<double>(values.size());
  return std::sqrt(squares / count - sum / count * sum / count);
}

// The spread of scores of this width, of independent components with mean 0 and variance 1.
double spread_of_scores(Index width) {
  const CounterRandom random(1, "components");
  std::vector<double> scores;
  std::uint64_t at = 0;
  for (int i = 0; i < 4000; ++i) {
    double score = 0.0;
    for (Index d = 0; d < width; ++d, at += 2) score += random.normal(at) * random.normal(at + 1);
    scores.push_back(score);
  }
  return deviation(scores);
}

bool spreads_like_the_root() {
  return std::ranges::all_of(std::vector<Index>{4, 16, 64}, [](Index width) {
    const double root = std::sqrt(static_cast<double>(width)), spread = spread_of_scores(width);
    return std::abs(spread / root - 1.0) < 0.05;
  });
}

bool nan_survives_the_mask() {
  const Tensor masked = mask_scores(row({NAN, 1.0, 2.0}), row({-infinity, 0.0, 0.0}), std::nullopt);
  const Tensor weights = softmax(masked, FullyMaskedRows::nan);
  return std::isnan(masked.flat(0)) && std::isnan(weights.flat(1)) && std::isnan(weights.flat(2));
}

bool jacobian_of_the_softmax() {
  const std::vector<double> scores{0.3, -1.0, 2.0};
  const std::vector<double> p = softmax_of(scores);
  constexpr double step = 1e-6;
  for (std::size_t j = 0; j < 3; ++j) {
    std::vector<double> moved = scores;
    moved[j] += step;
    const std::vector<double> after = softmax_of(moved);
    for (std::size_t i = 0; i < 3; ++i) {
      const double slope = i == j ? p[i] * (1.0 - p[i]) : -p[i] * p[j];
      if (std::abs((after[i] - p[i]) / step - slope) > 1e-5) return false;
    }
  }
  // All or nothing: no slope is left.
  const std::vector<double> sharp = softmax_of({20.0, 0.0, 0.0});
  for (const double a : sharp)
    for (const double b : sharp)
      if (std::min(a * (1.0 - a), a * b) > 1e-6) return false;
  return true;
}

double mean_sharpest(Index heads) {
  Scenario scenario = preset_scenario("random");
  scenario.parameters.init = Initialisation::normal_dk;
  scenario.attention.num_heads = heads;
  scenario.attention.scale = 1.0;
  const TracePtr trace = trace_of(scenario);
  const Shape& shape = trace->tensors.attn_weights->shape();
  const auto weights = trace->tensors.attn_weights->values<double>();
  double sum = 0.0, rows = 0.0;
  for (auto at = weights.begin(); at != weights.end(); at += shape.size(3), ++rows)
    sum += *std::max_element(at, at + shape.size(3));
  return sum / rows;
}

// head_output = attn_weights @ k_heads has no error: W_O is the first whose columns are not as many.
bool keys_as_values_fail_at_the_output() {
  Scenario scenario = preset_scenario("hand_made");
  scenario.attention.v_head_dim = 24;
  const TracePtr trace = trace_of(scenario);
  const TraceTensors& t = trace->tensors;
  const Shape taken = weighted_sum(*t.attn_weights, *t.k_heads).shape();
  const Index joined = taken.size(1) * taken.size(3), expected = t.out_proj_weight->shape().size(1);
  return taken.size(3) == t.k_heads->shape().size(3) && joined != expected &&
         expected == t.concat->shape().size(2);
}

// How much the output row of the first word changes when the words behind it change places.
double moved_by_order(bool is_causal) {
  Scenario scenario = preset_scenario("random");
  scenario.inputs.source = InputSource::text;
  scenario.inputs.positions = false;
  scenario.mask.is_causal = is_causal;
  scenario.inputs.text = "dog cat fox";
  const TracePtr before = trace_of(scenario);
  scenario.inputs.text = "cat fox dog";
  const TracePtr after = trace_of(scenario);
  double most = 0.0;
  for (Index column = 0; column < before->tensors.output->shape().size(2); ++column)
    most = std::max(
        most, std::abs(before->tensors.output->at({0, 0, column}) - after->tensors.output->at({0, 2, column})));
  return most;
}

bool window_is_of_places_less_than_w_away() {
  Scenario scenario = preset_scenario("random");
  scenario.mask.sliding_window = 3;
  const TracePtr trace = trace_of(scenario);
  const Tensor& mask = *trace->tensors.mask_bias;
  for (Index i = 0; i < mask.shape().size(2); ++i)
    for (Index j = 0; j < mask.shape().size(3); ++j)
      if ((mask.at({0, 0, i, j}) == 0.0) != (std::abs(i - j) < 3)) return false;
  return true;
}

// The scores of queries and keys made by one matrix.
bool one_matrix_looks_back() {
  Scenario scenario = preset_scenario("random");
  scenario.inputs.source = InputSource::random;
  ScenarioInputs inputs = make_scenario_inputs(scenario, DType::f64);
  Tensor packed(*inputs.attention.tensors.in_proj_weight), bias(*inputs.attention.tensors.in_proj_bias);
  const Index rows = packed.shape().size(0) / 3, columns = packed.shape().size(1);
  for (Index i = 0; i < rows * columns; ++i) packed.set_flat(rows * columns + i, packed.flat(i));
  for (Index i = 0; i < rows; ++i) bias.set_flat(rows + i, bias.flat(i));
  inputs.attention.tensors.in_proj_weight = std::make_shared<const Tensor>(std::move(packed));
  inputs.attention.tensors.in_proj_bias = std::make_shared<const Tensor>(std::move(bias));
  const TracePtr trace = reference_forward(inputs.attention);
  const Tensor& scores = *trace->tensors.scores;
  for (Index i = 1; i < scores.shape().size(2); ++i)
    if (std::abs(scores.at({0, 0, i, i - 1}) - scores.at({0, 0, i - 1, i})) > 1e-12) return false;
  return true;
}

// Of a scaling with these keys, as many times as long as rotation alone makes a row.
double rotation_factor(RotaryScalingKind kind, double factor, std::optional<double> mscale = {}) {
  RotaryScaling scaling;
  scaling.kind = kind;
  scaling.factor = factor;
  scaling.original_max_position_embeddings = 4096;
  scaling.mscale = scaling.mscale_all_dim = mscale;
  return scaled_rotation(scaling, 64, 10000.0, 8192).factor;
}

bool yarn_grows_by_the_logarithm() {
  return std::ranges::all_of(std::vector<double>{2.0, 4.0, 40.0}, [](double s) {
    return std::abs(rotation_factor(RotaryScalingKind::yarn, s) - (0.1 * std::log(s) + 1.0)) < 1e-9;
  });
}

bool other_scalings_change_angles_alone() {
  using enum RotaryScalingKind;
  return std::ranges::all_of(std::vector{linear, dynamic, llama3},
                             [](RotaryScalingKind kind) { return rotation_factor(kind, 4.0) == 1.0; });
}

bool deepseek_scales_scores_instead() {
  RotaryScaling scaling;
  scaling.kind = RotaryScalingKind::yarn;
  scaling.factor = 40.0;
  scaling.mscale = scaling.mscale_all_dim = 1.0;
  const double grown = yarn_length_of_scale(scaling);
  return rotation_factor(RotaryScalingKind::yarn, 40.0, 1.0) == 1.0 && std::abs(grown * grown - 1.87) < 0.005;
}

// A weight of one column before a rotation and after it.
bool weights_of_columns_need_an_order() {
  Scenario scenario = preset_scenario("qk_norm");
  const auto scores = [&](QkNorm order) {
    scenario.attention.qk_norm = order;
    ScenarioInputs inputs = make_scenario_inputs(scenario, DType::f64);
    const Index width = reference_forward(inputs.attention)->tensors.q_normed->shape().size(3);
    std::vector<double> weights(static_cast<std::size_t>(width), 1.0);
    weights[0] = 3.0;
    const auto weight = std::make_shared<const Tensor>(Shape{{"D", width}}, weights);
    inputs.attention.tensors.q_norm_weight = inputs.attention.tensors.k_norm_weight = weight;
    return reference_forward(inputs.attention)->tensors.scores;
  };
  const TensorPtr first = scores(QkNorm::per_head), last = scores(QkNorm::per_head_after_rotary);
  double most = 0.0;
  for (Index i = 0; i < first->size(); ++i) most = std::max(most, std::abs(first->flat(i) - last->flat(i)));
  return most > 1e-3;
}

double log_sum_exp(const std::vector<double>& scores) {
  double sum = 0.0;
  for (const double x : scores) sum += std::exp(x);
  return std::log(sum);
}

// Two parts of a row, each with a softmax of its own, make the row.
bool parts_of_a_row_join() {
  const std::vector<double> row{0.3, -1.0, 2.0, 0.7, -0.2};
  const std::vector<double> whole = softmax_of(row);
  for (const auto& [from, to] : {std::pair{0, 2}, std::pair{2, 5}}) {
    const std::vector<double> part(row.begin() + from, row.begin() + to), weights = softmax_of(part);
    const double share = std::exp(log_sum_exp(part) - log_sum_exp(row));
    for (int i = from; i < to; ++i) {
      const auto at = static_cast<std::size_t>(i), in_part = static_cast<std::size_t>(i - from);
      if (std::abs(whole[at] - weights[in_part] * share) > 1e-12) return false;
    }
  }
  return true;
}

// A key and a value of zeros, in its own column, take what a sink of 0 takes.
bool appended_zeros_are_a_sink_of_zero() {
  Scenario scenario = preset_scenario("random");
  scenario.attention.add_zero_attn = true;
  const TracePtr zeros = trace_of(scenario);
  scenario.attention.add_zero_attn = false;
  scenario.attention.sink = {0.0};
  const TracePtr sink = trace_of(scenario);
  const Shape& shape = sink->tensors.attn_weights->shape();
  for (Index i = 0; i < shape.size(2); ++i)
    for (Index j = 0; j < shape.size(3); ++j)
      if (std::abs(zeros->tensors.attn_weights->at({0, 0, i, j}) -
                   sink->tensors.attn_weights->at({0, 0, i, j})) > 1e-12)
        return false;
  return zeros->tensors.attn_weights->shape().size(3) == shape.size(3) + 1 &&
         std::abs(zeros->tensors.output->at({0, 0, 0}) - sink->tensors.output->at({0, 0, 0})) < 1e-12;
}

// A sliding_window of w and a causal mask, and a window of w − 1 on the left and 0 on the right.
bool two_sides_say_a_sliding_window() {
  Scenario scenario = preset_scenario("random");
  scenario.mask.sliding_window = 4;
  scenario.mask.is_causal = true;
  const TracePtr one = trace_of(scenario);
  scenario.mask.sliding_window.reset();
  scenario.mask.is_causal = false;
  scenario.mask.window_left = 3;
  scenario.mask.window_right = 0;
  const TracePtr two = trace_of(scenario);
  for (Index i = 0; i < one->tensors.mask_bias->size(); ++i)
    if (one->tensors.mask_bias->flat(i) != two->tensors.mask_bias->flat(i)) return false;
  return true;
}

Index words_of(const char* model) {
  return TextModel::open(model)->transformer()->config().vocabulary;
}

const std::vector<StandingClaim> standing_claims{
    {"NaN + (−∞) is NaN", nan_survives_the_mask},
    {"W_O stops it, the first to need the values' width", keys_as_values_fail_at_the_output},
    {"its spread is √{D}, and grows with the head's width", spreads_like_the_root},
    {"A sum of D uncorrelated products of variance 1 has a standard deviation of √D", spreads_like_the_root},
    {"∂pᵢ/∂sᵢ is pᵢ·(1 − pᵢ), ∂pᵢ/∂sⱼ is −pᵢ·pⱼ, and each has a factor near 0", jacobian_of_the_softmax},
    {"the wider an untrained head is, the nearer it starts to that",
     [] { return mean_sharpest(32) < mean_sharpest(8) && mean_sharpest(8) < mean_sharpest(2); }},
    {"Without positions, and without a causal mask, attention sees a bag of words",
     [] { return moved_by_order(false) < 1e-12 && moved_by_order(true) > 1e-3; }},
    {"a word that looks at the previous one is looked back at with the same score", one_matrix_looks_back},
    {"only the tokens less than w places away", window_is_of_places_less_than_w_away},
    {"by a learned weight for each column, and then the order matters", weights_of_columns_need_an_order},
    {"YaRN's factor is 0.1 · ln s + 1 for texts s times as long", yarn_grows_by_the_logarithm},
    {"Linear, dynamic and Llama 3's scaling change angles alone", other_scalings_change_angles_alone},
    {"multiplies the scale by the factor's square, 1.87 for its s of 40", deepseek_scales_scores_instead},
    {"each part's result times exp(its own lse − lse of the whole row)", parts_of_a_row_join},
    {"With 4,096 tokens it is 16,777,216 against 4,096", [] { return 4096 * 4096 == 16'777'216; }},
    {"add_zero_attn is a sink of s = 0 whose column stays in the map", appended_zeros_are_a_sink_of_zero},
    {"a sliding_window of w under a causal mask is window_left = w − 1 and window_right = 0",
     two_sides_say_a_sliding_window},
    {"A model with sliding_window = 4 needs window_left = 3 there", two_sides_say_a_sliding_window},
    {"a window of 64 keys on either side in two of three layers, 129 keys in all",
     [] { return 64 + 1 + 64 == 129; }},
    {"*sentences* has 3,846 pieces", [] { return words_of("builtin:sentences") == 3846; }},
    {"*copycat* 327 words", [] { return words_of("builtin:copycat") == 327; }},
};

}  // namespace

TEST_CASE("after every single edit each claim of a page that is shown is true") {
  ClaimChecks checks;
  for (const EditedTogether& each : lesson_scenarios()) {
    const Edited own = unedited_page(*each.scenario);
    for (PageEdit& edit : edits_of(own))
      if (const auto edited = edited_page(std::move(edit), own.inputs)) checks.check(*edited, each.pages);
  }
  for (const std::string& claim : checks.unchecked) FAIL_CHECK("no check for ", claim);
  for (const PageClaim& known : page_claims())
    if (!checks.made.contains(known.words)) FAIL_CHECK("no page says ", known.words);
  MESSAGE(checks.edits, " edits, ", checks.shown, " claims");
  CHECK(checks.edits > 1000);
}

TEST_CASE("after two and three edits each claim of a page that is shown is true") {
  // Of so many together that a part has to do; HEADWISE_PAGE_EDITS asks for more of them.
  const char* more = std::getenv("HEADWISE_PAGE_EDITS");
  const int walks = more ? std::max(1, std::atoi(more)) : 12;
  std::mt19937 random(1);
  ClaimChecks checks;
  for (const EditedTogether& each : lesson_scenarios()) {
    const Edited own = unedited_page(*each.scenario);
    for (int walk = 0; walk < walks; ++walk) {
      Edited page = own;
      std::string what;
      for (int step = 0; step < 3; ++step) {
        std::vector<PageEdit> edits = edits_of(page);
        PageEdit& edit = edits[random() % edits.size()];
        what += (what.empty() ? "" : ", then ") + edit.what;
        edit.what = what;
        auto edited = edited_page(std::move(edit), page.inputs);
        if (!edited) break;
        page = std::move(*edited);
        if (step > 0) checks.check(page, each.pages);
      }
    }
  }
  MESSAGE(checks.edits, " edits, ", checks.shown, " claims");
  CHECK(checks.edits > 200);
}

TEST_CASE("what lessons, glossary and steps say of attention in general is computed to be so") {
  const std::string words = all_words();
  for (const StandingClaim& claim : standing_claims) {
    CAPTURE(claim.words);
    CHECK_CONTAINS(words, claim.words);
    CHECK(claim.holds());
  }
}
