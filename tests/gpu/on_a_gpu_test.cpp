// The command for a machine with a GPU, tried here: on software with small sizes,
// and with programs that fail.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/core/files/temporary_folder.h"
#include "tests/skipped.h"

using namespace headwise;
using namespace headwise::test;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Outcome {
  int status = 0;
  Json summary;
};

Outcome run_script(const std::string& programs, const std::string& out, const std::string& words,
                   const char* which = "--programs") {
  const std::string command = fmt::format("'{}/tests/gpu/on_a_gpu.sh' {} '{}' --out '{}' {} >/dev/null 2>&1",
                                          HEADWISE_SOURCE_DIR, which, programs, out, words);
  const int status = std::system(command.c_str());
  std::ifstream file(out + "/summary.json");
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, Json::parse(file, nullptr, false)};
}

// A program of this name in the folder, a script of the shell.
void write_program(const TemporaryFolder& folder, const std::string& name, const std::string& script) {
  const std::string path = folder.with_file(name, "#!/bin/bash\n" + script + "\n");
  fs::permissions(path, fs::perms::owner_all);
}

}  // namespace

TEST_CASE("the command for a machine with a GPU runs every phase here, on software and with small sizes") {
  const TemporaryFolder folder;
  const std::string programs = fs::path(HEADWISE_PROGRAM).parent_path().string(), out = folder.file("out");
  const Outcome whole = run_script(programs, out, "--small --software");
  REQUIRE(whole.summary.is_object());
  const Json& phases = whole.summary["phases"];
  REQUIRE(phases.contains("devices"));
  if (phases["devices"]["result"]["devices"].empty()) return say_skipped("EGL offers no device here");
  CHECK(whole.status == 0);
  CHECK(whole.summary["state"] == "all passed");
  for (const char* name : {"devices", "shaders", "tests", "tests_without_subgroups", "tests_with_32_kib",
                           "peak", "kernels", "layers", "extremes"}) {
    CAPTURE(name);
    REQUIRE(phases.contains(name));
    CHECK(phases[name]["status"] == "0");
  }
  CHECK(phases["shaders"]["result"]["failed"] == 0);
  CHECK(phases["shaders"]["result"]["variants"] > 20);
  CHECK(phases["peak"]["result"]["fma_peak_gflops"] > 0.0);
  CHECK(phases["peak"]["result"]["copy_gbytes_per_s"] > 0.0);
  for (const Json& run : phases["kernels"]["result"]["matrix_product"]) CHECK(run["gflops"] > 0.0);
  for (const Json& run : phases["layers"]["result"]["runs"]) {
    CHECK(run["max_abs_diff"] < 1e-5);
    CHECK(run["guards_intact"] == true);
  }
  for (const auto& [name, part] : phases["extremes"]["result"].items()) {
    CAPTURE(name);
    CHECK_FALSE(part.contains("problem"));
  }
  CHECK(phases["extremes"]["result"]["two_contexts"]["same_bits"] == true);
  // What it leaves: no more files than come back from a machine that is lent.
  CHECK(fs::exists(out + "/shaders.tar.gz"));
  CHECK(std::distance(fs::directory_iterator(out), fs::directory_iterator()) <= 8);
}

TEST_CASE("where only software computes the command says so and stops, and never passes as a GPU") {
  const TemporaryFolder folder, programs;
  write_program(programs, "headwise_gpu_bench",
                R"(echo '{"devices": [{"renderer": "llvmpipe", "software": true}]}')");
  const Outcome stopped = run_script(programs.file(""), folder.file("out"), "--small");
  CHECK(stopped.status == 7);
  CHECK(stopped.summary["state"] == "no GPU");
  CHECK_FALSE(stopped.summary["phases"].contains("shaders"));
}

TEST_CASE("programs that were carried along are tried before any are built") {
  const TemporaryFolder folder, carried;
  fs::create_directory(carried.file("bin"));
  write_program(carried, "bin/headwise_gpu_bench",
                R"(echo '{"devices": [{"renderer": "llvmpipe", "software": true}]}')");
  const Outcome stopped = run_script(carried.file(""), folder.file("out"), "--small", "--carried");
  CHECK(stopped.status == 7);
  CHECK(stopped.summary["phases"]["carried_program"]["status"] == "0");
  CHECK_FALSE(stopped.summary["phases"].contains("build"));
}

TEST_CASE("a phase that fails, crashes or prints nonsense is written down, and the others go on") {
  const TemporaryFolder folder, programs;
  write_program(programs, "headwise_gpu_bench", R"(
case $1 in
  devices) echo '{"devices": [{"renderer": "a \"card\"", "software": false}]}' ;;
  shaders) echo 'half a word "'; echo 'the driver	said \ no' >&2; exit 3 ;;
  kernels) kill -SEGV $$ ;;
  *) echo "{\"expects\": \"$HEADWISE_EXPECT_GPU\"}" ;;
esac)");
  write_program(programs, "headwise_gpu_tests", "exit 1");
  const Outcome told = run_script(programs.file(""), folder.file("out"), "--small");
  REQUIRE(told.summary.is_object());
  CHECK(told.status == 1);
  CHECK(told.summary["state"] == "some failed");
  const Json& phases = told.summary["phases"];
  CHECK(phases["shaders"]["status"] == "3");
  CHECK(phases["shaders"]["said"] == "the driver\tsaid \\ no");
  CHECK(phases["shaders"]["result"] == "half a word \"");
  CHECK(phases["tests"]["status"] == "1");
  CHECK(phases["kernels"]["status"] != "0");
  CHECK(phases["layers"]["status"] == "0");
  CHECK(phases["layers"]["result"]["expects"] == "1");  // on a GPU, software must not pass
}

TEST_CASE("the command ends in the time that it is given") {
  const TemporaryFolder folder, programs;
  write_program(programs, "headwise_gpu_bench", R"(
[ "$1" = devices ] && echo '{"devices": [{"software": false}]}' && exit 0
sleep 60)");
  write_program(programs, "headwise_gpu_tests", "sleep 60");
  setenv("HEADWISE_GPU_SECONDS", "6", 1);
  const Outcome told = run_script(programs.file(""), folder.file("out"), "--small");
  unsetenv("HEADWISE_GPU_SECONDS");
  CHECK(told.status == 1);
  CHECK(told.summary["phases"]["tests"]["status"] == "124");
  CHECK(told.summary["phases"]["shaders"]["status"] == "skipped");
  CHECK(told.summary["seconds"] < 30);
}
