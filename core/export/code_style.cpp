#include "core/export/code_style.h"

#include <fmt/args.h>
#include <algorithm>
#include <utility>

#include "core/files/input_file.h"

namespace headwise {
namespace {

struct Entry {
  std::string_view name, key;
};
constexpr std::array<Entry, code_styles.size()> code_style_table{
    {{"PyTorch", "pytorch"}, {"einsum", "einsum"}, {"NumPy", "numpy"}, {"d2l", "d2l"}, {"flex", "flex"}}};

}  // namespace

std::string_view code_style_name(CodeStyle style) {
  return code_style_table[static_cast<std::size_t>(style)].name;
}

std::string_view code_style_key(CodeStyle style) {
  return code_style_table[static_cast<std::size_t>(style)].key;
}

std::optional<CodeStyle> find_code_style(std::string_view key) {
  const auto found = std::ranges::find(code_style_table, key, &Entry::key);
  if (found == code_style_table.end()) return std::nullopt;
  return code_styles[static_cast<std::size_t>(found - code_style_table.begin())];
}

std::string_view embedded_program_expressions();

std::span<const WordRow> code_expressions() {
  static const std::vector<WordRow> rows = word_rows(embedded_program_expressions(), "expressions.txt");
  return rows;
}

std::string CodeDialect::written(std::string_view operation, std::initializer_list<std::string> operands) const {
  const Index group = sizes_.kv_heads > 0 ? sizes_.heads / sizes_.kv_heads : 1;
  fmt::dynamic_format_arg_store<fmt::format_context> values;
  for (const std::string& operand : operands) values.push_back(operand);
  for (const auto& [name, size] : {std::pair{"batch", sizes_.batch},
                                   {"queries", sizes_.queries},
                                   {"keys", sizes_.keys},
                                   {"heads", sizes_.heads},
                                   {"kv_heads", sizes_.kv_heads},
                                   {"group", group},
                                   {"width", sizes_.heads * sizes_.v_head_dim}})
    values.push_back(fmt::arg(name, size));
  const CodeStyle otherwise = style_ == CodeStyle::numpy ? CodeStyle::numpy : CodeStyle::pytorch;
  for (const CodeStyle style : {style_, otherwise})
    for (const std::string_view ending : {" grouped", ""}) {
      if (group == 1 && !ending.empty()) continue;
      const std::string key = fmt::format("{} {}{}", code_style_key(style), operation, ending);
      const auto row = std::ranges::find(code_expressions(), key, &WordRow::key);
      if (row != code_expressions().end()) return fmt::vformat(row->value, values);
    }
  refuse_input("expressions.txt", "no style writes this operation", std::string(operation));
}

}  // namespace headwise
