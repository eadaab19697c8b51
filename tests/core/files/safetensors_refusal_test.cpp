#include <cstring>

#include "core/files/array_files.h"
#include "tests/checks.h"
#include "tests/core/files/refusal.h"

using namespace headwise;

namespace {

std::string safetensors(const std::string& json, std::size_t data_bytes, std::uint64_t length_lie = 0) {
  const std::uint64_t length = json.size() + length_lie;
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + json + std::string(data_bytes, '\0');
}

}  // namespace

TEST_CASE("the smallest header that the refusals vary is itself read, whitespace behind it too") {
  const TemporaryFolder folder;
  for (const char* json : {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
                           "{\"a\":{\"data_offsets\":[0,8],\"shape\":[2],\"dtype\":\"F32\"}}   "})
    CHECK(read_array_file(folder.with_file("a.safetensors", safetensors(json, 8))).at(0).tensor->size() == 2);
  CHECK(read_array_file(folder.with_file("a.safetensors", safetensors("{}", 0))).empty());
}

TEST_CASE("a header that the safetensors format does not allow is refused") {
  const TemporaryFolder folder;
  for (const char* json : {
           "",
           "[]",
           "{",
           "null",
           " {}",
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}x)",
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},})",
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})",
           R"({"a":{"dtype":"F32","shape":[2]}})",
           R"({"a":{"dtype":"F32","data_offsets":[0,8]}})",
           R"({"a":{"shape":[2],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"more":1}})",
           R"({"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
           R"({"\u0061":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
           R"({"a":{"dtype":"F31","shape":[2],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"f32","shape":[2],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":32,"shape":[2],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F32","shape":2,"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F32","shape":[[2]],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F32","shape":["2"],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F32","shape":[null],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F32","shape":[2,true],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F32","shape":[36893488147419103232],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F32","shape":[4611686018427387906],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F32","shape":[4294967296,4294967296,2],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F32","shape":[0,4294967296,4294967296],"data_offsets":[0,0]}})",
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}})",
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[]}})",
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,8]}})",
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})",
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,9]}})",
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}})",
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[-8,0]}})",
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[18446744073709551608,0]}})",
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[18446744073709551608,18446744073709551615]}})",
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
           R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
           R"({"a":[],"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
           R"({"a":1})",
           R"({"a":null})",
           R"({"__metadata__":1,"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
           R"({"__metadata__":{"k":1},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
           R"({"__metadata__":{"k":{}},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
           R"({"__metadata__":{"k":"1","k":"2"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
           R"({"__metadata__":{},"__metadata__":{},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
           "{\"\xff\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
       }) {
    CAPTURE(json);
    refusal_of(folder.with_file("a.safetensors", safetensors(json, 8)));
  }
}

TEST_CASE("a header length that leaves the file, overflows or exceeds 100,000,000 bytes is refused") {
  const TemporaryFolder folder;
  const std::string json = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  for (const std::uint64_t lie : {std::uint64_t{9}, std::uint64_t{100'000'000}, ~std::uint64_t{0} - json.size(),
                                  ~std::uint64_t{0} - json.size() - 8, std::uint64_t{1} << 63}) {
    CAPTURE(lie);
    CHECK_CONTAINS(refusal_of(folder.with_file("a.safetensors", safetensors(json, 8, lie))), "length");
  }
}

TEST_CASE("nothing can be hidden behind a zero byte in the header") {
  const TemporaryFolder folder;
  const std::string json = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  CHECK_CONTAINS(
      refusal_of(folder.with_file("a.safetensors", safetensors(json + std::string("\0hidden", 7), 8))),
      "zero byte");
}

TEST_CASE("deep nesting in the header is refused at once") {
  const TemporaryFolder folder;
  const std::size_t depth = 1'000'000;
  refusal_of(folder.with_file("a.safetensors", safetensors("{\"a\":" + std::string(depth, '['), 0)));
  std::string objects;
  for (std::size_t i = 0; i < 100'000; ++i) objects += "{\"a\":";
  refusal_of(folder.with_file("a.safetensors", safetensors(objects, 0)));
}

TEST_CASE("a safetensors file cut off anywhere is refused, and no changed byte does harm") {
  const TemporaryFolder folder;
  check_truncations_and_flips(folder, "a.safetensors",
                              content_of(HEADWISE_SOURCE_DIR "/tests/core/files/corpus/small.safetensors"));
}

TEST_CASE("a type that is not known refuses its own array, and not the rest of the file") {
  const TemporaryFolder folder;
  for (const char* type :
       {"F4", "F6_E2M3", "F6_E3M2", "I4", "F128", "f32", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", ""}) {
    CAPTURE(type);
    const std::string path = folder.with_file(
        "a.safetensors",
        safetensors(std::string(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[3,11]},)") +
                        R"("b":{"dtype":")" + type + R"(","shape":[3,1],"data_offsets":[0,3]}})",
                    11));
    const ArrayFileInfo info = read_array_file_info(path);
    REQUIRE(info.arrays.size() == 2);
    CHECK(info.arrays[1].bytes == 3);
    CHECK(info.arrays[1].sizes == std::vector<Index>{3, 1});
    CHECK_FALSE(info.arrays[1].stored_dtype.empty());
    const LazyArrayFile file(path);
    CHECK(file.read("a")->size() == 2);
    CHECK_THROWS_WITH(file.read("b"),
                      doctest::Contains(("cannot be read: got " + info.arrays[1].stored_dtype).c_str()));
  }
}

TEST_CASE("arrays of unknown types still fill the file without gaps, and their sizes stay in range") {
  const TemporaryFolder folder;
  for (const char* json : {R"({"a":{"dtype":"I4","shape":[2],"data_offsets":[0,7]}})",
                           R"({"a":{"dtype":"I4","shape":[2],"data_offsets":[1,8]}})",
                           R"({"a":{"dtype":"I4","shape":[2],"data_offsets":[0,9]}})",
                           R"({"a":{"dtype":"I4","shape":[4294967296,4294967296],"data_offsets":[0,8]}})",
                           R"({"a":{"dtype":"F8_E8M0","shape":[7],"data_offsets":[0,8]}})"}) {
    CAPTURE(json);
    CHECK_THROWS_AS(read_array_file_info(folder.with_file("a.safetensors", safetensors(json, 8))), Error);
  }
  const char* huge = R"({"a":{"dtype":"I4","shape":[4611686018427387904],"data_offsets":[0,8]}})";
  refusal_of(folder.with_file("a.safetensors", safetensors(huge, 8)));  // by its type, not for want of memory
}

TEST_CASE("a __metadata__ of null is none, as the reference reader has it") {
  const TemporaryFolder folder;
  const std::string array = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  for (const std::string& json :
       {R"({"__metadata__":null,)" + array + "}", "{" + array + R"(,"__metadata__":null})"}) {
    const ArrayFileInfo info = read_array_file_info(folder.with_file("a.safetensors", safetensors(json, 8)));
    CHECK(info.arrays.size() == 1);
    CHECK(info.metadata.empty());
  }
  for (const char* wrong :
       {R"({"k":null})", R"({"k":1.5})", R"({"k":true})", R"({"k":[]})", "[]", R"("x")", "true"})
    refusal_of(folder.with_file(
        "a.safetensors", safetensors(std::string(R"({"__metadata__":)") + wrong + "," + array + "}", 8)));
  refusal_of(folder.with_file("a.safetensors",
                              safetensors(R"({"__metadata__":null,"__metadata__":{},)" + array + "}", 8)));
}
