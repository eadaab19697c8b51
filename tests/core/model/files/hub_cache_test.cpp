#include "core/model/files/model_files.h"

#include <filesystem>

#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/model/written_model.h"

using namespace headwise;
using namespace headwise::test;

namespace {

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

}  // namespace

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
