// Buffers and programs of the compute path.
#include <epoxy/egl.h>
#include <epoxy/gl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/gpu/compute_program.h"
#include "core/gpu/gl_backend.h"
#include "core/gpu/gpu_faults.h"
#include "core/gpu/gpu_limits.h"
#include "core/gpu/storage_buffer.h"
#include "tests/checks.h"
#include "tests/core/gpu/computing_context.h"

using namespace headwise;
using namespace headwise::test;

namespace {

// Writes `value` to number `at` of what is bound.
constexpr std::string_view poke =
    "layout(local_size_x = 1) in;\n"
    "layout(std430, binding = 3) writeonly buffer C { float c[]; };\n"
    "uniform uint at;\n"
    "uniform float value;\n"
    "void main() { c[at] = value * float(TIMES); }\n";

// Writes down, while it lives, the order of dispatches (d), barriers for buffer updates (b), writes (w),
// copies to where they are read (f), reads there (r), reads of the buffer itself (R) and clears (c).
class CallOrder {
 public:
  CallOrder()
      : dispatch_(epoxy_glDispatchCompute),
        barrier_(epoxy_glMemoryBarrier),
        write_(epoxy_glCopyBufferSubData),
        read_(epoxy_glGetBufferSubData),
        map_(epoxy_glMapBufferRange),
        clear_(epoxy_glClearBufferData) {
    order_.clear();
    epoxy_glDispatchCompute = [](GLuint x, GLuint y, GLuint z) {
      order_ += 'd';
      of_driver<PFNGLDISPATCHCOMPUTEPROC>("glDispatchCompute")(x, y, z);
    };
    epoxy_glMemoryBarrier = [](GLbitfield barriers) {
      if ((barriers & GL_BUFFER_UPDATE_BARRIER_BIT) != 0) order_ += 'b';
      of_driver<PFNGLMEMORYBARRIERPROC>("glMemoryBarrier")(barriers);
    };
    epoxy_glCopyBufferSubData = [](GLenum from, GLenum to, GLintptr at, GLintptr into, GLsizeiptr size) {
      order_ += to == GL_COPY_WRITE_BUFFER ? 'f' : 'w';
      of_driver<PFNGLCOPYBUFFERSUBDATAPROC>("glCopyBufferSubData")(from, to, at, into, size);
    };
    epoxy_glGetBufferSubData = [](GLenum target, GLintptr offset, GLsizeiptr size, void* data) {
      order_ += 'R';
      of_driver<PFNGLGETBUFFERSUBDATAPROC>("glGetBufferSubData")(target, offset, size, data);
    };
    epoxy_glMapBufferRange = [](GLenum target, GLintptr offset, GLsizeiptr size, GLbitfield access) {
      order_ += 'r';
      return of_driver<PFNGLMAPBUFFERRANGEPROC>("glMapBufferRange")(target, offset, size, access);
    };
    epoxy_glClearBufferData = [](GLenum target, GLenum as, GLenum format, GLenum type, const void* data) {
      order_ += 'c';
      of_driver<PFNGLCLEARBUFFERDATAPROC>("glClearBufferData")(target, as, format, type, data);
    };
  }
  ~CallOrder() {
    epoxy_glDispatchCompute = dispatch_;
    epoxy_glMemoryBarrier = barrier_;
    epoxy_glCopyBufferSubData = write_;
    epoxy_glGetBufferSubData = read_;
    epoxy_glMapBufferRange = map_;
    epoxy_glClearBufferData = clear_;
  }
  CallOrder(const CallOrder&) = delete;
  CallOrder& operator=(const CallOrder&) = delete;

  const std::string& told() const { return order_; }

 private:
  template <class Function>
  static Function of_driver(const char* name) {
    return reinterpret_cast<Function>(eglGetProcAddress(name));
  }
  PFNGLDISPATCHCOMPUTEPROC dispatch_;
  PFNGLMEMORYBARRIERPROC barrier_;
  PFNGLCOPYBUFFERSUBDATAPROC write_;
  PFNGLGETBUFFERSUBDATAPROC read_;
  PFNGLMAPBUFFERRANGEPROC map_;
  PFNGLCLEARBUFFERDATAPROC clear_;
  static inline std::string order_;
};

}  // namespace

TEST_CASE("compute shaders need the OpenGL of their version line, even where extensions have them earlier") {
  for (const int version : {33, 40, 42}) {
    CAPTURE(version);
    const std::string reason = compute_refusal(version);
    CHECK_CONTAINS(reason, "need OpenGL 4.3");
    CHECK_CONTAINS(reason, std::to_string(version / 10) + '.' + std::to_string(version % 10));
  }
  for (const int version : {43, 44, 45, 46}) CHECK(compute_refusal(version).empty());
}

TEST_CASE("limits that no driver can mean become those that the standard guarantees or 32 bits can address") {
  const GpuLimits sane{.shared_bytes = 49152,
                       .storage_block_bytes = Index{1} << 30,
                       .offset_alignment = 16,
                       .groups_x = 2147483647,
                       .groups_y = 65535,
                       .clustered_subgroups = true};
  const auto block = [&](Index reported) {
    GpuLimits limits = sane;
    limits.storage_block_bytes = reported;
    return usable_limits(limits).storage_block_bytes;
  };
  constexpr Index gib = Index{1} << 30;
  CHECK(block(gib) == gib);
  CHECK(block(Index{1} << 24) == Index{1} << 24);
  for (const Index nonsense : {Index{-1}, Index{0}, -2 * gib}) CHECK(block(nonsense) == Index{128} << 20);
  for (const Index large : {2 * gib - 1, 2 * gib, 4 * gib - 1, 4 * gib, 1024 * gib, INT64_MAX}) {
    CAPTURE(large);
    CHECK(block(large) == 2 * gib - 16);
  }
  const GpuLimits kept = usable_limits(sane), least = usable_limits({.shared_bytes = -1, .groups_x = -1});
  CHECK(kept.shared_bytes == 49152);
  CHECK(kept.offset_alignment == 16);
  CHECK(kept.groups_x == 2147483647);
  CHECK(kept.clustered_subgroups);
  CHECK(least.shared_bytes == 32768);
  CHECK(least.offset_alignment == 256);
  CHECK(least.groups_x == 65535);
  CHECK(least.groups_y == 65535);
  CHECK_FALSE(least.clustered_subgroups);
}

TEST_CASE("the environment lowers limits, and never raises one") {
  const GpuLimits card{.shared_bytes = 49152,
                       .storage_block_bytes = Index{1} << 30,
                       .offset_alignment = 16,
                       .groups_x = 65535,
                       .groups_y = 65535,
                       .clustered_subgroups = true,
                       .tiles = usual_tiles(false)};
  const GpuLimits lowered = lowered_limits(card, "no_subgroups,no_loads_ahead,shared=32768,block=134217728");
  CHECK_FALSE(lowered.clustered_subgroups);
  CHECK(lowered.tiles == [&] {
    TileChoices in_turn = card.tiles;
    in_turn.product.loads_ahead = false;
    for (TileChoice& tile : in_turn.attention) tile.loads_ahead = false;
    return in_turn;
  }());
  CHECK(lowered.tiles != card.tiles);
  CHECK(lowered.shared_bytes == 32768);
  CHECK(lowered.storage_block_bytes == Index{128} << 20);
  CHECK(lowered.offset_alignment == 16);
  CHECK(lowered_limits(card, "shared=32768").clustered_subgroups);
  for (const char* words :
       {"", ",", "shared=65536", "shared=", "shared=-1", "shared=12x", "block=0", "subgroups", "=,shared"}) {
    CAPTURE(words);
    const GpuLimits kept = lowered_limits(card, words);
    CHECK(kept.shared_bytes == card.shared_bytes);
    CHECK(kept.storage_block_bytes == card.storage_block_bytes);
    CHECK(kept.clustered_subgroups);
  }
}

TEST_CASE("subgroups are used only where 16 neighbouring threads find their largest number and their sum") {
  const auto found_in = [](Index lanes) {  // where the driver dispatches so many lanes
    std::vector<float> found;
    for (Index thread = 0; thread < 256; ++thread) {
      const Index first = thread / lanes * lanes;
      found.push_back(static_cast<float>(first + lanes - 1));
      found.push_back(static_cast<float>(lanes * (2 * first + lanes - 1) / 2));
    }
    return found;
  };
  CHECK(clusters_are_neighbours(found_in(16)));
  for (const Index lanes : {4, 8, 32}) CHECK_FALSE(clusters_are_neighbours(found_in(lanes)));
  CHECK_FALSE(clusters_are_neighbours(std::vector<float>(512)));
  CHECK_FALSE(clusters_are_neighbours(std::vector<float>(511)));

  OPEN_OR_SKIP(context, context_or_skip());
  GpuLimits limits = gpu_limits();
  limits.clustered_subgroups = limits.emulated_subgroups = true;
  CHECK(subgroups_work(limits));
  // A driver that has no such extension refuses the shader, and that is no fault of a run.
  if (!epoxy_has_gl_extension("GL_KHR_shader_subgroup")) {
    limits.emulated_subgroups = false;
    CHECK_FALSE(subgroups_work(limits));
  }
  CHECK(gpu_fault() == GpuFault::none);
}

TEST_CASE("the limits of a context are at least what the standard promises") {
  OPEN_OR_SKIP(context, context_or_skip());
  const GpuLimits limits = gpu_limits();
  CHECK(limits.shared_bytes >= 32768);
  CHECK(limits.storage_block_bytes >= Index{1} << 24);
  CHECK(limits.offset_alignment >= 4);
  CHECK(limits.offset_alignment <= 256);
  CHECK(limits.groups_x >= 65535);
}

TEST_CASE("a buffer is zero at first and keeps what is written between its guards") {
  OPEN_OR_SKIP(context, context_or_skip());
  const StorageBuffer buffer("numbers", 10);
  std::vector<float> seen(10, -1.0f);
  buffer.read(0, seen);
  CHECK(seen == std::vector<float>(10, 0.0f));
  StorageBuffer other("more numbers", 10);
  other.write(4, std::vector<float>{1.0f, 2.0f});
  other.read(0, seen);
  CHECK(seen == std::vector<float>{0, 0, 0, 0, 1, 2, 0, 0, 0, 0});
  CHECK(other.guards_intact());
}

// A driver is known that moves what the CPU reads to the host's memory, where shaders are slower to see it.
TEST_CASE("the CPU reads copies of a buffer, not the buffer") {
  OPEN_OR_SKIP(context, context_or_skip());
  const CallOrder order;
  const StorageBuffer buffer("numbers", 10);
  std::vector<float> seen(10);
  buffer.read(0, seen);
  CHECK(buffer.guards_intact());
  CHECK(order.told().find('R') == std::string::npos);
}

// A driver is known that clears behind the first write that follows, unless something waits in between.
TEST_CASE("a buffer has been cleared before anything is written to it") {
  OPEN_OR_SKIP(context, context_or_skip());
  const CallOrder order;
  const StorageBuffer buffer("numbers", 10);
  CHECK(order.told() == "cbfrbwbw");
}

TEST_CASE("a pass that is made again uploads nothing that is there") {
  OPEN_OR_SKIP(context, context_or_skip());
  AttentionInputs inputs;
  inputs.options.op = Op::scaled_dot_product_attention;
  const auto heads = [](const char* rows, const char* width) {
    return std::make_shared<const Tensor>(Shape{{"N", 1}, {"H", 2}, {rows, 8}, {width, 4}}, DType::f32);
  };
  inputs.tensors.query = heads("L", "D");
  inputs.tensors.key = heads("S", "D");
  inputs.tensors.value = heads("S", "Dv");
  GlForward forward(inputs);
  forward.finish();
  const CallOrder order;
  forward.again();
  CHECK(order.told().find('w') == std::string::npos);
}

TEST_CASE("a shader that writes beside its numbers is found out") {
  OPEN_OR_SKIP(context, context_or_skip());
  const StorageBuffer buffer("numbers", 10);
  const ComputeProgram program("poke", {{"TIMES", 3}}, {poke});
  program.use();
  // All of the buffer and what lies behind it, as a wrong offset would have it.
  const std::uint32_t first = buffer.bind(3, 0, 20, gpu_limits().offset_alignment);
  program.set("value", 2.0f);
  program.set("at", first + 9);
  glDispatchCompute(1, 1, 1);
  std::vector<float> seen(10);
  glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
  buffer.read(0, seen);
  CHECK(seen[9] == 6.0f);
  CHECK(buffer.guards_intact());
  program.set("at", first + 10);
  glDispatchCompute(1, 1, 1);
  CHECK_FALSE(buffer.guards_intact());
}

TEST_CASE("what is written to a buffer comes after what shaders wrote there before") {
  OPEN_OR_SKIP(context, context_or_skip());
  StorageBuffer buffer("numbers", 10);
  const ComputeProgram program("poke", {{"TIMES", 1}}, {poke});
  program.use();
  program.set("value", 7.0f);
  program.set("at", buffer.bind(3, 0, 10, gpu_limits().offset_alignment) + 2);
  std::vector<float> seen(10);
  {
    const CallOrder order;
    glDispatchCompute(1, 1, 1);
    buffer.write(2, std::vector<float>{5.0f});
    glDispatchCompute(1, 1, 1);
    buffer.write(2, std::vector<std::uint32_t>{0x40C00000u});  // 6
    CHECK(order.told() == "dbwdbw");
  }
  buffer.read(0, seen);
  CHECK(seen[2] == 6.0f);
}

TEST_CASE("a piece of a buffer begins where the context allows, and says where the numbers are") {
  OPEN_OR_SKIP(context, context_or_skip());
  const StorageBuffer buffer("numbers", 1000);
  const ComputeProgram program("poke", {{"TIMES", 1}}, {poke});
  program.use();
  program.set("value", 7.0f);
  for (const Index number : {0, 1, 63, 64, 65, 999}) {
    program.set("at", buffer.bind(3, number, 1, gpu_limits().offset_alignment));
    glDispatchCompute(1, 1, 1);
    glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
    std::vector<float> seen(1);
    buffer.read(number, seen);
    CHECK(seen[0] == 7.0f);
  }
  CHECK(buffer.guards_intact());
}

TEST_CASE("a compute shader that does not compile says so by its name") {
  OPEN_OR_SKIP(context, context_or_skip());
  CHECK_THROWS_WITH_AS(ComputeProgram("broken", {}, {"void main() { nonsense; }\n"}),
                       doctest::Contains("broken"), Error);
}
