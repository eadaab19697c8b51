// The fast CPU path against the reference.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/attention/attention_sizes.h"
#include "core/attention/reference_backend.h"
#include "core/fused/fused_backend.h"
#include "core/fused/head_shares.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/tensor/instruction_set.h"
#include "core/tensor/random.h"
#include "core/tensor/task_threads.h"
#include "tests/checks.h"
#include "tests/core/attention/latent_inputs.h"
#include "tests/core/attention/option_combinations.h"
#include "tests/core/fused/agreement.h"

using namespace headwise;
using namespace headwise::test;

namespace {

// On an instruction set that this machine runs.
void check_against_reference(const AttentionInputs& inputs, const FusedRun& run,
                             InstructionSet set = chosen_instruction_set()) {
  const InstructionSetScope scope(set);
  CAPTURE(instruction_set_name(set));
  const TracePtr got = fused_forward(inputs, run);
  check_agrees(*got, *reference_forward(inputs));
  if (run.keep_attn_weights) CHECK(got->tensors.attn_weights);
}

std::vector<InstructionSet> sets_here() {
  std::vector<InstructionSet> sets;
  std::ranges::copy_if(instruction_sets(), std::back_inserter(sets), machine_runs);
  return sets;
}

}  // namespace

TEST_CASE("the fused backend agrees with the reference over every option, on every instruction set here") {
  for (const InstructionSet set : sets_here()) {
    for (const NamedInputs& named : single_option_inputs()) {
      CAPTURE(named.name);
      const AttentionInputs inputs = as_f32(named.inputs);
      if (!fused_refusal(inputs).empty()) continue;
      for (const bool keep : {false, true})
        check_against_reference(inputs, {.threads = 2, .keep_attn_weights = keep, .keep_projections = keep},
                                set);
    }
  }
}

TEST_CASE("the fused backend agrees with the reference over options drawn together") {
  int done = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const NamedInputs named = random_combination(seed);
    CAPTURE(named.name);
    const AttentionInputs inputs = as_f32(named.inputs);
    if (!fused_refusal(inputs).empty()) continue;
    const std::vector<InstructionSet> sets = sets_here();
    check_against_reference(inputs, {.threads = 2, .keep_attn_weights = seed % 2 == 0},
                            sets[seed % sets.size()]);
    ++done;
  }
  CHECK(done > 120);
}

TEST_CASE("the fused backend computes latent attention in both layouts, at sizes that fill no panel") {
  for (const LatentLayout layout : {LatentLayout::expanded, LatentLayout::absorbed})
    for (const Index length : {1, 33, 70, 130}) {
      CAPTURE(length);
      AttentionOptions o = latent_options(layout, 3);
      o.embed_dim = o.kdim = o.vdim = 40;
      o.kv_lora_rank = 20;
      o.q_lora_rank = length == 70 ? std::optional<Index>(12) : std::nullopt;
      o.qk_nope_head_dim = 9;
      o.qk_rope_head_dim = 6;
      o.head_dim = 15;
      o.v_head_dim = 11;
      o.rotary_base = 100.0;
      o.is_causal = length == 130;
      const AttentionInputs inputs = latent_inputs(o, {2, length, length + 5}, DType::f32);
      check_against_reference(
          inputs,
          {.threads = 2, .keep_attn_weights = true, .keep_projections = true, .keep_head_output = true});
    }
}

TEST_CASE("the fused backend agrees at sizes that fill no panel and no block") {
  for (const Index length : {1, 3, 31, 33, 65, 257}) {
    for (const InstructionSet set : sets_here()) {
      CAPTURE(length);
      AttentionInputs inputs = sized_inputs(2, length, length + 2, 6, 2, 5, 7);
      check_against_reference(inputs, {.threads = 2}, set);
      inputs.options.is_causal = true;
      inputs.options.sliding_window = 9;
      inputs.options.fully_masked_rows = FullyMaskedRows::zero;
      check_against_reference(inputs, {.threads = 2, .keep_attn_weights = true}, set);
    }
  }
}

TEST_CASE("a row of more keys than are scored at once is the same softmax") {
  AttentionInputs inputs = sized_inputs(1, 5, 4500, 2, 1, 8, 8);
  check_against_reference(inputs, {.threads = 1, .keep_attn_weights = true});
  inputs.options.dropout = 0.4;
  inputs.options.dropout_seed = 3;
  check_against_reference(inputs, {.threads = 1, .keep_attn_weights = true});
  inputs.options.alibi = true;
  check_against_reference(inputs, {.threads = 1});
}

TEST_CASE("equal bits for one, two and five threads") {
  const AttentionInputs inputs = sized_inputs(2, 130, 140, 4, 2, 16, 16);
  const TracePtr one = fused_forward(inputs, {.threads = 1, .keep_attn_weights = true});
  for (const int threads : {2, 5}) {
    const TracePtr more = fused_forward(inputs, {.threads = threads, .keep_attn_weights = true});
    CHECK(identical(*more->tensors.output, *one->tensors.output));
    CHECK(identical(*more->tensors.attn_weights, *one->tensors.attn_weights));
  }
}

TEST_CASE("a NaN behind a mask counts as it does in the reference") {
  AttentionInputs inputs = sized_inputs(1, 40, 40, 2, 2, 4, 4);
  Tensor value = *inputs.tensors.value;
  value.set_flat(39 * value.shape().size(2),
                 NAN);  // of the last key, which causal hides from all but the last query
  inputs.tensors.value = std::make_shared<const Tensor>(std::move(value));
  inputs.options.is_causal = true;
  check_against_reference(inputs, {.threads = 2});
  CHECK(std::isnan(fused_forward(inputs)->tensors.output->flat(0)));
}

TEST_CASE(
    "no number in a query, key or value, wherever it stands and whatever is masked, spreads as it does in "
    "the reference") {
  Scenario scenario;
  scenario.op = Op::scaled_dot_product_attention;
  scenario.attention.embed_dim = 64;
  scenario.attention.num_heads = 4;
  scenario.attention.num_kv_heads = 2;
  scenario.inputs.self_attention = false;
  for (std::uint64_t seed = 0; seed < 96; ++seed) {
    CAPTURE(seed);
    const CounterRandom random(seed, "no number");
    // A head width of 16 lets values be read where they stand, 20 does not.
    scenario.attention.head_dim = seed % 3 == 0 ? 20 : 16;
    scenario.inputs.query_length = 130;
    scenario.inputs.key_length = seed % 2 == 0 ? 130 : 200;
    scenario.mask.is_causal = seed % 4 < 3;
    scenario.mask.causal_alignment = seed % 8 < 4 ? CausalAlignment::top_left : CausalAlignment::bottom_right;
    scenario.mask.sliding_window = seed % 5 == 0 ? std::optional<Index>(9) : std::nullopt;
    scenario.mask.valid_lens.reset();
    if (seed % 4 == 3) scenario.mask.valid_lens = std::vector<std::vector<Index>>{{70}};
    AttentionInputs inputs = make_scenario_inputs(scenario, DType::f32).attention;
    TraceTensors& t = inputs.tensors;
    TensorPtr& into = seed % 7 < 2 ? t.query : seed % 7 < 4 ? t.key : t.value;
    Tensor tensor = *into;
    const auto cell = static_cast<Index>(random.uniform(0) * static_cast<double>(tensor.size()));
    const double infinity = std::numeric_limits<double>::infinity();
    tensor.set_flat(cell, std::array<double, 3>{NAN, infinity, -infinity}[seed % 11 % 3]);
    into = std::make_shared<const Tensor>(std::move(tensor));
    check_against_reference(inputs, {.threads = 2, .keep_attn_weights = seed % 13 < 6});
  }
}

TEST_CASE("a mask that blocks with a finite number is filled in, on every instruction set here") {
  for (const InstructionSet set : sets_here()) {
    AttentionInputs inputs = sized_inputs(1, 70, 200, 4, 2, 8, 8);
    inputs.options.is_causal = true;
    inputs.options.mask_value = -1.0;
    check_against_reference(inputs, {.threads = 2, .keep_attn_weights = true}, set);
  }
}

TEST_CASE("what the fused backend does not do it says in a sentence") {
  AttentionInputs inputs = sized_inputs(1, 3, 3, 2, 2, 4, 4);
  CHECK(fused_refusal(inputs).empty());
  inputs.dtype = DType::f64;
  CHECK_CONTAINS(fused_refusal(inputs), "f32");
  inputs = sized_inputs(1, 0, 3, 2, 2, 4, 4);
  CHECK_CONTAINS(fused_refusal(inputs), "at least 1");
  CHECK_THROWS_WITH_AS(fused_forward(inputs), doctest::Contains("reference"), Error);
}

TEST_CASE("a run is cancelled soon, at whatever moment, and the next one is whole") {
  const AttentionInputs inputs = sized_inputs(1, 700, 700, 4, 4, 32, 32);
  const auto begun = std::chrono::steady_clock::now();
  const TracePtr expected = fused_forward(inputs, {.threads = 2, .keep_attn_weights = true});
  const auto one_run = std::chrono::steady_clock::now() - begun;  // so that the moments are spread over runs
  for (const int threads : {1, 2, 5}) {
    for (const bool keep : {false, true}) {
      CAPTURE(threads);
      CAPTURE(keep);
      const auto check_whole = [&] {
        const TracePtr whole = fused_forward(inputs, {.threads = threads, .keep_attn_weights = keep});
        CHECK(identical(*whole->tensors.output, *expected->tensors.output));
        if (keep) CHECK(identical(*whole->tensors.attn_weights, *expected->tensors.attn_weights));
      };
      int cancelled_runs = 0;
      for (int run = 0; run < 20; ++run) {
        std::atomic<bool> cancelled = false;
        const CancelScope scope(cancelled);
        std::thread other([&] {
          std::this_thread::sleep_for(one_run * (run * 7919 % 97) / 48);
          cancelled = true;
        });
        try {
          while (true) check_whole();
        } catch (const Error& error) {
          CHECK(error.status() == ExitStatus::cancelled);
          ++cancelled_runs;
        }
        other.join();
      }
      CHECK(cancelled_runs == 20);
      check_whole();
    }
  }
}

namespace {

const FusedRun keeping{.keep_projections = true, .keep_head_output = true};

// After a plain run, and after one in which nearly everything is asked for.
std::vector<NamedInputs> first_inputs() {
  std::vector<NamedInputs> all{{"plain", sized_inputs(2, 130, 140, 4, 2, 12, 20)}};
  AttentionInputs full = all.front().inputs;
  AttentionOptions& options = full.options;
  options.is_causal = options.add_zero_attn = options.residual = true;
  options.softcap = 2.0;
  options.dropout = 0.4;
  options.head_gain = {0.3, 1.0, -1.7, 2.0};
  for (const FollowingInputs& next : following_inputs(full))
    if (next.name == "bias_k and bias_v") full = next.inputs;
  all.push_back({"full", full});
  AttentionInputs rotary = all.front().inputs;
  rotary.options.rotary_base = 1e4;
  rotary.options.is_causal = true;
  all.push_back({"rotary", rotary});
  for (const FollowingInputs& next : following_inputs(full))
    if (next.name == "frozen head") all.push_back({"frozen", next.inputs});
  return all;
}

void check_same_bits(const Trace& got, const Trace& expected) {
  for (const TensorEntry& entry : tensor_entries()) {
    CAPTURE(entry.name);
    const TensorPtr a = got.tensor(entry.id), b = expected.tensor(entry.id);
    REQUIRE(!a == !b);
    if (a) CHECK(identical(*a, *b));
  }
}

}  // namespace

TEST_CASE("a run that follows another makes only what changed, and the same bits as one of its own") {
  for (const NamedInputs& first : first_inputs()) {
    CAPTURE(first.name);
    for (const bool keep : {false, true}) {
      FusedTasks whole;
      FusedRun run = keeping;
      run.keep_attn_weights = keep;
      run.tasks = &whole;
      const TracePtr before = fused_forward(first.inputs, run);
      for (const FollowingInputs& next : following_inputs(first.inputs)) {
        CAPTURE(next.name);
        FusedTasks tasks, alone;
        run.tasks = &alone;
        const TracePtr expected = fused_forward(next.inputs, run);
        run.tasks = &tasks;
        run.before = before;
        const TracePtr followed = fused_forward(next.inputs, run);
        run.before = nullptr;
        check_same_bits(*followed, *expected);
        switch (next.from) {
          case FirstStage::projections:
            CHECK(tasks == alone);
            break;
          case FirstStage::some_tokens:
            CHECK(tasks.projections > 0);
            CHECK(tasks.projections < whole.projections);
            CHECK(tasks == FusedTasks{tasks.projections, whole.attentions, whole.outputs});
            break;
          case FirstStage::attention:
            CHECK(tasks == FusedTasks{0, whole.attentions, whole.outputs});
            CHECK(followed->tensors.q == before->tensors.q);
            break;
          case FirstStage::output:
            CHECK(tasks == FusedTasks{0, 0, whole.outputs, alone.gates});
            CHECK(followed->tensors.head_output == before->tensors.head_output);
            break;
          case FirstStage::equal_arrays:
          case FirstStage::behind_output:
            CHECK(tasks == FusedTasks{});
            CHECK(followed->tensors.output == before->tensors.output);
            break;
        }
      }
    }
  }
}

TEST_CASE("what follows a run agrees with the reference") {
  const AttentionInputs first = sized_inputs(2, 65, 70, 4, 2, 12, 20);
  const TracePtr before = fused_forward(first, keeping);
  for (const FollowingInputs& next : following_inputs(first)) {
    CAPTURE(next.name);
    FusedRun run = keeping;
    run.before = before;
    check_agrees(*fused_forward(next.inputs, run), *reference_forward(next.inputs));
  }
}

TEST_CASE("edit after edit, each run follows the last, whatever it has kept") {
  const CounterRandom random(5, "edits");
  std::uint64_t drawn = 0;
  const auto draw = [&](std::size_t below) { return random.bits(drawn++) % below; };
  AttentionInputs inputs = sized_inputs(2, 130, 140, 4, 2, 12, 20);
  TracePtr before;
  for (int step = 0; step < 120; ++step) {
    FusedRun run;
    run.keep_attn_weights = draw(4) == 0;
    run.keep_projections = draw(8) != 0;
    run.keep_head_output = draw(4) != 0;
    const TracePtr expected = fused_forward(inputs, run);
    run.before = before;
    before = fused_forward(inputs, run);
    check_same_bits(*before, *expected);
    const std::vector<FollowingInputs> next = following_inputs(inputs);
    const FollowingInputs& chosen = next[draw(next.size())];
    CAPTURE(chosen.name);
    // Sizes stay, so that what is kept may be of use.
    if (attention_sizes(chosen.inputs) == attention_sizes(inputs)) inputs = chosen.inputs;
  }
}

TEST_CASE("a number that is none in one token is in the same cells after an edit as in a run of its own") {
  AttentionInputs inputs = sized_inputs(1, 130, 140, 4, 2, 12, 20);
  inputs.options.is_causal = true;
  const TracePtr before = fused_forward(inputs, keeping);
  for (const auto member : {&TraceTensors::query, &TraceTensors::key, &TraceTensors::value}) {
    AttentionInputs edited = inputs;
    Tensor other = *(inputs.tensors.*member);
    other.set_flat(70 * other.shape().size(2), NAN);
    edited.tensors.*member = std::make_shared<const Tensor>(std::move(other));
    FusedRun run = keeping;
    run.before = before;
    const TracePtr followed = fused_forward(edited, run);
    check_same_bits(*followed, *fused_forward(edited, keeping));
    run.before = followed;
    check_same_bits(*fused_forward(inputs, run), *before);
  }
}

TEST_CASE("a trace that has kept nothing gives nothing over") {
  const AttentionInputs inputs = sized_inputs(1, 70, 70, 4, 2, 12, 20);
  FusedTasks whole, tasks;
  fused_forward(inputs, {.tasks = &whole});
  fused_forward(inputs, {.before = fused_forward(inputs), .tasks = &tasks});
  CHECK(tasks == whole);
  // Without head_output attention is done again, and where the weights are wanted that are not there.
  fused_forward(inputs, {.before = fused_forward(inputs, {.keep_projections = true}), .tasks = &tasks});
  CHECK(tasks == FusedTasks{0, whole.attentions, whole.outputs});
  fused_forward(inputs, {.keep_attn_weights = true, .before = fused_forward(inputs, keeping), .tasks = &tasks});
  CHECK(tasks == FusedTasks{0, whole.attentions, whole.outputs});
}

TEST_CASE("every head is made ready once and before its tasks, each of which is given once") {
  for (const int threads : {1, 2, 3, 5}) {
    for (const Index heads : {1, 4, 7}) {
      for (const Index tasks : {1, 3, 20}) {
        CAPTURE(threads);
        CAPTURE(heads);
        CAPTURE(tasks);
        HeadShares shares(heads, tasks, threads);
        std::vector<std::atomic<int>> made(static_cast<std::size_t>(heads)),
            done(static_cast<std::size_t>(heads * tasks));
        std::atomic<bool> early = false;
        run_tasks(heads * tasks, threads, [&](Index, int worker) {
          const Index task = shares.next(worker, [&](Index head) {
            std::this_thread::sleep_for(std::chrono::microseconds(50));
            ++made[static_cast<std::size_t>(head)];
          });
          if (made[static_cast<std::size_t>(task / tasks)] != 1) early = true;
          ++done[static_cast<std::size_t>(task)];
        });
        CHECK_FALSE(early);
        CHECK(std::ranges::all_of(made, [](const auto& times) { return times == 1; }));
        CHECK(std::ranges::all_of(done, [](const auto& times) { return times == 1; }));
      }
    }
  }
}

TEST_CASE("each thread begins with heads of its own, and goes on with what others have left") {
  HeadShares shares(4, 2, 2);
  std::vector<Index> made;
  const auto make_ready = [&](Index head) { made.push_back(head); };
  CHECK(shares.next(0, make_ready) == 0);
  CHECK(shares.next(1, make_ready) == 4);
  CHECK(made == std::vector<Index>{0, 2});
  for (const Index task : {1, 2, 3, 5, 6, 7}) CHECK(shares.next(0, make_ready) == task);
  CHECK(made == std::vector<Index>{0, 2, 1, 3});
}

TEST_CASE("a head that cannot be made ready ends the work with its own error, in all threads") {
  HeadShares shares(2, 50, 3);
  CHECK_THROWS_WITH_AS(run_tasks(100, 3,
                                 [&](Index, int worker) {
                                   shares.next(worker, [](Index) {
                                     std::this_thread::sleep_for(std::chrono::milliseconds(2));
                                     throw std::runtime_error("no keys");
                                   });
                                 }),
                       "no keys", std::runtime_error);
}
