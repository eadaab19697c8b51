#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "core/compare/tensor_readings.h"
#include "core/files/array_files.h"
#include "tests/app/cli/program_run.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

const Words small =
    joined({{"random"},
            with_settings({"attention.embed_dim=12", "attention.num_heads=4", "inputs.source=random",
                           "inputs.self_attention=false", "inputs.query_length=3", "inputs.key_length=5",
                           "inputs.batch=2", "parameters.source=random"})});

ProgramResult compare(const Words& scenario, const std::string& theirs, const Words& more = {}) {
  return run_program(joined({{"compare"}, scenario, {"--with", theirs}, more}));
}

// The tensors that `run` writes for these words.
std::vector<NamedTensor> arrays_of(const TemporaryFolder& folder, const Words& scenario,
                                   const Words& more = {}) {
  const std::string path = folder.file("run.npz");
  run_well(joined({{"run"}, scenario, more, {"-o", path}}));
  return read_array_file(path);
}

Tensor tensor_of(const std::vector<NamedTensor>& arrays, const std::string& name) {
  for (const NamedTensor& array : arrays) {
    if (array.name == name) return *array.tensor;
  }
  FAIL("no array " << name);
  return Tensor({}, DType::f32);
}

std::string written(const TemporaryFolder& folder, const std::string& name, Tensor tensor,
                    const std::string& file = "theirs.npz") {
  const std::string path = folder.file(file);
  const auto shared = std::make_shared<const Tensor>(std::move(tensor));
  write_npz(path, {{name, shared, dtype_name(shared->dtype())}});
  return path;
}

}  // namespace

TEST_CASE("what run writes compares equal to itself, gradients and all, in every type and format") {
  const TemporaryFolder folder;
  for (const char* file : {"a.npz", "a.safetensors"}) {
    for (const char* dtype : {"f32", "f64"}) {
      const Words both{"--dtype", dtype, "--set", "attention.add_bias_kv=true"};
      run_well(joined({{"run"}, small, both, {"--backward", "-o", folder.file(file)}}));
      const ProgramResult result = compare(small, folder.file(file), joined({both, {"--tolerance", "0"}}));
      CAPTURE(result.out);
      CAPTURE(result.err);
      CHECK(result.status == 0);
      CHECK_CONTAINS(result.out, "grad.in_proj_weight");
      CHECK_CONTAINS(result.out, "tensors agree within 0");
      CHECK_LACKS(result.out, "not compared");
    }
  }
}

TEST_CASE("the first tensor that differs is told with its worst cell, both values and formula: status 1") {
  const TemporaryFolder folder;
  Tensor scores = tensor_of(arrays_of(folder, small), "scores");
  const Index cell = scores.shape().offset(std::vector<Index>{1, 2, 0, 4});
  const double before = scores.flat(cell);
  scores.set_flat(cell, before + 0.5);
  const ProgramResult result = compare(small, written(folder, "scores", scores));
  CAPTURE(result.out);
  CHECK(result.status == 1);
  CHECK(is_one_line(result.err));
  CHECK_CONTAINS(result.err, "scores: 1 of 120 cells differ, the most at [1,2,0,4]");
  CHECK_CONTAINS(result.out, "worst cell [1,2,0,4]");
  CHECK_CONTAINS(
      result.out,
      "max(|ours|, |theirs|, u), and 1e-05 is allowed, where u is the largest number of the tensor");
  CHECK_CONTAINS(result.out, fmt::format("ours {}, theirs {}", static_cast<float>(before),
                                         static_cast<float>(before + 0.5)));
  CHECK_CONTAINS(result.out, "scores[1,2,0,4] = Σ_d q_heads[1,2,0,d] · k_heads[1,2,4,d]");
  CHECK_LACKS(result.out, "Likely cause");
}

TEST_CASE("agreement says what is compared with what") {
  const TemporaryFolder folder;
  const ProgramResult result =
      compare(small, written(folder, "scores", tensor_of(arrays_of(folder, small), "scores")));
  CHECK(result.status == 0);
  CHECK_CONTAINS(
      result.out,
      "The tensor agrees within 1e-05: in every cell |ours − theirs| ≤ 1e-05 · max(|ours|, |theirs|, u)");
}

TEST_CASE("PyTorch's layouts are read, and the output says how") {
  const TemporaryFolder folder;
  const Words lne = joined({small, {"--set", "inputs.batch_first=false"}});
  const Tensor output = tensor_of(arrays_of(folder, small), "output");
  Tensor turned({{"L", 3}, {"N", 2}, {"E", 12}}, DType::f32);
  for (Index l = 0; l < 3; ++l) {
    for (Index n = 0; n < 2; ++n) {
      for (Index e = 0; e < 12; ++e) turned.set_flat((l * 2 + n) * 12 + e, output.at({n, l, e}));
    }
  }
  const std::string path = written(folder, "attn_output", turned);
  const ProgramResult agrees = compare(lne, path);
  CHECK(agrees.status == 0);
  CHECK_CONTAINS(agrees.out, "output (attn_output)");
  CHECK_CONTAINS(agrees.out, "read as (L,N,E)");
  const ProgramResult remarked = compare(small, path);  // ours is (N,L,E)
  CHECK(remarked.status == 0);
  CHECK_CONTAINS(remarked.out, "read as (L,N,E), as with batch_first=False");
}

TEST_CASE("a likely cause is told with the setting that does the same, and the setting makes all agree") {
  const TemporaryFolder folder;
  const std::string path =
      written(folder, "output", tensor_of(arrays_of(folder, small, {"--set", "attention.scale=1"}), "output"));
  const ProgramResult result = compare(small, path);
  CHECK(result.status == 1);
  CHECK_CONTAINS(result.out, "Likely cause: theirs agrees if the scores are scaled by 1 (not scaled");
  CHECK_CONTAINS(result.out, "In Headwise: --set attention.scale=1");
  CHECK(compare(small, path, {"--set", "attention.scale=1"}).status == 0);
}

TEST_CASE("where no cause fits, the last line says what was tried and what would narrow it down") {
  const TemporaryFolder folder;
  const std::vector<NamedTensor> ours = arrays_of(folder, small);
  const auto spoilt = [&](const char* name) {
    Tensor tensor = tensor_of(ours, name);
    for (Index i = 0; i < tensor.size(); ++i) tensor.set_flat(i, std::sin(3 * tensor.flat(i) + 1));
    return tensor;
  };
  const std::string output = written(folder, "output", spoilt("output"), "output.npz");
  const ProgramResult alone = compare(small, output);
  CAPTURE(alone.out);
  CHECK(alone.status == 1);
  CHECK_CONTAINS(alone.out, "No cause was found: ");
  CHECK_CONTAINS(alone.out, " single mistakes and ");
  CHECK_CONTAINS(alone.out, " were tried. Save their attn_weights, too: it narrows the search down.");
  const ProgramResult json = compare(small, output, {"--json"});
  const auto document = nlohmann::json::parse(json.out);
  CHECK(document["tried"]["single_mistakes"] > 100);
  CHECK(document["tried"]["pairs"].is_number());
  CHECK(document["next_tensor"] == "attn_weights");
  // With the weights right, what follows on them is left; with all of it, the array itself.
  const std::string weights = written(folder, "attn_weights", tensor_of(ours, "attn_weights"), "weights.npz");
  CHECK_CONTAINS(compare(small, output, {"--with", weights}).out, "Save their concat, too");
  const std::string concat = written(folder, "concat", tensor_of(ours, "concat"), "concat.npz");
  const ProgramResult all = compare(small, output, {"--with", concat});
  CAPTURE(all.out);
  CHECK_CONTAINS(all.out, "What comes before output agrees, so it is computed differently: compare it alone");
}

TEST_CASE("an array that holds NaN alone is called that, and has no cause") {
  const TemporaryFolder folder;
  Tensor output = tensor_of(arrays_of(folder, small), "output");
  for (Index i = 0; i < output.size(); ++i) output.set_flat(i, NAN);
  const ProgramResult result = compare(small, written(folder, "output", output));
  CAPTURE(result.out);
  CHECK(result.status == 1);
  CHECK_LACKS(result.out, "Likely cause");
  CHECK_CONTAINS(result.out, "Note: output of theirs is NaN in every cell.");
  CHECK_CONTAINS(result.out,
                 "nothing was tried, because these numbers fit too many mistakes. Save their attn_weights");
}

TEST_CASE("gradients in the file are enough to run the backward pass, with grad_output from --input") {
  const TemporaryFolder folder;
  Tensor seed({{"N", 2}, {"L", 3}, {"E", 12}}, DType::f32);
  for (Index i = 0; i < seed.size(); ++i) seed.set_flat(i, static_cast<double>(i % 5) - 2.0);
  const std::string input = written(folder, "grad_output", seed, "seed.npz");
  const std::string path =
      written(folder, "query.grad",
              tensor_of(arrays_of(folder, small, {"--backward", "--input", input}), "grad.query"));
  CHECK(compare(small, path, {"--input", input}).status == 0);
  CHECK(compare(small, path).status == 1);
}

TEST_CASE("an input that differs is called an input") {
  const TemporaryFolder folder;
  Tensor query = tensor_of(arrays_of(folder, small), "query");
  query.set_flat(0, 9.0);
  const ProgramResult result = compare(small, written(folder, "query", query));
  CHECK(result.status == 1);
  CHECK_CONTAINS(result.out, "did not start from the same numbers. Pass theirs with --input");
}

TEST_CASE("JSON tells the same") {
  const TemporaryFolder folder;
  Tensor scores = tensor_of(arrays_of(folder, small), "scores");
  scores.set_flat(7, NAN);
  const ProgramResult result = compare(small, written(folder, "scores", scores), {"--json"});
  CHECK(result.status == 1);
  const auto document = nlohmann::json::parse(result.out);
  CHECK(document["agrees"] == false);
  CHECK(document["first_difference"] == "scores");
  CHECK(document["tensors"][0]["theirs"] == "NaN");
  CHECK(document["tensors"][0]["worst"] == std::vector<Index>{0, 0, 1, 2});
  CHECK_CONTAINS(document["formula"].get<std::string>(), "Σ_d");
}

TEST_CASE("several files may hold their tensors; nothing to compare and damaged files are status 3") {
  const TemporaryFolder folder;
  const std::vector<NamedTensor> ours = arrays_of(folder, small);
  const std::string scores = written(folder, "scores", tensor_of(ours, "scores"), "one.npz");
  const std::string output = written(folder, "output", tensor_of(ours, "output"), "two.npz");
  const ProgramResult both = compare(small, scores, {"--with", output});
  CHECK(both.status == 0);
  CHECK_CONTAINS(both.out, "All 2 tensors agree");
  CHECK(compare(small, scores, {"--with", scores}).status == 3);

  const ProgramResult unknown = compare(small, written(folder, "scoers", tensor_of(ours, "scores")));
  CHECK(unknown.status == 3);
  CHECK(is_one_line(unknown.err));
  CHECK_CONTAINS(unknown.err, "the nearest is scores");
  CHECK(compare(small, folder.with_file("damaged.npz", "PK\x03\x04 and no more")).status == 3);
  CHECK(compare(small, folder.file("missing.npz")).status == 3);
}

TEST_CASE("a wrong command line is status 2") {
  const TemporaryFolder folder;
  const std::string path = written(folder, "scores", tensor_of(arrays_of(folder, small), "scores"));
  CHECK(run_program({"compare", "random"}).status == 2);
  CHECK(compare(small, path, {"--tolerance", "-1"}).status == 2);
  CHECK(compare(small, path, {"--tolerance", "small"}).status == 2);
  CHECK(compare({"no such scenario"}, path).status == 2);
  run_well({"compare", "--help"});
}

TEST_CASE("--layers compares a model's layers one by one and names the first that differs, with its cause") {
  const TemporaryFolder folder;
  const std::string model = HEADWISE_SOURCE_DIR "/tests/golden/models/bert", path = folder.file("theirs.npz");
  const Words scenario{model, "--set", "inputs.source=text", "--set",
                       "inputs.text=garden river lamp apple violin"};
  const std::vector<NamedTensor> ours = arrays_of(folder, scenario, {"--layers", "all", "--dtype", "f64"});
  // Under other names, and without what a program would not store.
  const auto write = [&](const std::string& prefix, Index unscaled_from) {
    std::vector<NamedTensor> theirs;
    for (NamedTensor array : ours) {
      const Index layer = array.name[6] - '0';
      const std::string name = array.name.substr(8);
      if (name != "scores" && name != "scaled_scores") continue;
      if (name == "scaled_scores" && layer >= unscaled_from)
        array.tensor = std::make_shared<const Tensor>(
            tensor_of(ours, fmt::format("layer.{}.scores", layer)).reshaped(array.tensor->shape()));
      array.name = fmt::format("{}{}.{}", prefix, layer, name);
      theirs.push_back(array);
    }
    write_npz(path, theirs);
  };
  write("layers.", 9);
  const ProgramResult agrees = compare(scenario, path, {"--layers", "all", "--dtype", "f64"});
  CAPTURE(agrees.out);
  CAPTURE(agrees.err);
  CHECK(agrees.status == 0);
  CHECK_CONTAINS(agrees.out, "All layers agree.");
  write("", 1);
  const ProgramResult differs = compare(scenario, path, {"--layers", "all", "--dtype", "f64"});
  CAPTURE(differs.out);
  CHECK(differs.status == 1);
  CHECK_CONTAINS(differs.err, "layer 1: scaled_scores: ");
  CHECK_CONTAINS(differs.out, "      0  2 tensors    ok");
  CHECK_CONTAINS(differs.out, "      1  2 tensors    DIFFERS  first in scaled_scores");
  CHECK_CONTAINS(differs.out, "Likely cause: theirs agrees if the scores are scaled by 1 (not scaled");
  CHECK(compare(scenario, path, {"--layers", "0", "--dtype", "f64"}).status == 0);
  const auto document =
      nlohmann::json::parse(compare(scenario, path, {"--layers", "all", "--dtype", "f64", "--json"}).out);
  CHECK(document.at("first_layer") == 1);
  CHECK(document.at("layers").at(0).at("agrees") == true);
  CHECK(document.at("layers").at(1).at("first_difference") == "scaled_scores");
  // A layer that neither has, a scenario without layers, arrays without a layer.
  CHECK(compare(scenario, path, {"--layers", "7"}).status == 3);
  CHECK(compare(small, path, {"--layers", "all"}).status == 2);
  const ProgramResult unnumbered = compare(
      scenario, written(folder, "scores", tensor_of(ours, "layer.0.scores"), "one.npz"), {"--layers", "all"});
  CHECK(unnumbered.status == 3);
  CHECK_CONTAINS(unnumbered.err, "no layer number, as in layers.3.output");
}
