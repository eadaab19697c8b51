// Comments are as wide as code may be. The formatter leaves them as they are, so nothing else would notice.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace fs = std::filesystem;

namespace {

constexpr std::ptrdiff_t most_columns = 110;  // ColumnLimit of .clang-format

std::ptrdiff_t columns_of(std::string_view line) {
  return std::ranges::count_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

// An example in a comment stays as it would be written: JSON, an address.
bool is_example(std::string_view text) {
  return text.find("http") != std::string_view::npos || text.find("\": ") != std::string_view::npos ||
         text.find_first_of("{}[") == 0;
}

// What stands after "// "; empty where the line is no comment.
std::string_view comment_in(std::string_view line) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  if (!line.substr(begin).starts_with("//")) return "";
  const std::size_t text = line.find_first_not_of("/ ", begin);
  return text == std::string_view::npos ? "" : line.substr(text);
}

}  // namespace

TEST_CASE("a comment has at most 110 columns, unless it shows an example") {
  const fs::path root = HEADWISE_SOURCE_DIR;
  for (const char* top : {"core", "app", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
      std::ifstream file(entry.path());
      std::string line;
      for (int number = 1; std::getline(file, line); ++number) {
        const std::string_view text = comment_in(line);
        if (text.empty() || is_example(text) || columns_of(line) <= most_columns) continue;
        FAIL_CHECK(fs::relative(entry.path(), root).string(), ":", number, " has ", columns_of(line),
                   " columns: ", line);
      }
    }
  }
}
