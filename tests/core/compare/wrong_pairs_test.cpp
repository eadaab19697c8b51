// Programs that are wrong in two things, written out here in loops of their own: each is told from its output
// alone. And every pair of mistakes tried: whatever the one takes away, the other does not read.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "core/attention/reference_backend.h"
#include "core/compare/likely_causes.h"
#include "core/compare/program_variants.h"
#include "core/compare/variant_trials.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/random.h"
#include "core/tensor/task_threads.h"
#include "tests/core/attention/random_inputs.h"

using namespace headwise;
using namespace headwise::test;

namespace {

constexpr Index pair_work = usual_pair_work / 8;  // enough for these, and quick
constexpr Index batch = 2, length = 5, heads = 2, width = 4, embed = heads * width;
using Rows = std::vector<std::vector<double>>;  // of one batch

// What a program may do differently; as it stands, nothing.
struct Program {
  double scale = 0.5, softcap = 0.0, beside_sum = 0.0, of_weights = 1.0, of_query = 0.0;
  double of_in_bias = 1.0, of_out_bias = 1.0, base = 0.0, slope_factor = 1.0;
  std::optional<double> fill;
  bool is_causal = false, alibi = false, divided = true, squared = false, out_transposed = false;
  bool q_transposed = false, k_for_v = false, reversed_heads = false, normalised = false, neighbours = false;
  bool split_by_view = false, over_queries = false, by_norm = false;
  std::vector<double> sinks;
};

double at(const TensorPtr& tensor, Index row, Index column) {
  return tensor->flat(row * tensor->shape().size(tensor->shape().rank() - 1) + column);
}

// x·Wᵀ + b, of the rows of W from `first` on.
Rows projected(const Rows& x, const TensorPtr& weight, const TensorPtr& bias, Index first, double of_bias,
               bool transposed) {
  Rows result(x.size(), std::vector<double>(embed));
  for (std::size_t l = 0; l < x.size(); ++l)
    for (Index e = 0; e < embed; ++e) {
      double sum = of_bias * bias->flat(first + e);
      for (Index c = 0; c < embed; ++c)
        sum += x[l][static_cast<std::size_t>(c)] *
               (transposed ? at(weight, first + c, e) : at(weight, first + e, c));
      result[l][static_cast<std::size_t>(e)] = sum;
    }
  return result;
}

// The columns of one head.
Rows head_of(const Rows& x, Index head, const Program& program) {
  Rows result(x.size(), std::vector<double>(width));
  for (Index l = 0; l < length; ++l)
    for (Index d = 0; d < width; ++d) {
      const Index flat = (head * length + l) * width + d;  // of (H,L,D)
      const Index row = program.split_by_view ? flat / embed : l;
      const Index column = program.split_by_view ? flat % embed : head * width + d;
      result[static_cast<std::size_t>(l)][static_cast<std::size_t>(d)] =
          x[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
    }
  return result;
}

void turn(Rows& x, const Program& program) {
  for (std::size_t l = 0; l < x.size() && program.base > 0.0; ++l)
    for (std::size_t j = 0; j < width / 2; ++j) {
      const double angle =
          static_cast<double>(l) * std::pow(program.base, -2.0 * static_cast<double>(j) / width);
      double& a = x[l][program.neighbours ? 2 * j : j];
      double& b = x[l][program.neighbours ? 2 * j + 1 : j + width / 2];
      const double before = a;
      a = a * std::cos(angle) - b * std::sin(angle);
      b = b * std::cos(angle) + before * std::sin(angle);
    }
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void divide_by_norm(Rows& x) {
  for (std::vector<double>& row : x) {
    const double norm = std::sqrt(dot(row, row));
    for (double& cell : row) cell /= norm;
  }
}

Rows weights_of(const Rows& q, const Rows& k, Index head, const Program& program) {
  Rows scores(length, std::vector<double>(length));
  for (std::size_t i = 0; i < length; ++i)
    for (std::size_t j = 0; j < length; ++j) {
      double score = dot(q[i], k[j]) * program.scale;
      if (program.softcap > 0.0) score = program.softcap * std::tanh(score / program.softcap);
      const double distance = std::abs(static_cast<double>(i) - static_cast<double>(j));
      const double slope = std::exp2(-8.0 * static_cast<double>(head + 1) / heads) * program.slope_factor;
      if (program.alibi) score -= slope * distance;
      if (program.is_causal && j > i) score = program.fill.value_or(-std::numeric_limits<double>::infinity());
      scores[i][j] = score;
    }
  Rows weights = scores;
  for (std::size_t i = 0; i < length; ++i)
    for (std::size_t j = 0; j < length; ++j) {
      double sum = program.beside_sum;
      if (!program.sinks.empty()) sum += std::exp(program.sinks[static_cast<std::size_t>(head)]);
      for (std::size_t other = 0; other < length; ++other)
        sum += std::exp(program.over_queries ? scores[other][j] : scores[i][other]);
      double& weight = weights[i][j] = std::exp(scores[i][j]) / (program.divided ? sum : 1.0);
      if (program.squared) weight *= weight;
      weight *= program.of_weights;
    }
  return weights;
}

Tensor output_of(const TraceTensors& t, const Program& program) {
  Tensor output(t.query->shape(), DType::f64);
  for (Index n = 0; n < batch; ++n) {
    Rows x(length, std::vector<double>(embed)), concat = x;
    for (Index l = 0; l < length; ++l)
      for (Index e = 0; e < embed; ++e)
        x[static_cast<std::size_t>(l)][static_cast<std::size_t>(e)] = at(t.query, n * length + l, e);
    const auto in = [&](Index first, bool transposed) {
      return projected(x, t.in_proj_weight, t.in_proj_bias, first, program.of_in_bias, transposed);
    };
    const Rows q = in(0, program.q_transposed), k = in(embed, false), v = in(2 * embed, false);
    for (Index h = 0; h < heads; ++h) {
      Rows of_q = head_of(q, h, program), of_k = head_of(k, h, program);
      if (program.by_norm) {
        divide_by_norm(of_q);
        divide_by_norm(of_k);
      }
      turn(of_q, program);
      turn(of_k, program);
      const Rows of_v = program.k_for_v ? of_k : head_of(v, h, program);
      const Rows weights = weights_of(of_q, of_k, h, program);
      const Index place = program.reversed_heads ? heads - 1 - h : h;
      for (std::size_t l = 0; l < length; ++l)
        for (Index d = 0; d < width; ++d) {
          double sum = 0.0;
          for (std::size_t s = 0; s < length; ++s)
            sum += weights[l][s] * of_v[s][static_cast<std::size_t>(d)];
          concat[l][static_cast<std::size_t>(place * width + d)] = sum;
        }
    }
    Rows result =
        projected(concat, t.out_proj_weight, t.out_proj_bias, 0, program.of_out_bias, program.out_transposed);
    for (std::size_t l = 0; l < length; ++l) {
      std::vector<double>& row = result[l];
      double mean = 0.0, variance = 0.0;
      for (std::size_t e = 0; e < row.size(); ++e) mean += (row[e] += program.of_query * x[l][e]) / embed;
      for (const double cell : row) variance += (cell - mean) * (cell - mean) / embed;
      for (std::size_t e = 0; e < row.size(); ++e)
        output.set_flat((n * length + static_cast<Index>(l)) * embed + static_cast<Index>(e),
                        program.normalised ? (row[e] - mean) / std::sqrt(variance + 1e-5) : row[e]);
    }
  }
  return output;
}

AttentionInputs inputs_of(const Program& right) {
  AttentionInputs inputs = random_inputs(small_options(heads, heads, width), {batch, length, length});
  inputs.tensors.key = inputs.tensors.value = inputs.tensors.query;
  inputs.options.is_causal = right.is_causal;
  inputs.options.alibi = right.alibi;
  if (right.base > 0.0) inputs.options.rotary_base = right.base;
  return inputs;
}

std::string named(const Program& right, const Program& wrong) {
  const AttentionInputs inputs = inputs_of(right);
  const TracePtr ours = reference_forward(inputs);
  const auto stored = [](Tensor output) {
    return std::vector<StoredTensor>{{"output", std::make_shared<const Tensor>(std::move(output)), "f64"}};
  };
  REQUIRE(compare_arrays(*ours, stored(output_of(inputs.tensors, right)), {}).first_difference() == nullptr);
  const std::vector<StoredTensor> theirs = stored(output_of(inputs.tensors, wrong));
  const ArrayComparison comparison = compare_arrays(*ours, theirs, {});
  REQUIRE(comparison.first_difference() != nullptr);
  const Findings findings = likely_causes({inputs, *ours, nullptr, theirs, {}, pair_work}, comparison);
  return findings.causes.empty() ? "" : findings.causes.front().text;
}

struct Mistake {
  const char* named;
  std::function<void(Program&)> make;
};

const Mistake unscaled{"scaled by 1", [](Program& p) { p.scale = 1.0; }};
const Mistake other_scale{"scaled by 0.37", [](Program& p) { p.scale = 0.37; }};
const Mistake softcap{"capped by 1.7", [](Program& p) { p.softcap = 1.7; }};
const Mistake uncausal{"there is no causal mask", [](Program& p) { p.is_causal = false; }};
const Mistake filled{"filled with -3.5", [](Program& p) { p.fill = -3.5; }};
const Mistake steeper{"multiplied by 0.7", [](Program& p) { p.slope_factor = 0.7; }};
const Mistake other_base{"base 37", [](Program& p) { p.base = 37.0; }};
const Mistake neighbours{"neighbouring columns", [](Program& p) { p.neighbours = true; }};
const Mistake undivided{"not divided", [](Program& p) { p.divided = false; }};
const Mistake squared{"squares of the softmax", [](Program& p) { p.squared = true; }};
const Mistake over_queries{"over the queries", [](Program& p) { p.over_queries = true; }};
const Mistake larger_sum{"0.4 is added to the sum", [](Program& p) { p.beside_sum = 0.4; }};
const Mistake sinks{"the sinks are 0.5, -1", [](Program& p) { p.sinks = {0.5, -1.0}; }};
const Mistake smaller{"multiplied by 0.8", [](Program& p) { p.of_weights = 0.8; }};
const Mistake some_query{"0.6 times the query", [](Program& p) { p.of_query = 0.6; }};
const Mistake no_in_bias{"in_proj_bias is not added", [](Program& p) { p.of_in_bias = 0.0; }};
const Mistake in_bias{"in_proj_bias is multiplied by 0.4", [](Program& p) { p.of_in_bias = 0.4; }};
const Mistake out_bias{"out_proj.bias is multiplied by 2.5", [](Program& p) { p.of_out_bias = 2.5; }};
const Mistake out_transposed{"out_proj.weight is used as [in,out]",
                             [](Program& p) { p.out_transposed = true; }};
const Mistake q_transposed{"W_q is used as [in,out]", [](Program& p) { p.q_transposed = true; }};
const Mistake k_for_v{"k stands in the place of v", [](Program& p) { p.k_for_v = true; }};
const Mistake reversed{"joined in the order 1, 0", [](Program& p) { p.reversed_heads = true; }};
const Mistake normalised{"the output is normalised", [](Program& p) { p.normalised = true; }};
const Mistake by_view{"by a view", [](Program& p) { p.split_by_view = true; }};
const Mistake by_norm{"divided by its norm", [](Program& p) { p.by_norm = true; }};

// A preset with its options, of a size at which some hundred thousand runs are quick.
Scenario small_preset(const Preset& preset) {
  Scenario scenario = preset_scenario(preset.name);
  const bool grouped = scenario.attention.num_kv_heads.has_value();
  scenario.attention.embed_dim = 4;
  scenario.attention.num_heads = 2;
  scenario.attention.bias = true;
  if (grouped) scenario.attention.num_kv_heads = 1;
  scenario.inputs.source = InputSource::random;
  scenario.inputs.text.clear();
  scenario.inputs.key_text.reset();
  scenario.inputs.batch = 2;
  scenario.inputs.query_length = 2;
  if (!scenario.inputs.self_attention) scenario.inputs.key_length = 3;
  scenario.parameters = {};
  return scenario;
}

std::vector<Scenario> scenarios() {
  std::vector<Scenario> all;
  const auto add = [&](const Scenario& scenario) {
    if (std::ranges::find(all, scenario) == all.end()) all.push_back(scenario);
  };
  for (const Preset& preset : presets()) {
    const Scenario plain = small_preset(preset);
    add(plain);
    Scenario padded = plain;
    padded.mask.valid_lens = std::vector<std::vector<std::int64_t>>{{2}, {1}};
    padded.mask.is_causal = true;
    padded.mask.alibi = true;
    drop_window(padded.mask);
    padded.mask.sliding_window = 2;
    padded.mask.preset = "padding:1";  // an attn_mask
    if (!plain.mask.is_causal) add(padded);
  }
  Scenario rich = all.front();
  rich.attention.rotary_base = 100.0;
  rich.attention.residual = rich.attention.layer_norm = true;
  rich.attention.softcap = 3.0;
  rich.attention.dropout = 0.25;
  rich.mask.is_causal = true;
  rich.head_gain = std::vector<double>{1.0, 2.0};
  add(rich);
  Scenario product = all.front();
  product.op = Op::scaled_dot_product_attention;
  product.mask.is_causal = product.mask.alibi = true;
  add(product);
  return all;
}

// What a variant does, without its numbers: of those that differ in a number alone, one is tried.
std::string kind_of(const ProgramVariant& variant) {
  std::string kind = variant.text + variant.detail + (variant.change ? "c" : "");
  std::erase_if(kind, [](unsigned char c) { return std::isdigit(c) != 0 || c == '-' || c == '.' || c == '+'; });
  for (const StageChange& change : variant.stages) kind += tensor_entry(change.stage).name;
  return kind;
}

std::vector<ProgramVariant> one_of_each_kind(const AttentionInputs& inputs) {
  std::set<std::string> seen;
  std::vector<ProgramVariant> kept;
  for (ProgramVariant& variant : program_variants(inputs))
    if (seen.insert(kind_of(variant)).second) kept.push_back(std::move(variant));
  return kept;
}

}  // namespace

TEST_CASE("two mistakes are both named from the output alone, with a number each, with one, and with none") {
  Program plain, causal, biased, turned;
  causal.is_causal = biased.is_causal = biased.alibi = true;
  turned.base = 1e4;
  struct Pair {
    const Program& right;
    const Mistake &one, &other;
  };
  const Pair pairs[]{
      // Two numbers that are searched for at once.
      {plain, other_scale, softcap},
      {plain, other_scale, out_bias},
      {plain, sinks, out_bias},
      {causal, filled, other_scale},
      {biased, steeper, softcap},
      {turned, other_base, other_scale},
      // One, beside a known mistake, however far that is off by itself.
      {plain, some_query, normalised},
      {causal, filled, undivided},
      {turned, other_base, neighbours},
      {plain, sinks, by_norm},
      // Known ones, in one stage or in two.
      {causal, uncausal, squared},
      {plain, by_view, undivided},
      {turned, k_for_v, unscaled},
      {causal, reversed, no_in_bias},
  };
  for (const Pair& pair : pairs) {
    Program wrong = pair.right;
    pair.one.make(wrong);
    pair.other.make(wrong);
    const std::string text = named(pair.right, wrong);
    CAPTURE(text);
    CHECK_MESSAGE(text.find(pair.one.named) != std::string::npos, pair.one.named, " and ", pair.other.named);
    CHECK_MESSAGE(text.find(pair.other.named) != std::string::npos, pair.one.named, " and ", pair.other.named);
  }
}

TEST_CASE("one mistake is named alone, also where a number would explain it beside another") {
  Program turned;
  turned.base = 1e4;
  turned.is_causal = true;
  const std::vector<const Mistake*> mistakes{
      &unscaled, &other_scale,    &softcap,      &uncausal, &filled,   &other_base, &neighbours, &undivided,
      &squared,  &over_queries,   &larger_sum,   &sinks,    &smaller,  &some_query, &no_in_bias, &in_bias,
      &out_bias, &out_transposed, &q_transposed, &k_for_v,  &reversed, &normalised, &by_view,    &by_norm};
  for (const Mistake* mistake : mistakes) {
    Program wrong = turned;
    mistake->make(wrong);
    const std::string text = named(turned, wrong);
    CAPTURE(text);
    for (const Mistake* other : mistakes)
      CHECK_MESSAGE((text.find(other->named) != std::string::npos) == (other == mistake), other->named);
  }
}

// Each preset takes its share of the pairs: together they take all, and each is tried with several.
TEST_CASE("every pair of mistakes is tried, with all presets, with masks and without, and none fails") {
  const ThreadLimit one_thread(1);
  const std::size_t shares = 12;
  std::size_t turn = 0;
  for (const Scenario& scenario : scenarios()) {
    ++turn;
    const AttentionInputs inputs = make_scenario_inputs(scenario, DType::f64).attention;
    const TracePtr ours = reference_forward(inputs);
    // The last tensor of all, so that every stage is computed.
    const bool weights = ours->tensors.attn_output_weights != nullptr;
    const TensorPtr last = weights ? ours->tensors.attn_output_weights : ours->tensors.output;
    auto noise = std::make_shared<Tensor>(last->shape(), DType::f64);
    const CounterRandom random(3, "pairs");
    for (Index i = 0; i < noise->size(); ++i)
      noise->set_flat(i, random.normal(static_cast<std::uint64_t>(i)));
    const std::vector<StoredTensor> theirs{{weights ? "attn_output_weights" : "output", noise, "f64"}};
    const ArrayComparison comparison = compare_arrays(*ours, theirs, {});
    const VariantSearch search{inputs, *ours, nullptr, theirs, {}};
    const VariantTrials trials(search, comparison);
    const std::vector<ProgramVariant> unchanged = one_of_each_kind(trials.inputs());
    CHECK(unchanged.size() > 60);
    std::size_t agreeing = 0;
    for (std::size_t i = 0; i < unchanged.size(); ++i) {
      const ProgramVariant& first = unchanged[i];
      CAPTURE(first.text);
      std::vector<ProgramVariant> then = unchanged;
      if (first.change) {
        AttentionInputs changed = trials.inputs();
        first.change(changed);
        then = one_of_each_kind(changed);
      }
      for (std::size_t j = (i + turn) % shares; j < then.size(); j += shares) {
        const ProgramVariant& second = then[j];
        INFO(second.text);
        agreeing += trials.tried(joined(first, second)).all;
      }
    }
    CHECK(agreeing == 0);
  }
}
