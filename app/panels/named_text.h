// Letters of shapes and names of tensors in any text: under the mouse they light up what they name,
// everywhere (app/session/selection.h).
#pragma once

#include <imgui.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/panel.h"

namespace headwise {

// A letter in a text: "H" and "D" of "L×H·D 12×128".
struct LetterRun {
  std::size_t begin = 0, end = 0;  // bytes
  std::string letter;
};
std::vector<LetterRun> shape_letters(std::string_view text);

// Whether an axis is this one, or joins it with others: "H·D" has H and D. S also matches S′.
bool axis_has_letter(std::string_view axis, std::string_view letter);

// Draws the text at `at`; each letter in it can be pointed at. `with_number`: so can the number after it, "E
// 128". True while the mouse is on a letter.
bool draw_shape_text(const PanelContext& context, ImFont* font, ImVec2 at, Rgba8 color,
                     const std::string& text, bool with_number = false);

// Lights up the whole tensor, if the trace has it.
void point_at_tensor(const PanelContext& context, TensorName tensor);
// The tensor that a symbol of a formula stands for: "Qₕ" for q_heads, "W_q" for whichever the trace has.
std::optional<TensorName> tensor_of_symbol(const Trace& trace, std::string_view symbol);

// Makes the rectangle, already drawn, stand for the whole tensor. True while the mouse is on it.
bool name_tensor(const PanelContext& context, TensorName tensor, ImVec2 min, ImVec2 max);

}  // namespace headwise
