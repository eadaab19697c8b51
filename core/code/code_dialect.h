// What the code styles write differently, an expression for each operation: assets/programs/expressions.txt.
// The steps themselves are written once, in terms of these (core/code/code_lines.cpp).
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "core/code/code_style.h"
#include "core/files/word_rows.h"
#include "core/trace/attention_sizes.h"

namespace headwise {

class CodeDialect {
 public:
  CodeDialect(CodeStyle style, const AttentionSizes& sizes) : style_(style), sizes_(sizes) {}

  // An operation of the table as text; its operands are Python expressions or numbers.
  template <class... Operands>
  std::string operator()(std::string_view operation, const Operands&... operands) const {
    return written(operation, {fmt::format("{}", operands)...});
  }

 private:
  std::string written(std::string_view operation, std::initializer_list<std::string> operands) const;

  CodeStyle style_;
  AttentionSizes sizes_;
};

// The table; the key is a style and an operation.
std::span<const WordRow> code_expressions();

}  // namespace headwise
