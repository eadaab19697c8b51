#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/files/array_files.h"
#include "tests/app/cli/program_run.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

TEST_CASE("info tells the tensors of a file with type, shape and size") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.safetensors");
  const auto tensor = std::make_shared<const Tensor>(Shape{{"N", 2}, {"L", 3}}, DType::f32);
  write_safetensors(path, {{"query", tensor, "f32"}}, {{"made_by", "a test"}});

  const ProgramResult text = run_program({"info", path});
  CHECK(text.status == 0);
  CHECK(text.out == path +
                        ": safetensors, 1 tensor, 24 bytes\n  query  f32    (2,3)  24 bytes\nmetadata\n  "
                        "made_by: a test\n");

  const nlohmann::json json = nlohmann::json::parse(run_program({"info", path, "--json"}).out);
  CHECK(json.at("format") == "safetensors");
  CHECK(json.at("tensors") ==
        nlohmann::json::parse(R"([{"name":"query","dtype":"f32","shape":[2,3],"bytes":24}])"));
  CHECK(json.at("metadata").at("made_by") == "a test");
}

TEST_CASE("info prints names that are no text without harm") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.npz");
  const auto tensor = std::make_shared<const Tensor>(Shape{}, DType::f32);
  write_npz(path, {{"\x1b[31m\xff\n", tensor, "f32"}});
  CHECK(run_program({"info", path}).out.find("\\x1b[31m\\xff\\n") != std::string::npos);
  CHECK(nlohmann::json::parse(run_program({"info", path, "--json"}).out).at("tensors").size() == 1);
}

TEST_CASE("info refuses a pickle with the lines that convert it") {
  const TemporaryFolder folder;
  const ProgramResult result = run_program({"info", folder.with_file("model.pkl", "\x80\x04rest")});
  CHECK(result.status == 3);
  CHECK(is_one_line(result.err));
  CHECK(result.err.find("import numpy, pickle;") != std::string::npos);
}
