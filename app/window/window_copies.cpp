#include "app/window/window_copies.h"

#include <fmt/format.h>
#include <algorithm>

#include "app/content/stage_content.h"
#include "app/session/map_text.h"
#include "app/stage/mask_convention.h"
#include "app/window/window_files.h"
#include "app/window/window_state.h"
#include "core/code/program.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {

void copy_value(WindowState& window) {
  WindowView& view = window.view;
  const std::optional<CellRef>& cell = view.selection.pinned ? view.selection.pinned : view.selection.hovered;
  const TensorPtr tensor = cell ? window.document.trace_at_hand().tensor(cell->tensor) : nullptr;
  if (!tensor) {
    view.notices.say("No cell to copy: click one to pin it, or point at it.");
    return;
  }
  window.clipboard = fmt::format("{:.9g}", tensor->at(cell->index));
  view.notices.say(
      fmt::format("Copied {} ({}[{}])", window.clipboard, to_string(cell->tensor), join(cell->index, ",")));
}

std::optional<TensorExport> map_to_copy(WindowState& window) {
  const WindowView& view = window.view;
  const Trace& trace = window.document.trace_at_hand();
  const std::optional<StepPicture> picture = shown_picture(trace, view.selection);
  if (!picture) {
    window.view.notices.say("This step has no map to copy.");
    return std::nullopt;
  }
  TensorExport what;
  what.tensor = name_to_export(window, picture->result);
  what.batch = view.selection.batch;
  what.head = export_head_of(trace, what.tensor, view.selection.head);
  return what;
}

void copy_map(WindowState& window, MapText text) {
  WindowView& view = window.view;
  try {
    const std::optional<TensorExport> what = map_to_copy(window);
    if (!what) return;
    const Trace& trace = window.document.trace_at_hand();
    const TokenLabels& labels = window.document.session.inputs().labels;
    const bool as_table = text == MapText::table;
    window.clipboard = as_table ? map_as_table(trace, labels, *what) : map_as_numpy_array(trace, labels, *what);
    view.notices.say(
        fmt::format("Copied {} {}", export_title(trace, *what), as_table ? "as a table" : "as an np.array"));
  } catch (const Error& error) {
    view.notices.complain(error.what());
  }
}

void copy_mask(WindowState& window) {
  WindowView& view = window.view;
  const Trace& trace = window.document.session.trace();
  const auto mask = stage_matrix(trace, {TensorId::mask_bias}, {view.selection.batch, view.selection.head});
  if (!mask || mask->view.tensor->size() == 0) {
    view.notices.say("There is no mask to copy.");
    return;
  }
  MaskConvention reading = view.selection.mask_convention;
  if (reading == MaskConvention::added) {
    reading = trace.options.op == Op::multi_head_attention ? MaskConvention::true_blocks
                                                           : MaskConvention::true_keeps;
  }
  try {
    window.clipboard = mask_as_booleans(mask->view, reading);
    view.notices.say(fmt::format("Copied the mask {}: True {}", matrix_sizes(*mask),
                                 reading == MaskConvention::true_blocks ? "is blocked" : "takes part"));
  } catch (const Error& error) {
    view.notices.complain(error.what());
  }
}

void copy_program(WindowState& window) {
  WindowView& view = window.view;
  const Trace& trace = window.document.session.trace();
  const CodeStyle style = view.inspector.code.style;
  if (program_array_bytes(trace) > largest_carried_bytes) {
    view.notices.say("The program's arrays are too large to paste: save it to a file (Save program…).");
    return;
  }
  try {
    window.clipboard = program_text(trace, style);
    view.notices.say(fmt::format("Copied the program in {}: {} lines", code_style_name(style),
                                 std::ranges::count(window.clipboard, '\n')));
  } catch (const Error& error) {
    view.notices.complain(error.what());
  }
}

}  // namespace headwise
