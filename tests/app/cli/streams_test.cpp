// What goes to stderr, what comes from pipes and folders, and what other programs read.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/cli/program_run.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

// Standard input from a file.
ProgramOptions reading(const std::string& path) {
  return {
      .folder = {}, .in_child = [path] { dup2(open(path.c_str(), O_RDONLY), STDIN_FILENO); }, .in_test = {}};
}

}  // namespace

TEST_CASE("--quiet leaves out warnings and notes but not errors, --verbose says what happens and when") {
  const TemporaryFolder folder;
  const Words noisy{"run", "random", "--set", "mask.preset=padding:12", "-o", folder.file("a.npz")};
  CHECK(run_well(noisy).err.find("warning: ") != std::string::npos);
  CHECK(run_well(joined({noisy, {"--quiet"}})).err.empty());
  CHECK(run_well(joined({noisy, {"-q"}})).err.empty());
  check_refused({"run", "random", "-q", "-o", folder.file("a.txt")}, 2, "does not determine the format");
  const std::string told = run_well({"run", "random", "-v", "-o", folder.file("b.npz")}).err;
  CHECK(told.find(" s: computed by reference in f32\n") != std::string::npos);
  CHECK(told.find("wrote " + folder.file("b.npz") + ": 23 tensors\n") != std::string::npos);
  check_refused({"list", "tensors", "-q", "-v"}, 2, "exclude each other");
}

TEST_CASE("run --json says which tensors the file has") {
  const TemporaryFolder folder;
  const std::string file = folder.file("trace.npz");
  const auto report = nlohmann::json::parse(run_well({"run", "random", "--json", "-o", file}).out);
  CHECK(report["file"] == file);
  const auto arrays = arrays_of(file);
  REQUIRE(report["tensors"].size() == arrays.size());
  for (const auto& tensor : report["tensors"]) {
    REQUIRE(arrays.contains(tensor["name"]));
    CHECK(tensor["shape"] == arrays.at(tensor["name"])->shape().sizes());
  }
  check_refused({"run", "random", "--json", "-o", "-", "--format", "npz"}, 2, "--json");
}

TEST_CASE("arrays come from a folder of files, from standard input and from a named pipe") {
  const TemporaryFolder folder;
  const std::string trace = folder.file("trace.npz"), arrays = folder.file("arrays");
  run_well({"run", "random", "-o", trace});
  std::filesystem::create_directory(arrays);
  for (const char* name : {"query", "in_proj_weight", "in_proj_bias"})
    run_well({"run", "random", "--only", name, "-o", arrays + "/" + name + ".npz"});
  for (const char* name : {"out_proj.weight", "out_proj.bias"})
    run_well({"run", "random", "--only", name, "-o", arrays + "/" + name + ".safetensors"});
  const Words compare{"compare", "random", "--input", arrays, "--with"};
  const std::string agree = "All 23 tensors agree";
  CHECK(run_well(joined({compare, {trace}})).out.find(agree) != std::string::npos);
  CHECK(run_well(joined({compare, {"-"}}), reading(trace)).out.find(agree) != std::string::npos);

  const std::string pipe = folder.file("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const auto write_trace = [&](int) {
    const int end = open(pipe.c_str(), O_WRONLY);
    const std::string bytes = content_of(trace);
    CHECK(write(end, bytes.data(), bytes.size()) == std::ssize(bytes));
    close(end);
  };
  CHECK(run_well(joined({compare, {pipe}}), {.folder = {}, .in_child = {}, .in_test = write_trace})
            .out.find(agree) != std::string::npos);
}

TEST_CASE("a folder without arrays and a pipe that cannot be used are refused in one sentence") {
  const TemporaryFolder folder;
  check_refused({"run", "random", "--input", folder.file(""), "-o", folder.file("a.npz")}, 3,
                "the folder has no arrays");
  const Words from_pipe{"run", "random", "--input", "-", "-o", folder.file("a.npz")};
  check_refused(from_pipe, 3, "the pipe is empty", reading("/dev/null"));
  run_well({"export", "random", "--tensor", "output", "-o", folder.file("output.npy")});
  check_refused(from_pipe, 3, "an .npy from a pipe has no name", reading(folder.file("output.npy")));
  check_refused(from_pipe, 3, "", reading(folder.with_file("text.txt", "no arrays at all, but some words")));
}
