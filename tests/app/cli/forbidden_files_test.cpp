// Files and folders that may not be read or entered: one sentence, whichever command meets them.
#include <doctest/doctest.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/app/cli/program_run.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

constexpr uid_t nobody = 65534;
constexpr int cannot_be_tried = 97, not_started = 98;  // the second is run_program's

// Root may do everything, and so becomes somebody who may not.
void become_somebody() {
  if (geteuid() != 0) return;
  if (setgroups(0, nullptr) != 0 || setgid(nobody) != 0 || setuid(nobody) != 0) _exit(cannot_be_tried);
}

// The program where anybody may start it: the checkout may lie in a folder that only its owner enters,
// as /root is.
std::string program_for_anybody(const TemporaryFolder& folder) {
  const std::string program = folder.file("headwise");
  std::filesystem::copy_file(HEADWISE_PROGRAM, program);
  REQUIRE(chmod(folder.file("").c_str(), 0755) == 0);
  REQUIRE(chmod(program.c_str(), 0755) == 0);
  return program;
}

// Whether each command that opens `path` says just this, with exit status 3, or 2 for a scenario; false: it
// could not be tried here.
bool all_say(const std::string& path, const std::string& sentence, const ProgramOptions& options) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"info", path}, {"run", path, "-o", "/nowhere/x.npz"}, {path}}) {
    CAPTURE(words[0]);
    const ProgramResult result = run_program(words, options);
    if (result.status == cannot_be_tried || result.status == not_started) return false;
    CHECK(result.status == (path.ends_with(".json") ? 2 : 3));
    CHECK(result.err == "headwise: " + sentence + "\n");
  }
  return true;
}

}  // namespace

TEST_CASE("what may not be read or entered is refused by every command with the same sentence") {
  const TemporaryFolder folder;
  const std::string models = HEADWISE_SOURCE_DIR "/assets/models/copycat";
  const std::string locked = folder.file("locked"), unlisted = folder.file("unlisted"),
                    scenario = folder.with_file("secret.json", "{}");
  std::filesystem::create_directory(locked);
  std::filesystem::copy(models, locked + "/inner", std::filesystem::copy_options::recursive);
  std::filesystem::create_directory(unlisted);
  REQUIRE(chmod(folder.file("").c_str(), 0755) == 0);
  REQUIRE(chmod(scenario.c_str(), 0) == 0);
  REQUIRE(chmod(unlisted.c_str(), 0311) == 0);
  REQUIRE(chmod(locked.c_str(), 0) == 0);
  const std::string denied = " cannot be opened: got Permission denied; expected a ";
  const std::string either = ": the file or folder" + denied + "file or folder that can be read";
  const std::string whole = ": the folder" + denied + "folder that can be read";
  const TemporaryFolder open_folder;
  const ProgramOptions somebody{"", become_somebody, {}, program_for_anybody(open_folder)};
  const auto say = [&](const std::string& path, const std::string& sentence) {
    return all_say(path, path + sentence, somebody);
  };
  const bool tried = say(locked, whole) && say(locked + "/inner", either) &&
                     say(locked + "/a.json", either) && say(unlisted, whole) &&
                     say(scenario, ": the scenario file" + denied + "file that can be read");
  chmod(locked.c_str(), 0755);  // so that it can be removed
  chmod(unlisted.c_str(), 0755);
  if (!tried)
    MESSAGE(
        "skipped: root cannot become somebody else here, or nobody else may enter the folder for temporary "
        "files");
}

TEST_CASE("links in a circle are no missing file") {
  const TemporaryFolder folder;
  // A config.json that cannot be reached is not one that is not there, without which heads would be assumed.
  const std::string model = folder.file("model"), config = model + "/config.json";
  std::filesystem::create_directory(model);
  std::filesystem::copy(HEADWISE_SOURCE_DIR "/assets/models/copycat/model.safetensors", model);
  REQUIRE(symlink(config.c_str(), config.c_str()) == 0);
  CHECK(all_say(model,
                config + ": the file or folder cannot be opened: got Too many levels of symbolic links; "
                         "expected a file or folder that can be read",
                {}));
  for (const char* name : {"circle", "circle.json", "circle.npz"}) {
    const std::string path = folder.file(name);
    REQUIRE(symlink(path.c_str(), path.c_str()) == 0);
    CHECK(all_say(path,
                  path + ": the file or folder cannot be opened: got Too many levels of symbolic links; "
                         "expected a file or folder that can be read",
                  {}));
  }
}

TEST_CASE("a folder where a scenario belongs and a number out of its range are command line mistakes") {
  const TemporaryFolder folder;
  const std::string scenario = folder.file("scenario.json");
  std::filesystem::create_directory(scenario);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", scenario, "-o", folder.file("x.npz")}, {"info", scenario}})
    check_refused(words, 2, scenario + ": this is a folder; expected a scenario file");
  check_refused(
      {"bench", "--repeat", "0"}, 2,
      "bench: --repeat: the value is out of range: got 0; expected 1 to 10000; see headwise bench --help");
  check_refused(
      {"bench", "--repeat", "x"}, 2,
      "bench: --repeat: the value is out of range: got x; expected 1 to 10000; see headwise bench --help");
  check_refused({"run"}, 2, "run: SCENARIO is required; see headwise run --help");
}
