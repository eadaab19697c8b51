// Source lists in CMake are explicit; a file that no list names would be dead code.
#include <doctest/doctest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace fs = std::filesystem;

namespace {

std::string content_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The CMakeLists.txt that is responsible for a source: in its folder, or the nearest above.
fs::path list_of(fs::path folder) {
  while (!fs::exists(folder / "CMakeLists.txt")) folder = folder.parent_path();
  return folder / "CMakeLists.txt";
}

// The words of a list: "heads.cpp" stands there as a word of its own, not as the end of "frozen_heads.cpp".
std::set<std::string> names_in(const std::string& list) {
  std::set<std::string> names;
  std::string name;
  for (const char c : list + " ") {
    if (std::isspace(static_cast<unsigned char>(c)) || c == '(' || c == ')') {
      if (!name.empty()) names.insert(name);
      name.clear();
    } else {
      name += c;
    }
  }
  return names;
}

}  // namespace

TEST_CASE("every source file stands in the source list of its folder") {
  const fs::path root = HEADWISE_SOURCE_DIR;
  for (const char* top : {"core", "app", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      if (entry.path().extension() != ".cpp") continue;
      const fs::path list = list_of(entry.path().parent_path());
      const std::string name = fs::relative(entry.path(), list.parent_path()).string();
      INFO(fs::relative(entry.path(), root).string(), " is not named in ", fs::relative(list, root).string());
      CHECK(names_in(content_of(list)).contains(name));
    }
  }
}

TEST_CASE("a source list names a file only by its whole name") {
  CHECK(names_in("headwise_tests(core frozen_heads.cpp)").contains("frozen_heads.cpp"));
  CHECK_FALSE(names_in("headwise_tests(core frozen_heads.cpp)").contains("heads.cpp"));
}
