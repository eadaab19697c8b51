// A picture through a model on the command line.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/files/array_files.h"
#include "tests/app/cli/program_run.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

const std::string cli_picture_models = HEADWISE_SOURCE_DIR "/tests/golden/models/";
const std::string cli_photo = HEADWISE_SOURCE_DIR "/tests/golden/pictures/photo.png";
const std::string sets_photo = "inputs.picture=" + cli_photo;

}  // namespace

TEST_CASE("run, export, compare and info take a picture for a model that reads pictures") {
  const TemporaryFolder folder;
  const std::string vit = cli_picture_models + "vit", out = folder.file("out.npz");
  const ProgramResult run =
      run_well({"run", vit, "--set", sets_photo, "--set", "parameters.layer=1", "--strict", "-o", out});
  CAPTURE(run.err);
  bool has_weights = false;
  for (const NamedTensor& array : read_array_file(out)) {
    if (array.name != "attn_weights") continue;
    has_weights = true;
    CHECK(array.tensor->shape().size(2) == 17);
  }
  CHECK(has_weights);
  const std::string table = folder.file("weights.csv");
  run_well({"export", vit, "--set", sets_photo, "--tensor", "attn_weights", "--head", "0", "-o", table});
  const std::string rows = content_of(table);
  CHECK_CONTAINS(rows, "[CLS]");
  CHECK_CONTAINS(rows, "r3 c3");
  run_well({"compare", vit, "--set", sets_photo, "--set", "parameters.layer=1", "--with", out});
  // A run is opened again with its picture.
  CHECK_CONTAINS(run_well({"info", out}).out, "picture");
}

TEST_CASE("info of a model of pictures says what it reads and predicts") {
  const ProgramResult told = run_well({"info", cli_picture_models + "vit"});
  CAPTURE(told.out);
  CHECK_CONTAINS(told.out, "reads pictures: PNG files");
  CHECK_CONTAINS(told.out, "4 × 4 patches of 8 × 8 pixels, 17 tokens");
  CHECK_CONTAINS(told.out, "predicts 3 classes");
  CHECK_CONTAINS(run_well({"info", cli_picture_models + "vit_base"}).out, "predicts no classes: ");
  const auto json =
      nlohmann::json::parse(run_well({"info", cli_picture_models + "vit", "--json"}).out).at("model");
  CHECK(json.at("no_picture").is_null());
  CHECK(json.at("encoder").at("vocabulary") == 3);
}

TEST_CASE("a picture for a model of texts, and a text for one of pictures, are told in one line") {
  const TemporaryFolder folder;
  const ProgramResult bert =
      run_program({"run", cli_picture_models + "bert", "--set", sets_photo, "-o", folder.file("out.npz")});
  CHECK(bert.status != 0);
  CHECK_CONTAINS(bert.err, "this model cannot read a picture");
  const ProgramResult text = run_program({"info", cli_picture_models + "vit", "--text", "a cat"});
  CHECK(text.status != 0);
  CHECK_CONTAINS(text.err, "it reads pictures");
  const ProgramResult alone = run_program({"run", cli_photo, "-o", folder.file("out.npz")});
  CHECK(alone.status != 0);
  CHECK_CONTAINS(alone.err, "a picture is no scenario");
}
