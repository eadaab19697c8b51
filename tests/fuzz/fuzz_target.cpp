#include "tests/fuzz/fuzz_target.h"

#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
std::size_t memory_limit = no_limit, memory_taken = 0;

void* taken(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  if (memory_limit == no_limit) return memory;
  memory_taken += malloc_usable_size(memory);
  if (memory_taken > memory_limit) {
    std::fprintf(stderr, "finding: %zu bytes of memory taken, the limit is %zu\n", memory_taken,
                 memory_limit);
    std::abort();
  }
  return memory;
}

void give_back(void* memory) {
  if (memory != nullptr && memory_limit != no_limit) {
    const std::size_t bytes = malloc_usable_size(memory);
    memory_taken -= bytes < memory_taken ? bytes : memory_taken;  // some were taken before the limit began
  }
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) {
  return taken(std::malloc(bytes == 0 ? 1 : bytes));
}
void* operator new[](std::size_t bytes) {
  return taken(std::malloc(bytes == 0 ? 1 : bytes));
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
