// Programs of multi-head latent attention that are wrong in one thing.
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "core/compare/variant_trials.h"
#include "tests/core/attention/latent_inputs.h"
#include "tests/core/compare/causes.h"

using namespace headwise;
using namespace headwise::test;

namespace {

AttentionInputs everything_of_latents(LatentLayout layout) {
  AttentionOptions o = latent_options(layout);
  o.q_lora_rank = 6;
  o.qk_rope_head_dim = 4;
  o.head_dim = 7;
  o.rotary_base = 100.0;
  o.is_causal = true;
  o.sliding_window = 4;
  o.softcap = 3.0;
  o.sink = {0.5};
  o.output_gate = true;
  AttentionInputs inputs = latent_inputs(o, {2, 6, 6});
  inputs.tensors.key = inputs.tensors.query;
  inputs.tensors.output_gate_weight = random_tensor({{"H", 4}, {"E", 8}}, "output_gate.weight");
  return inputs;
}

using OptionChange = std::function<void(AttentionInputs&)>;

}  // namespace

TEST_CASE("what a program of latents leaves out or takes for another is named, in both layouts") {
  for (const LatentLayout layout : {LatentLayout::expanded, LatentLayout::absorbed}) {
    const AttentionInputs inputs = everything_of_latents(layout);
    for (const auto& [named, change] : std::initializer_list<std::pair<const char*, OptionChange>>{
             {"there is no causal mask", [](AttentionInputs& i) { i.options.is_causal = false; }},
             {"the window is 5 wide", [](AttentionInputs& i) { i.options.sliding_window = 5; }},
             {"there is no sliding window", [](AttentionInputs& i) { i.options.sliding_window.reset(); }},
             {"there is no softcap", [](AttentionInputs& i) { i.options.softcap = 0.0; }},
             {"there is no sink", [](AttentionInputs& i) { i.options.sink.clear(); }},
             {"there is no output gate",
              [](AttentionInputs& i) {
                i.options.output_gate = false;
                i.tensors.output_gate_weight = nullptr;
              }},
             {"the norm of the latents of keys and values has no weight",
              [](AttentionInputs& i) { i.tensors.kv_a_norm_weight = nullptr; }},
             {"the norm of the latents of queries has no weight",
              [](AttentionInputs& i) { i.tensors.q_a_norm_weight = nullptr; }},
             {"kv_a_proj_with_mqa.bias is not added", [](AttentionInputs& i) { i.tensors.kv_a_bias = nullptr; }},
             {"q_a_proj.bias is not added", [](AttentionInputs& i) { i.tensors.q_a_bias = nullptr; }},
             {"out_proj.bias is not added", [](AttentionInputs& i) { i.tensors.out_proj_bias = nullptr; }},
             {"the epsilon of the norm of the latents is 1e-05",
              [](AttentionInputs& i) { i.options.latent_norm_epsilon = 1e-5; }},
             {"q and k are not rotated by their positions",
              [](AttentionInputs& i) { i.options.rotary_base.reset(); }},
             {"rotary position embedding rotates neighbouring columns",
              [](AttentionInputs& i) { i.options.rotary_pairs = RotaryPairs::neighbours; }},
             {"rotary, base 10000", [](AttentionInputs& i) { i.options.rotary_base = 1e4; }}}) {
      CAPTURE(named);
      AttentionInputs theirs = inputs;
      change(theirs);
      const std::string causes = causes_when(inputs, theirs);
      CAPTURE(causes);
      CHECK_CONTAINS(causes, named);
      CHECK_CONTAINS(causes, "; then everything agrees");
    }
  }
}

namespace {

using Id = TensorId;

// What is said of the output of a program with these stages, beside other inputs.
std::string causes_in_output(const AttentionInputs& inputs, const std::vector<StageChange>& wrong,
                             const OptionChange& change = {}, const char* dtype = "f64") {
  const TracePtr ours = reference_forward(inputs);
  AttentionInputs theirs = inputs;
  if (change) change(theirs);
  const auto to_the_end = [](Id, const Trace&, const std::vector<TensorPtr>&) { return true; };
  TensorPtr output = retraced(*reference_forward(theirs), wrong, to_the_end).tensor(Id::output);
  if (std::string(dtype) == "f32")
    output = std::make_shared<const Tensor>(output->converted(DType::f32).converted(DType::f64));
  const std::vector<StoredTensor> stored{{"output", output, dtype}};
  const ArrayComparison comparison = compare_arrays(*ours, stored, {});
  REQUIRE(comparison.first_difference() != nullptr);
  VariantSearch search{inputs, *ours, nullptr, stored, {}};
  search.pair_work = usual_pair_work / 8;
  return texts(likely_causes(search, comparison).causes);
}

// Column c of row (n,s) of kv_a.
double of_kv_a(const Trace& t, Index n, Index s, Index c) {
  return t.tensors.kv_a->at({n, s, c});
}

// The root mean square of columns [first, end) of a row of kv_a.
double length_of(const Trace& t, Index n, Index s, Index first, Index end) {
  double squares = 0.0;
  for (Index c = first; c < end; ++c) squares += of_kv_a(t, n, s, c) * of_kv_a(t, n, s, c);
  return std::sqrt(squares / static_cast<double>(end - first) + t.options.latent_norm_epsilon);
}

StageChange latents_as(const std::function<double(const Trace&, Index n, Index s, Index c)>& cell) {
  return {Id::compressed_kv, [cell](const Trace& t) {
            return filled3(t.tensors.compressed_kv->shape(),
                           [&](Index n, Index s, Index c) { return cell(t, n, s, c); });
          }};
}

// k_rot: columns of kv_a, as `column` gives them, turned by position × `turns`.
StageChange keys_as(const std::function<double(const Trace&, Index n, Index s, Index r)>& column,
                    double turns = 1.0) {
  return {Id::k_rot, [=](const Trace& t) {
            return filled4(t.tensors.k_rot->shape(), [&](Index n, Index, Index s, Index r) {
              const Index pair = r % 2, partner = (r + 2) % 4;  // R = 4, halves
              const double angle =
                  turns * static_cast<double>(s) * std::pow(100.0, -0.5 * static_cast<double>(pair));
              const double sign = r < 2 ? -1.0 : 1.0;
              return column(t, n, s, r) * std::cos(angle) + sign * column(t, n, s, partner) * std::sin(angle);
            });
          }};
}

constexpr Index latent_width = 5, turned_width = 4, plain_width = 3;  // C, R, Dn

double last_columns(const Trace& t, Index n, Index s, Index r) {
  return of_kv_a(t, n, s, latent_width + r);
}

double weight_of(const Trace& t, Index c) {
  return t.tensors.kv_a_norm_weight->flat(c);
}

StageChange queries_as_they_are() {
  return {Id::q_rotary, [](const Trace& t) { return *t.tensors.q_heads; }};
}

}  // namespace

TEST_CASE("wrong norms, columns and rotations of latents are named, in both layouts") {
  struct Wrong {
    const char* named;
    std::vector<StageChange> stages;
    OptionChange inputs = {};
  };
  const auto raw = latents_as(of_kv_a);
  const StageChange raw_queries{Id::compressed_q, [](const Trace& t) { return *t.tensors.q_a; }};
  const auto shifted = [](Index by) {
    return StageChange{Id::v_heads, [by](const Trace& t) {
                         return refilled4(*t.tensors.v_heads,
                                          [&](const Cells& v, Index n, Index h, Index s, Index d) {
                                            return v(n, h, (s + 6 - by) % 6, d);
                                          });
                       }};
  };
  const std::vector<Wrong> all{
      {"the latents of keys and values are not normalised", {raw}},
      {"the latents of keys and values are not normalised, but multiplied by the weight",
       {latents_as(
           [](const Trace& t, Index n, Index s, Index c) { return of_kv_a(t, n, s, c) * weight_of(t, c); })}},
      {"the latents of queries are not normalised", {raw_queries}},
      {"neither the latents of keys and values nor those of queries are normalised", {raw, raw_queries}},
      {"one norm covers the latent and k_rot together",
       {latents_as([](const Trace& t, Index n, Index s, Index c) {
          return of_kv_a(t, n, s, c) / length_of(t, n, s, 0, latent_width + turned_width) * weight_of(t, c);
        }),
        keys_as([](const Trace& t, Index n, Index s, Index r) {
          return last_columns(t, n, s, r) / length_of(t, n, s, 0, latent_width + turned_width);
        })}},
      {"k_rot is normalised, too", {keys_as([](const Trace& t, Index n, Index s, Index r) {
         return last_columns(t, n, s, r) / length_of(t, n, s, latent_width, latent_width + turned_width);
       })}},
      {"the first R columns of kv_a are taken for k_rot",
       {latents_as([](const Trace& t, Index n, Index s, Index c) {
          return of_kv_a(t, n, s, turned_width + c) /
                 length_of(t, n, s, turned_width, latent_width + turned_width) * weight_of(t, c);
        }),
        keys_as(of_kv_a)}},
      {"the first R columns of each query are taken for the rotated ones",
       {{Id::q_heads,
         [](const Trace& t) {
           return refilled4(*t.tensors.q_heads, [](const Cells& q, Index n, Index h, Index l, Index d) {
             return q(n, h, l, (d + turned_width) % (plain_width + turned_width));
           });
         }}}},
      {"q alone is rotated by its positions (rotary), k is not", {keys_as(last_columns, 0.0)}},
      {"k alone is rotated by its positions (rotary), q is not", {queries_as_they_are()}},
      {"the rotation goes the other way: the sign of sin θ is opposite, in k alone",
       {keys_as(last_columns, -1.0)}},
      {"the norm of the latents of keys and values multiplies by 1 + weight",
       {latents_as([](const Trace& t, Index n, Index s, Index c) {
         return of_kv_a(t, n, s, c) / length_of(t, n, s, 0, latent_width) * (1.0 + weight_of(t, c));
       })}},
      {"taken as values, then keys, of each head",
       {},
       [](AttentionInputs& i) {
         std::vector<Index> rows;
         for (Index h = 0; h < 4; ++h)
           for (const Index row : {3, 4, 5, 0, 1, 2}) rows.push_back(6 * h + row);
         i.tensors.kv_b_weight = with_blocks(*i.tensors.kv_b_weight, 1, rows);
       }},
      {"taken as the keys of all heads, then the values of all",
       {},
       [](AttentionInputs& i) {
         std::vector<Index> rows;
         for (Index h = 0; h < 4; ++h)
           for (Index d = 0; d < 6; ++d) rows.push_back(d < 3 ? 3 * h + d : 12 + 3 * h + d - 3);
         i.tensors.kv_b_weight = with_blocks(*i.tensors.kv_b_weight, 1, rows);
       }},
  };
  for (const LatentLayout layout : {LatentLayout::expanded, LatentLayout::absorbed}) {
    const AttentionInputs inputs = everything_of_latents(layout);
    for (const Wrong& wrong : all) {
      CAPTURE(wrong.named);
      const std::string causes = causes_in_output(inputs, wrong.stages, wrong.inputs);
      CAPTURE(causes);
      CHECK_CONTAINS(causes, wrong.named);
      CHECK(causes.find(", and ") == std::string::npos);  // one mistake, not two
    }
  }
  // The values of the expanded layout; in the other one the sum of the latents goes wrong alike.
  CHECK_CONTAINS(causes_in_output(everything_of_latents(LatentLayout::expanded), {shifted(1)}),
                 "the values are one position late");
}

TEST_CASE("two mistakes with latents are both named from the output alone, in both layouts") {
  for (const LatentLayout layout : {LatentLayout::expanded, LatentLayout::absorbed}) {
    const AttentionInputs inputs = everything_of_latents(layout);
    const std::string causes = causes_in_output(inputs, {latents_as(of_kv_a)},
                                                [](AttentionInputs& i) { i.options.is_causal = false; });
    CAPTURE(causes);
    CHECK_CONTAINS(causes, "the latents of keys and values are not normalised");
    CHECK_CONTAINS(causes, "there is no causal mask");
  }
}

TEST_CASE("a sink that f32 numbers lack is named alone, without a small number in the sum of the softmax") {
  const AttentionInputs inputs = everything_of_latents(LatentLayout::expanded);
  const std::string causes = causes_in_output(
      inputs, {}, [](AttentionInputs& i) { i.options.sink.clear(); }, "f32");
  CAPTURE(causes);
  CHECK_CONTAINS(causes, "there is no sink");
  CHECK(causes.find("is added to the sum") == std::string::npos);
}

TEST_CASE("every variant of latents can be tried, whatever else there is") {
  for (const LatentLayout layout : {LatentLayout::expanded, LatentLayout::absorbed}) {
    AttentionInputs inputs = everything_of_latents(layout);
    inputs.tensors.key_padding_mask = std::make_shared<const Tensor>(Shape{{"N", 2}, {"S", 6}}, DType::boolean);
    inputs.options.need_weights = true;
    const TracePtr ours = reference_forward(inputs);
    Tensor noise = *ours->tensors.output;
    for (Index i = 0; i < noise.size(); ++i) noise.set_flat(i, noise.flat(i) + (i % 3 == 0 ? 0.1 : -0.2));
    const std::vector<StoredTensor> theirs{{"output", std::make_shared<const Tensor>(noise), "f64"}};
    SearchEffort effort;
    CHECK(causes_in_variants({inputs, *ours, nullptr, theirs, {}}, compare_arrays(*ours, theirs, {}), &effort)
              .empty());
    CHECK(effort.singles > 100);
  }
}
