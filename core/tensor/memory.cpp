#include "core/tensor/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <limits>
#include <optional>

#include "core/tensor/error.h"

namespace headwise {
namespace {

// Allocations not counted, and the maximum between two checks: a check takes 20 µs and more, because it reads
// several files, and a run of a few milliseconds allocates six tensors of 1 MiB.
constexpr Index uncounted_bytes = Index{1} << 20;
constexpr Index unasked_bytes = Index{64} << 20, unasked_part = 64;
std::atomic<Index> unasked{0};  // what is left of that

std::optional<Index> first_number_of(const char* path) {
  std::ifstream file(path);
  Index value = 0;
  if (file >> value) return value;
  return std::nullopt;  // "max", or no such file
}

// A line "NAME:   12345 kB" of /proc/meminfo or /proc/self/status, in bytes.
std::optional<Index> kilobytes_line(const char* path, const std::string& name) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    if (word == name) {
      Index kilobytes = 0;
      if (file >> kilobytes) return kilobytes * 1024;
      return std::nullopt;
    }
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

void lower(Index& least, std::optional<Index> limit, std::optional<Index> used) {
  if (limit && used && *limit < (Index{1} << 60)) least = std::min(least, std::max<Index>(0, *limit - *used));
}

std::optional<Index> resource_limit(int resource) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return {};
  return static_cast<Index>(std::min<rlim_t>(limit.rlim_cur, static_cast<rlim_t>(Index{1} << 61)));
}

}  // namespace

Index available_memory() {
  Index least = kilobytes_line("/proc/meminfo", "MemAvailable:").value_or(std::numeric_limits<Index>::max());
  lower(least, first_number_of("/sys/fs/cgroup/memory.max"), first_number_of("/sys/fs/cgroup/memory.current"));
  lower(least, first_number_of("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        first_number_of("/sys/fs/cgroup/memory/memory.usage_in_bytes"));
  lower(least, resource_limit(RLIMIT_AS), kilobytes_line("/proc/self/status", "VmSize:"));
  lower(least, resource_limit(RLIMIT_DATA), kilobytes_line("/proc/self/status", "VmData:"));
  return least;
}

void require_memory(Index bytes, const std::string& what) {
  if (bytes < uncounted_bytes) return;
  if (bytes <= unasked_bytes && unasked.fetch_sub(bytes, std::memory_order_relaxed) >= bytes) return;
  const Index there = available_memory();
  if (bytes > there / 10 * 9) {
    throw Error(ExitStatus::memory, {what, "it would not fit in memory", bytes_text(bytes),
                                     "at most " + bytes_text(there / 10 * 9), "choose smaller sizes"});
  }
  unasked.store(std::min(unasked_bytes, there / unasked_part), std::memory_order_relaxed);
}

void prefer_large_pages([[maybe_unused]] void* at, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::size_t large = std::size_t{2} << 20, least = std::size_t{32} << 20;
  if (bytes < least) return;
  char* const first = static_cast<char*>(at);
  const std::size_t before = (large - reinterpret_cast<std::uintptr_t>(first) % large) % large;
  // A hint: if it is not granted, small pages will do.
  (void)madvise(first + before, (bytes - before) / large * large, MADV_HUGEPAGE);
#endif
}

std::string bytes_text(Index bytes) {
  constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024.0 && unit + 1 < std::size(units)) {
    value /= 1024.0;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

}  // namespace headwise
