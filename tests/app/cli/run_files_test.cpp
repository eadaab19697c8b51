// What a file of a run says of the run, and what opens it again.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "core/files/array_files.h"
#include "core/scenario/presets.h"
#include "core/scenario/run_record.h"
#include "core/scenario/scenario_json.h"
#include "tests/app/cli/program_run.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

const std::string own_models = HEADWISE_SOURCE_DIR "/assets/models/";
constexpr const char* text = "garden river lamp apple violin";

// The names of `ours` with the same numbers in `theirs`.
void check_same(const std::map<std::string, TensorPtr>& ours, const std::map<std::string, TensorPtr>& theirs) {
  CHECK(ours.size() == theirs.size());
  for (const auto& [name, tensor] : ours) {
    CAPTURE(name);
    REQUIRE(theirs.contains(name));
    CHECK(identical(*tensor, theirs.at(name)->reshaped(tensor->shape())));
  }
}

void run(const Words& words) {
  run_well(joined({{"run"}, words}));
}

std::string random_arrays(const TemporaryFolder& folder, const std::string& name,
                          const std::vector<Axis>& axes) {
  Tensor tensor{Shape(axes), DType::f32};
  for (Index i = 0; i < tensor.size(); ++i) tensor.set_flat(i, static_cast<double>(i % 7) / 8.0);
  write_npy(folder.file(name + ".npy"), tensor);
  return folder.file(name + ".npy");
}

}  // namespace

TEST_CASE("a run's file holds its scenario, tokens and warnings: npz as bytes, safetensors as metadata") {
  const TemporaryFolder folder;
  const std::string scenario = folder.with_file(
      "scenario.json",
      R"({"headwise":1,"attention":{"num_heads":4},"inputs":{"source":"text","text":"two words"},"mask":{"valid_lens":[0]}})");
  for (const char* name : {"run.npz", "run.safetensors"}) {
    CAPTURE(name);
    run({scenario, "--set", "attention.softcap=2", "-o", folder.file(name)});
    const FileMetadata metadata = read_array_file_info(folder.file(name)).metadata;
    REQUIRE(metadata.contains("__scenario__"));
    const auto json = nlohmann::json::parse(metadata.at("__scenario__"));
    CHECK(json.at("attention").at("num_heads") == 4);
    CHECK(json.at("attention").at("softcap") == 2.0);
    CHECK(json.at("attention").at("embed_dim") == 128);  // what nobody wrote is there too
    CHECK(json.at("inputs").at("query_length") == 2);    // and what the text decided
    const auto tokens = nlohmann::json::parse(metadata.at("__tokens__"));
    CHECK(tokens.at("query") == nlohmann::json({"two", "words"}));
    const auto warnings = nlohmann::json::parse(metadata.at("__warnings__"));
    REQUIRE(warnings.size() == 1);
    CHECK_CONTAINS(warnings[0].get<std::string>(), "every key is blocked");
    for (const auto& [array, unused] : arrays_of(folder.file(name))) CHECK_FALSE(array.starts_with("__"));
  }
}

TEST_CASE("run of a run's file is that run again") {
  const TemporaryFolder folder;
  const std::string first = folder.file("first.npz"), again = folder.file("again.npz");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"welcome"},
        {"random", "--set", "mask.preset=prefix:3"},
        {"causal", "--set", "op=scaled_dot_product_attention"},
        {own_models + "copycat", "--set", "parameters.layer=1", "--set", std::string("inputs.text=") + text}}) {
    CAPTURE(words[0]);
    run(joined({words, {"-o", first}}));
    run({first, "-o", again});
    check_same(arrays_of(first), arrays_of(again));
    run({first, "--set", "attention.scale=0", "-o", again});  // with settings of its own
    CHECK_FALSE(identical(*arrays_of(first).at("output"), *arrays_of(again).at("output")));
  }
}

TEST_CASE("arrays that a run was given come back from its file, moved elsewhere too") {
  const TemporaryFolder folder;
  const auto array = [&](const std::string& name, const std::vector<Axis>& axes) {
    return random_arrays(folder, name, axes);
  };
  const std::string query = array("query", {{"N", 2}, {"L", 3}, {"E", 8}}),
                    key = array("key", {{"N", 2}, {"S", 5}, {"E", 8}}),
                    packed = array("in_proj_weight", {{"r", 24}, {"E", 8}}),
                    out = array("out_proj.weight", {{"E", 8}, {"r", 8}}),
                    mask = array("attn_mask", {{"L", 3}, {"S", 5}}),
                    square = array("attn_mask_square", {{"L", 3}, {"S", 3}});
  std::filesystem::rename(square, folder.file("other.npy"));
  const std::string first = folder.file("first.npz"), moved = folder.file("moved.npz"),
                    again = folder.file("again.npz");
  for (const std::vector<std::string>& given :
       {std::vector<std::string>{query}, {query, key, mask}, {packed, out}, {query, packed, out}}) {
    CAPTURE(given.size());
    Words inputs;
    for (const std::string& file : given) inputs.insert(inputs.end(), {"--input", file});
    const Words settings =
        with_settings({"inputs.source=random", "attention.embed_dim=8", "attention.num_heads=2"});
    run(joined({{"random"}, settings, inputs, {"-o", first}}));
    std::filesystem::rename(first, moved);
    run({moved, "-o", again});
    check_same(arrays_of(moved), arrays_of(again));
  }
  // What the gradients began with, beside inputs from anywhere.
  const std::string grad_output = array("grad_output", {{"N", 1}, {"L", 4}, {"E", 8}});
  for (const char* source : {"random", "text"}) {
    CAPTURE(source);
    run({"random", "--set", std::string("inputs.source=") + source, "--set", "inputs.text=one two three four",
         "--set", "inputs.query_length=4", "--set", "attention.embed_dim=8", "--set", "attention.num_heads=2",
         "--input", grad_output, "--backward", "-o", first});
    run({first, "--backward", "-o", again});
    CHECK(arrays_of(first).contains("grad.query"));
    check_same(arrays_of(first), arrays_of(again));
  }
  // The arrays that it needs are not in the file.
  run({"random", "--set", "inputs.source=random", "--set", "attention.embed_dim=8", "--set",
       "attention.num_heads=2", "--input", query, "--only", "output", "-o", first});
  const ProgramResult result = run_program({"run", first, "-o", again});
  CHECK(result.status == 3);
  CHECK_CONTAINS(result.err, "this run cannot be reopened");
  CHECK_CONTAINS(result.err, "without query");
}

TEST_CASE("a file of arrays is opened as the run that wrote it; one that has none, and no layer, says so") {
  const TemporaryFolder folder;
  run({"hand_made", "--set", "attention.temperature=3", "-o", folder.file("run.npz")});
  const Scenario opened = scenario_of_file(folder.file("run.npz"));
  CHECK(opened.attention.temperature == 3.0);
  CHECK(opened.parameters.source == ParameterSource::hand_made);
  CHECK(opened.origin.written.contains("attention.temperature"));
  write_npz(folder.file("x.npz"), {{"x", std::make_shared<const Tensor>(Shape{{"N", 2}}, DType::f32), "f32"}});
  for (const std::vector<std::string>& words : {std::vector<std::string>{folder.file("x.npz")},
                                                {"run", folder.file("x.npz"), "-o", folder.file("out.npz")}}) {
    const ProgramResult result = run_program(words);
    CHECK(result.status == 3);
    CHECK_CONTAINS(result.err, "this file has neither a run to reopen nor an attention layer");
    CHECK_CONTAINS(result.err, "got x");
  }
  write_file_atomically(folder.file("broken.npz"), [](const ByteSink& sink) {
    write_npz(sink, {}, {{"__scenario__", "{"}});
  });
  const ProgramResult broken = run_program({"run", folder.file("broken.npz"), "-o", folder.file("out.npz")});
  CHECK(broken.status == 3);
  CHECK_CONTAINS(broken.err, "damaged");
}

TEST_CASE("info of a run's file tells of the run") {
  const TemporaryFolder folder;
  run({"hand_made", "--set", "mask.valid_lens=[0]", "--only", "output", "-o", folder.file("run.npz")});
  const ProgramResult info = run_program({"info", folder.file("run.npz")});
  CAPTURE(info.out);
  REQUIRE(info.status == 0);
  CHECK_CONTAINS(info.out, "run\n  scenario: ");
  CHECK_CONTAINS(info.out, "\"valid_lens\"");
  CHECK_CONTAINS(info.out, "  warning: ");
  CHECK_LACKS(info.out, "__scenario__");
  const auto json = nlohmann::json::parse(run_program({"info", folder.file("run.npz"), "--json"}).out);
  CHECK(json.at("run").at("scenario").at("mask").at("valid_lens") == nlohmann::json({0}));
  CHECK(json.at("run").at("warnings").size() == 1);
  CHECK(json.at("tensors").size() == 1);
}

TEST_CASE("--layers writes every layer of a model, the same numbers as one by one") {
  const TemporaryFolder folder;
  const std::string all = folder.file("all.npz"), one = folder.file("one.npz");
  const std::string sets = std::string("inputs.text=") + text;
  for (const std::string& model :
       {own_models + "copycat", std::string(HEADWISE_SOURCE_DIR "/tests/golden/models/bert")}) {
    CAPTURE(model);
    run({model, "--layers", "all", "--set", sets, "-o", all});
    const auto together = arrays_of(all);
    std::size_t count = 0;
    for (Index layer = 0; together.contains(fmt::format("layer.{}.output", layer)); ++layer) {
      run({model, "--set", fmt::format("parameters.layer={}", layer), "--set", sets, "-o", one});
      for (const auto& [name, tensor] : arrays_of(one)) {
        CAPTURE(layer);
        CAPTURE(name);
        const std::string numbered = fmt::format("layer.{}.{}", layer, name);
        REQUIRE(together.contains(numbered));
        CHECK(identical(*tensor, *together.at(numbered)));
        ++count;
      }
    }
    CHECK(count == together.size());
    CHECK(count > 20);
  }
  run({own_models + "copycat", "--layers", "1", "--only", "attn_weights", "-o", all});
  CHECK(arrays_of(all).size() == 1);
  CHECK(arrays_of(all).contains("layer.1.attn_weights"));
  CHECK(run_program({"run", own_models + "copycat", "--layers", "0,7", "-o", all}).status == 3);
  CHECK(run_program({"run", own_models + "copycat", "--layers", "first", "-o", all}).status == 2);
  CHECK(run_program({"run", "random", "--layers", "all", "-o", all}).status == 2);
}

TEST_CASE("-o - writes to stdout what a file would hold, and run - reads the scenario from stdin") {
  const TemporaryFolder folder;
  const std::string scenario =
      folder.with_file("scenario.json", scenario_to_json(preset_scenario("hand_made")));
  const ProgramOptions from_stdin{"", [&] { dup2(open(scenario.c_str(), O_RDONLY), STDIN_FILENO); }, {}};
  for (const char* format : {"npz", "safetensors"}) {
    const std::string file = folder.file(std::string("out.") + format);
    const ProgramResult piped = run_well({"run", "-", "--format", format, "-o", "-"}, from_stdin);
    folder.with_file("piped", piped.out);
    run({scenario, "-o", file});
    check_same(arrays_of(folder.file("piped")), arrays_of(file));
  }
  run({"hand_made", "--format", "npz", "-o", folder.file("named.dat")});
  CHECK(arrays_of(folder.file("named.dat")).contains("output"));
  for (const char* format : {"csv", "npy", "png", "svg"}) {
    const std::string file = folder.file(std::string("out.") + format);
    const std::vector<std::string> words{"export", "hand_made", "--tensor", "attn_weights", "-o"};
    run_well(joined({words, {file}}));
    CHECK(run_program(joined({words, {"-", "--format", format}})).out == content_of(file));
  }
  const ProgramResult nameless = run_program({"run", "hand_made", "-o", "-"});
  CHECK(nameless.status == 2);
  CHECK_CONTAINS(nameless.err, "--format");
  CHECK(run_program({"run", "hand_made", "-o", "-", "--format", "csv"}).status == 2);
  CHECK_CONTAINS(run_program({"run", "hand_made", "-o", "-", "--format", "py"}).out, "import numpy as np");
  const ProgramResult empty = run_program({"run", "-", "-o", folder.file("x.npz")},
                                          {"", [] { dup2(open("/dev/null", O_RDONLY), STDIN_FILENO); }, {}});
  CHECK(empty.status == 2);
  CHECK_CONTAINS(empty.err, "standard input");
}
