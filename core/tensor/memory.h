// How much memory there is, asked before it is taken.
#pragma once

#include <string>

#include "core/tensor/shape.h"

namespace headwise {

// Bytes that this process may still take: the least of MemAvailable, what the cgroup (v2 or v1) leaves, and
// what RLIMIT_AS / RLIMIT_DATA leave. Never negative; a limit that cannot be read does not count.
Index available_memory();

// Throws Error(memory) "needs X, Y is there" where `bytes` exceed nine tenths of available_memory(). Small
// requests (under 1 MiB) pass unasked, because asking costs more than they do.
void require_memory(Index bytes, const std::string& what);

// "512 bytes", "1.5 MiB", "3.0 GiB".
std::string bytes_text(Index bytes);

}  // namespace headwise
