// The commands and files that README.md and docs/ show are run as they stand there,
// and their links lead somewhere.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "tests/app/cli/program_run.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;
namespace fs = std::filesystem;

namespace {

const fs::path root = HEADWISE_SOURCE_DIR;

std::vector<fs::path> pages() {
  std::vector<fs::path> all{root / "README.md"};
  for (const auto& entry : fs::directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md") all.push_back(entry.path());
  return all;
}

std::vector<std::string> lines_of(const fs::path& page) {
  std::ifstream file(page);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// The first indented JSON of a page that begins so, without its indentation.
std::string example(const char* page, const std::string& begins) {
  std::string text;
  for (const std::string& line : lines_of(root / "docs" / page)) {
    const bool inside = line.starts_with("    ") && (!text.empty() || line.find(begins) == 4);
    if (inside) text += line.substr(4) + "\n";
    if (!inside && !text.empty()) break;
  }
  return text;
}

// Quotation marks hold words together.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  const std::regex word("\"([^\"]*)\"|(\\S+)");
  for (auto at = std::sregex_iterator(line.begin(), line.end(), word); at != std::sregex_iterator(); ++at)
    words.push_back((*at)[1].matched ? (*at)[1].str() : (*at)[2].str());
  return words;
}

struct Documented {
  std::string page, line, standard_input;
  std::vector<std::string> words;  // behind "headwise"
};

// Those that name no placeholder, FOLDER, OUT.npz or a|b, and have no explanation behind them. What measures
// the machine takes minutes.
std::vector<Documented> documented_commands() {
  std::vector<Documented> commands;
  const std::regex placeholder("\\b[A-Z]{4,}\\b|\\||  +#|\\S  +\\S|^ *headwise bench");
  for (const fs::path& page : pages()) {
    for (const std::string& line : lines_of(page)) {
      if (!line.starts_with("    headwise ") || std::regex_search(line.substr(4), placeholder)) continue;
      Documented command{page.filename().string(), line, "", {}};
      std::vector<std::string> words = words_of(line);
      for (std::size_t i = 1; i < words.size(); ++i) {
        if (words[i] == "<") {
          command.standard_input = words.at(++i);
        } else if (words[i] == ">") {
          ++i;
        } else {
          command.words.push_back(words[i]);
        }
      }
      commands.push_back(std::move(command));
    }
  }
  return commands;
}

}  // namespace

TEST_CASE("every command of the documents runs as it stands there") {
  const TemporaryFolder folder;
  const ProgramOptions here{.folder = folder.file(""), .in_child = {}, .in_test = {}};
  const auto run = [&](std::vector<std::string> words) {
    const ProgramResult result = run_program(words, here);
    INFO(result.err);
    REQUIRE(result.status == 0);
  };
  const std::string scenario = example("scenarios.md", "{ \"headwise\": 1"),
                    lesson = example("lessons.md", "{ \"headwise_playlist\": 1");
  REQUIRE_FALSE(scenario.empty());
  REQUIRE_FALSE(lesson.empty());
  folder.with_file("mha.json", scenario);
  folder.with_file("lesson.json", lesson);
  run({"export", "mha.json", "--tensor", "query", "-o", "query.npy"});
  run({"run", "mha.json", "--only", "in_proj_weight,in_proj_bias,out_proj.weight,out_proj.bias", "-o",
       "layer.safetensors"});
  run({"run", "mha.json", "-o", "inputs.npz"});
  run({"run", "mha.json", "--input", "inputs.npz", "-o", "theirs.npz"});
  fs::create_directory(folder.file("arrays"));
  fs::copy(folder.file("inputs.npz"), folder.file("arrays"));
  const std::vector<Documented> commands = documented_commands();
  CHECK(commands.size() > 12);
  for (const Documented& command : commands) {
    CAPTURE(command.page);
    CAPTURE(command.line);
    ProgramOptions options = here;
    if (!command.standard_input.empty())
      options.in_child = [path = folder.file(command.standard_input)] {
        dup2(open(path.c_str(), O_RDONLY | O_CLOEXEC), STDIN_FILENO);
      };
    const ProgramResult result = run_program(command.words, options);
    CAPTURE(result.err);
    const bool needs_gl = command.words.front() == "render";
    CHECK((result.status == 0 || (needs_gl && result.status == 7)));
  }
}

TEST_CASE("every link of the documents leads to a file") {
  const std::regex link("\\]\\(([^)#:]+)(#[^)]*)?\\)");
  std::size_t links = 0;
  for (const fs::path& page : pages()) {
    for (const std::string& line : lines_of(page)) {
      for (auto at = std::sregex_iterator(line.begin(), line.end(), link); at != std::sregex_iterator();
           ++at, ++links) {
        CAPTURE(page.filename().string());
        CAPTURE((*at)[1].str());
        CHECK(fs::exists(page.parent_path() / (*at)[1].str()));
      }
    }
  }
  CHECK(links > 20);
}

TEST_CASE("every test that the documents name is there") {
  const std::regex path("tests/[a-z0-9_/]+(\\.[a-z]+)?");
  std::size_t paths = 0;
  for (const fs::path& page : pages()) {
    for (const std::string& line : lines_of(page)) {
      for (auto at = std::sregex_iterator(line.begin(), line.end(), path); at != std::sregex_iterator();
           ++at, ++paths) {
        CAPTURE(page.filename().string());
        CAPTURE(at->str());
        CHECK(fs::exists(root / at->str()));
      }
    }
  }
  CHECK(paths > 20);
}
