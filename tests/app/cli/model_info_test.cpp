// What headwise info says of a model, and in which order.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/cli/model_info.h"
#include "tests/app/cli/program_run.h"
#include "tests/checks.h"
#include "tests/core/model/written_model.h"

using namespace headwise;
using namespace headwise::test;

namespace {

ArrayInfo array(const std::string& name, const std::vector<Index>& sizes) {
  ArrayInfo info;
  info.name = name;
  info.stored_dtype = "f32";
  info.sizes = sizes;
  info.bytes = 4;
  for (const Index size : sizes) info.bytes *= size;
  return info;
}

std::vector<std::string> gathered_names(const std::vector<ArrayInfo>& arrays) {
  std::vector<std::string> names;
  for (const TensorGroup& group : gathered_tensors(arrays)) names.push_back(group.name);
  return names;
}

}  // namespace

TEST_CASE("info says what a model is before its tensors, and one line does for those alike in every layer") {
  Sizes sizes{{"vocabulary.weight", {7, 12}}};
  for (int i = 0; i < 11; ++i) add_layer(sizes, "h." + std::to_string(i));
  const TemporaryFolder folder;
  write_model(folder, sizes, R"({"n_heads":3})");
  const std::string path = folder.file("");

  const ProgramResult told = run_well({"info", path});
  CHECK(told.out.starts_with(path +
                             ": safetensors, 45 tensors, 25.1 KiB\n11 attention layers, with config.json\n"));
  CHECK(
      told.out.ends_with("tensors, with those repeated across layers on one line (--tensors lists each)\n"
                         "  h.{0…10}.attention.k_lin.weight    f32  11 ×  (12,12)    6.2 KiB\n"
                         "  h.{0…10}.attention.out_lin.weight  f32  11 ×  (12,12)    6.2 KiB\n"
                         "  h.{0…10}.attention.q_lin.weight    f32  11 ×  (12,12)    6.2 KiB\n"
                         "  h.{0…10}.attention.v_lin.weight    f32  11 ×  (12,12)    6.2 KiB\n"
                         "  vocabulary.weight                  f32        (7,12)   336 bytes\n"));

  const ProgramResult all = run_program({"info", path, "--tensors"});
  CHECK(all.out.find("attention layers") <
        all.out.find("  h.10.attention.k_lin.weight    f32  (12,12)  576 bytes\n"));
  CHECK_LACKS(all.out, "{");
  CHECK(nlohmann::json::parse(run_program({"info", path, "--json"}).out).at("tensors").size() == 45);
}

TEST_CASE("layers have the numbers in their names, and what is missing is told") {
  Sizes sizes;
  for (int i = 0; i < 4; ++i) add_layer(sizes, "h." + std::to_string(i));
  sizes.erase("h.1.attention.q_lin.weight");
  const TemporaryFolder folder;
  write_model(folder, sizes, R"({"n_heads":3,"n_layers":6})");
  const std::string path = folder.file(""), out = folder.file("out.npz");
  const std::string count = "config.json gives 6 layers, but the files have 4: layers 4 to 5 are missing";

  const std::string told = run_program({"info", path}).out;
  CHECK_CONTAINS(told,
                 "4 attention layers, with config.json\n"
                 "  layer 0, h.0\n    DistilBERT: embed_dim 12, 3 heads, head_dim 4, without bias\n"
                 "    q, k and v separate, [out,in]\n"
                 "  layer 1, h.1\n    cannot be computed: h.1.attention.q_lin.weight is missing\n"
                 "  layers 2 to 3, h.2 to h.3\n");
  CHECK_CONTAINS(told, "  " + count + "\n");
  CHECK_CONTAINS(told, "  h.{0,2,3}.attention.q_lin.weight ");
  const nlohmann::json model = nlohmann::json::parse(run_program({"info", path, "--json"}).out).at("model");
  CHECK(model.at("layers")[1].at("problem") == "h.1.attention.q_lin.weight is missing");
  CHECK(model.at("layers")[3].at("name") == "h.3");
  CHECK(model.at("layer_count_problem") == count);

  const auto run = [&](const char* layer) {
    return run_program(
        {"run", path, "--set", std::string("parameters.layer=") + layer, "--only", "output", "-o", out});
  };
  const ProgramResult sound = run("3");
  CHECK(sound.status == 0);
  CHECK(sound.err == "headwise: warning: " + count + "\n");
  const ProgramResult damaged = run("1");
  CHECK(damaged.status == 3);
  CHECK(is_one_line(damaged.err));
  CHECK_CONTAINS(damaged.err, "h.1.attention.q_lin.weight is missing");
  CHECK(run("4").status == 3);
}

TEST_CASE("where no layer can be computed, the one that is asked for says why") {
  Sizes sizes;
  for (int i = 0; i < 2; ++i) {
    add_layer(sizes, fmt::format("h.{}", i));
    sizes.erase(fmt::format("h.{}.attention.{}_lin.weight", i, i == 0 ? "q" : "v"));
  }
  const TemporaryFolder folder;
  write_model(folder, sizes, R"({"n_heads":3})");
  const auto refused = [&](Words words) {
    Words all{"run", folder.file("")};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"-o", folder.file("out.npz")});
    const ProgramResult result = run_program(all);
    CHECK(result.status == 3);
    CHECK(is_one_line(result.err));
    return result.err;
  };
  CHECK_CONTAINS(refused({}), "h.0.attention.q_lin.weight is missing");
  CHECK_CONTAINS(refused({"--set", "parameters.layer=0"}), "h.0.attention.q_lin.weight is missing");
  CHECK_CONTAINS(refused({"--set", "parameters.layer=1"}), "h.1.attention.v_lin.weight is missing");
  CHECK_CONTAINS(refused({"--set", "parameters.layer=7"}), "the model has no such layer");
}

TEST_CASE("--set attention.num_heads alone is enough for a grouped layer") {
  const TemporaryFolder folder;
  const std::string name = "layers.0.self_attn.";
  write_model(folder,
              {{name + "q_proj.weight", {64, 64}},
               {name + "k_proj.weight", {32, 64}},
               {name + "v_proj.weight", {32, 64}},
               {name + "o_proj.weight", {64, 64}}},
              "");
  const std::string out = folder.file("out.npz");
  for (const char* heads : {"2", "8", "16"}) {
    CAPTURE(heads);
    const ProgramResult result = run_well({"run", folder.file("model.safetensors"), "--set",
                                           std::string("attention.num_heads=") + heads, "-o", out});
    CHECK(is_one_line(result.err));
    CHECK_CONTAINS(result.err, "no config.json gives the kind of model");
  }
  // What keys and values were said to have is taken at its word.
  CHECK(run_program({"run", folder.file("model.safetensors"), "--set", "attention.num_heads=8", "--set",
                     "attention.num_kv_heads=2", "-o", out})
            .status == 3);
}

TEST_CASE("a model without its files says which are missing") {
  const TemporaryFolder folder;
  folder.with_file("model.safetensors.index.json",
                   R"({"weight_map":{"h.0.attention.q_lin.weight":"a.safetensors",
      "h.1.attention.q_lin.weight":"b.safetensors"}})");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", folder.file(""), "-o", folder.file("out.npz")}, {folder.file("")}}) {
    check_refused(words, 3, "files named in the index are missing: got a.safetensors and 1 more");
  }
}

TEST_CASE("info says of a folder where no attention layer is recognised that it is so") {
  const TemporaryFolder folder;
  write_model(folder, {{"stem.0.kernel", {3}}, {"stem.1.kernel", {3}}}, "");
  CHECK(run_program({"info", folder.file("")})
            .out.ends_with("no attention layer was recognised from the names of the tensors\n"
                           "tensors, with those repeated across layers on one line (--tensors lists each)\n"
                           "  stem.{0,1}.kernel  f32  2 ×  (3)  24 bytes\n"));
}

TEST_CASE("a line for several tensors names just those that are there") {
  using Names = std::vector<std::string>;
  CHECK(gathered_names({array("a.0.w", {2}), array("a.1.w", {2}), array("a.3.w", {2})}) ==
        Names{"a.{0,1,3}.w"});
  CHECK(gathered_names({array("a.0.w", {2}), array("a.4.w", {2}), array("a.2.w", {2}), array("a.1.w", {2}),
                        array("a.7.w", {2}), array("a.6.w", {2})}) == Names{"a.{0…2,4,6,7}.w"});
  // Another size, another type of name, a number that is part of a word: lines of their own.
  CHECK(gathered_names({array("a.0.w", {2}), array("a.1.w", {3})}) == Names{"a.0.w", "a.1.w"});
  CHECK(gathered_names({array("a0.w", {2}), array("a1.w", {2}), array("a.01.w", {2}), array("a.1.w", {2})}) ==
        Names{"a0.w", "a1.w", "a.01.w", "a.1.w"});
  // Two numbers: one line where every pair is there, else one for each second number.
  CHECK(gathered_names({array("a.0.b.0", {2}), array("a.0.b.1", {2}), array("a.1.b.0", {2}),
                        array("a.1.b.1", {2})}) == Names{"a.{0,1}.b.{0,1}"});
  CHECK(gathered_names({array("a.0.b.0", {2}), array("a.0.b.1", {2}), array("a.1.b.0", {2})}) ==
        Names{"a.{0,1}.b.0", "a.0.b.1"});
  CHECK(gathered_names({array("0", {2}), array("1", {2}), array("", {2}), array("3.", {2})}) ==
        Names{"{0,1}", "", "3."});
}

TEST_CASE("what info says cannot be computed is what run refuses, in the same words") {
  const std::string name = "model.layers.0.self_attn.";
  const std::string config = R"({"model_type":"llama","hidden_size":16,"num_attention_heads":4)";
  const auto arrays = [&](Index rows, Index width, DType dtype) {
    std::vector<NamedTensor> made;
    for (const char* stem : {"q_proj", "k_proj", "v_proj"})
      made.push_back({name + stem + ".weight",
                      std::make_shared<const Tensor>(Shape{{"out", rows}, {"in", width}}, dtype), ""});
    made.push_back({name + "o_proj.weight",
                    std::make_shared<const Tensor>(Shape{{"out", 16}, {"in", rows}}, dtype), ""});
    return made;
  };
  struct Case {
    std::vector<NamedTensor> arrays;
    std::string config, part;
  };
  const std::vector<Case> cases{
      {arrays(16, 16, DType::i64), config + "}", "numbers of type i64"},
      {arrays(16, 32, DType::f32), config + "}", "hidden_size"},
      {arrays(8, 16, DType::f32), config + "}", "q has 8 rows instead of 16"},
      {arrays(16, 16, DType::f32), config + R"(,"head_dim":8})", "q has 16 rows instead of 32"},
      {arrays(16, 16, DType::f32), config + R"(,"num_key_value_heads":2})", "k has 16 rows instead of 8"}};
  for (const Case& one : cases) {
    CAPTURE(one.part);
    const TemporaryFolder folder;
    write_safetensors(folder.file("model.safetensors"), one.arrays);
    folder.with_file("config.json", one.config);
    const std::string path = folder.file("");
    const nlohmann::json model = nlohmann::json::parse(run_program({"info", path, "--json"}).out).at("model");
    const std::string problem = model.at("layers")[0].at("problem");
    CHECK_CONTAINS(problem, one.part);
    CHECK_CONTAINS(run_program({"info", path}).out, "    cannot be computed: " + problem + "\n");
    check_refused(
        {"run", path, "--set", "inputs.source=random", "--only", "output", "-o", folder.file("out.npz")}, 3,
        "this layer cannot be computed: " + problem);
  }
}

TEST_CASE("an index that does not fit its files is a warning wherever the model is used") {
  Sizes sizes;
  add_layer(sizes, "h.0");
  const TemporaryFolder folder;
  write_model(folder, sizes, R"({"n_heads":3})");
  folder.with_file("model.safetensors.index.json",
                   R"({"weight_map":{"h.0.attention.q_lin.weight":"old.safetensors"}})");
  const std::string path = folder.file(""), out = folder.file("out.npz");
  const std::string warning =
      "model.safetensors.index.json is ignored, because model.safetensors is there too";
  CHECK_CONTAINS(run_program({"info", path}).out, "  " + warning);
  const ProgramResult run = run_well({"run", path, "--only", "output", "-o", out});
  CHECK_CONTAINS(run.err, "headwise: warning: " + warning);
  CHECK(run_program({"run", path, "--only", "output", "--strict", "-o", out}).status != 0);
}
