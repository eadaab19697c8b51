#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "core/files/file_paths.h"
#include "core/files/input_file.h"
#include "core/tensor/error.h"

using namespace headwise;

namespace {

std::atomic<int> made_shelves = 0;

std::vector<NamedContent> shelf(const std::string& folder) {
  ++made_shelves;
  if (folder.ends_with("/broken"))
    throw Error(ExitStatus::input, {.where = folder, .what = "this shelf is broken"});
  return {{"label.txt", "it is " + folder}};
}

void add_shelves() {
  add_folder_maker({.prefix = "builtin:shelf/", .parts = 2, .names = {"label.txt", "note.txt"}, .make = shelf});
}

}  // namespace

TEST_CASE("a folder that is made is there before it is made, once, when the first of its files is read") {
  add_shelves();
  const std::string folder = "builtin:shelf/a/7";
  const int before = made_shelves;
  CHECK(is_there(folder));
  CHECK(is_folder(folder));
  CHECK(is_folder(folder + "/"));
  CHECK(is_there(folder + "/note.txt"));
  CHECK(paths_in(folder) == std::vector<std::string>{folder + "/label.txt", folder + "/note.txt"});
  CHECK(made_shelves == before);

  const auto text = [&] {
    const InputFile file(folder + "/label.txt");
    return file.read_text(0, file.size());
  };
  std::vector<std::thread> readers;
  std::atomic<int> right = 0;
  for (int i = 0; i < 4; ++i) readers.emplace_back([&] { right += text() == "it is " + folder; });
  for (std::thread& reader : readers) reader.join();
  CHECK(right == 4);
  CHECK(made_shelves == before + 1);
  make_folder(folder);
  make_folder("a folder that is not made");
  CHECK(made_shelves == before + 1);
  CHECK_FALSE(builtin_file(folder + "/note.txt"));  // a file that this one turned out not to have
}

TEST_CASE("a path with more or fewer parts, or another file's name, is no folder that is made") {
  add_shelves();
  for (const char* path :
       {"builtin:shelf", "builtin:shelf/", "builtin:shelf/a", "builtin:shelf/a/", "builtin:shelf//7",
        "builtin:shelf/a/7/8", "builtin:shelf/a/7/other.txt", "builtin:shelves/a/7"}) {
    CAPTURE(path);
    CHECK_FALSE(is_there(path));
    CHECK_THROWS_WITH_AS(InputFile{path}, doctest::Contains("there is no such built-in model"), Error);
  }
}

TEST_CASE("what cannot be made says so each time, and leaves nothing behind") {
  add_shelves();
  const int before = made_shelves;
  for (int i = 0; i < 2; ++i)
    CHECK_THROWS_WITH_AS(InputFile{"builtin:shelf/a/broken/label.txt"},
                         doctest::Contains("this shelf is broken"), Error);
  CHECK(made_shelves == before + 2);
}
