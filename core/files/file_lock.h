// Locks between processes. The system releases them when their process ends, however it ends, so that a lock
// tells the living from the dead where a process number, which is used again, does not.
#pragma once

#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include <unistd.h>

namespace headwise {

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

}  // namespace headwise
