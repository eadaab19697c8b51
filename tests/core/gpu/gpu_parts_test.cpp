// Buffers and programs of the compute path.
#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "core/gpu/compute_program.h"
#include "core/gpu/gpu_limits.h"
#include "core/gpu/storage_buffer.h"
#include "tests/core/gpu/computing_context.h"

using namespace headwise;
using namespace headwise::test;

namespace {

std::span<const unsigned char> bytes(std::string_view text) {
  return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

// Writes `value` to number `at` of what is bound.
constexpr std::string_view poke =
    "layout(local_size_x = 1) in;\n"
    "layout(std430, binding = 3) writeonly buffer C { float c[]; };\n"
    "uniform uint at;\n"
    "uniform float value;\n"
    "void main() { c[at] = value * float(TIMES); }\n";

}  // namespace

TEST_CASE("the limits of a context are at least what the standard promises") {
  const auto context = context_or_skip();
  if (!context) return;
  const GpuLimits limits = gpu_limits();
  CHECK(limits.shared_bytes >= 32768);
  CHECK(limits.storage_block_bytes >= Index{1} << 24);
  CHECK(limits.offset_alignment >= 4);
  CHECK(limits.offset_alignment <= 256);
  CHECK(limits.groups_x >= 65535);
}

TEST_CASE("a buffer is zero at first and keeps what is written between its guards") {
  const auto context = context_or_skip();
  if (!context) return;
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

TEST_CASE("a shader that writes beside its numbers is found out") {
  const auto context = context_or_skip();
  if (!context) return;
  const StorageBuffer buffer("numbers", 10);
  const ComputeProgram program("poke", {{"TIMES", 3}}, {bytes(poke)});
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

TEST_CASE("a piece of a buffer begins where the context allows, and says where the numbers are") {
  const auto context = context_or_skip();
  if (!context) return;
  const StorageBuffer buffer("numbers", 1000);
  const ComputeProgram program("poke", {{"TIMES", 1}}, {bytes(poke)});
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
  const auto context = context_or_skip();
  if (!context) return;
  CHECK_THROWS_WITH_AS(ComputeProgram("broken", {}, {bytes("void main() { nonsense; }\n")}),
                       doctest::Contains("broken"), Error);
}
