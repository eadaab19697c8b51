// Files that are in the program, beside those of the system.
#include "core/files/file_paths.h"

#include <fstream>

#include "core/files/array_files.h"
#include "core/model/layers/attention_layers.h"
#include "core/model/transformer/text_model.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

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
  try {
    ModelFiles("builtin:elephant");
    FAIL("opened");
  } catch (const Error& error) {
    CHECK(error.status() == ExitStatus::input);
    CHECK_CONTAINS(std::string(error.what()), "builtin:copycat or builtin:sentences");
  }
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
