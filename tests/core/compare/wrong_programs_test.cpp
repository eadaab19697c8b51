// Programs that are wrong in one thing: each is called what it is, and none what another is.
#include "tests/core/compare/wrong_programs.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string_view>

#include "core/attention/heads.h"
#include "core/attention/reference_backend.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/compare/likely_causes.h"
#include "core/compare/narrow_types.h"
#include "tests/checks.h"

using namespace headwise;
using namespace headwise::test;
using Id = TensorId;

namespace {

const std::vector<Id> everything{Id::q_heads,       Id::k_heads,       Id::v_heads,        Id::scores,
                                 Id::scaled_scores, Id::masked_scores, Id::attn_weights,   Id::head_output,
                                 Id::concat,        Id::output,        Id::residual_output};

const StageChange scores_unscaled = left_out(Id::scaled_scores, Id::scores);
const StageChange heads_reversed =
    joined_as([](const Cells& own, Index n, Index l, Index c) { return own(n, 3 - c / 4, l, c % 4); });

std::vector<StoredTensor> written(const AttentionInputs& inputs, const std::vector<StageChange>& mistake,
                                  const std::vector<Id>& ids) {
  const TracePtr right = reference_forward(inputs);
  const auto to_the_end = [](Id, const Trace&, const std::vector<TensorPtr>&) { return true; };
  const Trace wrong = retraced(*right, mistake, to_the_end);
  std::vector<StoredTensor> arrays;
  for (const Id id : ids)
    if (right->tensor(id) && wrong.tensor(id))
      arrays.push_back({to_string(TensorName{id}), wrong.tensor(id), "f64"});
  return arrays;
}

void round_all(std::vector<StoredTensor>& arrays, const NarrowType& type) {
  for (StoredTensor& stored : arrays)
    stored.array =
        shared_tensor(mapped_cells(*stored.array.tensor(), [&](double x) { return rounded_to(type, x); }));
}

Findings findings_of(const AttentionInputs& inputs, const std::vector<StoredTensor>& theirs,
                     Index pair_work = usual_pair_work) {
  const TracePtr ours = reference_forward(inputs);
  const ArrayComparison comparison = compare_arrays(*ours, theirs, {});
  REQUIRE(comparison.first_difference() != nullptr);
  return likely_causes({inputs, *ours, nullptr, theirs, {}, pair_work}, comparison);
}

std::string found(const AttentionInputs& inputs, const std::vector<StoredTensor>& theirs,
                  Index pair_work = usual_pair_work) {
  const Findings findings = findings_of(inputs, theirs, pair_work);
  std::string all;
  for (const LikelyCause& cause : findings.causes) all += cause.text + "\n";
  for (const std::string& fact : findings.facts) all += "fact: " + fact + "\n";
  return all;
}

}  // namespace

TEST_CASE(
    "each wrong program is called what it is, from its output and from all of its tensors, and nothing "
    "else") {
  const std::vector<WrongProgram> programs = wrong_programs();
  for (const WrongProgram& program : programs) {
    CAPTURE(program.named);
    const Id last = program.inputs.options.residual ? Id::residual_output : Id::output;
    for (const std::vector<Id>& ids : {std::vector<Id>{last}, everything}) {
      AttentionInputs of_theirs = program.inputs;
      if (program.other_inputs) program.other_inputs(of_theirs);
      const std::string causes = found(program.inputs, written(of_theirs, program.mistake, ids));
      CAPTURE(causes);
      CHECK_CONTAINS(causes, program.named);
      for (const WrongProgram& other : programs)
        if (std::string_view(other.named) != program.named) CHECK_LACKS(causes, other.named);
    }
  }
}

TEST_CASE("noise is no cause, whether it is small or large and wherever it begins") {
  const AttentionInputs inputs = causal();
  for (const Id from : {Id::scores, Id::attn_weights, Id::concat, Id::output}) {
    for (const double size : {1e-6, 1e-3, 0.3}) {
      const StageChange noise{
          from, [=](const Trace& t) {
            Tensor result = *t.tensor(from);
            const CounterRandom random(11, "noise");
            for (Index i = 0; i < result.size(); ++i)
              result.set_flat(i, result.flat(i) + size * random.normal(static_cast<std::uint64_t>(i)));
            return result;
          }};
      CAPTURE(to_string(TensorName{from}));
      CAPTURE(size);
      // Ten thousand pairs of mistakes are tried once, and a thousand each time.
      const Index pair_work = usual_pair_work / (from == Id::scores && size == 1e-3 ? 8 : 64);
      CHECK(found(inputs, written(inputs, {noise}, everything), usual_pair_work / 64) == "");
      CHECK(found(inputs, written(inputs, {noise}, {Id::output}), pair_work) == "");
    }
  }
}

TEST_CASE(
    "a cause that explains some tensors and leaves others is named with what explains the others, or not at "
    "all") {
  const AttentionInputs inputs = causal();
  const std::string both = found(inputs, written(inputs, {scores_unscaled, heads_reversed}, everything));
  CAPTURE(both);
  CHECK_CONTAINS(both, "not scaled");
  CHECK_CONTAINS(both, "and the heads are joined in the order 3, 2, 1, 0; then everything agrees");
  const StageChange odd{Id::output, [](const Trace& t) {
                          return mapped_cells(*t.tensors.output, [](double x) { return std::sin(x); });
                        }};
  CHECK(found(inputs, written(inputs, {scores_unscaled, odd}, everything)) == "");
}

TEST_CASE(
    "two mistakes are named from the output alone, or from the weights, and a number beside a mistake") {
  const AttentionInputs plain_inputs = causal();
  const auto named = [](const AttentionInputs& inputs, const std::vector<StageChange>& mistakes, Id id,
                        const std::vector<std::string>& parts,
                        const std::function<void(AttentionInputs&)>& other_inputs = {}) {
    AttentionInputs of_theirs = inputs;
    if (other_inputs) other_inputs(of_theirs);
    const Findings findings = findings_of(inputs, written(of_theirs, mistakes, {id}));
    CHECK(findings.tried.pairs > 0);
    REQUIRE_FALSE(findings.causes.empty());
    const std::string text = findings.causes[0].text;
    CAPTURE(text);
    for (const std::string& part : parts) CHECK_CONTAINS(text, part);
  };
  named(plain_inputs, {scores_unscaled, heads_reversed}, Id::output,
        {"not scaled", "joined in the order 3, 2, 1, 0"});
  named(plain_inputs, {scores_unscaled}, Id::attn_weights, {"not scaled", "is not added"},
        [](AttentionInputs& other) {
          Tensor bias = *other.tensors.in_proj_bias;
          for (Index row = 0; row < 16; ++row) bias.set_flat(row, 0.0);
          other.tensors.in_proj_bias = shared_tensor(bias);
        });
  // Key/value heads that are tiled, and another rotary base: a usual one, and one that is searched for.
  AttentionInputs turned_groups = self_attention(small_options(4, 2, 4));
  turned_groups.options.rotary_base = 1e4;
  const std::vector<StageChange> tiled{
      {Id::scores,
       [](const Trace& t) {
         return attention_scores(*t.tensors.q_rotary, tile_kv(*t.tensors.k_rotary, 4),
                                 t.tensors.scores->shape());
       }},
      {Id::head_output, [](const Trace& t) {
         return weighted_sum(*t.tensors.dropped_weights, tile_kv(*t.tensors.v_heads, 4));
       }}};
  for (const double base : {1e6, 37.0})
    named(turned_groups, tiled, Id::output, {"key/value heads are tiled", fmt::format("base {:g})", base)},
          [base](AttentionInputs& other) { other.options.rotary_base = base; });
}

TEST_CASE("two mistakes are named where only a later array tells them from two others") {
  const AttentionInputs inputs = causal();
  AttentionInputs of_theirs = inputs;
  of_theirs.tensors.in_proj_bias = shared_tensor(Tensor(inputs.tensors.in_proj_bias->shape(), DType::f64));
  const auto view = [](Id from, Id to) {
    return StageChange{to, [=](const Trace& t) { return t.tensor(from)->reshaped(t.tensor(to)->shape()); }};
  };
  // The weights do not show whether the heads are joined by a view, too.
  const std::vector<StageChange> views{view(Id::q, Id::q_heads), view(Id::k, Id::k_heads),
                                       view(Id::v, Id::v_heads), view(Id::head_output, Id::concat)};
  const std::string text = found(inputs, written(of_theirs, views, {Id::attn_weights, Id::output}));
  CAPTURE(text);
  CHECK_CONTAINS(text, "in_proj_bias is not added");
  CHECK_CONTAINS(text, "the heads are split and joined by views");
}

TEST_CASE("numbers of a 16-bit type that were stored as a wider one are told by their digits") {
  const AttentionInputs inputs = plain();
  for (const NarrowType& type : {bf16, f16}) {
    CAPTURE(type.name);
    std::vector<StoredTensor> theirs = written(inputs, {}, everything);
    round_all(theirs, type);
    const std::string causes = found(inputs, theirs);
    CAPTURE(causes);
    CHECK_CONTAINS(causes, std::string("every number of theirs is a") +
                               (std::string(type.name) == "f16" ? "n " : " ") + type.name);
    CHECK_CONTAINS(causes, "everything agrees");
    // One number with more digits, and it is not so.
    Tensor spoilt = *theirs.back().array.tensor();
    spoilt.set_flat(3, spoilt.flat(3) * 1.0001);
    theirs.back().array = shared_tensor(spoilt);
    CHECK_LACKS(found(inputs, theirs), "every number");
  }
}

TEST_CASE("a mistake is named behind the rounding to a 16-bit type, too") {
  const AttentionInputs inputs = causal();
  std::vector<StoredTensor> theirs = written(inputs, {scores_unscaled}, everything);
  round_all(theirs, bf16);
  const std::string causes = found(inputs, theirs);
  CAPTURE(causes);
  CHECK_CONTAINS(causes, "every number of theirs is a bf16 number");
  CHECK_CONTAINS(causes, "not scaled");
}

TEST_CASE("rounding to the 16-bit types is that of IEEE 754, ties to even") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(rounded_to(bf16, 1.0 + 1.0 / 256) == 1.0);
  CHECK(rounded_to(bf16, 1.0 + 3.0 / 256) == 1.0 + 4.0 / 256);
  CHECK(rounded_to(f16, 1.0 + 1.0 / 2048) == 1.0);
  CHECK(rounded_to(f16, 65519.0) == 65504.0);
  CHECK(rounded_to(f16, 65520.0) == infinity);
  CHECK(rounded_to(f16, 3e-8) == std::ldexp(1.0, -24) * 1.0);
  CHECK(rounded_to(bf16, -infinity) == -infinity);
}
