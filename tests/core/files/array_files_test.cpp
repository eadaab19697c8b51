// Files of arrays, the texts beside them, and entries of an .npz that hold no numbers.
#include "core/files/array_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/files/element_type.h"
#include "core/files/npy_format.h"
#include "core/files/zip_file.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/files/npz_with_entries.h"
#include "tests/core/files/refusal.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

namespace {

std::map<std::string, NamedTensor> by_name(const std::vector<NamedTensor>& tensors) {
  std::map<std::string, NamedTensor> map;
  for (const NamedTensor& tensor : tensors) map[tensor.name] = tensor;
  return map;
}

Tensor counting(const std::vector<Index>& sizes, DType dtype) {
  std::vector<Axis> axes;
  for (const Index size : sizes) axes.push_back({fmt::format("axis{}", axes.size()), size});
  Tensor tensor(Shape(std::move(axes)), dtype);
  for (Index i = 0; i < tensor.size(); ++i)
    tensor.set_flat(i, dtype == DType::boolean ? static_cast<double>(i % 2) : static_cast<double>(i));
  return tensor;
}

// The corpus holds 0, 1, 2 … in row-major order, whatever the order and type in the file.
void check_counts(const Tensor& tensor) {
  for (Index i = 0; i < tensor.size(); ++i) {
    CHECK(tensor.flat(i) ==
          (tensor.dtype() == DType::boolean ? static_cast<double>(i % 2) : static_cast<double>(i)));
  }
}

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

TEST_CASE("every type that numpy saves is read, in both byte orders") {
  const std::map<std::string, std::pair<std::string, DType>> files = {
      {"le_f2", {"f16", DType::f32}}, {"be_f2", {"f16", DType::f32}}, {"le_f4", {"f32", DType::f32}},
      {"be_f4", {"f32", DType::f32}}, {"le_f8", {"f64", DType::f64}}, {"be_f8", {"f64", DType::f64}},
      {"i1", {"i8", DType::i64}},     {"u1", {"u8", DType::i64}},     {"le_i2", {"i16", DType::i64}},
      {"be_u2", {"u16", DType::i64}}, {"le_i4", {"i32", DType::i64}}, {"le_u4", {"u32", DType::i64}},
      {"be_i8", {"i64", DType::i64}}, {"le_u8", {"u64", DType::i64}}, {"bool", {"bool", DType::boolean}},
  };
  for (const auto& [name, expected] : files) {
    CAPTURE(name);
    const std::vector<NamedTensor> read = read_array_file(corpus(name + ".npy"));
    REQUIRE(read.size() == 1);
    CHECK(read[0].name == name);
    CHECK(read[0].stored_dtype == expected.first);
    CHECK(read[0].tensor->dtype() == expected.second);
    CHECK(read[0].tensor->shape().sizes() == std::vector<Index>{2, 3});
    check_counts(*read[0].tensor);
  }
}

TEST_CASE("arrays in Fortran order come out row-major") {
  for (const char* name : {"fortran.npy", "fortran_big_endian.npy"}) {
    const std::vector<NamedTensor> read = read_array_file(corpus(name));
    check_counts(*read.at(0).tensor);
  }
}

TEST_CASE("npy versions 2 and 3, single numbers and arrays without numbers are read") {
  check_counts(*read_array_file(corpus("version2.npy")).at(0).tensor);
  check_counts(*read_array_file(corpus("version3.npy")).at(0).tensor);
  const TensorPtr scalar = read_array_file(corpus("scalar.npy")).at(0).tensor;
  CHECK(scalar->shape().rank() == 0);
  CHECK(scalar->flat(0) == 7.0);
  CHECK(read_array_file(corpus("zero_size.npy")).at(0).tensor->shape().sizes() == std::vector<Index>{2, 0, 3});
}

TEST_CASE("archives of numpy.savez and numpy.savez_compressed are read") {
  auto stored = by_name(read_array_file(corpus("stored.npz")));
  CHECK(stored.size() == 3);
  check_counts(*stored.at("query").tensor);
  check_counts(*stored.at("key").tensor);
  CHECK(stored.at("key").stored_dtype == "i32");
  CHECK(stored.at("mask").tensor->dtype() == DType::boolean);
  auto deflated = by_name(read_array_file(corpus("deflated.npz")));
  check_counts(*deflated.at("query").tensor);
  check_counts(*deflated.at("key").tensor);
  CHECK(read_array_file(corpus("empty.npz")).empty());
}

TEST_CASE("a safetensors file is read with its metadata, f16 and bf16 widened exactly") {
  const std::string path = corpus("small.safetensors");
  auto read = by_name(read_array_file(path));
  REQUIRE(read.size() == 5);
  check_counts(*read.at("a").tensor);
  CHECK(read.at("b").stored_dtype == "bf16");
  CHECK(read.at("b").tensor->flat(0) == 1.0);
  CHECK(read.at("b").tensor->flat(1) == -2.0);
  CHECK(read.at("b").tensor->flat(2) == std::numeric_limits<double>::infinity());
  CHECK(read.at("c").tensor->shape().rank() == 0);
  CHECK(read.at("c").tensor->flat(0) == 0.5);
  CHECK(read.at("none").tensor->size() == 0);
  check_counts(*read.at("m").tensor);
  CHECK(read_array_file_info(path).metadata == std::map<std::string, std::string>{{"format", "pt"}});
}

TEST_CASE("what is in a file is told without reading its data") {
  const ArrayFileInfo info = read_array_file_info(corpus("deflated.npz"));
  CHECK(info.format == "npz");
  REQUIRE(info.arrays.size() == 2);
  CHECK(info.arrays[0].name == "query");
  CHECK(info.arrays[0].stored_dtype == "f64");
  CHECK(info.arrays[0].sizes == std::vector<Index>{20, 30});
  CHECK(info.arrays[0].bytes == 4800);
  CHECK(read_array_file_info(corpus("complex.npy")).arrays.at(0).stored_dtype == "c64");
}

TEST_CASE("every tensor comes back bit for bit from every format, in every type and rank") {
  const TemporaryFolder folder;
  std::vector<NamedTensor> tensors;
  for (const DType dtype : {DType::f32, DType::f64, DType::boolean, DType::i64}) {
    for (const std::vector<Index>& sizes : std::vector<std::vector<Index>>{
             {}, {0}, {1}, {5}, {2, 3}, {2, 0, 3}, {1, 2, 3, 4}, {2, 1, 2, 1, 2}}) {
      const std::string name = fmt::format("{}.{}", dtype_name(dtype), fmt::join(sizes, "x"));
      tensors.push_back({name, std::make_shared<const Tensor>(counting(sizes, dtype)), dtype_name(dtype)});
    }
  }
  Tensor special(Shape{{"axis0", 5}}, DType::f64);
  const double values[] = {std::nan(""), std::numeric_limits<double>::infinity(), -0.0, 5e-324, -1e308};
  for (Index i = 0; i < 5; ++i) special.set_flat(i, values[i]);
  tensors.push_back({"special é", std::make_shared<const Tensor>(special), "f64"});

  write_npz(folder.file("all.npz"), tensors);
  write_safetensors(folder.file("all.safetensors"), tensors, {{"made by", "a test"}});
  for (const char* name : {"all.npz", "all.safetensors"}) {
    CAPTURE(name);
    auto read = by_name(read_array_file(folder.file(name)));
    CHECK(read.size() == tensors.size());
    for (const NamedTensor& tensor : tensors) {
      CAPTURE(tensor.name);
      CHECK(identical(*read.at(tensor.name).tensor, *tensor.tensor));
      CHECK(read.at(tensor.name).stored_dtype == tensor.stored_dtype);
    }
  }
  for (const NamedTensor& tensor : tensors) {
    write_npy(folder.file("one.npy"), *tensor.tensor);
    CHECK(identical(*read_array_file(folder.file("one.npy")).at(0).tensor, *tensor.tensor));
  }
}

TEST_CASE("the bytes that are written are numpy's, and equal tensors give equal files") {
  const TemporaryFolder folder;
  write_npy(folder.file("le_f4.npy"), counting({2, 3}, DType::f32));
  CHECK(content_of(folder.file("le_f4.npy")) == content_of(corpus("le_f4.npy")));
  write_npy(folder.file("scalar.npy"), Tensor(Shape{}, std::vector<double>{7.0}));
  CHECK(content_of(folder.file("scalar.npy")) == content_of(corpus("scalar.npy")));

  const auto tensor = std::make_shared<const Tensor>(counting({40, 50}, DType::f32));
  for (const char* name : {"a", "b"}) {
    write_npz(folder.file(std::string(name) + ".npz"), {{"query", tensor, "f32"}});
    write_safetensors(folder.file(std::string(name) + ".safetensors"), {{"query", tensor, "f32"}});
  }
  CHECK(content_of(folder.file("a.npz")) == content_of(folder.file("b.npz")));
  CHECK(content_of(folder.file("a.safetensors")) == content_of(folder.file("b.safetensors")));
}

TEST_CASE("an archive is deflated up to 64 MiB, stored beyond them, and read back") {
  const TemporaryFolder folder;
  const auto large = std::make_shared<const Tensor>(Shape{{"axis0", 15}, {"axis1", 1 << 20}}, DType::f32);
  const auto more = std::make_shared<const Tensor>(Shape{{"axis0", 5}, {"axis1", 1 << 18}}, DType::f32);
  write_npz(folder.file("large.npz"), {{"deflated", large, "f32"}, {"stored", more, "f32"}});
  const std::uintmax_t bytes = std::filesystem::file_size(folder.file("large.npz"));
  CHECK(bytes > more->bytes());
  CHECK(bytes < large->bytes() / 8);
  auto read = by_name(read_array_file(folder.file("large.npz")));
  CHECK(identical(*read.at("deflated").tensor, *large));
  CHECK(identical(*read.at("stored").tensor, *more));
}

TEST_CASE("every half-precision number is widened to the float of the same value") {
  CHECK(half_to_float(0x3C00) == 1.0f);
  CHECK(half_to_float(0xC000) == -2.0f);
  CHECK(half_to_float(0x7BFF) == 65504.0f);
  CHECK(half_to_float(0x0400) == 0x1p-14f);
  CHECK(half_to_float(0x0001) == 0x1p-24f);
  CHECK(half_to_float(0x03FF) == 0x3FFp-24f);
  CHECK(std::signbit(half_to_float(0x8000)));
  CHECK(half_to_float(0xFC00) == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(half_to_float(0x7E00)));
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {  // against the definition: ± fraction · 2^exponent
    const std::uint32_t exponent = (bits >> 10) & 0x1F, fraction = bits & 0x3FF;
    if (exponent == 0x1F) continue;
    const double magnitude = exponent == 0 ? std::ldexp(fraction, -24)
                                           : std::ldexp(fraction + 1024, static_cast<int>(exponent) - 25);
    if (half_to_float(static_cast<std::uint16_t>(bits)) !=
        static_cast<float>(bits & 0x8000 ? -magnitude : magnitude))
      FAIL("half " << bits);
  }
}

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

TEST_CASE("an entry that holds no numbers is left out and named, and the arrays are read") {
  const TemporaryFolder folder;
  struct Case {
    const char *entry, *content, *part;
  };
  const std::string corpus = HEADWISE_SOURCE_DIR "/tests/core/files/corpus/";
  const std::string objects = content_of(corpus + "object.npy"), records = content_of(corpus + "record.npy"),
                    text = content_of(corpus + "text.npy"), complex = content_of(corpus + "complex.npy");
  const std::string dates = npy_content("<M8[s]", "(2,)", std::string(16, '\0'));
  for (const auto& [entry, content, part] :
       {std::tuple<std::string, std::string, std::string>{"labels.npy", text, "text cannot be read"},
        {"labels.npy", objects, "Python objects"},
        {"labels.npy", records, "records"},
        {"labels.npy", dates, "dates and times"},
        {"labels.npy", complex, "numbers of this type"},
        {"README.md", "not an array", "not an array"},
        {"folder/", "", "not an array"}}) {
    CAPTURE(part);
    const std::string path =
        folder.with_file("a.npz", npz_with_entries({{entry, content}, {"query.npy", three_numbers()}}));
    std::vector<UnreadEntry> unread;
    const std::vector<NamedTensor> arrays = read_array_file(path, unread);
    REQUIRE(arrays.size() == 1);
    CHECK(arrays[0].name == "query");
    CHECK(arrays[0].tensor->flat(2) == 3.0);
    REQUIRE(unread.size() == 1);
    CHECK(unread[0].name == (entry == "labels.npy" ? "labels" : entry));
    CHECK_CONTAINS(std::string(unread[0].why.what()), part);
    CHECK(read_array_file_info(path).unread.size() == 1);
    CHECK(read_array_file_info(path).arrays.size() == 1);
    CHECK(LazyArrayFile(path).read("query")->flat(1) == 2.0);
    // Without a place to name it, and alone, it is a refusal.
    CHECK_CONTAINS(refusal_of(path), part);
    const std::string alone = folder.with_file("b.npz", npz_with_entries({{entry, content}}));
    CHECK_THROWS_AS(read_array_file(alone, unread), Error);
  }
}

TEST_CASE("an entry that is damaged is a refusal still") {
  const TemporaryFolder folder;
  const std::string path = folder.with_file(
      "a.npz", npz_with_entries({{"query.npy", three_numbers()}, {"key.npy", "\x93NUMPY\x01"}}));
  std::vector<UnreadEntry> unread;
  CHECK_THROWS_AS(read_array_file(path, unread), Error);
}
