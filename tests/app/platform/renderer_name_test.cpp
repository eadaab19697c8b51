#include "app/platform/driver.h"

#include <cstdlib>

#include "core/gpu/gpu_limits.h"
#include "tests/checks.h"

using namespace headwise::gl;
using headwise::is_software_renderer;

TEST_CASE("software is known by its renderer's name, and no GPU is taken for it") {
  for (const char* name :
       {"llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5", "softpipe, OpenGL 3.3", "Software Rasterizer",
        "Mesa DRI swrast", "Google SwiftShader", "zink Vulkan 1.3(llvmpipe (LLVM 17.0.6, 256 bits))",
        "ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero)))",
        "D3D12 (Microsoft Basic Render Driver)"}) {
    CAPTURE(name);
    CHECK(is_software_renderer(name));
    CHECK_CONTAINS(missing_gpu(name), name);
  }
  for (const char* name :
       {"NVIDIA H100 80GB HBM3/PCIe/SSE2, OpenGL 4.6",
        "AMD Radeon RX 7900 XTX (radeonsi, navi31, LLVM 15.0.7)", "Mesa Intel(R) UHD Graphics 620 (KBL GT2)",
        "Apple M1 Max", "virgl (NVIDIA GeForce RTX 3080)"}) {
    CAPTURE(name);
    CHECK_FALSE(is_software_renderer(name));
    CHECK(missing_gpu(name).empty());
  }
}

TEST_CASE("a GPU is expected where HEADWISE_EXPECT_GPU says so") {
  const char* const before = std::getenv("HEADWISE_EXPECT_GPU");
  const std::string kept = before == nullptr ? "" : before;
  unsetenv("HEADWISE_EXPECT_GPU");
  CHECK_FALSE(expects_gpu());
  for (const char* value : {"", "0"}) {
    setenv("HEADWISE_EXPECT_GPU", value, 1);
    CHECK_FALSE(expects_gpu());
  }
  setenv("HEADWISE_EXPECT_GPU", "1", 1);
  CHECK(expects_gpu());
  if (before == nullptr)
    unsetenv("HEADWISE_EXPECT_GPU");
  else
    setenv("HEADWISE_EXPECT_GPU", kept.c_str(), 1);
}
