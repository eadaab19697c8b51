#include "core/files/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/refusals.h"

using namespace headwise;
namespace fs = std::filesystem;

namespace {

std::string failure_of(const std::string& path, std::string_view content = "new") {
  const std::string line =
      test::refused_with([&] { write_file_atomically(path, content); }, {}, ExitStatus::output);
  CHECK(line.starts_with(path.substr(0, 200)));
  return line;
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

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

TEST_CASE("a file is written, and written again") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.txt");
  write_file_atomically(path, "first");
  CHECK(content_of(path) == "first");
  write_file_atomically(path, "second");
  CHECK(content_of(path) == "second");
  CHECK(folder.count_files() == 1);
}

TEST_CASE("when writing is broken off, the old file stays and nothing is left behind") {
  const TemporaryFolder folder;
  const std::string path = folder.with_file("a.txt", "old");
  CHECK_THROWS_AS(write_file_atomically(path,
                                        [](const ByteSink& sink) {
                                          sink(std::as_bytes(std::span("half", 4)));
                                          throw std::runtime_error("broken off");
                                        }),
                  std::runtime_error);
  CHECK(content_of(path) == "old");
  CHECK(folder.count_files() == 1);
}

TEST_CASE("the old file is whole until the new one is") {
  const TemporaryFolder folder;
  const std::string path = folder.with_file("a.txt", "old");
  write_file_atomically(path, [&](const ByteSink& sink) {
    sink(std::as_bytes(std::span("new", 3)));
    CHECK(content_of(path) == "old");
  });
  CHECK(content_of(path) == "new");
}

TEST_CASE("the permissions of an existing file are kept, a new one follows the umask") {
  const TemporaryFolder folder;
  const std::string path = folder.with_file("a.txt", "old");
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  const mode_t before = umask(027);
  write_file_atomically(path, "new");
  write_file_atomically(folder.file("b.txt"), "new");
  umask(before);
  CHECK(mode_of(path) == 0640);
  CHECK(mode_of(folder.file("b.txt")) == 0640);
}

TEST_CASE("a symbolic link stays one, and its target is written") {
  const TemporaryFolder folder;
  folder.with_file("target.txt", "old");
  const std::string link = folder.file("link.txt"), dangling = folder.file("dangling.txt");
  REQUIRE(symlink("target.txt", link.c_str()) == 0);
  REQUIRE(symlink("made.txt", dangling.c_str()) == 0);
  write_file_atomically(link, "new");
  write_file_atomically(dangling, "new");
  CHECK(std::filesystem::is_symlink(link));
  CHECK(std::filesystem::is_symlink(dangling));
  CHECK(content_of(folder.file("target.txt")) == "new");
  CHECK(content_of(folder.file("made.txt")) == "new");
  const std::string loop = folder.file("loop.txt");
  REQUIRE(symlink("loop.txt", loop.c_str()) == 0);
  failure_of(loop);
}

TEST_CASE("places where no file can be written are refused by name") {
  const TemporaryFolder folder;
  CHECK_CONTAINS(failure_of(folder.file("missing/a.txt")), "create the folder first");
  CHECK_CONTAINS(failure_of(folder.file(".")), "Is a directory");
  failure_of(folder.file("missing/"));
  failure_of(folder.with_file("file.txt", "") + "/a.txt");
  failure_of(folder.file(std::string(300, 'a')));
  failure_of("");
  failure_of("/proc/a.txt");
}

TEST_CASE("a name as long as the file system allows can be written") {
  const TemporaryFolder folder;
  const std::string path = folder.file(std::string(255, 'a'));
  write_file_atomically(path, "new");
  CHECK(content_of(path) == "new");
}

TEST_CASE("a file or folder without write permission is refused, and the file stays") {
  if (geteuid() == 0) {
    MESSAGE("skipped: root may write everywhere");
    return;
  }
  const TemporaryFolder folder;
  const std::string path = folder.with_file("a.txt", "old");
  REQUIRE(chmod(path.c_str(), 0444) == 0);
  failure_of(path);
  CHECK(content_of(path) == "old");
  REQUIRE(chmod(folder.file(".").c_str(), 0555) == 0);
  failure_of(folder.file("b.txt"));
  REQUIRE(chmod(folder.file(".").c_str(), 0755) == 0);
}

TEST_CASE("a device is written as it is: a full one is an error") {
  CHECK_CONTAINS(failure_of("/dev/full"), "No space left");
  write_file_atomically("/dev/null", "gone");
}

TEST_CASE("a pipe is written where somebody reads it, and refused where nobody does") {
  const TemporaryFolder folder;
  const std::string pipe = folder.file("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::string read;
  std::thread reader([&] { read = content_of(pipe); });
  write_file_atomically(pipe, "through the pipe");
  reader.join();
  CHECK(read == "through the pipe");
  CHECK_CONTAINS(failure_of(pipe), "nobody reads this pipe");
}

TEST_CASE("a file above the size limit is an error, the old one stays") {
  const TemporaryFolder folder;
  const std::string path = folder.with_file("a.txt", "old");
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 1000;
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string message =
      test::refusal_line([&] { write_file_atomically(path, std::string(5000, 'x')); }, ExitStatus::output);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK_CONTAINS(message, "ulimit -f");
  CHECK(content_of(path) == "old");
  CHECK(folder.count_files() == 1);
}

TEST_CASE("a process that is ended by a signal can remove what it was writing") {
  const TemporaryFolder folder;
  const auto cancelled_midway = [&] {
    write_file_atomically(folder.file("a.txt"), [&](const ByteSink&) {
      CHECK(folder.count_files() == 1);
      remove_unfinished_file();
      CHECK(folder.count_files() == 0);
      throw std::runtime_error("ended");
    });
  };
  CHECK_THROWS_AS(cancelled_midway(), std::runtime_error);
  remove_unfinished_file();  // nothing is being written: nothing happens
}

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
