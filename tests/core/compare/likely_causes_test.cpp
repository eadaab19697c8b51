// What makes another program's arrays differ; and arrays that no mistake explains: noise, NaN, one number in
// every cell, copies of an input.
#include "core/compare/likely_causes.h"

#include <cmath>
#include <functional>
#include <limits>

#include "core/attention/attention_mask.h"
#include "core/attention/heads.h"
#include "core/attention/reference_backend.h"
#include "core/attention/rotary_embedding.h"
#include "core/attention/softmax.h"
#include "core/compare/program_variants.h"
#include "core/compare/tensor_fill.h"
#include "core/compare/variant_trials.h"
#include "tests/checks.h"
#include "tests/core/attention/random_inputs.h"
#include "tests/core/compare/causes.h"

using namespace headwise;
using namespace headwise::test;
using Id = TensorId;

namespace {

TensorPtr shared(Tensor tensor) {
  return std::make_shared<const Tensor>(std::move(tensor));
}

std::string causes_of(const Trace& trace, Id id, Tensor theirs, const std::string& type = "f64") {
  const ArrayComparison comparison =
      compare_arrays(trace, {{to_string(TensorName{id}), shared(std::move(theirs)), type}}, {});
  const ComparedArray* first = comparison.first_difference();
  REQUIRE(first != nullptr);
  return texts(causes_in_numbers(trace, *first));
}

Tensor mapped(const Tensor& tensor, const std::function<double(double)>& change) {
  Tensor result = tensor;
  for (Index i = 0; i < result.size(); ++i) result.set_flat(i, change(result.flat(i)));
  return result;
}

AttentionInputs inputs_with_masks() {
  AttentionInputs inputs = random_inputs(small_options(), {2, 6, 6});
  auto mask = std::make_shared<Tensor>(Shape{{"L", 6}, {"S", 6}}, DType::boolean);
  for (Index l = 0; l < 6; ++l)
    for (Index s = l + 1; s < 6; ++s) mask->set_flat(l * 6 + s, 1);
  mask->set_flat(2 * 6, 1);
  inputs.tensors.attn_mask = mask;
  auto padding = std::make_shared<Tensor>(Shape{{"N", 2}, {"S", 6}}, DType::boolean);
  padding->set_flat(11, 1);
  inputs.tensors.key_padding_mask = padding;
  return inputs;
}

AttentionInputs bare_inputs() {
  AttentionInputs inputs = random_inputs(small_options(4, 4, 4), {2, 5, 5});
  inputs.tensors.key = inputs.tensors.value = inputs.tensors.query;
  return inputs;
}

AttentionInputs bare_causal() {
  AttentionInputs inputs = bare_inputs();
  inputs.options.is_causal = true;
  return inputs;
}

AttentionInputs bare_padded() {
  AttentionInputs inputs = bare_inputs();
  auto padding = std::make_shared<Tensor>(Shape{{"N", 2}, {"S", 5}}, DType::boolean);
  for (const Index cell : {4, 8, 9}) padding->set_flat(cell, 1);
  inputs.tensors.key_padding_mask = padding;
  return inputs;
}

AttentionInputs bare_rotary() {
  AttentionInputs inputs = bare_inputs();
  inputs.options.rotary_base = 100.0;
  return inputs;
}

// Causes and facts, a line each.
std::string said_of(const AttentionInputs& inputs, const std::vector<StoredTensor>& theirs) {
  const TracePtr ours = reference_forward(inputs);
  const ArrayComparison comparison = compare_arrays(*ours, theirs, {});
  REQUIRE(comparison.first_difference() != nullptr);
  VariantSearch search{inputs, *ours, nullptr, theirs, {}};
  search.pair_work = usual_pair_work / 64;  // noise has all pairs tried
  const Findings findings = likely_causes(search, comparison);
  std::string all;
  for (const LikelyCause& cause : findings.causes) all += cause.text + "\n";
  for (const std::string& fact : findings.facts) all += "fact: " + fact + "\n";
  return all;
}

}  // namespace

TEST_CASE("a boolean mask that was saved as numbers is recognised, whatever 1 means in it") {
  AttentionInputs inputs = inputs_with_masks();
  const AttentionInputs blocking = inputs;
  const Tensor& mask = *blocking.tensors.attn_mask;
  for (const bool blocks : {true, false}) {
    auto numbers = std::make_shared<Tensor>(mask.shape(), DType::f64);
    for (Index i = 0; i < mask.size(); ++i) numbers->set_flat(i, (mask.flat(i) != 0.0) == blocks ? 1.0 : 0.0);
    inputs.tensors.attn_mask = numbers;
    CHECK_CONTAINS(causes_when(inputs, blocking),
                   std::string("attn_mask is boolean, not added: 1 ") + (blocks ? "blocks" : "keeps"));
  }
}

TEST_CASE(
    "a key_padding_mask of numbers is recognised in scaled dot-product attention, too, where 1 blocks") {
  AttentionInputs inputs;
  inputs.options.op = Op::scaled_dot_product_attention;
  inputs.dtype = DType::f64;
  inputs.tensors.query = random_tensor({{"N", 2}, {"H", 2}, {"L", 4}, {"D", 3}}, "query", DType::f64);
  inputs.tensors.key = random_tensor({{"N", 2}, {"G", 2}, {"S", 6}, {"D", 3}}, "key", DType::f64);
  inputs.tensors.value = random_tensor({{"N", 2}, {"G", 2}, {"S", 6}, {"Dv", 3}}, "value", DType::f64);
  AttentionInputs blocking = inputs;
  auto mask = std::make_shared<Tensor>(Shape{{"N", 2}, {"S", 6}}, DType::boolean),
       numbers = std::make_shared<Tensor>(Shape{{"N", 2}, {"S", 6}}, DType::f64);
  for (const Index cell : {4, 5, 11}) {
    mask->set_flat(cell, 1.0);
    numbers->set_flat(cell, 1.0);
  }
  blocking.tensors.key_padding_mask = mask;
  inputs.tensors.key_padding_mask = numbers;
  CHECK_CONTAINS(causes_when(inputs, blocking), "key_padding_mask is boolean, not added: 1 blocks");
}

TEST_CASE("another tensor of ours under this name is recognised") {
  const TracePtr trace = reference_forward(random_inputs(small_options()));
  CHECK_CONTAINS(causes_of(*trace, Id::scores, *trace->tensors.scaled_scores),
                 "theirs equals our scaled_scores");
}

TEST_CASE("a constant factor is named by what it is made of") {
  const TracePtr trace = reference_forward(random_inputs(small_options(2, 2, 9)));
  const Tensor& scores = *trace->tensors.scores;
  CHECK_CONTAINS(causes_of(*trace, Id::scores, mapped(scores, [](double x) { return x * 9; })),
                 "times 9 = D");
  CHECK_CONTAINS(causes_of(*trace, Id::scores, mapped(scores, [](double x) { return x * 0.7; })),
                 "times 0.7, in");
  CHECK_CONTAINS(causes_of(*trace, Id::scores, mapped(scores, [](double x) { return -x; })), "opposite sign");
}

TEST_CASE("a factor that leaves one cell behind is not named") {
  const TracePtr trace = reference_forward(random_inputs(small_options()));
  Tensor theirs = mapped(*trace->tensors.scores, [](double x) { return 2 * x; });
  theirs.set_flat(5, theirs.flat(5) + 0.01);
  CHECK(causes_of(*trace, Id::scores, theirs).empty());
}

TEST_CASE("a view in place of a transpose is recognised, before and after the heads") {
  const TracePtr trace = reference_forward(random_inputs(small_options(4, 4, 3), {2, 4, 4}));
  CHECK_CONTAINS(causes_of(*trace, Id::q_heads, trace->tensors.q->reshaped(trace->tensors.q_heads->shape())),
                 "theirs lies as (N,L,H,D) where ours is (N,H,L,D): a transpose is missing");
  CHECK_CONTAINS(
      causes_of(*trace, Id::concat, trace->tensors.head_output->reshaped(trace->tensors.concat->shape())),
      "theirs lies as (N,H,L,Dv) where ours is (N,L,H,Dv): a view or reshape");
}

TEST_CASE("where N = L an output of the other layout is told by its numbers") {
  const TracePtr trace = reference_forward(random_inputs(small_options(), {3, 3, 5}));
  Tensor theirs = *trace->tensors.output;
  for (Index i = 0; i < theirs.size(); ++i) {
    const auto at = theirs.shape().index_of(i);
    theirs.set_flat(i, trace->tensors.output->at({at[1], at[0], at[2]}));
  }
  CHECK_CONTAINS(causes_of(*trace, Id::output, theirs),
                 "lies as (L,N,E) where ours is (N,L,E): is inputs.batch_first false");
}

TEST_CASE("heads that own every H-th column are recognised") {
  const TracePtr trace = reference_forward(random_inputs(small_options(4, 4, 3)));
  Tensor theirs = *trace->tensors.q_heads;
  for (Index i = 0; i < theirs.size(); ++i) {
    const auto at = theirs.shape().index_of(i);
    theirs.set_flat(i, trace->tensors.q->at({at[0], at[2], at[3] * 4 + at[1]}));
  }
  CHECK_CONTAINS(causes_of(*trace, Id::q_heads, theirs), "every H-th column");
}

TEST_CASE("a softmax over the wrong axis or without its sum is recognised") {
  const TracePtr trace = reference_forward(random_inputs(small_options()));
  const Tensor& scores = *trace->tensors.masked_scores;
  Tensor columns = scores;
  for (Index i = 0; i < columns.size(); ++i) {
    const auto at = scores.shape().index_of(i);
    double sum = 0;
    for (Index l = 0; l < 4; ++l) sum += std::exp(scores.at({at[0], at[1], l, at[3]}));
    columns.set_flat(i, std::exp(scores.flat(i)) / sum);
  }
  CHECK_CONTAINS(causes_of(*trace, Id::attn_weights, columns), "over the queries");
  Tensor heads = scores;
  for (Index i = 0; i < heads.size(); ++i) {
    const auto at = scores.shape().index_of(i);
    double sum = 0;
    for (Index h = 0; h < 4; ++h) sum += std::exp(scores.at({at[0], h, at[2], at[3]}));
    heads.set_flat(i, std::exp(scores.flat(i)) / sum);
  }
  CHECK_CONTAINS(causes_of(*trace, Id::attn_weights, heads), "over the heads");
  CHECK_CONTAINS(causes_of(*trace, Id::attn_weights, mapped(scores, [](double x) { return std::exp(x); })),
                 "not divided by its sum");
}

TEST_CASE("tiled heads are told from repeated ones, in the copies and in what is computed from them") {
  const AttentionInputs inputs = random_inputs(small_options(4, 2));
  const TracePtr trace = reference_forward(inputs);
  Tensor tiled = repeat_kv(*trace->tensors.k_heads, 4);
  for (Index i = 0; i < tiled.size(); ++i) {
    const auto at = tiled.shape().index_of(i);
    tiled.set_flat(i, trace->tensors.k_heads->at({at[0], at[1] % 2, at[2], at[3]}));
  }
  CHECK_CONTAINS(causes_of(*trace, Id::k_heads, tiled), "h % G");
  Tensor scores = *trace->tensors.scores;
  for (Index i = 0; i < scores.size(); ++i) {
    const auto at = scores.shape().index_of(i);
    double sum = 0;
    for (Index d = 0; d < 3; ++d)
      sum += trace->tensors.q_heads->at({at[0], at[1], at[2], d}) *
             trace->tensors.k_heads->at({at[0], at[1] % 2, at[3], d});
    scores.set_flat(i, sum);
  }
  const std::vector<StoredTensor> theirs{{"k_heads", trace->tensors.k_heads, "f64"},
                                         {"scores", shared(scores), "f64"}};
  const ArrayComparison comparison = compare_arrays(*trace, theirs, {});
  CHECK_CONTAINS(texts(causes_in_variants({inputs, *trace, nullptr, theirs, {}}, comparison)), "h % G");
}

TEST_CASE("what a mask is filled with, or adds, is read off the blocked cells") {
  const TracePtr trace = reference_forward(inputs_with_masks());
  const auto filled = [&](const Tensor& tensor, double value) {
    return mapped(tensor, [value](double x) { return std::isinf(x) ? value : x; });
  };
  CHECK_CONTAINS(causes_of(*trace, Id::mask_bias, filled(*trace->tensors.mask_bias, -12345)),
                 "blocks with -12345");
  CHECK_CONTAINS(causes_of(*trace, Id::masked_scores, filled(*trace->tensors.masked_scores, -777)),
                 "blocks with -777");
  Tensor added = *trace->tensors.masked_scores;
  for (Index i = 0; i < added.size(); ++i)
    if (std::isinf(added.flat(i))) added.set_flat(i, trace->tensors.scaled_scores->flat(i) - 1e4);
  CHECK_CONTAINS(causes_of(*trace, Id::masked_scores, added), "adds -10000");
}

TEST_CASE("numbers beyond f16 and fractions cut off are recognised") {
  AttentionInputs inputs = random_inputs(small_options());
  inputs.tensors.query = shared(mapped(*inputs.tensors.query, [](double x) { return x * 1e4; }));
  const TracePtr trace = reference_forward(inputs);
  const Tensor half = mapped(*trace->tensors.scores,
                             [](double x) { return std::abs(x) > 65504 ? std::copysign(INFINITY, x) : x; });
  CHECK_CONTAINS(causes_of(*trace, Id::scores, half, "f16"), "beyond f16");
  Tensor whole(trace->tensors.scores->shape(), DType::i64);
  for (Index i = 0; i < whole.size(); ++i) whole.set_flat(i, std::trunc(trace->tensors.scores->flat(i)));
  CHECK_CONTAINS(causes_of(*trace, Id::scores, whole, "i32"), "fractions are cut off");
}

TEST_CASE("weights that are dropped, the others larger by one factor, are dropout") {
  const TracePtr trace = reference_forward(random_inputs(small_options()));
  const auto dropped = [&](double factor, double odd) {
    Tensor weights = trace->tensors.attn_weights->converted(DType::f64);
    for (Index i = 0; i < weights.size(); ++i)
      weights.set_flat(i, i % 7 == 3 ? 0.0 : weights.flat(i) * (i == 5 ? odd : factor));
    return causes_of(*trace, Id::attn_weights, weights);
  };
  CHECK_CONTAINS(dropped(1.25, 1.25), "= 1/(1 − 0.2)");
  CHECK_LACKS(dropped(1.25, 1.3), "drops weights");
  CHECK_LACKS(dropped(0.8, 0.8), "drops weights");
}

TEST_CASE("from the output alone an option is found that makes ours agree") {
  const AttentionInputs inputs = inputs_with_masks();
  const auto found = [&](const char* part, const std::function<void(AttentionInputs&)>& change) {
    CAPTURE(part);
    AttentionInputs changed = inputs;
    change(changed);
    const std::string causes = causes_when(inputs, changed);
    CAPTURE(causes);
    CHECK_CONTAINS(causes, part);
    CHECK_CONTAINS(causes, "then everything agrees");
  };
  found("not scaled", [](AttentionInputs& i) { i.options.scale = 1.0; });
  found("1/D", [](AttentionInputs& i) { i.options.scale = 1.0 / 3; });
  found("key_padding_mask is not applied", [](AttentionInputs& i) { i.tensors.key_padding_mask = nullptr; });
  found("attn_mask is not applied", [](AttentionInputs& i) { i.tensors.attn_mask = nullptr; });
  found("no mask is applied at all",
        [](AttentionInputs& i) { i.tensors.attn_mask = i.tensors.key_padding_mask = nullptr; });
  found("in_proj_bias is not added", [](AttentionInputs& i) { i.tensors.in_proj_bias = nullptr; });
  found("out_proj.bias is not added", [](AttentionInputs& i) { i.tensors.out_proj_bias = nullptr; });
  found("a row of zeros is appended", [](AttentionInputs& i) { i.options.add_zero_attn = true; });
  found("key and value are exchanged", [](AttentionInputs& i) { std::swap(i.tensors.key, i.tensors.value); });
}

TEST_CASE("a relative bias that is missing, of the other buckets, turned round or scaled, is told") {
  AttentionInputs inputs = random_inputs(small_options(4, 4, 3), {2, 6, 6});
  inputs.options.relative_bias = RelativeBias{8, 6, true};
  inputs.tensors.relative_bias_weight =
      random_tensor({{"buckets", 8}, {"H", 4}}, "relative_attention_bias.weight");
  AttentionInputs changed = inputs;
  changed.options.relative_bias.reset();
  changed.tensors.relative_bias_weight = nullptr;
  CHECK_CONTAINS(causes_when(inputs, changed), "there is no relative bias");
  changed = inputs;
  changed.options.relative_bias->bidirectional = false;
  CHECK_CONTAINS(causes_when(inputs, changed), "the buckets of the relative bias are a decoder's");
  Tensor table = *inputs.tensors.relative_bias_weight;
  for (Index bucket = 1; bucket < 4; ++bucket)
    for (Index h = 0; h < 4; ++h) {
      table.set_flat(bucket * 4 + h, inputs.tensors.relative_bias_weight->at({bucket + 4, h}));
      table.set_flat((bucket + 4) * 4 + h, inputs.tensors.relative_bias_weight->at({bucket, h}));
    }
  changed = inputs;
  changed.tensors.relative_bias_weight = std::make_shared<const Tensor>(table);
  CHECK_CONTAINS(causes_when(inputs, changed), "the relative position is query − key");
  table = *inputs.tensors.relative_bias_weight;
  for (Index i = 0; i < table.size(); ++i) table.set_flat(i, table.flat(i) / std::sqrt(3.0));
  changed.tensors.relative_bias_weight = std::make_shared<const Tensor>(table);
  CHECK_CONTAINS(causes_when(inputs, changed), "the relative bias is scaled as the scores are");
}

TEST_CASE("an indexer that is missing, or keeps another number of keys, or scores otherwise, is told") {
  AttentionInputs inputs = random_inputs(small_options(4, 4, 4), {2, 9, 9});
  inputs.options.is_causal = true;
  inputs.options.rotary_base = 10.0;
  inputs.options.indexer = Indexer{2, 6, 4};
  inputs.tensors.indexer_wq_b = random_tensor({{"Hi·W", 12}, {"E", 16}}, "indexer.wq_b.weight");
  inputs.tensors.indexer_wk = random_tensor({{"W", 6}, {"kdim", 16}}, "indexer.wk.weight");
  inputs.tensors.indexer_weights_proj = random_tensor({{"Hi", 2}, {"E", 16}}, "indexer.weights_proj.weight");
  AttentionInputs changed = inputs;
  changed.options.indexer.reset();
  changed.tensors.indexer_wq_b = changed.tensors.indexer_wk = changed.tensors.indexer_weights_proj = nullptr;
  CHECK_CONTAINS(causes_when(inputs, changed),
                 "there is no indexer: every key that the masks leave takes part");
  for (const Index k : {1, 3, 5, 8}) {
    changed = inputs;
    changed.options.indexer->k = k;
    const std::string cause = "the indexer keeps k = " + std::to_string(k) + " keys instead of 4";
    CHECK_CONTAINS(causes_when(inputs, changed), cause);
    CHECK_CONTAINS(causes_when(inputs, changed, {Id::attn_weights}), cause);
  }
  changed = inputs;
  changed.options.indexer->rotary_pairs = RotaryPairs::neighbours;
  CHECK_CONTAINS(causes_when(inputs, changed), "the indexer rotates neighbours of columns");
}

TEST_CASE("sinks that are missing, or that are scaled as the scores are, are told") {
  AttentionInputs inputs = random_inputs(small_options(), {2, 5, 6});
  inputs.options.sink = {0.5, -1.0, 2.0, 0.3};
  AttentionInputs changed = inputs;
  changed.options.sink.clear();
  CHECK_CONTAINS(causes_when(inputs, changed), "there is no sink: the weights of a row add up to 1");
  CHECK_CONTAINS(causes_when(inputs, changed, {Id::attn_weights}), "there is no sink");
  changed.options.sink = inputs.options.sink;
  for (double& sink : changed.options.sink) sink *= 1.0 / std::sqrt(3.0);
  CHECK_CONTAINS(causes_when(inputs, changed), "the sinks are scaled as the scores are");
}

TEST_CASE("every variant is named where another program is that variant") {
  AttentionInputs inputs = inputs_with_masks();
  inputs.options.is_causal = inputs.options.alibi = true;
  inputs.options.sliding_window = 3;
  inputs.options.softcap = 2.0;
  inputs.options.temperature = 0.5;
  inputs.options.head_gain = {1, 2, 3, 4};
  inputs.options.dropout = 0.25;
  inputs.options.causal_alignment = CausalAlignment::bottom_right;
  const TracePtr ours = reference_forward(inputs);
  const Trace wide = widened_trace(*ours);
  std::size_t told = 0;
  const std::vector<ProgramVariant> variants = program_variants(inputs);
  CHECK(variants.size() > 300);
  for (std::size_t i = 0; i < variants.size(); i += 13) {  // each is a search of its own; every thirteenth will do
    const ProgramVariant& variant = variants[i];
    CAPTURE(variant.text);
    AttentionInputs changed = inputs;
    if (variant.change) variant.change(changed);
    const Trace base = variant.change ? *reference_forward(changed) : wide;
    const auto to_the_end = [](TensorId, const Trace&, const std::vector<TensorPtr>&) { return true; };
    const Trace other = retraced(base, variant.stages, to_the_end);
    const std::vector<StoredTensor> theirs{{"output", other.tensors.output, "f64"}};
    const ArrayComparison comparison = compare_arrays(*ours, theirs, {});
    if (comparison.first_difference() == nullptr) continue;  // no row of these is fully masked, say
    CHECK_CONTAINS(texts(causes_in_variants({inputs, *ours, nullptr, theirs, {}}, comparison)), variant.text);
    ++told;
  }
  CHECK(told > 20);
}

TEST_CASE("two faults at once are no single cause, and none is named") {
  const AttentionInputs inputs = inputs_with_masks();
  AttentionInputs changed = inputs;
  changed.options.scale = 1.0;
  changed.tensors.in_proj_bias = nullptr;
  CHECK(causes_when(inputs, changed).empty());
  const TracePtr ours = reference_forward(inputs), other = reference_forward(changed);
  const std::vector<StoredTensor> theirs{{"output", other->tensors.output, "f64"}};
  const ArrayComparison comparison = compare_arrays(*ours, theirs, {});
  SearchEffort effort;
  const std::string both = texts(causes_in_pairs({inputs, *ours, nullptr, theirs, {}}, comparison, &effort));
  CAPTURE(both);
  CHECK_CONTAINS(both, "not scaled");
  CHECK_CONTAINS(both, "in_proj_bias is not added");
  CHECK(effort.pairs > 100);
  // No work, no pairs; and numbers of 16 bits agree too easily.
  CHECK(causes_in_pairs({inputs, *ours, nullptr, theirs, {}, 0}, comparison).empty());
  const ArrayComparisonOptions wide{true, 1e-2, {}};
  CHECK(causes_in_pairs({inputs, *ours, nullptr, theirs, wide}, compare_arrays(*ours, theirs, wide)).empty());
}

TEST_CASE("a cause upstream is not named where the tensors before the difference agree with ours") {
  const AttentionInputs inputs = inputs_with_masks();
  const TracePtr ours = reference_forward(inputs);
  AttentionInputs changed = inputs;
  changed.options.scale = 1.0;
  const TracePtr other = reference_forward(changed);
  // Their scaled_scores are ours; only their output is that of unscaled scores.
  const std::vector<StoredTensor> theirs{{"scaled_scores", ours->tensors.scaled_scores, "f64"},
                                         {"output", other->tensors.output, "f64"}};
  const ArrayComparison comparison = compare_arrays(*ours, theirs, {});
  CHECK(causes_in_variants({inputs, *ours, nullptr, theirs, {}}, comparison).empty());
}

TEST_CASE("an input that differs is no matter of options") {
  const AttentionInputs inputs = inputs_with_masks();
  const TracePtr ours = reference_forward(inputs);
  const std::vector<StoredTensor> theirs{
      {"query", random_tensor(inputs.tensors.query->shape(), "other"), "f64"}};
  const ArrayComparison comparison = compare_arrays(*ours, theirs, {});
  REQUIRE(comparison.first_difference() != nullptr);
  CHECK(causes_in_variants({inputs, *ours, nullptr, theirs, {}}, comparison).empty());
}

TEST_CASE("arrays that show nothing have no cause, whatever they are called, and it is said what they hold") {
  AttentionInputs with_residual = bare_padded();
  with_residual.options.residual = with_residual.options.layer_norm = true;
  std::size_t tried = 0;
  for (const AttentionInputs& inputs :
       {bare_inputs(), bare_causal(), bare_padded(), bare_rotary(), with_residual}) {
    const TracePtr ours = reference_forward(inputs);
    for (const Id id : {Id::q, Id::k_heads, Id::scores, Id::masked_scores, Id::attn_weights, Id::head_output,
                        Id::concat, Id::output, Id::residual_output, Id::layer_norm_output}) {
      const TensorPtr own = ours->tensor(id);
      if (!own) continue;
      const auto filled_with = [&](const std::function<double(Index)>& value) {
        Tensor theirs(own->shape(), DType::f64);
        for (Index i = 0; i < theirs.size(); ++i) theirs.set_flat(i, value(i));
        return shared_tensor(std::move(theirs));
      };
      const CounterRandom random(17, "nothing");
      const double nan = std::numeric_limits<double>::quiet_NaN();
      std::vector<std::pair<std::string, TensorPtr>> arrays{
          {"is NaN in every cell", filled_with([&](Index) { return nan; })},
          {"is infinite in every cell", filled_with([](Index i) { return i % 3 ? HUGE_VAL : -HUGE_VAL; })},
          {"is NaN or infinite in every cell", filled_with([&](Index i) { return i % 3 ? HUGE_VAL : nan; })},
          {"is -inf in every cell", filled_with([](Index) { return -HUGE_VAL; })},
          {"is 0 in every cell", filled_with([](Index) { return 0.0; })},
          {"is 0.2 in every cell", filled_with([](Index) { return 0.2; })},
          {"", filled_with([&](Index i) { return random.normal(static_cast<std::uint64_t>(i)); })}};
      if (own->shape().same_sizes(inputs.tensors.query->shape()))
        arrays.emplace_back("is a copy of query, which was given", inputs.tensors.query);
      for (const auto& [holds, array] : arrays) {
        CAPTURE(to_string(TensorName{id}));
        CAPTURE(holds);
        const std::string said = said_of(inputs, {{to_string(TensorName{id}), array, "f64"}});
        CAPTURE(said);
        CHECK(said.starts_with(holds.empty() ? ""
                                             : "fact: " + to_string(TensorName{id}) + " of theirs " + holds));
        CHECK((holds.empty() ? said.empty() : said.find("agrees") == std::string::npos));
        ++tried;
      }
    }
  }
  CHECK(tried > 250);
}

TEST_CASE("a mask that their scores lack is no fault of the search where a later array differs, too") {
  const AttentionInputs inputs = bare_causal();
  const TracePtr ours = reference_forward(inputs);
  Tensor noise = *ours->tensors.output;
  for (Index i = 0; i < noise.size(); ++i) noise.set_flat(i, std::sin(7.0 * static_cast<double>(i)));
  CHECK(said_of(inputs, {{"masked_scores", ours->tensors.scaled_scores, "f64"},
                         {"output", shared_tensor(noise), "f64"}}) == "");
}

TEST_CASE("single cells that are NaN or infinite are told from a formula that differs") {
  const AttentionInputs inputs = bare_causal();
  const TracePtr ours = reference_forward(inputs);
  for (const double stray : {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL}) {
    Tensor theirs = *ours->tensor(Id::output);
    theirs.set_flat(7, stray);
    theirs.set_flat(9, stray);
    const std::string said = said_of(inputs, {{"output", shared_tensor(std::move(theirs)), "f64"}});
    CHECK_MESSAGE(
        said.starts_with("fact: output of theirs agrees wherever both numbers are finite; 2 of its "), said);
    CHECK_CONTAINS(said, "the first at [0,0,7]");
  }
}
