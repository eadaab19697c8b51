// A context that computes, on a GPU if there is one; else the test says aloud that it is skipped, or fails if
// a GPU is expected (HEADWISE_EXPECT_GPU=1).
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "app/platform/driver.h"
#include "app/platform/offscreen_context.h"
#include "core/gpu/gpu_limits.h"
#include "core/tensor/error.h"
#include "tests/skipped.h"

namespace headwise::test {

inline void skip_or_fail(const std::string& why) {
  if (gl::expects_gpu())
    FAIL_CHECK("HEADWISE_EXPECT_GPU is set, but nothing here computes in OpenGL: ", why);
  else
    say_skipped(why);
}

inline std::unique_ptr<OffscreenContext> context_or_skip() {
  try {
    auto context = std::make_unique<OffscreenContext>(16, 16, OffscreenUse::computing, OffscreenDebug::on);
    static bool told = false;
    if (!told) MESSAGE("computes on " << gl::renderer_name());
    told = true;
    if (const std::string reason = compute_refusal(); !reason.empty()) {
      skip_or_fail(reason);
      return nullptr;
    }
    if (const std::string missing = gl::missing_gpu(gl::renderer_name()); gl::expects_gpu())
      CHECK_MESSAGE(missing.empty(), missing);
    return context;
  } catch (const Error& error) {
    if (error.status() != ExitStatus::no_display) throw;
    skip_or_fail(error.what());
    return nullptr;
  }
}

}  // namespace headwise::test
