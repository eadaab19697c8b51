#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/files/array_files.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_json.h"
#include "tests/app/cli/program_run.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

TEST_CASE("info tells the tensors of a file with type, shape and size") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.safetensors");
  const auto tensor = std::make_shared<const Tensor>(Shape{{"N", 2}, {"L", 3}}, DType::f32);
  write_safetensors(path, {{"query", tensor, "f32"}}, {{"made_by", "a test"}});

  const ProgramResult text = run_well({"info", path});
  CHECK(text.out == path +
                        ": safetensors, 1 tensor, 24 bytes\n  query  f32  (2,3)  24 bytes\nmetadata\n  "
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
  CHECK_CONTAINS(run_program({"info", path}).out, "\\x1b[31m\\xff\\n");
  CHECK(nlohmann::json::parse(run_program({"info", path, "--json"}).out).at("tensors").size() == 1);
}

TEST_CASE("info refuses a pickle with the lines that convert it") {
  const TemporaryFolder folder;
  check_refused({"info", folder.with_file("model.pkl", "\x80\x04rest")}, 3, "import numpy, pickle;");
}

namespace {

nlohmann::json info_json(const Words& words) {
  return nlohmann::json::parse(run_well(joined({{"info"}, words, {"--json"}})).out);
}

TensorPtr array_of(const std::vector<NamedTensor>& arrays, const std::string& name) {
  for (const NamedTensor& array : arrays) {
    if (array.name == name) return array.tensor;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("info tells the sizes, parameters, products and memory of a scenario") {
  const TemporaryFolder folder;
  const std::string path = folder.with_file(
      "a.json", R"({"attention":{"embed_dim":8,"num_heads":4,"num_kv_heads":2},"inputs":{"query_length":3}})");
  const nlohmann::json json = info_json({path});
  CHECK(json.at("format") == "scenario");
  CHECK(json.at("sizes") == nlohmann::json::parse(R"({"N":1,"L":3,"S":3,"E":8,"H":4,"G":2,"D":2,"Dv":2})"));
  CHECK(json.at("parameter_count") == (8 + 4 + 4) * 8 + 16 + 8 * 8 + 8);
  CHECK(json.at("multiply_adds") == 3 * 8 * 16 + 2 * 4 * 3 * 3 * 2 + 3 * 8 * 8);
  CHECK(json.at("exponentials") == 4 * 3 * 3);
  CHECK(json.at("bytes").at("inputs") == 4 * (3 * 8 + 16 * 8 + 16 + 8 * 8 + 8));
  bool has_scores = false;
  for (const auto& tensor : json.at("tensors")) {
    if (tensor.at("name") != "scores") continue;
    has_scores = true;
    CHECK(tensor.at("shape") == nlohmann::json::parse("[1,4,3,3]"));
    CHECK(tensor.at("bytes") == 4 * 36);
  }
  CHECK(has_scores);

  const std::string text = run_program({"info", path}).out;
  for (const char* part :
       {"Sizes\n", "  H   4  heads\n", "  G   2  key/value heads\n", "Multiply-adds, step by step",
        "Memory, in f32", "Are they the same?", "Yes: one packed matrix"}) {
    CAPTURE(part);
    CHECK_CONTAINS(text, part);
  }
}

TEST_CASE("info answers whether layouts, heads and look-ups are the same, in numbers") {
  const nlohmann::json answers = info_json({"random"}).at("answers");
  for (const auto& layout : answers.at("layouts").at("layouts")) {
    CHECK(layout.at("possible") == true);
    CHECK(layout.at("max_difference").at("output").get<double>() < 1e-5);
  }
  CHECK(answers.at("head_width").at("same") == false);
  CHECK(answers.at("head_width").at("output").at("max_difference").get<double>() > 1e-3);
  CHECK(answers.at("head_width").at("one").at("heads") == 1);
  CHECK(answers.at("lookup").at("cooler").back().at("winner_weight").get<double>() > 0.99);
  double shares = answers.at("output_shares").at("bias").get<double>();
  for (const auto& share : answers.at("output_shares").at("heads")) shares += share.get<double>();
  CHECK(shares == doctest::Approx(1.0));
}

TEST_CASE("info of scaled_dot_product_attention has no projection to lay out and no parameters") {
  const nlohmann::json json = info_json({"random", "--set", "op=scaled_dot_product_attention"});
  CHECK(json.at("parameter_count") == 0);
  for (const auto& layout : json.at("answers").at("layouts").at("layouts"))
    CHECK(layout.at("possible") == false);
  CHECK(json.at("answers").at("head_width").at("possible") == true);
  CHECK(!json.at("answers").contains("output_shares"));
}

TEST_CASE("info of a scenario without queries or keys still tells its sizes") {
  for (const char* setting : {"inputs.query_length=0", "inputs.batch=0"}) {
    const nlohmann::json json = info_json({"random", "--set", "inputs.source=random", "--set", setting});
    CHECK(json.at("exponentials") == 0);
    CHECK(!json.at("answers").contains("lookup"));
  }
}

TEST_CASE("info of a scenario too large to be computed often tells its sizes and why there is no answer") {
  const nlohmann::json json =
      info_json({"random", "--set", "inputs.source=random", "--set", "inputs.query_length=50000"});
  CHECK(json.at("sizes").at("L") == 50000);
  CHECK(json.at("tensors").empty());
  CHECK_CONTAINS(json.at("answers").at("not_computed").get<std::string>(), "multiply-adds");
  const std::string text =
      run_program({"info", "random", "--set", "inputs.source=random", "--set", "inputs.query_length=200000"}).out;
  CHECK_CONTAINS(text, "  The trace does not fit: ");
  CHECK_LACKS(run_program({"info", "random"}).out, "does not fit");
}

TEST_CASE("info takes the settings of a scenario, and refuses them beside an array file") {
  CHECK(info_json({"hand_made", "--set", "attention.num_heads=4"}).at("sizes").at("H") == 4);
  const TemporaryFolder folder;
  const std::string path = folder.file("a.npz");
  write_npz(path, {{"query", std::make_shared<const Tensor>(Shape{}, DType::f32), "f32"}});
  const ProgramResult result = run_program({"info", path, "--set", "attention.num_heads=4"});
  CHECK(result.status == 2);
  CHECK(is_one_line(result.err));
  CHECK(run_program({"info", folder.file("missing.json")}).status == 2);
  CHECK(run_program({"info", folder.with_file("bad.json", "{")}).status == 2);
}

TEST_CASE("a scenario with a matrix for each head runs, saves and is told as such, and computes as packed") {
  const TemporaryFolder folder;
  const std::string path = folder.with_file(
      "a.json",
      R"({"attention":{"embed_dim":24,"num_heads":4,"num_kv_heads":2},"parameters":{"layout":"per_head"}})");
  const std::string saved = folder.file("saved.json");
  write_scenario_file(read_scenario_file(path), saved);
  CHECK_CONTAINS(content_of(saved), "\"per_head\"");

  const auto run = [&](const Words& words, const char* name) {
    CHECK(run_well(joined({{"run"}, words, {"--backward", "-o", folder.file(name)}})).err.empty());
    return read_array_file(folder.file(name));
  };
  const auto per_head = run({saved}, "per_head.npz");
  const auto packed = run({path, "--set", "parameters.layout=packed"}, "packed.npz");
  CHECK(array_of(per_head, "in_proj_weight") == nullptr);
  REQUIRE(array_of(per_head, "k_proj_weight") != nullptr);
  CHECK(array_of(per_head, "k_proj_weight")->shape().sizes() == std::vector<Index>{12, 24});
  for (const char* name : {"q", "k", "v", "output", "grad.query"}) {
    CAPTURE(name);
    CHECK(identical(*array_of(per_head, name), *array_of(packed, name)));
  }
  const auto layouts = info_json({saved}).at("answers").at("layouts").at("layouts");
  CHECK(layouts.at(2).at("matrices").at(1).at("count") == 2);
  CHECK(layouts.at(2).at("products") == 4 + 2 + 2);
  CHECK(layouts.at(2).at("max_difference").at("output").get<double>() < 1e-14);
}

TEST_CASE("info tells the questions of a playlist with their keys, and refuses those without one") {
  const TemporaryFolder folder;
  const auto file = [&](const std::string& answer) {
    return folder.with_file("lesson.json",
                            R"({"headwise_playlist": 1, "pages": [{}, {"scenario": "hand_made",
                                "set": ["mask.is_causal=true"], "ask": "?", "caption": "!", "answer": )" +
                                answer + "}]}");
  };
  const std::string number = file(R"({"kind": "number", "is": "finite mask_bias[0,0,3,:]", "within": 0.5})");
  CHECK_CONTAINS(run_program({"info", number}).out,
                 "asks for a number; key: finite mask_bias[0,0,3,:] = 4, ± 0.5\n");
  const nlohmann::json json = nlohmann::json::parse(run_program({"info", number, "--json"}).out);
  CHECK_FALSE(json.at("pages")[0].contains("answer"));
  CHECK(json.at("pages")[1].at("answer").at("key") == 4.0);
  const std::string choice =
      R"({"kind": "choice", "options": [{"text": "{S} keys", "is": "finite mask_bias[0,0,3,:] = S"},
                                 {"text": "four", "is": "finite mask_bias[0,0,3,:] = 4", "see": "TITLE"}]})";
  const auto seeing = [&](const char* title) {
    return std::string(choice).replace(choice.find("TITLE"), 5, title);
  };
  const std::string path = file(seeing("Softmax over rows, or over columns?"));
  CHECK_CONTAINS(run_program({"info", path}).out, "asks for one of 2; key: 2, four, because finite");
  CHECK(nlohmann::json::parse(run_program({"info", path, "--json"}).out)
            .at("pages")[1]
            .at("answer")
            .at("options")[0] == "12 keys");

  const auto refusal = [&](const std::string& answer) {
    const ProgramResult refused = run_program({"info", file(answer)});
    CHECK(refused.status == 2);
    CHECK(refused.out.empty());
    return refused.err;
  };
  CHECK_CONTAINS(refusal(seeing("No such page")), "page 2: answer.options[1].see");
  CHECK_CONTAINS(refusal(R"({"kind": "number", "is": "scores[0,0,99,0]"})"), "page 2: answer");
  CHECK_CONTAINS(refusal(R"({"kind": "number", "is": "2 + 2"})"), "a constant");
  CHECK_CONTAINS(
      refusal(R"({"kind": "choice", "options": [{"text": "a", "is": "E > 1"}, {"text": "b", "is": "E > 2"}]})"),
      "options 1 and 2 both hold");
}

TEST_CASE("info tells the pages of a playlist, and of a lesson by its name") {
  const TemporaryFolder folder;
  const std::string path =
      folder.with_file("lesson.json", R"({ "headwise_playlist": 1, "title": "A lesson", "pages": [
    { "scenario": "hand_made", "step": "split_heads", "view": "memory", "title": "Which float?" },
    { "set": ["attention.scale=1"], "step": "softmax", "view": "compare", "beside": "scale", "head": 11 } ] })");
  const ProgramResult text = run_well({"info", path});
  CHECK(text.out == path +
                        ": playlist, 2 pages: A lesson\n"
                        "  1  split_heads  memory         head 0   hand_made             Which float?\n"
                        "  2  softmax      compare scale  head 11  hand_made, 1 changed\n");
  const nlohmann::json json = nlohmann::json::parse(run_program({"info", path, "--json"}).out);
  CHECK(json.at("format") == "headwise_playlist");
  CHECK(json.at("pages").size() == 2);
  CHECK(json.at("pages")[0].at("step") == "split_heads");
  CHECK(json.at("pages")[1].at("scenario") == "hand_made, 1 changed");

  const ProgramResult lesson = run_well({"info", "questions"});
  CHECK(lesson.out.starts_with("questions: playlist, 39 pages"));
  const ProgramResult refused = run_program({"info", path, "--set", "attention.scale=2"});
  CHECK(refused.status == 2);
  CHECK_CONTAINS(refused.err, "a playlist has scenarios of its own");
  CHECK(run_program({"info", folder.with_file("wrong.json", R"({"headwise_playlist": 1, "pages": []})")}).status ==
        2);
}

TEST_CASE("a page that cannot be opened is refused by info and by render as run refuses its scenario") {
  const TemporaryFolder folder;
  const auto scenario = [&](const std::string& name, const std::string& rest) {
    return folder.with_file(name, R"({"headwise":1,"attention":{"embed_dim":36,"num_heads":4},)" + rest + "}");
  };
  folder.with_file("damaged.npz", "PK");
  write_npz(folder.file("key.npz"),
            {{"key", std::make_shared<const Tensor>(Shape{{"N", 1}, {"L", 2}, {"E", 8}}, DType::f32), "f32"}});
  struct Case {
    std::string file, reason;
    int status;
  };
  for (const auto& [file, reason, status] :
       {Case{scenario("missing.json", R"("inputs":{"source":"file","file":"none.npz"})"),
             "none.npz: file not found", 3},
        Case{scenario("mask.json", R"("mask":{"file":"damaged.npz"})"), "damaged.npz: ", 3},
        Case{scenario("key.json", R"("inputs":{"source":"file","file":"key.npz"})"), "query is missing", 3},
        Case{scenario("model.json", R"("parameters":{"source":"model","file":"none"})"), "none", 3},
        Case{scenario("heads.json", R"("heads":{"gain":[1,2]})"), "heads.gain has 2 numbers", 2},
        Case{scenario("lens.json", R"("mask":{"valid_lens":[1,2,3]})"), "mask.valid_lens has 3 entries", 2}}) {
    CAPTURE(file);
    CHECK(run_program({"run", file, "-o", folder.file("x.npz")}).status == status);
    const std::string name = std::filesystem::path(file).filename().string();
    for (const std::string& page :
         {"{\"scenario\":\"" + name + "\"}",
          "{\"scenario\":\"" + name + R"(","ask":"?","caption":"!","answer":{"kind":"number","is":"E"}})"}) {
      const std::string playlist = folder.with_file(
          "pages.json", R"({"headwise_playlist":1,"pages":[{"scenario":"hand_made"},)" + page + "]}");
      const std::string place = playlist + ": page 2: ";
      for (const std::vector<std::string>& words : {std::vector<std::string>{"info", playlist},
                                                    {"info", playlist, "--json"},
                                                    {"render", playlist, "-o", folder.file("slides")}}) {
        const ProgramResult result = run_program(words);
        CAPTURE(result.err);
        CHECK(result.status == status);
        CHECK(result.out.empty());
        CHECK(is_one_line(result.err));
        CHECK(result.err.starts_with("headwise: " + place));
        CHECK_CONTAINS(result.err, reason);
      }
    }
  }
  CHECK_FALSE(std::filesystem::exists(folder.file("slides")));
}

TEST_CASE("info of a playlist calls a page's scenario by its file, and says from which preset it differs") {
  const TemporaryFolder folder;
  const auto words_of = [&](const std::string& pages) {
    const std::string path = folder.with_file("p.json", R"({"headwise_playlist":1,"pages":[)" + pages + "]}");
    const ProgramResult result = run_well({"info", path, "--json"});
    std::vector<std::string> words;
    const nlohmann::json document = nlohmann::json::parse(result.out);
    for (const nlohmann::json& page : document.at("pages")) words.push_back(page.at("scenario"));
    return words;
  };
  std::filesystem::create_directory(folder.file("own"));
  folder.with_file("own/mine.json", std::string(preset_named("welcome").json));
  Scenario changed = preset_scenario("welcome");
  changed.attention.temperature = 2.0;
  folder.with_file("warm.json", scenario_to_json(changed));
  changed.inputs.text = "the cat sat .";
  folder.with_file("cat.json", scenario_to_json(changed));
  folder.with_file("far.json", R"({"headwise":1,"attention":{"embed_dim":36,"num_heads":3,"softcap":5,
    "bias":false,"dropout":0.5,"residual":true}})");
  CHECK(words_of(R"({"scenario":"own/mine.json"},{"scenario":"warm.json"},{"scenario":"cat.json"},
                    {"scenario":"far.json"},{"scenario":"warm.json","set":["attention.softcap=3"]},
                    {"scenario":"welcome"},{"set":["attention.softcap=3"]},{"scenario":)" +
                 scenario_to_json(changed) + "}") ==
        std::vector<std::string>{"mine.json (the same as welcome)",
                                 "warm.json (differs from welcome in 1 setting)",
                                 "cat.json (differs from welcome in 2 settings)", "far.json",
                                 "warm.json, 1 changed (differs from welcome in 2 settings)", "welcome",
                                 "welcome, 1 changed", "welcome, 2 changed"});
}

TEST_CASE("info scores every head of a model on a text, and mutes each where that is asked for") {
  const std::string model = HEADWISE_SOURCE_DIR "/assets/models/copycat";
  const ProgramResult text = run_well({"info", model, "--text", "apple lamp river apple lamp river"});
  CHECK_CONTAINS(text.out, "heads on 7 tokens: <|endoftext|> apple lamp river apple lamp river\n");
  CHECK_CONTAINS(text.out, "\n  1.3  ");
  CHECK_LACKS(text.out, "muted");

  const nlohmann::json json = nlohmann::json::parse(
      run_program({"info", model, "--text", "apple lamp river apple lamp river", "--mute", "--json"}).out);
  const nlohmann::json& heads = json.at("text").at("heads");
  REQUIRE(heads.size() == 8);
  CHECK(heads[1].at("previous_token").get<double>() > 0.7);
  CHECK(heads[1].at("next_token").is_null());
  CHECK(heads[1].at("punctuation").is_null());
  CHECK(json.at("text").at("scores").at("induction").at("queries") == 3);
  CHECK(heads[1].at("muted").at("positions") == 7);
  CHECK(heads[1].at("muted").at("bits").get<double>() > 0.0);

  const ProgramResult refused = run_program({"info", "hand_made", "--text", "a"});
  CHECK(refused.status == 2);
  CHECK_CONTAINS(refused.err, "only a model can read text");
  CHECK(run_program({"info", model, "--mute"}).status == 2);
}

TEST_CASE("info lists the checkpoints of a training, and the folder stands for the newest one") {
  const TemporaryFolder folder;
  const std::string run = folder.file("run"), newest = run + "/checkpoint-10";
  run_well({"train", "induction", "-o", run, "--width", "16", "--heads", "2", "--batch", "4", "--steps", "10",
            "--every", "5"});
  const ProgramResult text = run_well({"info", run});
  CHECK(text.out.starts_with(run + ": 3 checkpoints of a training run\n  step 0: " + run +
                             "/checkpoint-0\n  step 5: "));
  CHECK_CONTAINS(text.out, "\n  step 10: " + newest + "\n");
  const nlohmann::json json = nlohmann::json::parse(run_program({"info", run, "--json"}).out);
  REQUIRE(json.at("checkpoints").size() == 3);
  CHECK(json.at("checkpoints")[2] == nlohmann::json{{"step", 10}, {"path", newest}});

  const ProgramResult model = run_program({"info", newest});
  CHECK_CONTAINS(model.out,
                 "encoder: pre-LayerNorm blocks, GELU (tanh), learned positions (at most 32 tokens)");
  CHECK_CONTAINS(model.out, "tokenizer: word list, 32 pieces");
  CHECK_LACKS(model.out, "not computed");
  run_well({"info", newest, "--strict"});
  CHECK_CONTAINS(run_program({"info", run, "--text", "garden river garden"}).out,
                 "heads on 3 tokens: garden river garden\n");
  const ProgramResult unknown = run_program({"info", run, "--text", "garden gryphon"});
  CHECK(unknown.status == 2);
  CHECK_CONTAINS(unknown.err, "\"gryphon\"");
  CHECK(is_one_line(unknown.err));

  for (const std::string file : {"model.safetensors", "config.json"})
    std::filesystem::copy(newest + "/" + file, run + "/" + file);
  const ProgramResult both = run_program({"info", run});
  CHECK_CONTAINS(both.out, "2 attention layers");
  CHECK_CONTAINS(both.out, "3 checkpoints of a training run\n");
}

TEST_CASE(
    "info --cell tells where a number of a run comes from: all its terms, which add up to it, and what it "
    "feeds") {
  const TemporaryFolder folder;
  const std::string path =
      folder.with_file("a.json", R"({"attention":{"embed_dim":8,"num_heads":4},"inputs":{"query_length":3}})");
  const std::string run = folder.file("run.npz");
  run_well({"run", path, "-o", run});
  const nlohmann::json json = info_json({path, "--cell", "scores[0,3,2,1]"});
  const double value = json.at("value");
  CHECK(json.at("cell") == nlohmann::json::parse(R"({"tensor":"scores","index":[0,3,2,1]})"));
  CHECK(value == arrays_of(run).at("scores")->at({0, 3, 2, 1}));
  CHECK(json.at("formula") == "scores[0,3,2,1] = Σ_d q_heads[0,3,2,d] · k_heads[0,3,1,d]");
  CHECK(json.at("terms").size() == 2);
  double sum = 0.0;
  for (const nlohmann::json& term : json.at("terms")) {
    sum += term.at("value").get<double>();
    CHECK(term.at("factors").at(0).at("value").get<double>() *
              term.at("factors").at(1).at("value").get<double>() ==
          doctest::Approx(term.at("value").get<double>()));
  }
  CHECK(sum == doctest::Approx(value).epsilon(1e-6));
  CHECK(json.at("feeds") ==
        nlohmann::json::parse(R"([{"tensor":"scaled_scores","begin":[0,3,2,1],"end":[1,4,3,2]}])"));
  // Another notation, of the run's file: the same cell.
  CHECK(info_json({run, "--cell", "scores:0,3,2,1"}).at("terms") == json.at("terms"));
  const ProgramResult text = run_well({"info", path, "--cell", "scores[0,3,2,1]"});
  CHECK_CONTAINS(text.out, "formula: scores[0,3,2,1] = Σ_d");
  CHECK_CONTAINS(text.out, "feeds scaled_scores[0,3,2,1]\n");
  // Gradients are computed where one is asked for; what is not finite has a name.
  CHECK(info_json({path, "--cell", "grad.scores:0,3,2,1"}).at("cell").at("tensor") == "grad.scores");
  CHECK(info_json({path, "--set", "mask.is_causal=true", "--cell", "mask_bias:0,0,0,1"}).at("value") ==
        "-inf");
}

TEST_CASE("info --cell refuses what is no cell of the run") {
  check_refused({"info", "welcome", "--cell", "score:0,0,0,0"}, 2, "did you mean scores?");
  check_refused({"info", "welcome", "--cell", "scores"}, 2, "NAME[I,…]");
  check_refused({"info", "welcome", "--cell", "scores[0,0,0,0"}, 2, "NAME[I,…]");
  check_refused({"info", "welcome", "--cell", "[0,0,0,0]"}, 2, "NAME[I,…]");
  check_refused({"info", "welcome", "--cell", "scores:0,0,x,0"}, 2, "x");
  check_refused({"info", "welcome", "--cell", "scores:0,0,0"}, 2, "indices within");
  check_refused({"info", "welcome", "--cell", "scores:0,0,0,-1"}, 2, "indices within");
  check_refused({"info", "welcome", "--cell", "scores:0,9,0,0"}, 2, "indices count from 0");
  check_refused({"info", "welcome", "--cell", "position:0,0,0"}, 2, "there is no tensor of that name");
  check_refused({"info", "first_walk", "--cell", "scores:0,0,0,0"}, 2, "a playlist has scenarios of its own");
  check_refused({"info", "builtin:sentences", "--text", "a dog", "--cell", "scores:0,0,0,0"}, 2, "--text");
}
