// What a command does without what it was given, or beyond it: made-up arrays, settings without effect,
// entries that are no arrays.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "app/cli/command_line.h"
#include "core/files/array_files.h"
#include "tests/app/cli/program_run.h"
#include "tests/core/files/npz_with_entries.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

bool warned(const ProgramResult& result, const std::string& part) {
  return result.err.find(part) != std::string::npos;
}

constexpr const char* two_batches =
    R"({"headwise":1,"attention":{"embed_dim":8,"num_heads":2},"inputs":{"batch":2}})";

// The arrays of a run, without some of them, as a file for --input.
std::string given_without(const TemporaryFolder& folder, const std::string& run, const Words& names) {
  std::vector<NamedTensor> arrays;
  for (const NamedTensor& array : read_array_file(run)) {
    const bool given = array.name == "query" || array.name.find("proj") != std::string::npos;
    if (given && std::ranges::count(names, array.name) == 0) arrays.push_back(array);
  }
  const std::string path = folder.file("given.npz");
  write_npz(path, arrays);
  return path;
}

}  // namespace

TEST_CASE("a parameter that --input lacks is a warning, is compared with nothing, and --strict refuses") {
  const TemporaryFolder folder;
  const std::string scenario = folder.with_file("mha.json", two_batches), run = folder.file("run.npz"),
                    out = folder.file("out.npz");
  run_well({"run", scenario, "-o", run});
  for (const auto& [name, how] : {std::pair("out_proj.bias", "all zeros"),
                                  std::pair("in_proj_weight", "drawn at random (xavier_uniform, seed 0)")}) {
    CAPTURE(name);
    const std::string given = given_without(folder, run, {name});
    const ProgramResult easy = run_well({"run", scenario, "--input", given, "--only", "output", "-o", out});
    CHECK(is_one_line(easy.err));
    CHECK(warned(easy, fmt::format("warning: {} was not given: {}", name, how)));
    CHECK(run_program({"run", scenario, "--strict", "--input", given, "-o", out}).status == 3);
    const ProgramResult compared = run_program({"compare", scenario, "--input", given, "--with", run});
    CHECK(compared.status == 3);
    CHECK(compared.out.empty());
    CHECK(is_one_line(compared.err));
    CHECK(warned(compared, fmt::format("{} ({})", name, how)));
    // Whoever writes where the parameters come from means it.
    const ProgramResult chosen =
        run_well({"compare", scenario, "--input", given, "--with", run, "--set", "parameters.source=random"});
    CHECK(warned(chosen, "was not given"));
  }
  CHECK(warned(run_program({"compare", scenario, "--input", given_without(folder, run, {"out_proj.bias"}),
                            "--with", run}),
               "attention.bias=false"));
  run_well({"compare", scenario, "--strict", "--input", given_without(folder, run, {}), "--with", run});
}

TEST_CASE("a setting without effect, or set twice, is told by every command that has --set") {
  const TemporaryFolder folder;
  const std::string out = folder.file("out.npz"), set = "inputs.query_length=512";
  run_well({"run", "random", "-o", out});
  for (const Words& words :
       {Words{"run", "random", "--set", set, "-o", folder.file("a.npz")}, Words{"info", "random", "--set", set},
        Words{"export", "random", "--set", set, "--tensor", "output", "-o", folder.file("a.csv")},
        Words{"compare", "random", "--set", set, "--with", out},
        Words{"bench", "--preset", "random", "--set", set, "--backend", "reference", "--repeat", "1"}}) {
    CAPTURE(words[0]);
    const ProgramResult result = run_well(words);
    CHECK(warned(result,
                 "warning: inputs.query_length = 512 is not used, because the text of inputs.source \"text\" "
                 "has 12 tokens: set inputs.source=random"));
  }
  const ProgramResult twice =
      run_program({"info", "random", "--set", "mask.is_causal=true", "--set", "mask.is_causal=false"});
  CHECK(warned(twice,
               "--set mask.is_causal=true is not used, because --set mask.is_causal=false comes after it"));
}

TEST_CASE("the examples of bench measure what they say") {
  std::size_t examples = 0;
  for (const Subcommand& command : subcommands()) {
    const std::string text(command.examples);
    const std::regex setting("--preset (\\w+)|--set (\\S+)");
    std::string line;
    for (const char c : text + "\n") {
      if (c != '\n') {
        line += c;
        continue;
      }
      Words words{"info", "--strict"};
      for (auto at = std::sregex_iterator(line.begin(), line.end(), setting); at != std::sregex_iterator();
           ++at) {
        if ((*at)[1].matched) words.insert(words.begin() + 1, (*at)[1].str());
        if ((*at)[2].matched) words.insert(words.end(), {"--set", (*at)[2].str()});
      }
      CAPTURE(line);
      if (line.find("--preset") != std::string::npos) {
        CHECK(run_program(words).err.empty());
        ++examples;
      }
      line.clear();
    }
  }
  CHECK(examples >= 2);
}

TEST_CASE("an --input file with a text beside its arrays is read, unless the text is needed") {
  const TemporaryFolder folder;
  const std::string scenario =
                        folder.with_file("sdpa.json", R"({"headwise":1,"op":"scaled_dot_product_attention"})"),
                    out = folder.file("out.npz");
  const float number = 1.0F;
  const std::string query = npy_content("<f4", "(1,1,1,1)",
                                        std::string(reinterpret_cast<const char*>(&number), 4)),
                    text = npy_content("<U1", "(1,)", std::string(4, '\0'));
  const auto run = [&](const std::string& name, const Words& more) {
    const std::string path = folder.with_file(
        "in.npz",
        npz_with_entries({{"query.npy", query}, {"key.npy", query}, {"value.npy", query}, {name, text}}));
    return run_program(joined({{"run", scenario, "--input", path, "--only", "output", "-o", out}, more}));
  };
  const ProgramResult beside = run("labels.npy", {});
  CHECK(beside.status == 0);
  CHECK(warned(beside, "warning: left out: "));
  CHECK(warned(beside, "labels: text cannot be read"));
  CHECK(run("labels.npy", {"--strict"}).status == 3);
  const ProgramResult needed = run("attn_mask.npy", {});
  CHECK(needed.status == 3);
  CHECK(is_one_line(needed.err));
  CHECK(warned(needed, "attn_mask: text cannot be read"));
}

TEST_CASE("odd arguments are refused or understood, never an internal error") {
  const TemporaryFolder folder;
  const std::string scenario = folder.with_file("a.json", two_batches);
  check_refused({"info", ""}, 2, "a name is empty");
  check_refused({"run", "random", "-o", ""}, 2, "a name is empty");
  check_refused({"run", "random", "--only", ",", "-o", folder.file("x.npz")}, 2, "a name is empty");
  check_refused({"render", "tour", "-o", "-"}, 2, "standard output");
  check_refused({"train", "reverse", "-o", "-"}, 2, "standard output");
  CHECK(run_program({"help", "--help"}).out == run_program({"--help"}).out);
  CHECK(run_program({"info", "--", scenario}).out == run_program({"info", scenario}).out);
  run_well({"run", "-o", folder.file("y.npz"), "--", scenario});
  const ProgramOptions removed{.folder = "",
                               .in_child =
                                   [path = folder.file("gone")] {
                                     std::filesystem::create_directory(path);
                                     if (chdir(path.c_str()) == 0) std::filesystem::remove(path);
                                   },
                               .in_test = {}};
  const ProgramResult gone = run_program({"run", "random", "-o", "x.npz"}, removed);
  CHECK(gone.status != 0);
  CHECK(is_one_line(gone.err));
  CHECK_FALSE(warned(gone, "internal error"));
}

TEST_CASE("a scenario in UTF-16 says so") {
  const TemporaryFolder folder;
  std::string wide = "\xFF\xFE";
  for (const char c : std::string(two_batches)) wide += {c, '\0'};
  check_refused({"info", folder.with_file("wide.json", wide)}, 2, "UTF-16");
  check_refused({"info", folder.with_file("bare.json", wide.substr(2))}, 2, "save the file as UTF-8");
}

TEST_CASE("the same mistake has the same status in every command") {
  const TemporaryFolder folder;
  const std::string damaged = folder.with_file("damaged.json", "{\"headwise\": 1,"),
                    missing = folder.file("no.json"), array = folder.file("no.npz"),
                    out = folder.file("out.npz");
  const auto statuses = [&](const std::string& scenario, const Words& more) {
    std::vector<int> all;
    for (const Words& words : {Words{"run", scenario, "-o", out}, Words{"info", scenario},
                               Words{"export", scenario, "--tensor", "output", "-o", folder.file("x.csv")},
                               Words{"compare", scenario, "--with", out}})
      all.push_back(run_program(joined({words, more})).status);
    return all;
  };
  run_well({"run", "random", "-o", out});
  CHECK(statuses(damaged, {}) == std::vector(4, 2));
  CHECK(statuses(missing, {}) == std::vector(4, 2));
  CHECK(statuses("nosuch", {}) == std::vector(4, 2));
  CHECK(statuses(array, {}) == std::vector(4, 3));
  CHECK(statuses("random", {"--input", array}) == std::vector(4, 3));
  CHECK(statuses("random", {"--set", "inputs.source=file", "--set", "inputs.file=" + array}) ==
        std::vector(4, 3));
  CHECK_FALSE(warned(run_program({"run", "nosuch", "-o", out}), "did you mean"));
}

TEST_CASE("a training whose output nobody reads any more stops with a checkpoint") {
  const TemporaryFolder folder;
  int ends[2] = {};
  REQUIRE(pipe(ends) == 0);
  close(ends[0]);
  const ProgramOptions closed{.folder = "", .in_child = [&] { dup2(ends[1], STDOUT_FILENO); }, .in_test = {}};
  const ProgramResult result = run_program(
      {"train", "reverse", "-o", folder.file("run"), "--steps", "100000", "--every", "100000"}, closed);
  close(ends[1]);
  CHECK(result.status == 4);
  CHECK(is_one_line(result.err));
  CHECK(warned(result, "standard output was closed"));
  CHECK(std::filesystem::exists(folder.file("run/checkpoint-1")));
}
