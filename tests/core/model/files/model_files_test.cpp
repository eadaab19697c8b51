#include "core/model/files/model_files.h"

#include <filesystem>

#include "core/model/layers/attention_layers.h"
#include "core/scenario/run_record.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/core/model/written_model.h"

using namespace headwise;
using namespace headwise::test;

namespace {

namespace fs = std::filesystem;

void check_refused(const std::string& path, const std::string& part) {
  CHECK_CONTAINS(refusal_line([&] { ModelFiles files(path); }), part);
}

// A file with the header of a safetensors file and no bytes on the disk behind it.
void write_hole(const std::string& path, std::uint64_t gigabytes) {
  const std::uint64_t bytes = gigabytes << 30;
  std::string json = R"({"big":{"dtype":"F32","shape":[)" + std::to_string(bytes / 4096) +
                     R"(,1024],"data_offsets":[0,)" + std::to_string(bytes) + "]}}";
  const std::uint64_t length = json.size();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&length), 8) << json;
  file.close();
  fs::resize_file(path, 8 + length + bytes);
}

namespace fs = std::filesystem;

// As huggingface_hub keeps a model: snapshots hold links to the blobs.
void write_cached(const TemporaryFolder& folder, const std::string& model,
                  const std::vector<std::string>& revisions, const std::string& main) {
  for (const char* part : {"/blobs", "/refs"}) fs::create_directories(folder.file(model + part));
  for (const std::string& revision : revisions) {
    fs::create_directories(folder.file(model + "/snapshots/" + revision));
    const std::string blob = folder.file(model + "/blobs/" + revision + "-arrays");
    write_safetensors(blob, counted_arrays({{"of_" + revision, {2}}}));
    fs::create_symlink("../../blobs/" + revision + "-arrays",
                       folder.file(model + "/snapshots/" + revision + "/model.safetensors"));
  }
  if (!main.empty()) folder.with_file(model + "/refs/main", main);
}

std::string told(const std::string& path) {
  return test::refusal_line([&] { ModelFiles files(path); });
}

constexpr const char* distilbert = R"({"model_type":"distilbert","n_heads":2,"dim":12,"n_layers":1})";

void write_checkpoint_folder(const TemporaryFolder& folder, const std::string& name) {
  std::filesystem::create_directories(folder.file(name));
  Sizes sizes;
  add_layer(sizes, "transformer.layer.0");
  write_safetensors(folder.file(name + "/model.safetensors"), counted_arrays(sizes));
  folder.with_file(name + "/config.json", distilbert);
  folder.with_file(name + "/trainer_state.json", "{}");
}

// As the Trainer of transformers leaves them, with what is none beside them.
void write_training(const TemporaryFolder& folder) {
  for (const char* name : {"run/checkpoint-1000", "run/checkpoint-500", "run/checkpoint-1500"})
    write_checkpoint_folder(folder, name);
  std::filesystem::create_directories(folder.file("run/checkpoint-2000"));  // not written yet
  folder.with_file("run/checkpoint-2000/optimizer.pt", "x");
  for (const char* name :
       {"run/checkpoint-x", "run/checkpoint--3", "run/checkpoint-", "run/checkpoint-7.part"})
    write_checkpoint_folder(folder, name);
  folder.with_file("run/checkpoint-3000", "a file");
}

std::vector<Index> steps_of(const std::vector<ModelCheckpoint>& checkpoints) {
  std::vector<Index> steps;
  for (const ModelCheckpoint& checkpoint : checkpoints) steps.push_back(checkpoint.step);
  return steps;
}

}  // namespace

TEST_CASE("a folder opens by its model.safetensors, its only file of arrays, or that file itself") {
  const TemporaryFolder folder;
  write_safetensors(folder.file("weights.safetensors"), counted_arrays({{"a", {2, 3}}, {"b", {4}}}));
  for (const std::string& path : {folder.file(""), folder.file("weights.safetensors")}) {
    const ModelFiles files(path);
    CHECK(files.arrays().size() == 2);
    CHECK(files.is_one_file());
    CHECK(files.read("b")->flat(3) == 10003.0);
    CHECK(files.find("c") == nullptr);
    CHECK_THROWS_WITH(files.read("c"), doctest::Contains("lacks an array: got c"));
  }
  write_safetensors(folder.file("second.safetensors"), {});
  check_refused(folder.file(""), "several files of arrays and no index");
  write_safetensors(folder.file("model.safetensors"), counted_arrays({{"c", {1}}}));
  CHECK(ModelFiles(folder.file("")).find("c") != nullptr);
}

TEST_CASE("rows of an array are read by themselves, from npz too, and none beyond its last") {
  const TemporaryFolder folder;
  const std::vector<NamedTensor> arrays = counted_arrays({{"x", {5, 4}}});
  write_safetensors(folder.file("a.safetensors"), arrays);
  write_npz(folder.file("a.npz"), arrays);
  for (const char* name : {"a.safetensors", "a.npz"}) {
    const ModelFiles files(folder.file(name));
    const TensorPtr rows = files.read_rows("x", 3, 2);
    REQUIRE(rows->shape().sizes() == std::vector<Index>{2, 4});
    for (Index i = 0; i < 8; ++i) CHECK(rows->flat(i) == static_cast<double>(12 + i));
    CHECK(files.read_rows("x", 5, 0)->size() == 0);
    CHECK(files.read("x")->size() == 20);
    CHECK_THROWS_WITH(files.read_rows("x", 4, 2), doctest::Contains("no such rows"));
    CHECK_THROWS_WITH(files.read_rows("x", -1, 2), doctest::Contains("no such rows"));
    CHECK_THROWS_WITH(files.read_rows("x", 1, INT64_MAX), doctest::Contains("no such rows"));
  }
}

TEST_CASE("a model in parts is one model; what is missing is told and the rest opens") {
  const TemporaryFolder folder;
  write_safetensors(folder.file("m-1.safetensors"), counted_arrays({{"a", {2}}, {"b", {3}}}));
  write_safetensors(folder.file("m-2.safetensors"), counted_arrays({{"c", {4}}}));
  folder.with_file("model.safetensors.index.json", R"({"metadata":{"total_size":9},"weight_map":{
      "a":"m-1.safetensors","b":"m-1.safetensors","c":"m-2.safetensors","d":"m-3.safetensors","e":"m-2.safetensors"}})");
  for (const std::string& path : {folder.file(""), folder.file("model.safetensors.index.json")}) {
    const ModelFiles files(path);
    CHECK(files.file_count() == 2);
    CHECK(files.missing_files() == std::vector<std::string>{"m-3.safetensors"});
    CHECK(files.arrays().size() == 3);
    CHECK(files.read("b")->flat(2) == 10002.0);
    CHECK(files.read("c")->size() == 4);
    CHECK(files.find("e") == nullptr);  // the part is there, and has no such array
  }
}

TEST_CASE("model.safetensors is taken beside an index, as transformers does, and the index is told of") {
  const TemporaryFolder folder;
  for (const char* stem : {"model", "weights"}) {
    CAPTURE(stem);
    const std::string whole = std::string(stem) + ".safetensors", index = whole + ".index.json";
    write_safetensors(folder.file("m-1.safetensors"), counted_arrays({{"old", {2}}}));
    folder.with_file(index, R"({"weight_map":{"old":"m-1.safetensors"}})");
    CHECK(ModelFiles(folder.file("")).warnings().empty());
    write_safetensors(folder.file(whole), counted_arrays({{"new", {2}}}));
    const ModelFiles files(folder.file(""));
    CHECK(files.find("new") != nullptr);
    CHECK(files.find("old") == nullptr);
    REQUIRE(files.warnings().size() == 1);
    CHECK(files.warnings()[0].starts_with(index + " is ignored"));
    // Who names one of the two gets that one.
    CHECK(ModelFiles(folder.file(index)).find("old") != nullptr);
    CHECK(ModelFiles(folder.file(index)).warnings().empty());
    CHECK(ModelFiles(folder.file(whole)).warnings().empty());
    fs::remove(folder.file(whole));
    fs::remove(folder.file(index));
  }
}

TEST_CASE("arrays are found in whichever file of the index they are, and a wrong index is told of") {
  const TemporaryFolder folder;
  write_safetensors(folder.file("m-1.safetensors"), counted_arrays({{"a", {2}}, {"both", {5}}}));
  write_safetensors(folder.file("m-2.safetensors"),
                    counted_arrays({{"both", {6}}, {"c", {4}}, {"extra", {7}}}));
  folder.with_file("model.safetensors.index.json", R"({"weight_map":{"a":"m-2.safetensors",
      "c":"m-1.safetensors","both":"m-1.safetensors","none":"m-1.safetensors"}})");
  const ModelFiles files(folder.file(""));
  CHECK(files.arrays().size() == 4);
  CHECK(files.read("a")->size() == 2);
  CHECK(files.read("c")->size() == 4);
  CHECK(files.read("both")->size() == 5);  // where the index says
  CHECK(files.read("extra")->size() == 7);
  REQUIRE(files.warnings().size() == 2);
  CHECK_CONTAINS(files.warnings()[0],
                 "the wrong file for 2 arrays (a in m-1.safetensors instead of m-2.safetensors first)");
  CHECK_CONTAINS(files.warnings()[1], "does not list the array extra");
}

TEST_CASE("an index that is no index, or that points out of its folder, is refused in one line") {
  for (const auto& [index, part] : std::vector<std::pair<std::string, std::string>>{
           {"{}", "the key \"weight_map\" is missing"},
           {R"({"weight_map":[]})", "weight_map: wrong type: got []"},
           {R"({"weight_map":{"a":"../other.safetensors"}})", "names no file next to it"},
           {R"({"weight_map":{"a":"/etc/passwd"}})", "names no file next to it"},
           {R"({"weight_map":{"a":""}})", "names no file next to it"},
           {R"({"weight_map":{"a":7}})", "weight_map.a: wrong type: got 7"},
           {R"({"weight_map":{"a":"x.safetensors","a":"y.safetensors"}})", "twice"},
           {R"({"weight_map":{"a":"config.json"}})", "config.json"},
           {"[1,2]", "not a JSON object"},
           {std::string("{}\0{", 4), "a zero byte"},
           {"{\"a\":[0" +
                [] {
                  std::string more;
                  for (int i = 0; i < 2'100'000; ++i) more += ",0,0";
                  return more;
                }() +
                "]}",
            "too large"},
           {"{\"weight_map\":",
            "index.json: line 1, column 15: this is not JSON: got unexpected end of input; expected "},
           {"{\"a\": Nan}", "line 1, column 7: this is not JSON"},
           {"{\"a\": NaN}", "\"weight_map\" is missing"},
           {"{\"a\": 1e400}",
            "line 1, column 7: a number is out of range: got 1e400; expected numbers of at most ±1.8e308"},
           {std::string(100, '['), "nested too deeply"},
           {"{\"a\":" + std::string(1000, '[') + std::string(1000, ']') + "}", "nested too deeply"},
       }) {
    const TemporaryFolder folder;
    folder.with_file("config.json", "{}");
    folder.with_file("model.safetensors.index.json", index);
    check_refused(folder.file(""), part);
  }
}

TEST_CASE("a folder without a model says what it looked for, and how a pickle is converted") {
  const TemporaryFolder folder;
  check_refused(folder.file(""), "the folder has no model");
  folder.with_file("pytorch_model.bin", "\x80\x02}q");
  check_refused(folder.file(""), "save_file");
}

TEST_CASE("a folder with a model in files that are not read says how that one is converted") {
  const auto check = [](const std::vector<std::string>& names, const std::string& part) {
    const TemporaryFolder folder;
    for (const std::string& name : names) folder.with_file(name, "x");
    check_refused(folder.file(""), part);
  };
  check({"optimizer.bin", "pytorch_model.bin", "training_args.bin"}, "torch.load('pytorch_model.bin'");
  check({"pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin"}, "pytorch_model-*.bin");
  check({"tiny.Q4_K_M.gguf"}, "gguf_file='tiny.Q4_K_M.gguf'");
  check({"model.onnx"}, "onnx.load('model.onnx')");
  check({"tf_model.h5"}, "from_tf=True");
  check({"flax_model.msgpack"}, "from_flax=True");
  check({"last.ckpt"}, "torch.load('last.ckpt'");
  check({"weights.pkl"}, "pickle.load(open('weights.pkl'");
  check({"bert_model.ckpt.data-00000-of-00001", "bert_model.ckpt.index"}, "TensorFlow checkpoint");
  check({"openvino_model.bin", "openvino_model.xml"}, "for another program");
  check({"rust_model.ot"}, "for another program");
}

TEST_CASE("a Git LFS pointer says that it is one, whatever file it stands for, and how to fetch that") {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 133\n";
  for (const char* name : {"model.safetensors", "model.safetensors.index.json", "only.safetensors",
                           "weights.npz", "pytorch_model.bin", "model.gguf"}) {
    CAPTURE(name);
    const TemporaryFolder folder;
    folder.with_file(name, pointer);
    check_refused(folder.file(""), "this is a Git LFS pointer, not the file itself");
    check_refused(folder.file(""), "git lfs pull");
    check_refused(folder.file(""), name);
  }
  const TemporaryFolder folder;
  write_safetensors(folder.file("model.safetensors"), counted_arrays({{"a", {2}}}));
  folder.with_file("config.json", pointer);
  CHECK_THROWS_WITH(find_attention_layers(ModelFiles(folder.file(""))),
                    doctest::Contains("config.json: this is a Git LFS pointer"));
}

TEST_CASE("a file larger than the memory opens, and rows of it are read") {
  const TemporaryFolder folder;
  write_hole(folder.file("model.safetensors"), 300);
  const ModelFiles files(folder.file(""));
  CHECK(files.find("big")->bytes == Index{300} << 30);
  CHECK(files.read_rows("big", 70'000'000, 2)->flat(5) == 0.0);
  CHECK_THROWS_AS(files.read("big"), Error);  // refused before memory is taken
}

TEST_CASE(
    "a model's folder in the hub's cache opens as the snapshot that refs/main names, or as the only one") {
  const TemporaryFolder folder;
  write_cached(folder, "models--a--b", {"111", "222"}, "222\n");
  write_cached(folder, "other/models--a--b", {"111"}, "");
  for (const std::string& path : {folder.file("models--a--b"), folder.file("models--a--b/"), folder.file("")}) {
    const ModelFiles files(path);
    CHECK(files.find("of_222") != nullptr);
    CHECK(files.folder() == folder.file("models--a--b/snapshots/222"));
  }
  CHECK(ModelFiles(folder.file("other")).find("of_111") != nullptr);
}

TEST_CASE("where the hub's cache leaves a choice, the folders to choose from are named") {
  const TemporaryFolder folder;
  write_cached(folder, "hub/models--a--b", {"111", "222"}, "333");
  std::string text = told(folder.file("hub/models--a--b"));
  CHECK_CONTAINS(text, "snapshots/111");
  CHECK_CONTAINS(text, "snapshots/222");
  for (const char* main : {"../../../hub", ".", "..", ""}) {
    folder.with_file("hub/models--a--b/refs/main", main);
    CHECK_CONTAINS(told(folder.file("hub/models--a--b")), "snapshots/111");
  }
  write_cached(folder, "hub/models--c--d", {"444"}, "444");
  for (const char* path : {"hub", ""}) {
    text = told(folder.file(path));
    CHECK_CONTAINS(text, "models--a--b");
    CHECK_CONTAINS(text, "models--c--d");
  }
  write_cached(folder, "none/models--e--f", {}, "555");
  fs::create_directories(folder.file("none/models--e--f/snapshots"));
  CHECK_CONTAINS(told(folder.file("none")), "download the model again");
}

TEST_CASE("a folder that has arrays is a model, whatever else is in it") {
  const TemporaryFolder folder;
  write_cached(folder, "models--a--b", {"111"}, "111");
  write_safetensors(folder.file("model.safetensors"), counted_arrays({{"own", {2}}}));
  CHECK(ModelFiles(folder.file("")).find("own") != nullptr);
  CHECK(hub_snapshot_or(folder.file("models--a--b/snapshots/111")) ==
        folder.file("models--a--b/snapshots/111"));
}

TEST_CASE("the checkpoints in a folder are those that hold a model, by step") {
  const TemporaryFolder folder;
  write_training(folder);
  const std::vector<ModelCheckpoint> found = model_checkpoints(folder.file("run"));
  CHECK(steps_of(found) == std::vector<Index>{500, 1000, 1500});
  CHECK(found[1].path == folder.file("run/checkpoint-1000"));
  CHECK(model_checkpoints(folder.file("none")).empty());
  CHECK(model_checkpoints(folder.file("run/checkpoint-500")).empty());
}

TEST_CASE("a checkpoint knows those beside it, however its path is written") {
  const TemporaryFolder folder;
  write_training(folder);
  for (const char* path : {"run/checkpoint-500", "run/checkpoint-500/",
                           "run/checkpoint-500/model.safetensors", "run/checkpoint-x/../checkpoint-1500"})
    CHECK(steps_of(sibling_checkpoints(folder.file(path))) == std::vector<Index>{500, 1000, 1500});
  CHECK(sibling_checkpoints(folder.file("run")).empty());
  CHECK(sibling_checkpoints(folder.file("run/checkpoint-x")).empty());
}

TEST_CASE("a folder of checkpoints opens as the newest one, and a model as itself") {
  const TemporaryFolder folder;
  write_training(folder);
  CHECK(newest_checkpoint_or(folder.file("run")) == folder.file("run/checkpoint-1500"));
  CHECK(scenario_of_file(folder.file("run")).parameters.file == folder.file("run/checkpoint-1500"));
  check_refused(folder.file("run"), "checkpoint-1500");
  write_checkpoint_folder(folder, "run");
  CHECK(newest_checkpoint_or(folder.file("run")) == folder.file("run"));
  CHECK(scenario_of_file(folder.file("run")).parameters.file == folder.file("run"));
  CHECK(newest_checkpoint_or(folder.file("none")) == folder.file("none"));
}
