// What went on all the same: said on stderr, and with --strict the end of it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/cli/program_run.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/skipped.h"

using namespace headwise;

namespace {

// A row of it has every key blocked, which is a warning of the trace; its text goes unused,
// which is one of the inputs.
constexpr const char* blocked = R"({"headwise":1,"mask":{"valid_lens":[0],"fully_masked_rows":"zero"}})";
constexpr const char* unused_text = R"({"headwise":1,"inputs":{"text":"not read"}})";

ProgramResult with(Words words, const std::string& more) {
  words.push_back(more);
  return run_program(words);
}

std::size_t lines_with(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("--strict makes a warning status 3, and nothing is written") {
  const TemporaryFolder folder;
  for (const char* const text : {blocked, unused_text}) {
    const std::string scenario = folder.with_file("scenario.json", text);
    const std::string theirs = folder.file("theirs.npz"), npz = folder.file("out.npz"),
                      picture = folder.file("out.png");
    run_well({"run", scenario, "-o", theirs});
    for (const Words& words :
         {Words{"run", scenario, "-o", npz}, Words{"export", scenario, "--tensor", "output", "-o", picture},
          Words{"compare", scenario, "--with", theirs}, Words{"info", scenario}}) {
      CAPTURE(fmt::format("{}", fmt::join(words, " ")));
      const ProgramResult easy = run_well(words);
      CHECK(easy.err.starts_with("headwise: warning: "));
      std::filesystem::remove(npz);
      std::filesystem::remove(picture);
      const ProgramResult strict = with(words, "--strict");
      CHECK(strict.status == 3);
      CHECK(strict.out.empty());
      CHECK(strict.err.starts_with(easy.err));
      CHECK_CONTAINS(strict.err, "headwise: --strict: ");
      CHECK_FALSE(std::filesystem::exists(npz));
      CHECK_FALSE(std::filesystem::exists(picture));
    }
  }
}

TEST_CASE("--strict changes nothing where there is no warning") {
  const TemporaryFolder folder;
  const std::string out = folder.file("out.npz");
  for (const Words& words :
       {Words{"run", "hand_made", "-o", out}, Words{"compare", "hand_made", "--with", out},
        Words{"info", "hand_made"}, Words{"export", "hand_made", "--tensor", "q", "-o", folder.file("q.csv")},
        Words{"bench", "--preset", "hand_made", "--backend", "reference", "--repeat", "1"}}) {
    CAPTURE(words[0]);
    const ProgramResult result = with(words, "--strict");
    CHECK(result.status == 0);
    CHECK(result.err.empty());
  }
}

TEST_CASE("bench says what is odd about its inputs, and with --strict times nothing") {
  const TemporaryFolder folder;
  const std::string scenario = folder.with_file("scenario.json", unused_text);
  const Words words{"bench", "--preset", scenario, "--backend", "reference", "--repeat", "1"};
  const ProgramResult easy = run_well(words);
  CHECK(lines_with(easy.err, "is not used") == 1);
  const ProgramResult strict = with(words, "--strict");
  CHECK(strict.status == 3);
  CHECK(strict.out.empty());
}

TEST_CASE("a backend that hands its work on is a warning too") {
  const TemporaryFolder folder;
  const Words words{"run", "hand_made", "--backend", "fused", "--dtype",
                    "f64", "--only",    "output",    "-o",    folder.file("out.npz")};
  const ProgramResult easy = run_well(words);
  CHECK_CONTAINS(easy.err, "using the reference backend");
  CHECK(with(words, "--strict").status == 3);
}

TEST_CASE("info --json has every warning, the trace's too") {
  const TemporaryFolder folder;
  const ProgramResult result = run_well({"info", folder.with_file("scenario.json", blocked), "--json"});
  const nlohmann::json notes = nlohmann::json::parse(result.out).at("notes");
  REQUIRE(notes.size() == 1);
  CHECK_CONTAINS(notes[0].get<std::string>(), "every key is blocked");
}

TEST_CASE("render warns of a page once, and with --strict makes no folder") {
  const TemporaryFolder folder;
  const std::string lesson =
      folder.with_file("lesson.json", R"({"headwise_playlist":1,"title":"Blocked","pages":[
        {"scenario":{"headwise":1,"mask":{"valid_lens":[0]}},"step":"softmax"},{"step":"scores"}]})");
  const Words words{"render", lesson, "-o", folder.file("slides"), "--size", "640x360"};
  const ProgramResult strict = with(words, "--strict");
  if (strict.status == 7) {
    test::say_skipped(strict.err);
    return;
  }
  CHECK(strict.status == 3);
  CHECK_FALSE(std::filesystem::exists(folder.file("slides")));
  const ProgramResult easy = run_well(words);
  CHECK(lines_with(easy.err, "every key is blocked") == 1);
  CHECK(easy.err.starts_with("headwise: warning: page 1: "));
}
