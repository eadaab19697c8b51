// Files and names that a command is given, and what becomes of those that it does not understand.
#include <fmt/format.h>

#include <filesystem>

#include "core/files/array_files.h"
#include "tests/app/cli/program_run.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

const std::string models_to_give = HEADWISE_SOURCE_DIR "/assets/models/";

NamedTensor ones(const std::string& name, Shape shape) {
  Tensor tensor(std::move(shape), DType::f32);
  for (Index i = 0; i < tensor.size(); ++i) tensor.set_flat(i, 1.0);
  return {name, std::make_shared<const Tensor>(std::move(tensor)), "f32"};
}

const Shape three_tokens{{"N", 1}, {"L", 3}, {"E", 8}};
constexpr const char* small_scenario = R"({"headwise":1,"attention":{"embed_dim":8,"num_heads":2}})";

}  // namespace

TEST_CASE("an --input file of which nothing is used is status 3, with the names that are expected") {
  const TemporaryFolder folder;
  const std::string out = folder.file("out.npz"), scenario = folder.with_file("small.json", small_scenario);
  write_npz(folder.file("x.npz"), {ones("x", three_tokens), ones("Query", three_tokens)});
  write_npz(folder.file("empty.npz"), {});
  write_npy(folder.file("Query.npy"), *ones("Query", three_tokens).tensor);
  write_npz(folder.file("results.npz"), {ones("output", three_tokens)});
  const auto refused = [&](const std::string& file, const std::string& part) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"run", scenario, "--input", folder.file(file), "-o", out},
          std::vector<std::string>{"info", scenario, "--input", folder.file(file)}}) {
      const ProgramResult result = check_refused(words, 3, file);
      CHECK_CONTAINS(result.err, part);
      CHECK_CONTAINS(result.err,
                     "query, key, value, past_key, past_value, past_compressed_kv, past_k_rot, indexer_q");
    }
    CHECK_FALSE(std::filesystem::exists(out));
  };
  refused("x.npz", "got Query, x");
  refused("empty.npz", "got no arrays");
  refused("Query.npy", "did you mean query?");
  refused("results.npz", "got output");
  // One array of a known name is enough; the others are told as before.
  write_npz(folder.file("both.npz"), {ones("query", three_tokens), ones("Query", three_tokens)});
  const ProgramResult both = run_well({"run", scenario, "--input", folder.file("both.npz"), "-o", out});
  CHECK_CONTAINS(both.err, "\"Query\" is not used");
}

TEST_CASE("with another program's names nothing is compared, and no --input file is written over") {
  const TemporaryFolder folder;
  const std::string scenario = folder.with_file("small.json", small_scenario),
                    given = folder.file("given.npz"), theirs = folder.file("theirs.npz");
  write_npz(given, {ones("query", three_tokens), ones("self_attn.in_proj_weight", {{"R", 24}, {"E", 8}})});
  write_npz(theirs, {ones("output", three_tokens)});
  const ProgramResult compared = run_program({"compare", scenario, "--input", given, "--with", theirs});
  CHECK(compared.status == 3);
  CHECK_CONTAINS(compared.err, "in_proj_weight (drawn at random");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", scenario, "--input", given, "-o", given},
        std::vector<std::string>{"export", scenario, "--input", theirs, "--input", given, "--tensor", "q",
                                 "-o", folder.file("./theirs.npz"), "--format", "npy"}}) {
    const ProgramResult over = run_program(words);
    CAPTURE(over.err);
    CHECK(over.status == 2);
    CHECK_CONTAINS(over.err, "this file is an --input of the same command");
  }
  CHECK(read_array_file(given).size() == 2);
  CHECK(read_array_file(theirs).size() == 1);
}

TEST_CASE("a playlist is told from a scenario, and a folder from a picture, before anything is written") {
  const TemporaryFolder folder;
  const std::string playlist =
      folder.with_file("talk.json", R"({"headwise_playlist":1,"pages":[{"title":"a"}]})");
  const ProgramResult run = run_program({"run", playlist, "-o", folder.file("out.npz")});
  CHECK(run.status == 2);
  CHECK_CONTAINS(run.err, "this is a playlist; expected a scenario");
  const ProgramResult render = run_program({"render", playlist, "-o", folder.file("slides.png")});
  CHECK(render.status == 2);
  CHECK_CONTAINS(render.err, "a folder for the pictures");
  CHECK_FALSE(std::filesystem::exists(folder.file("slides.png")));
}

TEST_CASE("inputs.source \"file\" takes its arrays from --input too") {
  const TemporaryFolder folder;
  const std::string out = folder.file("out.npz"), scenario = folder.with_file("small.json", small_scenario);
  write_npy(folder.file("query.npy"), *ones("query", three_tokens).tensor);
  const Words words{"run", scenario, "--set", "inputs.source=file", "--only", "query", "-o", out};
  const ProgramResult result = run_well(joined({words, {"--input", folder.file("query.npy")}}));
  CHECK(result.err.empty());
  const TensorPtr query = read_array_file(out).at(0).tensor;
  CHECK(query->shape().sizes() == std::vector<Index>{1, 3, 8});
  CHECK(query->flat(23) == 1.0);
  const ProgramResult without = run_program(words);
  CHECK(without.status == 2);
  CHECK_CONTAINS(without.err, "use --input");
}

TEST_CASE("export says of a tensor without heads that --head does not matter") {
  const TemporaryFolder folder;
  const auto exported = [&](const Words& more) {
    return run_program(joined({{"export", "hand_made", "-o", folder.file("out.npy")}, more}));
  };
  const ProgramResult head = exported({"--tensor", "output", "--head", "1"});
  CHECK(head.status == 0);
  CHECK(head.err == "headwise: warning: --head 1 is not used: output (N,L,E) has no heads\n");
  const ProgramResult batch = exported({"--tensor", "in_proj_weight", "--batch", "0"});
  CHECK_CONTAINS(batch.err, "--batch 0 is not used: in_proj_weight");
  CHECK(exported({"--tensor", "output"}).err.empty());
  CHECK(exported({"--tensor", "output", "--head", "all"}).err.empty());
  CHECK(exported({"--tensor", "q_heads", "--head", "1"}).err.empty());
  CHECK(exported({"--tensor", "output", "--head", "1", "--strict"}).status == 3);
}

TEST_CASE("an unknown key of a scenario is told the key that has it as a part") {
  const TemporaryFolder folder;
  const auto told = [&](const std::string& setting) {
    return run_program({"run", "hand_made", "--set", setting, "-o", folder.file("x.npz")}).err;
  };
  CHECK_CONTAINS(told("inputs.length=8"), "did you mean \"inputs.query_length\"?");
  CHECK_CONTAINS(told("mask.causal=true"), "did you mean \"mask.is_causal\"?");
  CHECK_CONTAINS(told("inputs.txt=a"), "did you mean \"inputs.text\"?");
}

TEST_CASE("run of a model's folder says which text it reads, unless it was told one") {
  const TemporaryFolder folder;
  const Words run{"run", models_to_give + "sentences", "--only", "query", "--strict",
                  "-o",  folder.file("out.npz")};
  const auto noted = [&](const Words& more) {
    return run_well(joined({run, more})).err;  // a note is no warning
  };
  const std::string note = noted({});
  CHECK(note.starts_with("headwise: note: "));
  CHECK_CONTAINS(note, "reads \"");
  CHECK_CONTAINS(note, "tired");
  CHECK(noted({"--set", "inputs.text=the animal was tired"}).empty());
}

TEST_CASE("info of a model with --set says what that layer is and costs") {
  const ProgramResult layer = run_well({"info", models_to_give + "copycat", "--set", "parameters.layer=1"});
  CHECK_CONTAINS(layer.out, "Parameters");
  CHECK_CONTAINS(layer.out, "in_proj_weight");
  const ProgramResult no_such =
      run_program({"info", models_to_give + "copycat", "--set", "parameters.layer=7"});
  CHECK(no_such.status == 3);
  CHECK_CONTAINS(no_such.err, "0 to 1");
  const ProgramResult both =
      run_program({"info", models_to_give + "copycat", "--set", "parameters.layer=1", "--text", "river"});
  CHECK(both.status == 2);
  const TemporaryFolder folder;
  write_npz(folder.file("x.npz"), {ones("x", three_tokens)});
  const ProgramResult arrays = run_program({"info", folder.file("x.npz"), "--set", "mask.is_causal=true"});
  CHECK(arrays.status == 2);
  CHECK_CONTAINS(arrays.err, "this file has no attention layer");
}

TEST_CASE("a query of another width than the scenario's embed_dim is refused with where that comes from") {
  const TemporaryFolder folder;
  const auto given = [&](const std::string& name, Index rows, Index width) {
    write_npy(folder.file(name + ".npy"), *ones(name, Shape{{"r", rows}, {"c", width}}).tensor);
    return folder.file(name + ".npy");
  };
  const std::string query = given("query", 5, 30), out = folder.file("x.npz");
  write_npz(folder.file("w.npz"), {ones("in_proj_weight", Shape{{"r", 108}, {"E", 36}}),
                                   ones("out_proj.weight", Shape{{"E", 36}, {"E", 36}})});
  const auto scenario = [&](const std::string& attention, const std::string& rest = "") {
    return folder.with_file("s.json", R"({"headwise":1,"attention":{)" + attention + "}" + rest + "}");
  };
  const auto refused = [&](const Words& words, std::initializer_list<std::string> parts) {
    for (const std::string& part : parts)
      check_refused(joined({{"run"}, words, {"--input", query, "-o", out}}), 3, part);
  };
  const std::string of_file = R"(,"parameters":{"source":"file","file":"w.npz"})";
  const std::string heads = R"("num_heads":3)", width = heads + R"(,"embed_dim":36)";
  refused({scenario(width)},
          {folder.file("s.json") + ": attention.embed_dim: the scenario and the arrays disagree",
           "got embed_dim = 36 written, E = 30 in query (5,30)", "or set it to 30"});
  refused({scenario(heads), "--set", "attention.embed_dim=36"},
          {"--set attention.embed_dim: the scenario and the arrays disagree", "36 written, E = 30 in query"});
  refused({scenario(width, of_file)},
          {"30 from query (5,30), 36 from in_proj_weight (108,36); expected 36 from " + folder.file("s.json") +
           ": attention.embed_dim; give query the width 36, or take other parameters than those of w.npz"});
  refused({scenario(heads, of_file)},
          {"expected one embed_dim; give query the width 36, or take other parameters than those of w.npz"});
  refused({"welcome"}, {"expected 128 from layer 1 of builtin:sentences: attention.embed_dim; give query the "
                        "width 128, or take other parameters than those of builtin:sentences"});
  refused({scenario(width), "--input", given("in_proj_weight", 108, 36)},
          {"expected 36 from " + folder.file("s.json") + ": attention.embed_dim; give query the width 36"});
  // The parameters may be the ones that do not belong to the rest.
  given("in_proj_weight", 90, 30);
  const std::string narrow = given("query", 5, 36);
  check_refused(
      {"run", scenario(width), "--input", narrow, "--input", folder.file("in_proj_weight.npy"), "-o", out}, 3,
      "attention.embed_dim; give in_proj_weight the width 36");
}
