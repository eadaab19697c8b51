#include "core/tensor/cancellation.h"

#include <doctest/doctest.h>

#include <thread>

#include "core/tensor/error.h"

using namespace headwise;

namespace {

bool is_cancelled() {
  try {
    check_cancelled();
  } catch (const Error& error) {
    CHECK(error.status() == ExitStatus::cancelled);
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("nothing is cancelled where nobody asked for it") {
  CHECK_FALSE(is_cancelled());
}

TEST_CASE("a scope cancels the work of its own thread, and only while it lives") {
  std::atomic<bool> cancelled = false;
  {
    const CancelScope scope(cancelled);
    CHECK_FALSE(is_cancelled());
    cancelled = true;
    CHECK(is_cancelled());
    bool elsewhere = true;
    std::thread([&] { elsewhere = is_cancelled(); }).join();
    CHECK_FALSE(elsewhere);
    std::atomic<bool> inner_cancelled = false;
    {
      const CancelScope inner(inner_cancelled);
      CHECK_FALSE(is_cancelled());
    }
    CHECK(is_cancelled());
  }
  CHECK_FALSE(is_cancelled());
}
