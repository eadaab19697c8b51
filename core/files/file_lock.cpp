#include "core/files/file_lock.h"

#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "core/tensor/error.h"

namespace headwise {
namespace {

Descriptor open_lock(const std::string& path) {
  constexpr int flags = O_CREAT | O_CLOEXEC | O_NOFOLLOW;
  Descriptor file(open(path.c_str(), O_RDWR | flags, 0644));
  // One that another user left behind can be locked, though not written.
  if (file.number() < 0 && errno == EACCES) return Descriptor(open(path.c_str(), O_RDONLY | flags, 0644));
  return file;
}

// Whether the path still names the open file: the one who held the lock before may have removed it.
bool names(const std::string& path, int descriptor) {
  struct stat named {
  }, opened{};
  return stat(path.c_str(), &named) == 0 && fstat(descriptor, &opened) == 0 &&
         named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

}  // namespace

int lock_file(int descriptor) {
  while (flock(descriptor, LOCK_EX | LOCK_NB) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

std::optional<FileLock> FileLock::take(const std::string& path) {
  constexpr int attempts = 100;
  for (int i = 0; i < attempts; ++i) {
    Descriptor file = open_lock(path);
    if (file.number() < 0)
      throw Error(ExitStatus::output,
                  {path, "the lock file could not be created", std::strerror(errno), "", ""});
    if (lock_file(file.number()) == EWOULDBLOCK) return std::nullopt;
    if (!names(path, file.number())) continue;
    // For whoever is refused. Nothing depends on it.
    const std::string holder = fmt::format("{}\n", getpid());
    if (ftruncate(file.number(), 0) != 0 || write(file.number(), holder.data(), holder.size()) < 0) errno = 0;
    return FileLock(path, std::move(file));
  }
  return std::nullopt;
}

int FileLock::holder(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  char text[16] = {};
  if (file.number() < 0 || read(file.number(), text, sizeof text - 1) <= 0) return 0;
  return std::atoi(text);
}

// Removed before it is unlocked: afterwards it may be another's.
FileLock::~FileLock() {
  if (!path_.empty()) unlink(path_.c_str());
}

}  // namespace headwise
