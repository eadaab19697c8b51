// Every way to compile the shaders of attention and of products gives the same bits,
// so that the fastest may be chosen.
#include <doctest/doctest.h>
#include <epoxy/egl.h>
#include <epoxy/gl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/attention/reference_backend.h"
#include "core/gpu/gl_backend.h"
#include "core/gpu/storage_buffer.h"
#include "core/tensor/random.h"
#include "tests/core/fused/agreement.h"
#include "tests/core/gpu/computing_context.h"

using namespace headwise;
using namespace headwise::test;

namespace {

GpuLimits limits_with(TileChoice tile) {
  GpuLimits limits = gpu_limits();
  limits.shared_bytes = 32768;  // the least of any OpenGL
  limits.tiles.exact = true;    // a large tile is worthwhile for more queries only
  limits.tiles.product = tile;
  limits.tiles.attention.fill(tile);
  return limits;
}

TensorPtr mask_of(Index queries, Index keys, DType dtype, bool (*is_set)(Index, Index)) {
  Tensor mask(Shape{{"L", queries}, {"S", keys}}, dtype);
  for (Index l = 0; l < queries; ++l)
    for (Index s = 0; s < keys; ++s) mask.set_flat(l * keys + s, is_set(l, s) ? 1.0 : 0.0);
  return std::make_shared<const Tensor>(std::move(mask));
}

TensorPtr random_heads(std::string_view name, Shape shape) {
  const CounterRandom random(11, name);
  Tensor tensor(std::move(shape), DType::f32);
  for (Index i = 0; i < tensor.size(); ++i) tensor.set_flat(i, random.normal(static_cast<std::uint64_t>(i)));
  return std::make_shared<const Tensor>(std::move(tensor));
}

// Two heads that share keys and values.
AttentionInputs random_heads(Index queries, Index keys, Index head_dim) {
  AttentionInputs inputs;
  inputs.options.op = Op::scaled_dot_product_attention;
  inputs.tensors.query = random_heads("query", {{"N", 1}, {"H", 2}, {"L", queries}, {"D", head_dim}});
  inputs.tensors.key = random_heads("key", {{"N", 1}, {"G", 1}, {"S", keys}, {"D", head_dim}});
  inputs.tensors.value = random_heads("value", {{"N", 1}, {"G", 1}, {"S", keys}, {"Dv", head_dim}});
  return inputs;
}

struct Masked {
  const char* name;
  void (*mask)(AttentionInputs&);
};
constexpr std::array<Masked, 7> masks{{
    {"no mask", [](AttentionInputs&) {}},
    {"causal", [](AttentionInputs& inputs) { inputs.options.is_causal = true; }},
    {"a window", [](AttentionInputs& inputs) { inputs.options.sliding_window = 90; }},
    {"causal with a window",
     [](AttentionInputs& inputs) {
       inputs.options.is_causal = true;
       inputs.options.sliding_window = 130;
     }},
    {"causal with a softcap and dropout",
     [](AttentionInputs& inputs) {
       inputs.options.is_causal = true;
       inputs.options.softcap = 2.0;
       inputs.options.dropout = 0.1;
     }},
    {"a mask that rules out whole blocks",
     [](AttentionInputs& inputs) {
       inputs.tensors.attn_mask =
           mask_of(300, 340, DType::boolean, [](Index l, Index s) { return s / 96 == l / 96; });
     }},
    {"a causal mask beside one of numbers",
     [](AttentionInputs& inputs) {
       inputs.options.is_causal = true;
       inputs.tensors.attn_mask =
           mask_of(300, 340, DType::f32, [](Index l, Index s) { return (l + s) % 3 == 0; });
     }},
}};

}  // namespace

TEST_CASE("attention gives the very same bits with every tile, masked or not, in 32 KiB of shared memory") {
  OPEN_OR_SKIP(context, context_or_skip());
  constexpr TileChoice ahead{false, true}, large{true, false}, both{true, true};
  struct Compared {
    Index head_dim;
    std::vector<TileChoice> tiles;  // held against the small one
    // by their place above: a driver takes a second for what is compiled anew
    std::vector<std::size_t> masks;
  };
  for (const Compared& compared :
       {Compared{8, {both}, {0, 1, 2, 3, 4, 5, 6}}, Compared{16, {ahead, large}, {0}},
        Compared{33, {both}, {1}}, Compared{72, {large}, {1}}, Compared{140, {ahead}, {1}}}) {
    const Index head_dim = compared.head_dim;
    CAPTURE(head_dim);
    const AttentionInputs inputs = random_heads(300, 340, head_dim);
    std::vector<TensorPtr> outputs;  // of the small tile, mask by mask
    const auto run = [&](const TileChoice& tile) {
      CAPTURE(tile.large);
      CAPTURE(tile.loads_ahead);
      const bool is_first = outputs.empty();
      const GpuLimits limits = limits_with(tile);
      std::optional<GlForward> forward;
      for (std::size_t i = 0; i < compared.masks.size(); ++i) {
        const Masked& mask = masks[compared.masks[i]];
        CAPTURE(mask.name);
        AttentionInputs masked = inputs;
        mask.mask(masked);
        if (!forward)
          forward.emplace(masked, GlRun{.steps_at_once = tile.loads_ahead ? 1 : 0, .limits = &limits});
        else
          forward->follow(masked);
        forward->finish();
        // Blocks of queries of two heads. Two rows of 256 columns have no room in the registers.
        CHECK(forward->tiles("scaled_dot_product_attention") == 2 * (tile.large && head_dim <= 128 ? 3 : 5));
        CHECK(forward->guards_intact());
        const TensorPtr output = forward->trace()->tensors.output;
        if (is_first) {
          check_agrees(*forward->trace(), *reference_forward(masked));
          outputs.push_back(output);
        }
        CHECK(identical(*output, *outputs[i]));
      }
    };
    run({false, false});
    for (const TileChoice& tile : compared.tiles) run(tile);
  }
}

TEST_CASE("blocks that every query sees give the same bits whether each cell's mask is looked at or not") {
  OPEN_OR_SKIP(context, context_or_skip());
  const Index queries = 130;
  // How far the last query's key lies behind the first:
  // on either side of where a block is just seen as a whole, and just not.
  for (const Index later : {0, 1, 62, 63, 64, 127}) {
    for (const Index window : {0, 65, 126, 127, 128}) {
      CAPTURE(later);
      CAPTURE(window);
      AttentionInputs inputs = random_heads(queries, queries + later, 16);
      inputs.options.is_causal = true;
      inputs.options.causal_alignment = CausalAlignment::bottom_right;
      if (window > 0) inputs.options.sliding_window = window;
      const TracePtr by_blocks = gl_forward(inputs);
      // A mask of zeros changes nothing, but has to be looked at.
      inputs.tensors.attn_mask =
          mask_of(queries, queries + later, DType::f32, [](Index, Index) { return false; });
      CHECK(identical(*gl_forward(inputs)->tensors.output, *by_blocks->tensors.output));
    }
  }
}

TEST_CASE("a piece that begins beyond 2^32 numbers is bound at its byte; no byte count is cut to 32 bits") {
  OPEN_OR_SKIP(context, context_or_skip());
  const StorageBuffer buffer("small", 4);
  static GLintptr offset;
  static GLsizeiptr size;
  const auto driver = epoxy_glBindBufferRange;
  epoxy_glBindBufferRange = [](GLenum, GLuint, GLuint, GLintptr from, GLsizeiptr bytes) {
    offset = from;
    size = bytes;
  };
  const Index before_first = [&] {  // the guard
    buffer.bind(0, 0, 1, 4);
    return offset / 4;
  }();
  for (const Index first :
       {(Index{1} << 30) - 1, Index{1} << 30, (Index{1} << 32) - 3, (Index{1} << 32) + 5, Index{1} << 40}) {
    for (const Index alignment : {4, 16, 256}) {
      for (const Index count : {Index{1}, Index{1000}, Index{1} << 29}) {
        CAPTURE(first);
        CAPTURE(alignment);
        CAPTURE(count);
        const std::uint32_t place = buffer.bind(0, first, count, alignment);
        CHECK(offset % alignment == 0);
        CHECK(offset / 4 + place == before_first + first);
        CHECK(size / 4 == place + count);
        CHECK(place < alignment / 4);
      }
    }
  }
  epoxy_glBindBufferRange = driver;
}
