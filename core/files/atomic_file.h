// Files are written whole or not at all: beside their target, then renamed.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace headwise {

// Hands bytes to the file that is being written; throws Error(output) where that fails.
using ByteSink = std::function<void(std::span<const std::byte>)>;

// Calls `write` with a sink; on success the target is replaced in one step, keeping the permissions of an
// existing file and following a symbolic link to its target; on any exception the old file stays and nothing
// is left behind. A target that exists but is no regular file (/dev/stdout, a pipe) is written directly.
// Throws Error(output).
void write_file_atomically(const std::string& path, const std::function<void(const ByteSink&)>& write);
void write_file_atomically(const std::string& path, std::string_view content);

// For a signal handler that ends the process: removes the temporary file that is being written, if there is
// one. Calls only what a signal handler may call.
void remove_unfinished_file() noexcept;

}  // namespace headwise
