// Source lists in CMake are explicit; a file that no list names would be dead code.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
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

}  // namespace

TEST_CASE("every source file stands in the source list of its folder") {
  const fs::path root = HEADWISE_SOURCE_DIR;
  for (const char* top : {"core", "app", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      if (entry.path().extension() != ".cpp") continue;
      const fs::path list = list_of(entry.path().parent_path());
      const std::string name = fs::relative(entry.path(), list.parent_path()).string();
      INFO(fs::relative(entry.path(), root).string(), " is not named in ", fs::relative(list, root).string());
      CHECK(content_of(list).find(name) != std::string::npos);
    }
  }
}
