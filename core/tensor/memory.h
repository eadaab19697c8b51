// How much memory is available, checked before it is allocated.
#pragma once

#include <string>

#include "core/tensor/shape.h"

namespace headwise {

// Bytes that this process may still allocate: the minimum of MemAvailable, what the cgroup (v2 or v1) leaves,
// and what RLIMIT_AS / RLIMIT_DATA leave. Never negative; a limit that cannot be read does not count.
Index available_memory();

// Throws Error(memory), naming both sizes, if `bytes` exceed nine tenths of available_memory(). Small
// requests (under 1 MiB) are not checked, because checking costs more than they do; neither are larger ones,
// up to a total of 64 MiB or a 64th of what was available, whichever is less, after each check.
void require_memory(Index bytes, const std::string& what);

// Requests pages of 2 MiB for allocations of at least 32 MiB, if the system has them: writing a map of
// thousands of keys would otherwise wait for page look-ups.
void prefer_large_pages(void* at, std::size_t bytes);

// "512 bytes", "1.5 MiB", "3.0 GiB".
std::string bytes_text(Index bytes);

}  // namespace headwise
