#include "core/code/code_style.h"

#include <algorithm>

namespace headwise {
namespace {

struct Entry {
  std::string_view name, key;
};
constexpr std::array<Entry, 4> entries{
    {{"PyTorch", "pytorch"}, {"einsum", "einsum"}, {"NumPy", "numpy"}, {"d2l", "d2l"}}};

}  // namespace

std::string_view code_style_name(CodeStyle style) {
  return entries[static_cast<std::size_t>(style)].name;
}

std::string_view code_style_key(CodeStyle style) {
  return entries[static_cast<std::size_t>(style)].key;
}

std::optional<CodeStyle> find_code_style(std::string_view key) {
  const auto found = std::ranges::find(entries, key, &Entry::key);
  if (found == entries.end()) return std::nullopt;
  return code_styles[static_cast<std::size_t>(found - entries.begin())];
}

}  // namespace headwise
