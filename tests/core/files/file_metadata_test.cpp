// Texts beside the arrays of a file: there for who asks, no arrays for anybody else.
#include "core/files/array_files.h"

#include <doctest/doctest.h>

#include "core/files/npy_format.h"
#include "core/files/zip_file.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

const FileMetadata texts{{"__scenario__", "{\"text\": \"größer\"}"}, {"__empty__", ""}};

std::vector<NamedTensor> two_arrays() {
  std::vector<NamedTensor> arrays;
  for (const char* name : {"a", "b"}) {
    Tensor tensor(Shape{{"N", 3}}, DType::f32);
    tensor.set_flat(0, *name);
    arrays.push_back({name, std::make_shared<const Tensor>(std::move(tensor)), "f32"});
  }
  return arrays;
}

}  // namespace

TEST_CASE("metadata goes into a file and comes out of it, beside its arrays") {
  const TemporaryFolder folder;
  write_file_atomically(folder.file("x.npz"),
                        [](const ByteSink& sink) { write_npz(sink, two_arrays(), texts); });
  write_file_atomically(folder.file("x.safetensors"),
                        [](const ByteSink& sink) { write_safetensors(sink, two_arrays(), texts); });
  for (const char* name : {"x.npz", "x.safetensors"}) {
    CAPTURE(name);
    const ArrayFileInfo info = read_array_file_info(folder.file(name));
    CHECK(info.metadata == texts);
    CHECK(info.arrays.size() == 2);
    const std::vector<NamedTensor> arrays = read_array_file(folder.file(name));
    REQUIRE(arrays.size() == 2);
    CHECK(arrays[1].name == "b");
    // The order of the information is that of the places: each array has its own numbers.
    const LazyArrayFile lazy(folder.file(name));
    CHECK(lazy.read("a")->flat(0) == 'a');
    CHECK(lazy.read("b")->flat(0) == 'b');
    CHECK(lazy.find("__scenario__") == nullptr);
  }
}

TEST_CASE("an npz takes metadata under reserved names alone") {
  const TemporaryFolder folder;
  write_file_atomically(folder.file("x.npz"), [](const ByteSink& sink) {
    write_npz(sink, two_arrays(), {{"made_by", "headwise"}, {"__note__", "text"}});
  });
  CHECK(read_array_file_info(folder.file("x.npz")).metadata == FileMetadata{{"__note__", "text"}});
  CHECK(read_array_file(folder.file("x.npz")).size() == 2);
}

TEST_CASE("reserved names that are no text are passed over, whatever they hold") {
  const TemporaryFolder folder;
  const std::vector<NamedTensor> arrays = two_arrays();
  write_file_atomically(folder.file("x.npz"), [&](const ByteSink& sink) {
    ZipWriter writer(sink);
    const std::string text_array = "\x93NUMPY\1\0\1\0no header at all";
    const std::string header = npy_header_for(*arrays[0].tensor);
    writer.add("__objects__.npy", std::as_bytes(std::span(text_array)), {});
    writer.add("__floats__.npy", std::as_bytes(std::span(header)), tensor_storage(*arrays[0].tensor));
    writer.add("a.npy", std::as_bytes(std::span(header)), tensor_storage(*arrays[0].tensor));
    writer.finish();
  });
  CHECK(read_array_file_info(folder.file("x.npz")).metadata.empty());
  const std::vector<NamedTensor> read = read_array_file(folder.file("x.npz"));
  REQUIRE(read.size() == 1);
  CHECK(read[0].name == "a");
}

TEST_CASE("a name is reserved where two underscores stand at both of its ends") {
  CHECK(is_reserved_name("__scenario__"));
  for (const char* name : {"scenario", "__scenario", "scenario__", "____", "_x_", "a__b__c"})
    CHECK_FALSE(is_reserved_name(name));
}
