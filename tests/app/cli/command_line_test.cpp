#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "app/cli/command_line.h"
#include "core/gpu/gpu_limits.h"
#include "core/tensor/version.h"
#include "tests/app/cli/program_run.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/skipped.h"

using namespace headwise;

namespace {

// A machine may have a GPU's driver and no other.
bool has_software_gl() {
  ProgramOptions options;
  options.in_child = [] {
    setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
    unsetenv("HEADWISE_EXPECT_GPU");
  };
  const ProgramResult result =
      run_program({"bench", "--preset", "hand_made", "--backend", "gl", "--repeat", "1", "--json"}, options);
  const nlohmann::json bench = nlohmann::json::parse(result.out, nullptr, false);
  return bench.is_object() && is_software_renderer(bench["machine"].value("gl_renderer", ""));
}

}  // namespace

TEST_CASE("a command that is nearly one is told which one is meant") {
  check_refused({"rnu", "hand_made"}, 2, "did you mean \"run\"?");
}

TEST_CASE("version and help are printed on stdout") {
  CHECK(run_program({"--version"}).out == fmt::format("headwise {}\n", version()));
  const ProgramResult help = run_well({"--help"});
  CHECK(help.err.empty());
  for (const Subcommand& command : subcommands()) {
    const std::string name(command.name);
    CHECK_CONTAINS(help.out, "headwise " + name);
    const ProgramResult more = run_well({name, "--help"});
    CHECK(more.err.empty());
    CHECK_CONTAINS(more.out, "Examples:\n  headwise " + name);
  }
}

TEST_CASE("bench times each backend on each preset, against the machine's peak and the reference's numbers") {
  const ProgramResult result = run_well({"bench", "--preset", "causal", "--preset", "hand_made", "--backend",
                                         "reference,fused", "--threads", "1,2", "--repeat", "1", "--json"});
  CHECK(result.err.empty());
  const nlohmann::json bench = nlohmann::json::parse(result.out);
  const nlohmann::json& machine = bench.at("machine");
  CHECK(machine.at("fma_peak_gflops").get<double>() > 0.0);
  CHECK(machine.at("bandwidth_gbs").get<double>() > 0.0);
  CHECK(machine.at("threads") == 2);
  CHECK(machine.at("isa").is_string());
  for (const char* name : {"gl_renderer", "gl_fma_peak_gflops", "gl_copy_gbytes_per_s"})
    CHECK(machine.at(name).is_null());
  REQUIRE(bench.at("runs").size() == 8);
  for (const nlohmann::json& run : bench.at("runs")) {
    CAPTURE(run.dump());
    CHECK(run.at("num_heads") == 8);
    CHECK(run.at("num_kv_heads") == 8);
    CHECK(run.at("embed_dim") == 128);
    CHECK(run.at("length").get<int>() > 0);
    CHECK(run.at("is_causal") == (run.at("preset") == "causal"));
    CHECK(run.at("keeps_weights") == true);
    CHECK(run.at("median_ms").get<double>() >= run.at("min_ms").get<double>());
    CHECK(run.at("gflops").get<double>() > 0.0);
    CHECK(run.at("fraction_of_peak").get<double>() > 0.0);
    CHECK(run.at("extra_mib").get<double>() >= 0.0);
    CHECK(run.at("max_abs_diff").get<double>() < 1e-5);
    if (run.at("backend") == "reference") CHECK(run.at("max_abs_diff") == 0.0);
  }
}

TEST_CASE("bench names the operator that it times, in full and in short") {
  const std::vector<std::string> words{"bench", "--preset",  "causal", "--preset", "latent", "--backend",
                                       "fused", "--threads", "1",      "--repeat", "1"};
  const std::string table = run_well(words).out;
  CHECK_CONTAINS(table, "mha ");
  CHECK_CONTAINS(table, "mla ");
  std::vector<std::string> as_json = words;
  as_json.push_back("--json");
  const nlohmann::json runs = nlohmann::json::parse(run_well(as_json).out).at("runs");
  CHECK(runs.at(0).at("op") == "multi_head_attention");
  CHECK(runs.at(1).at("op") == "multi_head_latent_attention");
}

TEST_CASE("bench compares gl with the peak of what computes it, and not with the processor's") {
  const ProgramResult result = run_well({"bench", "--preset", "hand_made", "--backend", "fused,gl",
                                         "--threads", "1", "--repeat", "2", "--json"});
  const nlohmann::json bench = nlohmann::json::parse(result.out);
  const nlohmann::json& machine = bench.at("machine");
  if (bench.at("runs").size() < 2) return test::say_skipped(result.err);
  REQUIRE(bench.at("runs").size() == 2);
  CHECK(machine.at("gl_renderer").is_string());
  for (const char* name : {"gl_fma_peak_gflops", "gl_copy_gbytes_per_s"}) {
    CHECK(machine.at(name).get<double>() > 0.0);
    CHECK(std::isfinite(machine.at(name).get<double>()));
  }
  for (const nlohmann::json& run : bench.at("runs")) {
    CAPTURE(run.dump());
    CHECK(run.at("peak_gflops").get<double>() > 0.0);
    CHECK(run.at("fraction_of_peak").get<double>() ==
          doctest::Approx(run.at("gflops").get<double>() / run.at("peak_gflops").get<double>()));
    if (run.at("backend") == "gl") CHECK(run.at("peak_gflops") == machine.at("gl_fma_peak_gflops"));
  }
}

TEST_CASE("gl computes with OpenGL 4.3 exactly, and leaves it to fused with 4.2 that has the extensions") {
  const TemporaryFolder folder;
  const auto warning = [&](const char* version) {
    ProgramOptions options;
    options.in_child = [=] {
      setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
      if (version != nullptr) setenv("MESA_GL_VERSION_OVERRIDE", version, 1);
    };
    const ProgramResult result =
        run_well({"run", "hand_made", "--backend", "gl", "-o", folder.file("trace.npz")}, options);
    return result.err;
  };
  if (const std::string newest = warning(nullptr); !newest.empty()) return test::say_skipped(newest);
  CHECK(warning("4.3").empty());
  const std::string told = warning("4.2");
  if (told.empty() && !has_software_gl()) return test::say_skipped("only Mesa lowers its version");
  CHECK(is_one_line(told));
  CHECK_CONTAINS(told, "compute shaders need OpenGL 4.3, this context has 4.2: using the fused backend");
}

TEST_CASE("a system without EGL or OpenGL computes with fused, and draws nothing, in one sentence each") {
  for (const Words& libraries : {Words{"libEGL.so.1"}, Words{"libOpenGL.so.0", "libGL.so.1"}}) {
    const TemporaryFolder missing, out;
    for (const std::string& library : libraries)
      missing.with_file(library, "");  // found first, and no library
    ProgramOptions options;
    options.in_child = [&] { setenv("LD_LIBRARY_PATH", missing.file("").c_str(), 1); };
    const ProgramResult run =
        run_well({"run", "hand_made", "--backend", "gl", "-o", out.file("trace.npz")}, options);
    CHECK(is_one_line(run.err));
    CHECK_CONTAINS(run.err, libraries.front());
    CHECK_CONTAINS(run.err, "using the fused backend");
    CHECK_CONTAINS(check_refused({"bench", "--ui"}, 7, "install libegl1", options).err, libraries.back());
  }
}

TEST_CASE("bench of gl that is meant for a GPU fails in one line where it lands on software") {
  if (!has_software_gl()) return test::say_skipped("no software computes in OpenGL here");
  ProgramOptions options;
  options.in_child = [] {
    setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
    setenv("HEADWISE_EXPECT_GPU", "1", 1);
  };
  const ProgramResult result =
      run_program({"bench", "--preset", "hand_made", "--backend", "gl", "--repeat", "1"}, options);
  CHECK(result.status == 7);
  CHECK(result.out.empty());
  CHECK(is_one_line(result.err));
  CHECK_CONTAINS(result.err, "HEADWISE_EXPECT_GPU");
}

TEST_CASE("a wrong command line is one line on stderr and status 2") {
  check_refused({"nonsense"}, 2, "nonsense");
  check_refused({"--nonsense"}, 2, "--nonsense");
  check_refused({"one.json", "two.json"}, 2, "2 arguments");
  check_refused({""}, 2, "headwise");
  check_refused({"bench", "--size", "800x600"}, 2, "--ui");
  check_refused({"bench", "--ui", "--backend", "fused"}, 2, "--backend");
  check_refused({"bench", "--backend", "vulkan"}, 2, "reference, fused, gl");
  check_refused({"bench", "--repeat", "0"}, 2, "--repeat");
  check_refused({"bench", "--preset", "wlecome"}, 2, "wlecome");
  check_refused({"bench", "--ui", "--size", "1600"}, 2, "--size");
  check_refused({"bench", "--ui", "--size", "0x9"}, 2, "--size");
  check_refused({"bench", "--ui", "--size", "1x99999999999"}, 2, "--size");
  check_refused({"bench", "--ui", "--preset", "wlecome"}, 2, "wlecome");
  check_refused({"run"}, 2, "SCENARIO");
  check_refused({"run", "hand_made"}, 2, "--output");
  check_refused({"run", "hand_made", "-o"}, 2, "--output: its value is missing; expected FILE");
  check_refused({"run", "hand_made", "-o", "/tmp/x.npz", "-o", "/tmp/y.npz"}, 2,
                "--output: the option is given more than once: got 2 times; expected once");
  check_refused({"run", "hand_made", "-o", "/tmp/x.npz", "more"}, 2, "unexpected argument: got more");
  check_refused({"run", "hand_made", "-o", "/tmp/x.npz", "--nonsense"}, 2, "--nonsense");
  check_refused({"run", "hand_made", "-o", "/tmp/x.txt"}, 2, ".safetensors");
  check_refused({"run", "hand_made", "-o", "/tmp/x.npz", "--dtype", "f16"}, 2, "f32 or f64");
  check_refused({"run", "hand_made", "-o", "/tmp/x.npz", "--backend", "abacus"}, 2, "reference");
  check_refused({"run", "hand_made", "-o", "/tmp/x.npz", "--only", "attn_weight"}, 2, "attn_weights");
  check_refused({"run", "hand_made", "-o", "/tmp/x.npz", "--only", "static_k"}, 2, "static_k");
  check_refused({"run", "hand_made", "-o", "/tmp/x.npz", "--set", "attention.num_head=4"}, 2, "num_heads");
  check_refused({"run", "hand_made", "-o", "/tmp/x.npz", "--set", "attention.num_heads=7"}, 2, "7");
  check_refused({"run", "hand_made", "-o", "/tmp/x.npz", "--set", "nonsense"}, 2, "nonsense");
  check_refused({"run", "/nowhere/scenario.json", "-o", "/tmp/x.npz"}, 2, "/nowhere/scenario.json");
  const TemporaryFolder empty;  // a folder is a model
  check_refused({"run", empty.file(""), "-o", "/tmp/x.npz"}, 3, "the folder has no model");
  check_refused({"run", "/dev/zero", "-o", "/tmp/x.npz"}, 2, "/dev/zero");
  check_refused({"info"}, 2, "FILE");
  check_refused({"list"}, 2, "KIND");
  check_refused({"list", "nonsense"}, 2,
                "presets, lessons, tensors, masks, colormaps, backends, settings, tasks or changes");
}

TEST_CASE("words that would break the line do not") {
  check_refused({"info", "a\nb\x1b[31m\xff"}, 2, "a\\nb\\x1b[31m\\xff");
  check_refused({"run", "hand_made", "-o", "/tmp/x.npz", "--set", "a\nb=1"}, 2, "");
  check_refused({"list", "a\nb"}, 2, "a\\nb");
  check_refused({"run", "hand_made", "--a\nb"}, 2, "");
}

TEST_CASE("lists are tables for people and JSON for programs") {
  const ProgramResult table = run_program({"list", "tensors"});
  CHECK_CONTAINS(table.out, "\nattn_weights ");
  for (const char* kind : {"presets", "tensors", "colormaps", "backends", "settings"}) {
    const ProgramResult result = run_well({"list", kind, "--json"});
    CHECK(result.err.empty());
    const nlohmann::json list = nlohmann::json::parse(result.out);
    CHECK(list.is_array());
    CHECK_FALSE(list.empty());
    for (const auto& entry : list) CHECK_FALSE(entry.at("name").get<std::string>().empty());
  }
}

TEST_CASE("help COMMAND is COMMAND --help") {
  for (const Subcommand& command : subcommands()) {
    const std::string name(command.name);
    const ProgramResult help = run_well({"help", name});
    CHECK(help.out == run_program({name, "--help"}).out);
  }
  CHECK(run_program({"help"}).out == run_program({"--help"}).out);
  check_refused({"help", "rnu"}, 2, "did you mean \"run\"?");
  check_refused({"help", "run", "export"}, 2, "too many arguments");
}

TEST_CASE("list settings has every key with its type, range and default") {
  const nlohmann::json list = nlohmann::json::parse(run_program({"list", "settings", "--json"}).out);
  const auto key = [&](const char* name) {
    for (const nlohmann::json& entry : list)
      if (entry.at("name") == name) return entry;
    return nlohmann::json();
  };
  const nlohmann::json heads = key("attention.num_heads");
  CHECK(heads.at("type") == "integer");
  CHECK(heads.at("range") == "an integer of at least 1");
  CHECK(heads.at("default") == "8");
  CHECK(heads.at("what") == "H, the number of heads");
  CHECK(key("inputs.source").at("range") == "random, ones, uniform01, text, file, picture");
  CHECK(key("inputs.source").at("default") == "\"random\"");
  CHECK(key("attention.scale").at("type") == "number or null");
  CHECK_CONTAINS(run_program({"list", "settings"}).out, "\nmask.is_causal ");
}

TEST_CASE("a reader that has seen enough is no error, a stdout that cannot be written is") {
  const TemporaryFolder folder;
  const ProgramResult pipe_closed = run_well({"list", "tensors"}, {"",
                                                                   [] {
                                                                     int ends[2];
                                                                     if (pipe(ends) != 0) _exit(97);
                                                                     dup2(ends[1], STDOUT_FILENO);
                                                                     close(ends[0]);
                                                                     close(ends[1]);
                                                                   },
                                                                   {}});
  CHECK(pipe_closed.err.empty());
  const ProgramResult closed = run_program({"list", "tensors"}, {"", [] { close(STDOUT_FILENO); }, {}});
  CHECK(closed.status == 4);
  CHECK(is_one_line(closed.err));
  const ProgramResult full =
      run_program({"--help"}, {"", [] { dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO); }, {}});
  CHECK(full.status == 4);
  CHECK(is_one_line(full.err));
}

TEST_CASE("a file that is opened never becomes stdout") {
  const TemporaryFolder folder;
  const std::string output = folder.file("out.npz");
  run_well({"run", "hand_made", "-o", output}, {"",
                                                [] {
                                                  close(STDIN_FILENO);
                                                  close(STDOUT_FILENO);
                                                  close(STDERR_FILENO);
                                                },
                                                {}});
  const ProgramResult open = run_program({"run", "hand_made", "-o", folder.file("again.npz")});
  CHECK(content_of(output) == content_of(folder.file("again.npz")));
}

TEST_CASE("without a display the window is one line and status 7, a file that is wrong goes first") {
  const TemporaryFolder folder;
  const auto status_of = [](const std::vector<std::string>& words) {
    const ProgramResult result = run_program(words, {"",
                                                     [] {
                                                       unsetenv("DISPLAY");
                                                       unsetenv("WAYLAND_DISPLAY");
                                                     },
                                                     {}});
    CAPTURE(result.err);
    CHECK(is_one_line(result.err));
    CHECK(result.out.empty());
    return result.status;
  };
  CHECK(status_of({}) == 7);
  CHECK(status_of({folder.with_file("good.json", R"({"headwise":1})")}) == 7);
  CHECK(status_of({folder.with_file("damaged.json", "{")}) == 2);
  CHECK(status_of({folder.file("missing.json")}) == 2);
}
