// An .npz with entries that hold no numbers, beside arrays that do.
#include <algorithm>

#include "core/files/array_files.h"
#include "tests/checks.h"
#include "tests/core/files/npz_with_entries.h"
#include "tests/core/files/refusal.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;

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
