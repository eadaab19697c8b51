#include "app/setup/typed_words.h"

#include <algorithm>
#include <cmath>

#include "app/setup/setup_rows.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/ui_probe.h"
#include "core/model/tokenizer/word_knowledge.h"
#include "core/scenario/text_inputs.h"

namespace headwise {
namespace {

constexpr std::size_t most_offered = 6;
// Design units
constexpr float offered_height = 21.0f, offered_padding = 7.0f;
constexpr const char* take_key = "Tab";

std::shared_ptr<const TextModel> text_model(const SetupRows& rows) {
  const ModelInput* const input = rows.context().inputs.model_input.get();
  return input ? input->model : nullptr;
}

// Looks the words up again when the text or the model has changed.
void read_words(TypedWordsState& state, const std::shared_ptr<const TextModel>& model, const std::string& text) {
  if (model == state.model.lock() && text == state.text) return;
  state.model = model;
  state.text = text;
  state.hardly_known.clear();
  state.told.clear();
  if (!model || !model->tokenizer()) return;
  state.hardly_known = hardly_known_words(*model->tokenizer(), text);
  for (const HardlyKnownWord& word : state.hardly_known) state.told.push_back(knowledge_sentence(word, text));
}

std::vector<TextMark> marks_of(const TypedWordsState& state, const FocusOrder* focus, bool focused) {
  std::vector<TextMark> marks;
  for (std::size_t i = 0; i < state.hardly_known.size(); ++i) {
    const HardlyKnownWord& word = state.hardly_known[i];
    // A word still being typed is not yet one that the model does not know.
    if (focused && focus->cursor.at == word.end && !state.offered.empty()) continue;
    marks.push_back({word.begin, word.end, state.told[i]});
  }
  return marks;
}

bool pressed_on_list(const TypedWordsState& state) {
  return ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
         Box(state.list_min, state.list_max).has(ImGui::GetIO().MousePos);
}

// Finds what to offer when the text was typed on; nothing once the cursor has moved elsewhere.
void find_offered(SetupRows& rows, TypedWordsState& state, const std::string& text,
                  const TextFieldResult& field) {
  const FocusOrder* const focus = rows.widgets().focus;
  const std::shared_ptr<const TextModel> model = text_model(rows);
  if (!state.offered.empty() && !field.focused && pressed_on_list(state)) return;  // a press takes the focus
  const bool moved = !field.focused || !focus || focus->cursor.has_selection() || focus->cursor.at != state.end;
  const bool closed = focus && focus->list == KeyedList::completions && key_pressed(Key::escape, false);
  if (!field.changed && (moved || closed)) state.offered.clear();
  if (!field.changed || !field.focused || !model || !model->tokenizer()) return;
  state.offered.clear();
  if (ImGui::GetIO().KeyCtrl) return;  // pasted or cut, not typed
  const std::size_t at = focus->cursor.at;
  const auto begin = typed_word_begin(text, at);
  if (!begin) return;
  state.begin = *begin;
  state.end = at;
  state.offered =
      completions(*model->tokenizer(), std::string_view(text).substr(*begin, at - *begin), most_offered);
}

void draw_offered_line(const WidgetContext& context, const std::string& word, float width, bool first) {
  const float height = std::round(context.px(offered_height)),
              padding = std::round(context.px(offered_padding));
  const ImVec2 min = ImGui::GetItemRectMin(), max{min.x + width, min.y + height};
  const Painter paint = context.painter();
  const Palette& palette = context.palette;
  if (ImGui::IsItemHovered()) paint.fill(min, max, palette.control_hover, context.px(3));
  const auto write = [&](ImFont* font, float x, Rgba8 color, const char* text) {
    paint.text(font, {std::round(x), std::round(0.5f * (min.y + max.y - font->FontSize))}, color, text);
  };
  write(context.fonts.sans, min.x + padding, palette.text, word.c_str());
  ImFont* small = context.fonts.small;
  if (first) write(small, max.x - padding - width_of(small, take_key), palette.text_dim, take_key);
}

// The word taken in this frame.
std::optional<std::string> draw_offered(const WidgetContext& context, TypedWordsState& state, ImVec2 below) {
  const float padding = std::round(context.px(offered_padding)), edge = std::round(context.px(4));
  float width = 0.0f;
  for (const std::string& word : state.offered) width = std::max(width, width_of(context.fonts.sans, word));
  width = std::ceil(width + 4 * padding + width_of(context.fonts.small, take_key));
  const float height = std::round(context.px(offered_height));
  const ImVec2 size{width + 2 * edge, height * float(state.offered.size()) + 2 * edge};
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float x = std::clamp(below.x - padding - edge, 0.0f, std::max(0.0f, screen.x - size.x));
  state.list_min = {std::round(x), std::round(below.y + context.px(4))};
  state.list_max = {state.list_min.x + size.x, state.list_min.y + size.y};
  ImGui::SetNextWindowPos(state.list_min);
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {edge, edge});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, im_color(context.palette.panel));
  ImGui::Begin("completions", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoFocusOnAppearing);
  std::optional<std::string> taken;
  for (std::size_t i = 0; i < state.offered.size(); ++i) {
    const std::string& word = state.offered[i];
    ImGui::InvisibleButton(word.c_str(), {width, height});
    ui_probe_item("completion/" + word);
    if (ImGui::IsItemClicked()) taken = word;
    draw_offered_line(context, word, width, i == 0);
  }
  ImGui::End();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(3);
  FocusOrder& focus = *context.focus;
  if (focus.list == KeyedList::completions && key_pressed(Key::tab) && !ImGui::GetIO().KeyShift)
    taken = state.offered.front();
  focus.next_list = KeyedList::completions;
  return taken;
}

}  // namespace

void draw_typed_text(SetupRows& rows, const RowLabel& label, std::string& text) {
  TypedWordsState& state = rows.state().typed_words;
  FocusOrder* const focus = rows.widgets().focus;
  const ImGuiID id = ImGui::GetID(label.id);
  read_words(state, text_model(rows), text);
  const bool focused = focus && focus->enabled && focus->focused == id;
  const TextFieldResult field = rows.sentence(label, text, marks_of(state, focus, focused));
  find_offered(rows, state, text, field);
  if (state.offered.empty() || !focus || !focus->enabled) return;
  const ImVec2 below = field.focused ? field.below_cursor : state.below;
  state.below = below;
  const std::optional<std::string> taken = draw_offered(rows.widgets(), state, below);
  if (!taken) return;
  text.replace(state.begin, state.end - state.begin, *taken);
  take_focus(*focus, id, state.begin + taken->size());
  focus->next_list = KeyedList::none;
  state.offered.clear();
  rows.edited(label.id, std::string(label.name), true);
}

}  // namespace headwise
