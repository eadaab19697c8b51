// The styles in which the operator is written in Python.
#pragma once

#include <fmt/format.h>
#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/attention/attention_sizes.h"
#include "core/files/word_rows.h"

namespace headwise {

enum class CodeStyle {
  pytorch,  // torch and torch.nn.functional, with a separate axis for heads: (N,H,L,D)
  einsum,   // torch.einsum, every sum spelled out by its letters; grouped heads are not repeated
  numpy,    // plain NumPy, no framework
  d2l,      // as in "Dive into Deep Learning": heads folded into the batch, (N·H,L,D), torch.bmm
  flex,     // PyTorch's flex_attention: scores, masks, softmax and weighted sum in one call
};

inline constexpr std::array code_styles{CodeStyle::pytorch, CodeStyle::einsum, CodeStyle::numpy,
                                        CodeStyle::d2l, CodeStyle::flex};

// The display name, "PyTorch". The key, "pytorch", is for files and flags.
std::string_view code_style_name(CodeStyle style);
std::string_view code_style_key(CodeStyle style);
std::optional<CodeStyle> find_code_style(std::string_view key);

// What the code styles write differently, an expression for each operation: assets/programs/expressions.txt.
// The steps themselves are written once, in terms of these (core/export/code_lines.cpp).

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
