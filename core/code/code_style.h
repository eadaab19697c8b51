// The styles in which the operator is written in Python.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace headwise {

enum class CodeStyle {
  pytorch,  // torch and torch.nn.functional, with a separate axis for heads: (N,H,L,D)
  einsum,   // torch.einsum, every sum spelled out by its letters; grouped heads are not repeated
  numpy,    // plain NumPy, no framework
  d2l,      // as in "Dive into Deep Learning": heads folded into the batch, (N·H,L,D), torch.bmm
};

inline constexpr std::array<CodeStyle, 4> code_styles{CodeStyle::pytorch, CodeStyle::einsum, CodeStyle::numpy,
                                                      CodeStyle::d2l};

// The display name, "PyTorch". The key, "pytorch", is for files and flags.
std::string_view code_style_name(CodeStyle style);
std::string_view code_style_key(CodeStyle style);
std::optional<CodeStyle> find_code_style(std::string_view key);

}  // namespace headwise
