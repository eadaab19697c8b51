#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "core/files/atomic_file.h"
#include "core/tensor/error.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;
namespace fs = std::filesystem;

namespace {

// A process that has called `hold` and waits to be killed.
class HoldingProcess {
 public:
  template <class Hold>
  explicit HoldingProcess(Hold hold) {
    int ready[2];
    REQUIRE(pipe2(ready, O_CLOEXEC) == 0);
    process_ = fork();
    REQUIRE(process_ >= 0);
    if (process_ == 0) {
      hold([&] {
        if (write(ready[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
      });
      _exit(2);
    }
    close(ready[1]);
    char byte;
    REQUIRE(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
  }
  ~HoldingProcess() { end(); }
  HoldingProcess(const HoldingProcess&) = delete;
  HoldingProcess& operator=(const HoldingProcess&) = delete;

  pid_t number() const { return process_; }
  void end() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = 0;
  }

 private:
  pid_t process_ = 0;
};

std::size_t hidden_files(const TemporaryFolder& folder) {
  std::size_t count = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.file("")))
    count += entry.path().filename().string().starts_with(".headwise-");
  return count;
}

auto half_a_file(const std::string& path) {
  return [path](const auto& wait) {
    write_file_atomically(path, [&](const ByteSink& sink) {
      sink(std::as_bytes(std::span("half", 4)));
      wait();
    });
  };
}

}  // namespace

TEST_CASE("a lock is held by one at a time, names its holder and is gone when it is released") {
  const TemporaryFolder folder;
  const std::string path = folder.file("lock");
  {
    const std::optional<FileLock> first = FileLock::take(path);
    REQUIRE(first);
    CHECK_FALSE(FileLock::take(path));
    CHECK(FileLock::holder(path) == getpid());
  }
  CHECK_FALSE(fs::exists(path));
  CHECK(FileLock::take(path));
  CHECK(FileLock::holder(path) == 0);
  CHECK_THROWS_AS(FileLock::take(folder.file("missing/lock")), Error);
}

TEST_CASE("the lock of another process is refused while that lives, and taken when it was killed") {
  const TemporaryFolder folder;
  const std::string path = folder.file("lock");
  HoldingProcess other([&](const auto& wait) {
    const std::optional<FileLock> held = FileLock::take(path);
    wait();
  });
  CHECK_FALSE(FileLock::take(path));
  CHECK(FileLock::holder(path) == other.number());
  other.end();
  CHECK(fs::exists(path));
  CHECK(FileLock::take(path));
  CHECK_FALSE(fs::exists(path));
}

TEST_CASE("the next writer in a folder removes what a killed one has left, and nothing of a living one") {
  const TemporaryFolder folder;
  HoldingProcess dead(half_a_file(folder.file("a.txt"))), living(half_a_file(folder.file("b.txt")));
  REQUIRE(hidden_files(folder) == 2);
  dead.end();
  CHECK(hidden_files(folder) == 2);
  // Not written by this program, or not a file: they stay, whatever they are called.
  folder.with_file(".headwise-notes.tmp", "mine");
  folder.with_file(".headwise-0123456789ABCDEF.tmp", "mine");
  fs::create_directory(folder.file(".headwise-0123456789abcdef.tmp"));
  const std::string target = folder.with_file("target", "mine"),
                    link = folder.file(".headwise-1123456789abcdef.tmp");
  fs::create_symlink(target, link);
  write_file_atomically(folder.file("c.txt"), "new");
  CHECK(hidden_files(folder) == 5);
  CHECK(content_of(target) == "mine");
  CHECK(content_of(folder.file("c.txt")) == "new");
  CHECK(fs::is_symlink(link));
}

TEST_CASE("files of other users are left alone") {
  if (geteuid() != 0) {
    MESSAGE("skipped: only root may give a file away");
    return;
  }
  const TemporaryFolder folder;
  const std::string other = folder.with_file(".headwise-0123456789abcdef.tmp", "theirs");
  REQUIRE(chown(other.c_str(), 12345, 12345) == 0);
  write_file_atomically(folder.file("a.txt"), "new");
  CHECK(fs::exists(other));
}
