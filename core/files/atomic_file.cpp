#include "core/files/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <utility>

#include "core/tensor/error.h"

namespace headwise {
namespace {

// The temporary file being written, for remove_unfinished_file(): null, or a string that lives as long as it
// is set here.
std::atomic<const char*> unfinished_file = nullptr;

[[noreturn]] void fail(const std::string& path, int error) {
  std::string remedy;
  if (error == ENOSPC || error == EDQUOT) remedy = "free some space or choose another folder";
  if (error == EFBIG) remedy = "raise the file size limit (ulimit -f)";
  if (error == ENOENT) remedy = "create the folder first";
  if (error == EACCES || error == EPERM || error == EROFS) remedy = "choose a place you can write to";
  throw Error(ExitStatus::output, {path, "the file could not be written", std::strerror(error), "", remedy});
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  // Some file systems (NFS) report a failed write only here. Returns an errno, or 0.
  int close_now() { return close(std::exchange(number_, -1)) == 0 || errno == EINTR ? 0 : errno; }

 private:
  int number_;
};

ByteSink sink_to(int descriptor, const std::string& path) {
  return [descriptor, &path](std::span<const std::byte> bytes) {
    constexpr std::size_t piece = std::size_t{1} << 30;  // write() takes no more than 2 GiB at once
    while (!bytes.empty()) {
      const ssize_t count = write(descriptor, bytes.data(), std::min(bytes.size(), piece));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail(path, errno);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  };
}

// The file that a path refers to once every symbolic link at its end is followed, whether the last one exists
// or not.
std::string link_target(const std::string& path) {
  constexpr int max_links = 40;  // as in the kernel
  std::string target = path;
  for (int links = 0; links < max_links; ++links) {
    char buffer[PATH_MAX];
    const ssize_t length = readlink(target.c_str(), buffer, sizeof buffer);
    if (length < 0) return target;
    const std::string link(buffer, static_cast<std::size_t>(length));
    const std::size_t slash = target.find_last_of('/');
    target = link.starts_with('/') || slash == std::string::npos ? link : target.substr(0, slash + 1) + link;
  }
  fail(path, ELOOP);
}

// A pipe or a device is written directly. A pipe without a reader is waited for only briefly.
void write_directly(const std::string& path, const std::function<void(const ByteSink&)>& write) {
  constexpr auto pause = std::chrono::milliseconds(20);
  constexpr int attempts = 50;
  int number = -1;
  for (int i = 0; i < attempts; ++i) {
    number = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (number >= 0 || errno != ENXIO) break;
    std::this_thread::sleep_for(pause);
  }
  if (number < 0 && errno == ENXIO) {
    throw Error(ExitStatus::output,
                {path, "the file could not be written", "nobody reads this pipe", "a reader", ""});
  }
  Descriptor file(number);
  if (number < 0) fail(path, errno);
  fcntl(number, F_SETFL, fcntl(number, F_GETFL) & ~O_NONBLOCK);
  write(sink_to(number, path));
  if (const int error = file.close_now()) fail(path, error);
}

// A uniquely named file next to the target. It is removed unless it was renamed.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& target, const std::string& path) : file_(make(target, path, name_)) {
    unfinished_file = name_.c_str();
  }
  ~TemporaryFile() {
    unfinished_file = nullptr;
    if (!renamed_) unlink(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  Descriptor& file() { return file_; }
  void rename_to(const std::string& target, const std::string& path) {
    if (rename(name_.c_str(), target.c_str()) != 0) fail(path, errno);
    renamed_ = true;
  }

 private:
  // O_EXCL: never an existing file, nor a link that somebody put there.
  static int make(const std::string& target, const std::string& path, std::string& name) {
    const std::string folder = target.substr(0, target.find_last_of('/') + 1);
    std::random_device random;
    for (int attempt = 0; attempt < 100; ++attempt) {
      name = fmt::format("{}.headwise-{:08x}{:08x}.tmp", folder, random(), random());
      const int number = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (number >= 0) return number;
      if (errno != EEXIST) break;
    }
    fail(path, errno);
  }

  std::string name_;
  Descriptor file_;
  bool renamed_ = false;
};

void keep_permissions(int descriptor, const struct stat& old) {
  // Only root may give a file away; if it fails, the file remains the writer's.
  if (fchown(descriptor, old.st_uid, old.st_gid) != 0) errno = 0;
  if (fchmod(descriptor, old.st_mode & 07777) != 0) errno = 0;
}

void sync_folder(const std::string& target) {
  const std::string folder = target.substr(0, target.find_last_of('/') + 1);
  const Descriptor descriptor(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.number() >= 0) fsync(descriptor.number());
}

}  // namespace

void write_file_atomically(const std::string& path, const std::function<void(const ByteSink&)>& write) {
  struct stat old {};
  const bool exists = stat(path.c_str(), &old) == 0;
  if (!exists && errno != ENOENT) fail(path, errno);
  if (exists && !S_ISREG(old.st_mode) && !S_ISDIR(old.st_mode)) return write_directly(path, write);
  const std::string target = link_target(path);
  if (target.empty() || target.ends_with('/')) fail(path, target.empty() ? ENOENT : EISDIR);
  if (exists && S_ISDIR(old.st_mode)) fail(path, EISDIR);
  // A writable folder would allow replacing a read-only file: do not.
  if (exists && faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0) fail(path, errno);

  TemporaryFile temporary(target, path);
  const int descriptor = temporary.file().number();
  write(sink_to(descriptor, path));
  if (exists) keep_permissions(descriptor, old);
  if (fsync(descriptor) != 0 && errno != EINVAL && errno != ENOSYS) fail(path, errno);
  if (const int error = temporary.file().close_now()) fail(path, error);
  temporary.rename_to(target, path);
  sync_folder(target);
}

void write_file_atomically(const std::string& path, std::string_view content) {
  write_file_atomically(path, [&](const ByteSink& sink) { sink(std::as_bytes(std::span(content))); });
}

void remove_unfinished_file() noexcept {
  const char* name = unfinished_file;
  if (name != nullptr) unlink(name);
}

}  // namespace headwise
