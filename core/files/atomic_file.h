// Files are written whole or not at all: to a temporary file next to their target, which is then renamed.
#pragma once

#include <unistd.h>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace headwise {

// Locks between processes. The system releases them when their process ends, however it ends, so that a lock
// tells the living from the dead where a process number, which is used again, does not.

// An open file of the system, closed at the end of its scope.

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}  // negative: none
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }
  // Some file systems (NFS) report a failed write only here. Returns an errno, or 0.
  int close_now() { return close(std::exchange(number_, -1)) == 0 || errno == EINTR ? 0 : errno; }

 private:
  int number_;
};

// Locks an open file, without waiting. Returns an errno, or 0; EWOULDBLOCK: it is locked by another process,
// or by this one through another descriptor. The lock is held until the descriptor and all its copies are
// closed.
int lock_file(int descriptor);

// A file that is locked and removed again at the end.
class FileLock {
 public:
  // Creates the file if it is missing. Returns nothing if the lock is held, by another process or by this
  // one. On a file system without locks everybody gets it. Throws Error(output) if the file cannot be
  // created.
  static std::optional<FileLock> take(const std::string& path);
  // The number of the process that holds the lock; 0 if it is not known.
  static int holder(const std::string& path);

  FileLock(FileLock&& other) noexcept
      : path_(std::exchange(other.path_, "")), file_(std::move(other.file_)) {}
  FileLock& operator=(FileLock&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(file_, other.file_);
    return *this;
  }
  ~FileLock();

 private:
  FileLock(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;  // empty: moved away
  Descriptor file_;
};

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
