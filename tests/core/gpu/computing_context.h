// A context that computes, where this machine has one; else the test says aloud that it is skipped.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "app/platform/offscreen_context.h"
#include "core/gpu/gpu_limits.h"
#include "core/tensor/error.h"
#include "tests/skipped.h"

namespace headwise::test {

inline std::unique_ptr<OffscreenContext> context_or_skip() {
  try {
    auto context = std::make_unique<OffscreenContext>(16, 16);
    if (const std::string reason = compute_refusal(); !reason.empty()) {
      say_skipped(reason);
      return nullptr;
    }
    return context;
  } catch (const Error& error) {
    if (error.status() != ExitStatus::no_display) throw;
    say_skipped(error.what());
    return nullptr;
  }
}

}  // namespace headwise::test
