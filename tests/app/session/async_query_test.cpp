#include "app/session/async_query.h"

#include <chrono>
#include <stdexcept>
#include <thread>

#include "core/tensor/cancellation.h"
#include "tests/checks.h"

using namespace headwise;

namespace {

using Work = AsyncQuery<int, std::string>;

// Until what is under way was taken in.
void wait_until_idle(Work& work) {
  for (int i = 0; work.running() && i < 3000; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    work.cached(0);
  }
}

std::string works_until_cancelled(const int& question) {
  while (question < 0) {
    check_cancelled();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return std::to_string(question);
}

}  // namespace

TEST_CASE("an answer is made once, and is there as long as the question is the same") {
  std::atomic<int> made = 0, woken = 0;
  Work work([&](const int& question) { return ++made, std::to_string(question); }, [&] { ++woken; });
  CHECK(work.cached(7) == nullptr);
  CHECK_FALSE(work.running());
  CHECK(work.of(7) == nullptr);
  work.finish();
  const auto outcome = work.of(7);
  REQUIRE(outcome);
  CHECK(*outcome->answer == "7");
  CHECK(work.of(7) == outcome);
  CHECK(work.cached(8) == nullptr);
  CHECK(made == 1);
  CHECK(woken == 1);
  work.forget();
  CHECK(work.cached(7) == nullptr);
}

TEST_CASE("another question gives up what is under way, and is answered") {
  Work work(works_until_cancelled, {});
  CHECK(work.of(-1) == nullptr);
  CHECK(work.running());
  for (int i = 0; !work.of(5) && i < 3000; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  REQUIRE(work.of(5));
  CHECK(*work.of(5)->answer == "5");
}

TEST_CASE("what nobody wants any longer ends, leaves no error behind, and what was known before stays") {
  Work work(works_until_cancelled, {});
  work.of(5);
  work.finish();
  CHECK(work.of(5));
  CHECK(work.of(-1) == nullptr);
  work.suspend();
  wait_until_idle(work);
  CHECK_FALSE(work.running());
  CHECK(work.cached(-1) == nullptr);
  CHECK(work.cached(5));
}

TEST_CASE("an error is an outcome without an answer") {
  Work work([](const int&) -> std::string { throw std::runtime_error("no such thing"); }, {});
  work.of(1);
  work.finish();
  REQUIRE(work.of(1));
  CHECK_FALSE(work.of(1)->answer);
  CHECK(work.of(1)->error == "no such thing");
  Work full([](const int&) -> std::string { throw std::bad_alloc(); }, {});
  full.of(1);
  full.finish();
  CHECK_CONTAINS(full.of(1)->error, "memory");
}

TEST_CASE("work under way ends with its owner") {
  const auto started = std::chrono::steady_clock::now();
  {
    Work work(works_until_cancelled, {});
    work.of(-1);
  }
  CHECK(std::chrono::steady_clock::now() - started < std::chrono::seconds(20));
}

TEST_CASE("what is short is made at once, without a thread") {
  Work work([](const int& question) { return std::to_string(question); }, {},
            [](const int& question) { return question < 10; });
  REQUIRE(work.of(7));
  CHECK(*work.of(7)->answer == "7");
  CHECK_FALSE(work.running());
  CHECK(work.begun() == 1);
  CHECK(work.of(70) == nullptr);
  CHECK(work.running());
  CHECK(work.begun() == 2);
  work.finish();
  CHECK(work.of(70));
}
