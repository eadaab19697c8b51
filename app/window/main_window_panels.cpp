#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <imgui.h>

#include "app/lesson/caption_panel.h"
#include "app/lesson/page_text.h"
#include "app/panels/panel_frame.h"
#include "app/session/answer_check.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/painter.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "app/window/frame_snapshot.h"
#include "app/window/main_window.h"
#include "app/window/menu_bar.h"
#include "app/window/page_turns.h"
#include "app/window/playlist_making.h"
#include "app/window/slides.h"
#include "app/window/window_commands.h"
#include "app/window/window_files.h"
#include "app/window/window_layout.h"
#include "app/window/window_moves.h"
#include "app/window/window_opening.h"
#include "app/window/window_state.h"
#include "app/window/window_training.h"
#include "core/lessons/lessons.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/presets.h"

namespace headwise {
namespace {

// The panels that have no room around the stage: a tab at the edge of the window for each, which unfolds it.

constexpr float tab_padding = 12.0f, tab_gap = 6.0f;  // in units

constexpr struct {
  const char *name, *id, *holds;
} panels[] = {
    {"Settings", "tab/settings", "the text, the sizes, the heads and the masks"},
    {"Inspector", "tab/inspector", "what the step does, and where a number comes from"},
    {"Graph", "tab/graph", "all tensors and what they are computed from"},
    {"Pages", "tab/pages", "the pages of the playlist"},
};

// A tab for `panel`, the `place`th from the top of a strip, its name turned; in a strip that is wider than
// high, the name lies. A click, or Enter with the focus, unfolds the panel or folds it again:
// `unfolded` changes.
void draw_panel_tab(const WidgetContext& context, const RectF& strip, int place, SidePanel panel,
                    std::optional<SidePanel>& unfolded) {
  const auto& words = panels[static_cast<std::size_t>(panel)];
  ImFont* font = context.fonts.sans;
  const auto length = [&](const char* name) {
    return std::ceil(width_of(font, name)) + 2 * context.px(tab_padding);
  };
  // All tabs are as long as the longest name: they stand in even steps.
  float longest = 0.0f;
  for (const auto& each : panels) longest = std::max(longest, length(each.name));
  const bool lies = strip.width > strip.height;
  const float room = static_cast<float>(strip.height);
  const float high = lies ? room - context.px(2) : std::min(longest, 0.5f * room - context.px(tab_gap));
  if (high <= 0.0f) return;
  const ImVec2 min{static_cast<float>(strip.x),
                   static_cast<float>(strip.y) + static_cast<float>(place) * (high + context.px(tab_gap))};
  const ImVec2 size{static_cast<float>(strip.width), high}, max{min.x + size.x, min.y + size.y};
  ImGui::SetCursorScreenPos(min);
  const bool pressed = ImGui::InvisibleButton(words.id, size);
  const bool focused = focus_stop(context.focus, ImGui::GetID(words.id), FocusKeys::press);
  const bool hovered = ImGui::IsItemHovered(), open = unfolded == panel;
  named_item(context, words.id,
             open ? fmt::format("hide {}", words.holds) : fmt::format("show {}", words.holds));
  if (pressed || (focused && press_key_pressed())) unfolded = open ? std::nullopt : std::optional(panel);

  const Painter paint = context.painter();
  const Palette& palette = context.palette;
  paint.fill(min, max,
             open      ? palette.control
             : hovered ? palette.control_hover
                       : palette.panel,
             context.px(6));
  paint.outline(min, max, palette.border, 1.0f, context.px(6));
  const Rgba8 ink = open ? palette.focus : palette.text;
  const std::string name = fitted_text(words.name, font, lies ? size.x : high - context.px(4));
  const float shown = width_of(font, name);
  if (lies) {
    paint.text(
        font, {std::round(0.5f * (min.x + max.x - shown)), std::round(0.5f * (min.y + max.y - font->FontSize))},
        ink, name);
    return;
  }
  // Turned, the name is longer than the strip is wide.
  paint.list->PushClipRectFullScreen();
  const float top = std::round(0.5f * (min.y + max.y - std::min(shown, high)));
  draw_turned_text(paint, font, {std::round(0.5f * (min.x + max.x)), top}, 90.0f, im_color(ink), name);
  paint.list->PopClipRect();
}

// What the window suggests to try next (app/session/suggestions.h).

// Asked every frame: the presets are read once.
bool is_text_of_preset(const std::string& text) {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> all;
    for (const Preset& preset : presets()) all.push_back(preset_scenario(preset.name).inputs.text);
    return all;
  }();
  return std::ranges::find(texts, text) != texts.end();
}

SuggestionContext context_of(const WindowState& window) {
  const Session& session = window.document.session;
  const Scenario& scenario = session.scenario();
  SuggestionContext now;
  now.model = is_of_model(scenario);
  now.pinned = window.view.selection.pinned.has_value();
  now.stepped = window.view.first_steps.stepped || window.view.selection.step != Step::inputs;
  now.muted = scenario.head_gain && std::ranges::find(*scenario.head_gain, 0.0) != scenario.head_gain->end();
  now.own_text = scenario.inputs.source == InputSource::text && !scenario.inputs.key_text &&
                 !is_text_of_preset(scenario.inputs.text);
  now.edits = session.history().step_count() - 1;
  return now;
}

// Before the menu bar is drawn: chooses the suggestion that fits.
// None while the first steps or a lesson are shown.
void find_suggestion(WindowState& window) {
  WindowView& view = window.view;
  view.suggestion = {};
  // A second sentence is there: it was found.
  if (window.document.session.scenario().inputs.key_text)
    remember_suggestion(view, Suggestion::cross_attention);
  if (view.settings.first_steps || window.document.walk.page) return;
  view.suggestion.suggestion = next_suggestion(view.settings.suggestions_done, context_of(window));
}

// After it: does what was pressed, and remembers what was tried or dismissed.
void take_suggestion(WindowState& window) {
  ShownSuggestion& shown = window.view.suggestion;
  if (!shown.suggestion || !(shown.pressed || shown.dismissed)) return;
  const Suggestion suggestion = *shown.suggestion;
  remember_suggestion(window.view, suggestion);
  if (shown.dismissed) return;
  const SuggestionEntry& entry = suggestion_entries()[static_cast<std::size_t>(suggestion)];
  if (entry.command) perform(window, {*entry.command});
  if (suggestion == Suggestion::cross_attention) window.view.setup.wanted_row = "setup/attention";
}

constexpr double seconds_to_step_input = 0.12;  // on the full screen, after they came over the stage

// A key of any kind, or a button of the mouse, has gone down.
bool anything_pressed() {
  const ImGuiIO& io = ImGui::GetIO();
  const auto down = [](float seconds) { return seconds == 0.0f; };
  return std::ranges::any_of(io.KeysDownDuration, down) || std::ranges::any_of(io.MouseDownDuration, down);
}

}  // namespace

ImVec2 MainWindow::menu_padding(const WindowLayout& layout, const Fonts& fonts, float scale) {
  return {8 * scale, std::max(0.0f, 0.5f * (static_cast<float>(layout.menu.height) - fonts.sans->FontSize))};
}

void MainWindow::draw_panels(const WindowLayout& layout, const Fonts& fonts, float scale, double& wake_after) {
  WindowDocument& document = state_.document;
  WindowView& view = state_.view;
  FrameSnapshot looked(state_);
  looked.add_gradients(state_);
  looked.add_comparison_target(document);
  looked.add_predictions(document);
  looked.add_training(state_);
  Selection& selection = looked.selection;
  const ComputationPtr computation = shown_ = looked.computation;
  cover_focus(view.focus, state_.dialogs.any_open() || menu_open());
  PanelContext context = looked.context(view, heatmaps_, fonts, scale, wake_after);
  context.answer_mask = answer_mask(document.walk);
  context.right_head = right_head(document.walk);
  context.right_cells = right_cells(document.walk);
  std::vector<std::pair<PanelAction, bool>> actions;
  // A new place is applied at once, so that the inspector describes the cell under the mouse in this frame.
  const auto take = [&](PanelAction action, bool from_setup = false) {
    if (action.selection) {
      selection = *action.selection;
      looked.keep_veiled();
    }
    actions.emplace_back(std::move(action), from_setup);
  };
  const auto px = [scale](float units) { return std::round(units * scale); };

  find_suggestion(state_);
  if (layout.menu.height > 0.0) {
    begin_focus_part(view.focus, menu_part);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, menu_padding(layout, fonts, scale));
    take(draw_menu_bar(context, state_));
    ImGui::PopStyleVar();
    take_suggestion(state_);
  }
  constexpr ImGuiWindowFlags still = ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;
  const auto draw_steps = [&] {
    if (!begin_panel("panel/steps", grounds_, layout.steps, px(8), px(2), still)) return;
    // The stage lies below it on the full screen, and a panel's own ground below both.
    if (view.full_screen) {
      const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
      ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + size.x, at.y + size.y},
                                                ImGui::GetColorU32(ImGuiCol_WindowBg),
                                                ImGui::GetStyle().ChildRounding);
    }
    begin_focus_part(view.focus, steps_part);
    view.steps.speed = view.settings.motion_speed;
    // A click where the steps have only just come was meant for what lies below them.
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left))
      view.steps_ignore_input = view.full_screen && view.steps_visible_seconds < seconds_to_step_input;
    PanelAction of_steps = draw_step_bar(context, view.steps);
    if (!view.steps_ignore_input) take(std::move(of_steps));
    set_motion_speed(view, view.steps.speed);
    ImGui::EndChild();
  };
  if (!view.full_screen) draw_steps();
  const WidgetContext widgets = context.widgets();
  const auto panel = [&](const char* name, Part part, const RectF& rect, float pad_x, float pad_y,
                         const auto& draw, ImGuiWindowFlags flags = 0) {
    if (!begin_panel(name, grounds_, rect, px(pad_x), px(pad_y), flags)) return false;
    begin_focus_part(view.focus, part);
    draw();
    ImGui::EndChild();
    return true;
  };
  panel(
      "panel/training", training_part, layout.training, 12, 3,
      [&] { draw_place_in_training(state_, widgets); }, still);
  struct Tab {
    bool folded;
    Part part;
    SidePanel panel;
  };
  const auto draw_tabs = [&](const char* name, const RectF& strip, std::initializer_list<Tab> tabs) {
    if (strip.width <= 0.0 || !begin_bare_panel(name, strip)) return;
    int place = 0;
    for (const Tab& tab : tabs) {
      begin_focus_part(view.focus, tab.part);
      if (tab.folded) draw_panel_tab(widgets, strip, place++, tab.panel, view.unfolded);
    }
    ImGui::EndChild();
  };
  draw_tabs("panel/left_tabs", layout.left_tabs,
            {{layout.folds_setup, setup_part, SidePanel::setup},
             {layout.folds_filmstrip, filmstrip_part, SidePanel::filmstrip}});
  // The room for the scroll bar is always kept,
  // so that no text is wrapped anew and no control moves when it appears.
  const int hidden_colors = view.setup.overflows ? 0 : 3;
  for (const ImGuiCol color :
       {ImGuiCol_ScrollbarGrab, ImGuiCol_ScrollbarGrabHovered, ImGuiCol_ScrollbarGrabActive})
    if (hidden_colors > 0) ImGui::PushStyleColor(color, 0);
  const bool has_setup = begin_panel("panel/setup", grounds_, layout.setup, px(16), px(14),
                                     ImGuiWindowFlags_AlwaysVerticalScrollbar);
  ImGui::PopStyleColor(hidden_colors);
  if (has_setup) {
    begin_focus_part(view.focus, setup_part);
    scroll_by_keys(view.focus, setup_part, px(60));
    take(draw_setup_panel(context, view.setup), true);
    ImGui::EndChild();
  }
  panel("panel/stage", stage_part, layout.stage, layout.small ? 12.0f : 18.0f, layout.small ? 8.0f : 14.0f, [&] {
    stage_.alone = view.full_screen;
    const PlaylistPage* page = document.walk.shown();
    stage_.titled_elsewhere =
        page && !page->title.empty() && selection.step == page->step && selection.view == page->view;
    take(draw_stage(context, stage_));
    view.stage_choices = choices_of(stage_);
  });
  draw_tabs("panel/right_tabs", layout.right_tabs,
            {{layout.folds_inspector, inspector_part, SidePanel::inspector},
             {layout.folds_graph, graph_part, SidePanel::graph}});
  panel("panel/inspector", inspector_part, layout.inspector, 16, 14, [&] {
    scroll_by_keys(view.focus, inspector_part, px(60));
    if (!context.page_refused) take(draw_inspector(context, view.inspector));
  });
  panel("panel/graph", graph_part, layout.graph, 12, 8, [&] {
    if (!context.page_refused) take(draw_graph(context, graph_));
  });
  panel("panel/caption", caption_part, layout.caption, 18, 10,
        [&] { take(draw_caption(context, document.walk, view.full_screen)); });
  panel("panel/notes", notes_part, layout.notes, 18, 10,
        [&] { draw_presenter_notes(context, document.walk, view.presented_seconds); });
  const auto draw_strip = [&] {
    const bool busy = moving_ || view.motion.running || view.recording || document.session.computing();
    take(draw_filmstrip(context, document.walk, busy, filmstrip_));
  };
  if (!panel("panel/filmstrip", filmstrip_part, layout.filmstrip, 8, 6, draw_strip, still))
    filmstrip_.thumbnails.suspend();
  if (view.full_screen) draw_steps();
  draw_tabs("panel/graph_tab", layout.graph_tab, {{true, graph_part, SidePanel::graph}});
  if (begin_bare_panel("panel/status", layout.status)) {
    draw_status_bar(context, state_, computation->seconds);
    ImGui::EndChild();
  }
  for (const auto& [action, from_setup] : actions) take_action(state_, action, from_setup);
  if (const auto moved = std::exchange(filmstrip_.moved, std::nullopt))
    move_page_to(state_, moved->first, moved->second);
}

void MainWindow::draw_blank(bool ends) {
  shown_ = state_.document.session.computation();
  cover_focus(state_.view.focus, true);
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  ImGui::GetForegroundDrawList()->AddRectFilled({0, 0}, size, IM_COL32_BLACK);
  ui_probe("blank", {0, 0}, size);
  if (ends && anything_pressed()) state_.view.blank = false;
}

void MainWindow::draw_opening(const Fonts& fonts, float scale, double& wake_after) {
  WindowView& view = state_.view;
  shown_ = state_.document.session.computation();
  cover_focus(view.focus, state_.dialogs.any_open());
  begin_focus_part(view.focus, opening_part);
  const WidgetContext context{palette_of(view.settings.theme), fonts, scale, &view.focus, &wake_after};
  draw_opening_scene(state_, context, ImGui::GetIO().DisplaySize);
}

void MainWindow::draw_overlays(const Fonts& fonts, float scale, double& wake_after) {
  WindowDocument& document = state_.document;
  WindowView& view = state_.view;
  WindowDialogs& dialogs = state_.dialogs;
  view.focus.enabled = true;
  const WidgetContext widgets{palette_of(view.settings.theme), fonts, scale, &view.focus, &wake_after};
  draw_help_sheet(widgets, dialogs.help, view.full_screen && document.walk.page);
  if (draw_log_sheet(widgets, dialogs.log)) state_.clipboard = dialogs.log.path;
  if (draw_doc_sheet(widgets, dialogs.docs)) open_docs_in_browser(state_);
  if (const std::string title = std::exchange(dialogs.docs.lesson, ""); !title.empty()) {
    dialogs.docs.open = false;
    if (const auto to = page_titled({}, title)) visit_lesson(state_, lesson_playlist(to->lesson), to->page);
  }
  const FrameSnapshot looked(state_);
  draw_comparison_sheet(looked.context(view, heatmaps_, fonts, scale, wake_after), looked.computation->trace,
                        document.comparisons, dialogs.comparison);
  draw_full_size_sheet(looked.context(view, heatmaps_, fonts, scale, wake_after), document.full_size_runs,
                       dialogs.full_size);
  const TrainingAction trained =
      draw_training_view(looked.context(view, heatmaps_, fonts, scale, wake_after), document.training,
                         document.explained_cells, dialogs.training);
  if (trained.inspect_head) inspect_head(state_, *trained.inspect_head);
  if (trained.own_task) ask_for_training_task(state_);
  if (trained.save) ask_for_training(state_, *trained.save);
  notify_of_saved_training(state_);
  const PanelAction led = draw_heads_sheet(looked.context(view, heatmaps_, fonts, scale, wake_after),
                                           document.head_finding, dialogs.heads);
  if (const std::optional<HeadsAnswer> answer = draw_heads_question(widgets, dialogs.heads_question))
    take_heads(state_, answer->heads);
  if (const std::optional<std::string> path = draw_file_dialog(widgets, dialogs.files))
    accept_file(state_, *path);
  if (dialogs.training.waits && !dialogs.files.open) wake_after = 0.0;
  if (draw_export_dialog(widgets, dialogs.export_dialog)) accept_export(state_);
  // After the dialogs: one opened here must not see the Enter that chose it.
  if (const std::optional<PaletteEntry> entry = draw_command_palette(widgets, dialogs.palette))
    perform(state_, *entry);
  take_action(state_, led, false);
}

}  // namespace headwise
