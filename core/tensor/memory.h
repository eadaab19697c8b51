// How much memory there is, asked before it is taken.
#pragma once

#include <string>

#include "core/tensor/shape.h"

namespace headwise {

// Bytes that this process may still take: the least of MemAvailable, what the cgroup (v2 or v1) leaves, and
// what RLIMIT_AS / RLIMIT_DATA leave. Never negative; a limit that cannot be read does not count.
Index available_memory();

// Throws Error(memory) "needs X, Y is there" where `bytes` exceed nine tenths of available_memory(). Small
// requests (under 1 MiB) pass unasked, because asking costs more than they do; so do larger ones, up to 64 MiB of them all, or a 64th
// of what was there, after each question.
void require_memory(Index bytes, const std::string& what);

// Asks for pages of 2 MiB under what is at least 32 MiB, where the system has them: writing a map of thousands of keys to
// memory waits for the look-up of pages otherwise.
void prefer_large_pages(void* at, std::size_t bytes);

// "512 bytes", "1.5 MiB", "3.0 GiB".
std::string bytes_text(Index bytes);

}  // namespace headwise
