// The step as code, in the style of the reader's choice, with a link to save the whole program.
#pragma once

#include <optional>

#include "app/panels/panel.h"
#include "app/widgets/text_column.h"
#include "core/code/code_style.h"
#include "core/trace/steps.h"

namespace headwise {

struct CodeSectionState {
  CodeStyle style = CodeStyle::pytorch;
};

// A click on the link to the whole program is returned as a command.
void draw_code_section(const PanelContext& context, CodeSectionState& state, TextColumn& column,
                       const std::optional<StepPicture>& picture, PanelAction& action);

}  // namespace headwise
