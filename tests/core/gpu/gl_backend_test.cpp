// The operator in compute shaders against the reference, on whatever OpenGL is here (software, mostly).
#include "core/gpu/gl_backend.h"

#include <epoxy/egl.h>
#include <epoxy/gl.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "app/platform/driver.h"
#include "app/platform/offscreen_context.h"
#include "core/attention/reference_backend.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/attention/option_combinations.h"
#include "tests/core/fused/agreement.h"
#include "tests/core/gpu/computing_context.h"

using namespace headwise;
using namespace headwise::test;

namespace {

// A context that computes, and every error of its driver as a failed test.
class ComputeContext {
 public:
  ComputeContext() {
    if (!context_) return;
    debug_ = std::make_unique<gl::DebugOutput>(
        [](const gl::DebugMessage& message) { CHECK_MESSAGE(!message.error, message.text); });
  }
  explicit operator bool() const { return context_ != nullptr; }

 private:
  std::unique_ptr<OffscreenContext> context_ = context_or_skip();
  std::unique_ptr<gl::DebugOutput> debug_;
};

// The largest piece of a buffer that is given to a shader while it lives.
class LargestPiece {
 public:
  LargestPiece() : before_(epoxy_glBindBufferRange) {
    bytes_ = 0;
    driver_ = reinterpret_cast<PFNGLBINDBUFFERRANGEPROC>(eglGetProcAddress("glBindBufferRange"));
    epoxy_glBindBufferRange = [](GLenum target, GLuint index, GLuint buffer, GLintptr offset, GLsizeiptr size) {
      if (target == GL_SHADER_STORAGE_BUFFER) bytes_ = std::max<Index>(bytes_, size);
      driver_(target, index, buffer, offset, size);
    };
  }
  ~LargestPiece() { epoxy_glBindBufferRange = before_; }
  LargestPiece(const LargestPiece&) = delete;
  LargestPiece& operator=(const LargestPiece&) = delete;

  Index bytes() const { return bytes_; }

 private:
  PFNGLBINDBUFFERRANGEPROC before_;
  static inline PFNGLBINDBUFFERRANGEPROC driver_ = nullptr;
  static inline Index bytes_ = 0;
};

void check_against_reference(const AttentionInputs& inputs, const GlRun& run = {}) {
  const LargestPiece largest;
  GlForward forward(inputs, run);
  forward.finish();
  if (run.limits) CHECK(largest.bytes() <= run.limits->storage_block_bytes);
  const TracePtr got = forward.trace();
  check_agrees(*got, *reference_forward(inputs));
  CHECK(forward.guards_intact());
  CHECK(forward.progress() == 1.0);
  if (run.keep_attn_weights) CHECK(got->tensors.attn_weights);
}

}  // namespace

TEST_CASE(
    "the gl backend agrees with the reference over every option but clip_qkv, the indexer and latents, which "
    "it "
    "refuses") {
  OPEN_OR_SKIP(context, ComputeContext());
  for (const NamedInputs& named : single_option_inputs()) {
    CAPTURE(named.name);
    const AttentionInputs inputs = as_f32(named.inputs);
    if (inputs.options.clip_qkv) {
      CHECK_CONTAINS(gl_refusal(inputs, gpu_limits()), "clip_qkv");
      continue;
    }
    if (inputs.options.indexer) {
      CHECK_CONTAINS(gl_refusal(inputs, gpu_limits()), "does not choose keys by an indexer (indexer)");
      continue;
    }
    if (is_latent(inputs.options)) {
      CHECK_CONTAINS(gl_refusal(inputs, gpu_limits()), "multi_head_latent_attention");
      continue;
    }
    CHECK(gl_refusal(inputs, gpu_limits()).empty());
    check_against_reference(inputs, {.keep_attn_weights = true});
  }
}

TEST_CASE("the gl backend agrees with the reference over options drawn together") {
  OPEN_OR_SKIP(context, ComputeContext());
  int done = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const NamedInputs named = random_combination(seed);
    CAPTURE(named.name);
    const AttentionInputs inputs = as_f32(named.inputs);
    if (!gl_refusal(inputs, gpu_limits()).empty()) continue;
    check_against_reference(inputs, {.keep_attn_weights = seed % 2 == 0});
    ++done;
  }
  CHECK(done > 40);
}

TEST_CASE("the gl backend agrees at sizes that fill no block") {
  OPEN_OR_SKIP(context, ComputeContext());
  for (const Index length : {1, 31, 33, 65, 150, 257}) {
    for (const Index head_dim : {5, 8, 70}) {
      CAPTURE(length);
      CAPTURE(head_dim);
      AttentionInputs inputs = sized_inputs(2, length, length + 2, 4, 2, head_dim, head_dim + 3);
      check_against_reference(inputs);
      inputs.options.is_causal = true;
      inputs.options.sliding_window = 40;
      inputs.options.fully_masked_rows = FullyMaskedRows::zero;
      check_against_reference(inputs, {.keep_attn_weights = length < 100});
    }
  }
  check_against_reference(sized_inputs(1, 40, 70, 2, 1, 200, 256));
}

TEST_CASE("the gl backend holds weights of frozen heads, of some and of all, at sizes that fill no block") {
  OPEN_OR_SKIP(context, ComputeContext());
  for (const Index length : {1, 31, 33, 65, 150, 257}) {
    for (const std::vector<Index>& frozen : {std::vector<Index>{2}, {3, 0}, {0, 1, 2, 3}}) {
      CAPTURE(length);
      CAPTURE(frozen.size());
      AttentionInputs inputs = sized_inputs(2, length, length + 3, 4, 2, 12, 21);
      inputs.options.is_causal = true;
      inputs.options.head_gain = {0.5, 2.0, -1.0, 3.0};
      inputs.options.frozen_heads = frozen;
      const auto F = static_cast<Index>(frozen.size());
      Tensor held(Shape{{"N", 2}, {"F", F}, {"L", length}, {"S", length + 3}},
                  F == 2 ? DType::f64 : DType::f32);
      for (Index i = 0; i < held.size(); ++i) held.set_flat(i, 0.01 * static_cast<double>(i % 17));
      inputs.tensors.frozen_weights = std::make_shared<const Tensor>(std::move(held));
      check_against_reference(inputs, {.keep_attn_weights = length < 100});
    }
  }
}

TEST_CASE("gains of more tokens than a shader sees at once are multiplied in parts") {
  OPEN_OR_SKIP(context, ComputeContext());
  AttentionInputs inputs = sized_inputs(2, 300, 9, 4, 2, 12, 21);
  inputs.options.head_gain = {0.5, 2.0, -1.0, 3.0};
  GpuLimits limits = gpu_limits();
  limits.storage_block_bytes = 4 * 128 * 84 + limits.offset_alignment + 64;  // 128 tokens
  REQUIRE(gl_refusal(inputs, limits).empty());
  check_against_reference(inputs, {.limits = &limits});
}

TEST_CASE("an attn_mask larger than the largest storage block is looked at in parts") {
  OPEN_OR_SKIP(context, ComputeContext());
  GpuLimits limits = gpu_limits();
  for (const DType dtype : {DType::f32, DType::boolean}) {
    for (const bool each_head : {false, true}) {
      for (const Index length : {1, 31, 33, 65, 150, 257}) {
        CAPTURE(each_head);
        CAPTURE(length);
        CAPTURE(static_cast<int>(dtype));
        const Index keys = length + 5, heads = 3;
        AttentionInputs inputs = sized_inputs(2, length, keys, heads, heads, 8, 8);
        Tensor mask = each_head ? Tensor(Shape{{"N·H", 2 * heads}, {"L", length}, {"S", keys}}, dtype)
                                : Tensor(Shape{{"L", length}, {"S", keys}}, dtype);
        for (Index i = 0; i < mask.size(); ++i)
          mask.set_flat(
              i, dtype == DType::boolean ? (i % 7 == 3 ? 1.0 : 0.0) : 0.1 * static_cast<double>(i % 11));
        // Room for the rows of one work group, at the least for a head's k and v.
        const Index row_bytes = dtype == DType::boolean ? keys / 8 + 1 : 4 * keys;
        limits.storage_block_bytes = std::max({Index{1024}, 130 * row_bytes, 4 * 8 * keys,
                                               4 * 8 * heads * std::min<Index>(length, 128)}) +
                                     2 * limits.offset_alignment + 64;
        inputs.tensors.attn_mask = std::make_shared<const Tensor>(std::move(mask));
        CHECK(gl_refusal(inputs, limits).empty());
        check_against_reference(inputs, {.keep_attn_weights = length < 100, .limits = &limits});
      }
    }
  }
  // Too little even for one work group.
  AttentionInputs inputs = sized_inputs(1, 300, 300, 1, 1, 4, 4);
  inputs.tensors.attn_mask = std::make_shared<const Tensor>(Tensor(Shape{{"L", 300}, {"S", 300}}, DType::f32));
  limits.storage_block_bytes = 100'000;
  CHECK_CONTAINS(gl_refusal(inputs, limits), "attn_mask");
}

TEST_CASE("a small largest storage block cuts the work and changes no number") {
  OPEN_OR_SKIP(context, ComputeContext());
  GpuLimits limits = gpu_limits();
  limits.storage_block_bytes = 14'000;  // 70 rows of all heads, or the keys of one
  for (const bool causal : {false, true}) {
    AttentionInputs inputs = sized_inputs(2, 70, 300, 6, 3, 8, 8);
    inputs.options.is_causal = causal;
    check_against_reference(inputs, {.keep_attn_weights = true, .limits = &limits});
  }
}

TEST_CASE("a head larger than the largest storage block is attended to some queries and keys at a time") {
  OPEN_OR_SKIP(context, ComputeContext());
  GpuLimits limits = gpu_limits();
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    CAPTURE(seed);
    const Index keys = seed % 3 == 0 ? 300 : 333,
                length = seed % 3 == 0   ? keys
                         : seed % 2 == 0 ? 150
                                         : 181,
                width = seed % 5 == 0 ? 7 : 8, v_width = seed % 7 < 3 ? 20 : 8;
    AttentionInputs inputs = sized_inputs(2, length, keys, 2, 1, width, v_width);
    // 128 rows of both heads, or little more: not all rows of one.
    limits.storage_block_bytes =
        4 * 2 * v_width * (128 + static_cast<Index>(seed) % 16) + limits.offset_alignment + 64;
    inputs.options.is_causal = seed % 4 == 1;
    if (seed % 4 == 2) inputs.options.sliding_window = 40;
    if (seed % 4 == 2) inputs.options.fully_masked_rows = FullyMaskedRows::zero;
    if (seed % 4 == 3) inputs.options.alibi = true;
    if (seed % 6 == 5) inputs.options.dropout = 0.3;
    if (seed % 8 == 4) {
      inputs.options.frozen_heads = {1};
      Tensor held(Shape{{"N", 2}, {"F", 1}, {"L", length}, {"S", keys}}, DType::f32);
      for (Index i = 0; i < held.size(); ++i) held.set_flat(i, 0.01 * static_cast<double>(i % 17));
      inputs.tensors.frozen_weights = std::make_shared<const Tensor>(std::move(held));
    }
    REQUIRE(gl_refusal(inputs, limits).empty());
    check_against_reference(inputs, {.keep_attn_weights = seed % 9 == 1, .limits = &limits});
  }
  // Too little even for one work group.
  limits.storage_block_bytes = 4 * 20 * 100;
  CHECK_CONTAINS(gl_refusal(sized_inputs(1, 300, 300, 1, 1, 20, 20), limits), "rows of a head");
}

TEST_CASE("a row of held weights larger than the largest storage block is read some keys at a time") {
  OPEN_OR_SKIP(context, ComputeContext());
  GpuLimits limits = gpu_limits();
  for (const Index length : {1, 33, 150}) {
    CAPTURE(length);
    AttentionInputs inputs = sized_inputs(2, length, 1200, 4, 2, 2, 2);
    limits.storage_block_bytes = 4 * 8 * 128 + limits.offset_alignment;  // a row takes 4,800 bytes
    inputs.options.frozen_heads = {3, 1};
    Tensor held(Shape{{"N", 2}, {"F", 2}, {"L", length}, {"S", 1200}}, DType::f32);
    for (Index i = 0; i < held.size(); ++i) held.set_flat(i, 0.001 * static_cast<double>(i % 17));
    inputs.tensors.frozen_weights = std::make_shared<const Tensor>(std::move(held));
    REQUIRE(gl_refusal(inputs, limits).empty());
    check_against_reference(inputs, {.limits = &limits});
  }
}

TEST_CASE("without subgroups, and with the least shared memory that the standard allows, it is the same") {
  OPEN_OR_SKIP(context, ComputeContext());
  GpuLimits limits = gpu_limits();
  limits.clustered_subgroups = false;
  limits.shared_bytes = 32768;
  check_against_reference(sized_inputs(1, 200, 200, 2, 2, 64, 64), {.limits = &limits});
  limits.shared_bytes = 49152;  // the larger tile
  if (gpu_limits().shared_bytes >= 49152)
    check_against_reference(sized_inputs(1, 200, 200, 2, 2, 64, 64), {.limits = &limits});
}

TEST_CASE("with subgroups, emulated where the driver has none, it gives the very bits of without") {
  OPEN_OR_SKIP(context, ComputeContext());
  GpuLimits without = gpu_limits(), emulated = without;
  without.clustered_subgroups = without.emulated_subgroups = false;
  emulated.clustered_subgroups = emulated.emulated_subgroups = true;
  without.shared_bytes = emulated.shared_bytes = 32768;
  for (const auto& [head_dim, causal] :
       {std::pair<Index, bool>{16, false}, {16, true}, {33, true}, {96, false}, {200, true}}) {
    CAPTURE(head_dim);
    AttentionInputs inputs = sized_inputs(1, 150, 150, 2, 1, head_dim, head_dim);
    inputs.options.is_causal = causal;
    CHECK(identical(*gl_forward(inputs, {.limits = &without})->tensors.output,
                    *gl_forward(inputs, {.limits = &emulated})->tensors.output));
  }
}

TEST_CASE("a product that reads a strip while it multiplies one gives the very same bits, in every tile") {
  OPEN_OR_SKIP(context, ComputeContext());
  GpuLimits in_turn = gpu_limits(), ahead = in_turn;
  in_turn.tiles.product.loads_ahead = false;
  ahead.tiles.product.loads_ahead = true;
  for (const auto& [length, head_dim] : {std::pair<Index, Index>{20, 5}, {70, 33}, {300, 64}, {300, 130}}) {
    CAPTURE(length);
    CAPTURE(head_dim);
    const AttentionInputs inputs = sized_inputs(1, length, length, 2, 2, head_dim, head_dim);
    const TracePtr one = gl_forward(inputs, {.limits = &in_turn}),
                   other = gl_forward(inputs, {.limits = &ahead});
    CHECK(identical(*one->tensors.q, *other->tensors.q));
    CHECK(identical(*one->tensors.output, *other->tensors.output));
    // Cut anywhere along its depth.
    CHECK(identical(*one->tensors.output,
                    *gl_forward(inputs, {.steps_at_once = 1, .limits = &ahead})->tensors.output));
  }
}

TEST_CASE("a boolean mask that blocks whole blocks skips them, but not where a value is no number") {
  OPEN_OR_SKIP(context, ComputeContext());
  AttentionInputs inputs = sized_inputs(1, 200, 200, 2, 2, 8, 8);
  Tensor mask(Shape{{"L", 200}, {"S", 200}}, DType::boolean);
  for (Index l = 0; l < 200; ++l)
    for (Index s = 0; s < 200; ++s) mask.set_flat(l * 200 + s, s / 70 != l / 70 ? 1.0 : 0.0);
  inputs.tensors.attn_mask = std::make_shared<const Tensor>(std::move(mask));
  check_against_reference(inputs);
  Tensor value = *inputs.tensors.value;
  value.set_flat(199 * value.shape().size(2), NAN);
  inputs.tensors.value = std::make_shared<const Tensor>(std::move(value));
  check_against_reference(inputs);
  CHECK(std::isnan(gl_forward(inputs)->tensors.output->flat(0)));
}

TEST_CASE("the same numbers come in one slice and in many") {
  OPEN_OR_SKIP(context, ComputeContext());
  const AttentionInputs inputs = sized_inputs(2, 300, 300, 4, 2, 16, 16);
  const TracePtr whole = gl_forward(inputs, {.slices = {.milliseconds = 1e6}});
  const TracePtr cut = gl_forward(inputs, {.slices = {.milliseconds = 1e-6}});
  CHECK(identical(*whole->tensors.output, *cut->tensors.output));
}

TEST_CASE("wherever keys and the depth of a product are cut, not a bit of the result changes") {
  OPEN_OR_SKIP(context, ComputeContext());
  GpuLimits small = gpu_limits();
  int done = 0;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    CAPTURE(seed);
    const bool ragged = seed % 3 == 1, is_small = seed % 4 == 3;
    // Two blocks of queries, of 128 or of 64, by four of keys, the last ones not full.
    const Index batch = seed % 4 < 2 ? 1 : 2, heads = 4;
    const Index length = seed % 5 < 3 ? 150 : 70, keys = seed % 5 == 0 ? length : 205;
    const Index width = ragged ? 7 : 20, v_width = seed % 7 == 2 ? 72 : ragged ? 9 : 20;
    AttentionInputs inputs =
        sized_inputs(batch, length, keys, heads, seed % 2 == 0 ? 2 : heads, width, v_width);
    if (seed % 4 == 1) inputs.options.is_causal = true;
    // The first key that query 128 sees is the last of a block.
    if (seed % 4 == 2) inputs.options.sliding_window = seed % 8 == 2 ? 66 : 2;
    if (seed % 8 >= 4) inputs.options.fully_masked_rows = FullyMaskedRows::zero;
    if (seed % 6 == 5) inputs.options.dropout = 0.3;
    if (seed % 6 == 2) inputs.options.alibi = true;
    if (seed % 6 == 4) inputs.options.softcap = 5.0;
    if (seed % 6 == 0) {
      Tensor mask(Shape{{"L", length}, {"S", keys}}, seed % 12 == 0 ? DType::boolean : DType::f32);
      for (Index i = 0; i < mask.size(); ++i) {
        const Index row = i / keys, column = i % keys;
        const bool blocked = (row / 64 + column / 64) % 2 == 0 || row == 5;
        mask.set_flat(
            i, mask.dtype() == DType::boolean ? (blocked ? 1.0 : 0.0) : 0.1 * static_cast<double>(i % 11));
      }
      inputs.tensors.attn_mask = std::make_shared<const Tensor>(std::move(mask));
    }
    if (seed % 8 == 7) {
      inputs.options.frozen_heads = {1};
      Tensor held(Shape{{"N", batch}, {"F", 1}, {"L", length}, {"S", keys}}, DType::f32);
      for (Index i = 0; i < held.size(); ++i) held.set_flat(i, 0.01 * static_cast<double>(i % 17));
      inputs.tensors.frozen_weights = std::make_shared<const Tensor>(std::move(held));
    }
    if (seed % 9 == 8) {
      Tensor value = *inputs.tensors.value;
      value.set_flat(200, NAN);
      inputs.tensors.value = std::make_shared<const Tensor>(std::move(value));
    }
    // Rows of one head alone, or all.
    small.storage_block_bytes =
        4 * heads * v_width * (128 + static_cast<Index>(seed)) + small.offset_alignment + 64;
    GlRun run{.keep_attn_weights = true, .limits = is_small ? &small : nullptr};
    REQUIRE(gl_refusal(inputs, is_small ? small : gpu_limits()).empty());
    run.steps_at_once = 1'000'000;
    const TracePtr whole = gl_forward(inputs, run);
    for (const Index steps : {1, 3, 0}) {
      CAPTURE(steps);
      run.steps_at_once = steps;
      run.slices.milliseconds = steps == 0 ? 1e-6 : 4.0;
      GlForward forward(inputs, run);
      forward.finish();
      CHECK(forward.guards_intact());
      const TracePtr cut = forward.trace();
      CHECK(identical(*whole->tensors.q, *cut->tensors.q));
      CHECK(identical(*whole->tensors.v, *cut->tensors.v));
      CHECK(identical(*whole->tensors.attn_weights, *cut->tensors.attn_weights));
      CHECK(identical(*whole->tensors.output, *cut->tensors.output));
    }
    check_agrees(*whole, *reference_forward(inputs));
    ++done;
  }
  CHECK(done == 24);
}

TEST_CASE("work that is no longer wanted ends with the next slice") {
  OPEN_OR_SKIP(context, ComputeContext());
  std::atomic<bool> cancelled = true;
  const CancelScope scope(cancelled);
  GlForward forward(sized_inputs(1, 300, 300, 2, 2, 16, 16), {.slices = {.milliseconds = 1e-6}});
  CHECK_THROWS_AS(forward.finish(), Error);
  CHECK(forward.progress() < 1.0);
}

TEST_CASE("rows of the weights are made again, the ones that are asked for") {
  OPEN_OR_SKIP(context, ComputeContext());
  AttentionInputs inputs = sized_inputs(2, 50, 60, 4, 2, 8, 8);
  inputs.options.is_causal = true;
  GlForward forward(inputs);
  forward.finish();
  const TracePtr expected = reference_forward(inputs);
  const Tensor rows = forward.attn_weights(1, 3, 17, 5);
  REQUIRE(rows.shape().size(0) == 5);
  for (Index l = 0; l < 5; ++l)
    for (Index s = 0; s < 60; ++s)
      CHECK(rows.at({l, s}) ==
            doctest::Approx(expected->tensors.attn_weights->at({1, 3, 17 + l, s})).epsilon(1e-5));
}

TEST_CASE("what the gl backend does not do it says in a sentence") {
  OPEN_OR_SKIP(context, ComputeContext());
  const AttentionInputs wide = sized_inputs(1, 3, 3, 1, 1, 300, 8);
  CHECK_CONTAINS(gl_refusal(wide, gpu_limits()), "256");
  CHECK_THROWS_WITH_AS(gl_forward(wide), doctest::Contains("reference"), Error);
}

TEST_CASE("a run that follows another on the GPU makes only what changed, with the numbers of its own run") {
  OPEN_OR_SKIP(context, ComputeContext());
  const AttentionInputs first = sized_inputs(2, 65, 70, 4, 2, 12, 20);
  GlForward forward(first);
  forward.finish();
  const Index whole = forward.tiles("matrix_product");
  Index output_alone = 0, some_tokens = 0;
  for (const FollowingInputs& next : following_inputs(first)) {
    CAPTURE(next.name);
    if (next.inputs.options.indexer) continue;  // which gl refuses
    forward.follow(first);
    forward.finish();
    forward.follow(next.inputs);
    forward.finish();
    const Index tiles = forward.tiles("matrix_product");
    const Index attended = forward.tiles("scaled_dot_product_attention");
    if (next.from == FirstStage::behind_output) {
      CHECK(tiles == 0);
      CHECK(attended == 0);
    } else if (next.from >= FirstStage::attention) {
      if (output_alone == 0) output_alone = tiles;
      // With a gate there is one linear layer more.
      CHECK(next.inputs.options.output_gate ? tiles > output_alone : tiles == output_alone);
      CHECK(tiles < whole);
      CHECK((attended > 0) == (next.from == FirstStage::attention));
    } else if (next.from == FirstStage::projections) {
      CHECK(tiles >= whole);
    } else {  // q, k and v of the tokens that are others
      CHECK(tiles < whole);
      some_tokens += next.from == FirstStage::some_tokens;
    }
    GlForward own(next.inputs);
    own.finish();
    if (next.from < FirstStage::attention) CHECK(attended == own.tiles("scaled_dot_product_attention"));
    const TracePtr followed = forward.trace(), alone = own.trace();
    CHECK(identical(*followed->tensors.output, *alone->tensors.output));
    if (alone->tensors.q) {
      CHECK(identical(*followed->tensors.q, *alone->tensors.q));
      CHECK(identical(*followed->tensors.k, *alone->tensors.k));
      CHECK(identical(*followed->tensors.v, *alone->tensors.v));
    }
    check_agrees(*followed, *reference_forward(next.inputs));
    CHECK(forward.guards_intact());
  }
  CHECK(some_tokens > 0);
  // And one after the other, with the weights.
  const GlRun keep{.keep_attn_weights = true};
  GlForward chain(first, keep);
  chain.finish();
  for (const FollowingInputs& next : following_inputs(first)) {
    CAPTURE(next.name);
    if (next.inputs.options.indexer) continue;  // which gl refuses
    chain.follow(next.inputs);
    chain.finish();
    const TracePtr followed = chain.trace(), alone = gl_forward(next.inputs, keep);
    CHECK(identical(*followed->tensors.output, *alone->tensors.output));
    CHECK(identical(*followed->tensors.attn_weights, *alone->tensors.attn_weights));
  }
  // Another op and other sizes are a run of their own.
  AttentionInputs other = sized_inputs(1, 33, 33, 2, 2, 8, 8);
  forward.follow(other);
  forward.finish();
  check_agrees(*forward.trace(), *reference_forward(other));
}
