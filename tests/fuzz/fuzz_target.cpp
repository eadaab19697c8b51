#include "tests/fuzz/fuzz_target.h"

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEADWISE_SANITIZER_ALLOCATOR
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEADWISE_SANITIZER_ALLOCATOR
#endif

#ifdef HEADWISE_SANITIZER_ALLOCATOR
// Of sanitizer/allocator_interface.h, which GCC's packages do not have.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*taken)(const volatile void*, std::size_t),
                                                         void (*given_back)(const volatile void*));
extern "C" std::size_t __sanitizer_get_allocated_size(const volatile void*);
#else
#include <malloc.h>
#endif

namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
std::size_t memory_limit = no_limit, memory_taken = 0;

void count_taken(std::size_t bytes) {
  if (memory_limit == no_limit) return;
  memory_taken += bytes;
  if (memory_taken <= memory_limit) return;
  std::fprintf(stderr, "finding: %zu bytes of memory taken, the limit is %zu\n", memory_taken, memory_limit);
  std::abort();
}

void count_given_back(std::size_t bytes) {
  if (memory_limit == no_limit) return;
  memory_taken -= bytes < memory_taken ? bytes : memory_taken;  // some were taken before the limit began
}

}  // namespace

#ifdef HEADWISE_SANITIZER_ALLOCATOR

// A sanitizer has operator new of its own, and tells of each call.
namespace {
[[maybe_unused]] const int hooks = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t bytes) { count_taken(bytes); },
    [](const volatile void* memory) {
      if (memory != nullptr) count_given_back(__sanitizer_get_allocated_size(memory));
    });
}  // namespace

#else

namespace {

void* taken(std::size_t bytes) {
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  count_taken(malloc_usable_size(memory));
  return memory;
}

void give_back(void* memory) {
  if (memory != nullptr) count_given_back(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) {
  return taken(bytes);
}
void* operator new[](std::size_t bytes) {
  return taken(bytes);
}
void operator delete(void* memory) noexcept {
  give_back(memory);
}
void operator delete[](void* memory) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  give_back(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  give_back(memory);
}

#endif

namespace headwise::fuzz {

Outcomes& outcomes() {
  static Outcomes counts;
  return counts;
}

void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "finding: %s\n", what.c_str());
  std::abort();
}

void require_refusal(const Error& error, const std::string& where, ExitStatus status) {
  const std::string line = error.what();
  require(error.status() == status || error.status() == ExitStatus::memory, "the wrong exit status: " + line);
  require(line.starts_with(where), "a line that does not say where: " + line);
  require(line.find_first_of("\n\r") == std::string::npos, "more than one line: " + line);
  require(line.size() < 1500, "too long a line: " + line);
}

MemoryLimit::MemoryLimit(std::size_t bytes) {
  memory_taken = 0;
  memory_limit = bytes;
}

MemoryLimit::~MemoryLimit() {
  memory_limit = no_limit;
}

}  // namespace headwise::fuzz
