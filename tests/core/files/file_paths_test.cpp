// Files that are in the program, or made when they are first read, beside those of the system.
#include "core/files/file_paths.h"

#include <atomic>
#include <fstream>
#include <thread>

#include "core/files/array_files.h"
#include "core/files/input_file.h"
#include "core/model/layers/attention_layers.h"
#include "core/model/transformer/text_model.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/refusals.h"

using namespace headwise;

namespace {

std::atomic<int> made_shelves = 0;

std::vector<NamedContent> shelf(const std::string& folder) {
  ++made_shelves;
  if (folder.ends_with("/broken"))
    throw Error(ExitStatus::input, {.where = folder, .what = "this shelf is broken"});
  return {{"label.txt", "it is " + folder}};
}

void add_shelves() {
  add_folder_maker({.prefix = "builtin:shelf/", .parts = 2, .names = {"label.txt", "note.txt"}, .make = shelf});
}

}  // namespace

TEST_CASE("the models of assets/ are in the program, byte by byte") {
  CHECK(builtin_folders() == std::vector<std::string>{"builtin:copycat", "builtin:sentences"});
  for (const std::string& folder : builtin_folders()) {
    CAPTURE(folder);
    CHECK(is_folder(folder));
    CHECK(is_folder(folder + "/"));
    std::vector<std::string> files{folder + "/config.json", folder + "/model.safetensors",
                                   folder + "/vocab.txt"};
    if (folder == "builtin:sentences") files.insert(files.begin() + 2, folder + "/patterns.json");
    REQUIRE(paths_in(folder) == files);
    for (const std::string& path : paths_in(folder)) {
      CAPTURE(path);
      const auto content = builtin_file(path);
      REQUIRE(content);
      const std::string expected =
          content_of(HEADWISE_SOURCE_DIR "/assets/models/" + path.substr(builtin_prefix.size()));
      CHECK(!expected.empty());
      CHECK(std::string(reinterpret_cast<const char*>(content->data()), content->size()) == expected);
    }
  }
}

TEST_CASE("a model in the program opens as one in a folder does") {
  for (const std::string& folder : builtin_folders()) {
    CAPTURE(folder);
    const ModelFiles own(folder),
        beside(HEADWISE_SOURCE_DIR "/assets/models/" + folder.substr(builtin_prefix.size()));
    REQUIRE(own.arrays().size() == beside.arrays().size());
    for (const auto& [name, info] : own.arrays()) CHECK(identical(*own.read(name), *beside.read(name)));
    CHECK(find_attention_layers(own).layers.size() == 2);
    CHECK(find_attention_layers(own).config != nullptr);
    CHECK(TextModel::open(folder)->no_text() == "");
  }
}

TEST_CASE("what the program does not have is told with what it has") {
  test::refused_with([] { ModelFiles("builtin:elephant"); }, {"builtin:copycat or builtin:sentences"});
  CHECK(!is_there("builtin:sentences/elephant.json"));
  CHECK(!is_folder("builtin:"));
  CHECK(!is_there("builtin:"));
  CHECK(paths_in("builtin:elephant").empty());
}

TEST_CASE("a scenario on a model in the program names it alike wherever it is saved") {
  const TemporaryFolder folder;
  const ModelFiles files("builtin:copycat");
  Scenario scenario = layer_scenario("builtin:copycat", find_attention_layers(files), 1);
  write_scenario_file(scenario, folder.file("one.json"));
  const Scenario again = read_scenario_file(folder.file("one.json"));
  CHECK(again.parameters.file == "builtin:copycat");
  CHECK(path_from(again.origin.folder, *again.parameters.file) == "builtin:copycat");
  CHECK(with_layer_values(again) == scenario);
}

TEST_CASE("a file that is written anew has another state, and so has its folder") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.txt");
  std::ofstream(path) << "one";
  const FileState before = file_state(path), folder_before = file_state(folder.file(""));
  std::ofstream(path) << "longer";
  CHECK(file_state(path) != before);
  CHECK(file_state(folder.file("")) != folder_before);
  CHECK(file_state(folder.file("missing")) == file_state(folder.file("missing")));
}

TEST_CASE("a folder that is made is there before it is made, once, when the first of its files is read") {
  add_shelves();
  const std::string folder = "builtin:shelf/a/7";
  const int before = made_shelves;
  CHECK(is_there(folder));
  CHECK(is_folder(folder));
  CHECK(is_folder(folder + "/"));
  CHECK(is_there(folder + "/note.txt"));
  CHECK(paths_in(folder) == std::vector<std::string>{folder + "/label.txt", folder + "/note.txt"});
  CHECK(made_shelves == before);

  const auto text = [&] {
    const InputFile file(folder + "/label.txt");
    return file.read_text(0, file.size());
  };
  std::vector<std::thread> readers;
  std::atomic<int> right = 0;
  for (int i = 0; i < 4; ++i) readers.emplace_back([&] { right += text() == "it is " + folder; });
  for (std::thread& reader : readers) reader.join();
  CHECK(right == 4);
  CHECK(made_shelves == before + 1);
  make_folder(folder);
  make_folder("a folder that is not made");
  CHECK(made_shelves == before + 1);
  CHECK_FALSE(builtin_file(folder + "/note.txt"));  // a file that this one turned out not to have
}

TEST_CASE("a path with more or fewer parts, or another file's name, is no folder that is made") {
  add_shelves();
  for (const char* path :
       {"builtin:shelf", "builtin:shelf/", "builtin:shelf/a", "builtin:shelf/a/", "builtin:shelf//7",
        "builtin:shelf/a/7/8", "builtin:shelf/a/7/other.txt", "builtin:shelves/a/7"}) {
    CAPTURE(path);
    CHECK_FALSE(is_there(path));
    CHECK_THROWS_WITH_AS(InputFile{path}, doctest::Contains("there is no such built-in model"), Error);
  }
}

TEST_CASE("what cannot be made says so each time, and leaves nothing behind") {
  add_shelves();
  const int before = made_shelves;
  for (int i = 0; i < 2; ++i)
    CHECK_THROWS_WITH_AS(InputFile{"builtin:shelf/a/broken/label.txt"},
                         doctest::Contains("this shelf is broken"), Error);
  CHECK(made_shelves == before + 2);
}
