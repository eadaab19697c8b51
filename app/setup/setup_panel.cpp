#include "app/setup/setup_panel.h"

#include <imgui.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "app/panels/named_text.h"
#include "app/setup/setup_rows.h"
#include "app/setup/setup_settings.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/scenario/text_inputs.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

// What the user should know about the numbers shown: fully masked rows, text that was cut.
void draw_notes(const PanelContext& context) {
  std::vector<std::string> notes = context.inputs.notes;
  if (const ModelInput* const model = context.inputs.model_input.get()) {
    const std::vector<std::string>& under_text = model->text.notices;  // setup_text.cpp
    std::erase_if(notes, [&](const std::string& note) { return std::ranges::count(under_text, note) > 0; });
  }
  std::erase(notes, "num_heads: " + context.inputs.head_count_note);  // setup_sizes.cpp
  notes.insert(notes.end(), context.trace.warnings.begin(), context.trace.warnings.end());
  if (notes.empty()) return;
  section_caption(context, "PLEASE NOTE");
  constexpr std::size_t most = 3;
  for (std::size_t i = 0; i < std::min(notes.size(), most); ++i) warning_line(context, notes[i]);
  if (notes.size() > most) dim_text(context, fmt::format("… and {} more", notes.size() - most));
}

// What no row shows: cells set by hand, pairs painted.
void draw_edits(SetupRows& rows) {
  const std::size_t count = rows.scenario().edits.size();
  if (count == 0) return;
  section_caption(rows.widgets(), "SET BY HAND");
  constexpr std::array<std::string_view, 2> ways{"keep", "discard"};
  int chosen = 0;
  const std::string name = counted(static_cast<Index>(count), "cell");
  if (rows.choice({"setup/edits", name, "", "Numbers set by hand and painted pairs of the mask."}, ways,
                  chosen)) {
    rows.scenario().edits.clear();
    rows.edited("setup/edits", "discard manual edits", false);
  }
}

// "6 more settings"
void draw_more(SetupRows& rows) {
  SetupState& state = rows.state();
  if (!state.compact || (rows.left_out() == 0 && !state.all_rows)) return;
  const std::string words =
      state.all_rows ? "fewer settings" : fmt::format("{} more settings …", rows.left_out());
  if (text_button(rows.widgets(), "setup/more", words, ButtonLook::plain)) {
    state.all_rows = !state.all_rows;
    state.kept_rows.clear();
  }
  std::string hidden =
      "num_kv_heads and head_dim as numbers, ALiBi, the values of blocked scores and of fully masked rows, "
      "how masks are written";
  for (const SetupSetting& setting : all_setup_settings())
    if (setting.rare) hidden += ", " + std::string(setting.name);
  named_item(rows.widgets(), "setup/more", hidden);
}

// A row requested by name is shown, whether rarely used or not.
void go_to_wanted(const PanelContext& context, SetupState& state) {
  if (!context.focus || !context.focus->enabled) return;  // the dialog that requested it is still closing
  const std::string row = std::exchange(state.wanted_row, "");
  if (row.empty()) return;
  state.kept_rows.insert(row);
  if (row == "setup/builder") state.builder.open = true;
  take_focus(*context.focus, setup_control(row));
  context.focus->moved = true;
  if (std::exchange(state.wanted_whole, false)) context.focus->cursor = {std::string::npos, 0};
}

}  // namespace

PanelAction draw_setup_panel(const PanelContext& context, SetupState& state) {
  work_probe("setup");
  const RowLettersInUse letters(
      [&](ImVec2 at, std::string_view text) {
        return draw_shape_text(context, context.fonts.sans, at, context.palette.text_dim, std::string(text));
      },
      setup_key);
  constexpr float roomy_height = 860.0f;  // design units: from here on all rows are shown
  state.compact = ImGui::GetWindowHeight() < roomy_height * context.scale;
  go_to_wanted(context, state);
  SetupRows rows(context, state);
  draw_setup_operator(rows);
  draw_setup_text(rows);
  draw_setup_parameters(rows);
  draw_setup_mask(rows);
  draw_setup_head(rows);
  draw_setup_sizes(rows);
  draw_setup_scale(rows);
  draw_more(rows);
  draw_edits(rows);
  draw_notes(context);
  state.overflows = ImGui::GetScrollMaxY() > 0.0f;
  return rows.take();
}

}  // namespace headwise
