// The step as code, in the style of the reader's choice, and the way to take the whole program along.
#pragma once

#include <optional>
#include <string>

#include "app/panels/panel.h"
#include "app/widgets/text_column.h"
#include "core/code/code_style.h"
#include "core/trace/steps.h"

namespace headwise {

struct CodeSectionState {
  CodeStyle style = CodeStyle::pytorch;
  std::string copied;  // what the last click put into the clipboard: "program"; shown until the next frame's
  double copied_at = 0.0;  // … time is a second and a half later
};

void draw_code_section(const PanelContext& context, CodeSectionState& state, TextColumn& column,
                       const std::optional<StepPicture>& picture);

}  // namespace headwise
