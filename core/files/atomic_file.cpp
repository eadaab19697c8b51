#include "core/files/atomic_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <utility>

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
  if (number < 0 && errno == ENXIO)
    throw Error(ExitStatus::output,
                {path, "the file could not be written", "nobody reads this pipe", "a reader", ""});
  Descriptor file(number);
  if (number < 0) fail(path, errno);
  fcntl(number, F_SETFL, fcntl(number, F_GETFL) & ~O_NONBLOCK);
  write(sink_to(number, path));
  if (const int error = file.close_now()) fail(path, error);
}

constexpr std::string_view temporary_prefix = ".headwise-", temporary_suffix = ".tmp";

std::string temporary_name(std::uint64_t random) {
  return fmt::format("{}{:016x}{}", temporary_prefix, random, temporary_suffix);
}

bool is_temporary_name(std::string_view name) {
  if (name.size() != temporary_name(0).size() || !name.starts_with(temporary_prefix) ||
      !name.ends_with(temporary_suffix))
    return false;
  const std::string_view digits = name.substr(temporary_prefix.size(), 16);
  return digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Removes a temporary file of this user that no living process holds.
void remove_if_abandoned(int folder, const char* name) {
  struct stat found {
  }, opened{};
  if (fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(found.st_mode) ||
      found.st_uid != geteuid())
    return;
  const Descriptor file(openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.number() < 0 || lock_file(file.number()) != 0) return;
  const bool same = fstat(file.number(), &opened) == 0 && opened.st_ino == found.st_ino &&
                    opened.st_dev == found.st_dev && opened.st_nlink > 0;
  if (same) unlinkat(folder, name, 0);
}

// What processes that were killed have left in a folder; looked for once in each.
void remove_abandoned_files(const std::string& folder) {
  static std::mutex adding;
  static std::set<std::string> seen;
  {
    const std::lock_guard lock(adding);
    if (!seen.insert(folder).second) return;
  }
  DIR* const open_folder = opendir(folder.empty() ? "." : folder.c_str());
  if (open_folder == nullptr) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> closed(open_folder, closedir);
  while (const dirent* const entry = readdir(open_folder))
    if (is_temporary_name(entry->d_name)) remove_if_abandoned(dirfd(open_folder), entry->d_name);
}

// A uniquely named file next to the target, locked until it is renamed. It is removed unless it was renamed.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& target, const std::string& path) : file_(make(target, path)) {
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
  Descriptor make(const std::string& target, const std::string& path) {
    const std::string folder = target.substr(0, target.find_last_of('/') + 1);
    remove_abandoned_files(folder);
    std::random_device random;
    for (int attempt = 0; attempt < 100; ++attempt) {
      name_ = folder + temporary_name(std::uint64_t{random()} << 32 | random());
      // O_EXCL: never an existing file, nor a link that somebody put there.
      Descriptor file(open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
      if (file.number() < 0 && errno == EEXIST) continue;
      if (file.number() < 0) break;
      // Another process that looked for abandoned files just now may have taken it for one.
      struct stat made {};
      if (lock_file(file.number()) == EWOULDBLOCK || fstat(file.number(), &made) != 0 || made.st_nlink == 0) {
        unlink(name_.c_str());
        continue;
      }
      lock_ = Descriptor(fcntl(file.number(), F_DUPFD_CLOEXEC, 0));
      return file;
    }
    fail(path, errno);
  }

  std::string name_;
  Descriptor lock_;  // keeps the lock while the file is closed and renamed
  Descriptor file_;
  bool renamed_ = false;
};

void keep_permissions(int descriptor, const struct stat& old) {
  // Only root may give a file away; if it fails, the file remains the writer's.
  if (fchown(descriptor, old.st_uid, old.st_gid) != 0) errno = 0;
  if (fchmod(descriptor, old.st_mode & 07777) != 0) errno = 0;
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
  sync_folder_of(target);
}

void write_file_atomically(const std::string& path, std::string_view content) {
  write_file_atomically(path, [&](const ByteSink& sink) { sink(std::as_bytes(std::span(content))); });
}

void sync_folder_of(const std::string& path) {
  const std::string folder = path.substr(0, path.find_last_of('/') + 1);
  const Descriptor descriptor(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.number() >= 0) fsync(descriptor.number());
}

void remove_unfinished_file() noexcept {
  const char* name = unfinished_file;
  if (name != nullptr) unlink(name);
}

}  // namespace headwise
