// Files are written whole or not at all: to a temporary file next to their target, which is then renamed.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace headwise {

// Writes bytes to the file in progress; throws Error(output) on failure.
using ByteSink = std::function<void(std::span<const std::byte>)>;

// Calls `write` with a sink; on success the target is replaced in one step, keeping the permissions of an
// existing file and following a symbolic link to its target; on any exception the old file stays and nothing
// is left behind. What writers that were killed have left in the folder is removed first: temporary files of
// this user that no living process holds. A target that exists but is not a regular file (/dev/stdout, a
// pipe) is written directly. Throws Error(output).
void write_file_atomically(const std::string& path, const std::function<void(const ByteSink&)>& write);
void write_file_atomically(const std::string& path, std::string_view content);

// After a file or folder was renamed: makes its new name last, should the machine lose power.
void sync_folder_of(const std::string& path);

// For a signal handler that ends the process: removes the temporary file being written, if there is one.
// Async-signal-safe.
void remove_unfinished_file() noexcept;

}  // namespace headwise
