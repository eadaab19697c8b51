#include "app/widgets/text_field.h"

#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/platform/fonts.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/text_layout.h"

namespace headwise {
namespace {

// The text as the fonts can draw it: U+FFFD for bytes that are not UTF-8 and for code points beyond 16 bits,
// a blank for control characters.
std::string drawable(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size(); at = next_character(text, at)) {
    const char32_t point = code_point(text, at);
    append_utf8(shown, point < 0x20 || point == 0x7F ? U' ' : point > 0xFFFF ? U'\uFFFD' : point);
  }
  return shown;
}

struct Layout {
  ImFont* font;
  float line_height;
  ImVec2 origin;  // of the first line, before scrolling
  float width;    // of a line
  bool multi_line;
  bool align_right;
  std::vector<TextLine> lines;

  float advance(char32_t point) const { return shown_advance(*font, point); }
  float width_of(std::string_view text, std::size_t begin, std::size_t end) const {
    float sum = 0.0f;
    for (std::size_t at = begin; at < end; at = next_character(text, at))
      sum += advance(code_point(text, at));
    return sum;
  }
  // Where a line begins: numbers are right-aligned.
  float left_of(std::string_view text, const TextLine& line) const {
    if (!align_right) return 0.0f;
    return std::max(0.0f, width - width_of(text, line.begin, line.end));
  }
  // The start of the character nearest to a position on the line.
  std::size_t place_at(std::string_view text, std::size_t line_number, float x) const {
    const TextLine& line = lines[line_number];
    float left = left_of(text, line);
    std::size_t at = line.begin;
    while (at < line.end && text[at] != '\n') {
      const float step = advance(code_point(text, at));
      if (x < left + 0.5f * step) break;
      left += step;
      at = next_character(text, at);
    }
    // After the blank that ends a wrapped line comes the next line: stay before it.
    if (at == line.end && at < text.size() && at > line.begin) at = previous_character(text, at);
    return at;
  }
};

bool control_or_shift(bool control) {
  return control ? ImGui::GetIO().KeyCtrl : ImGui::GetIO().KeyShift;
}

void move_cursor(const Layout& layout, const std::string& text, TextCursor& cursor) {
  const bool word = control_or_shift(true), selecting = control_or_shift(false);
  const std::size_t line = line_of(layout.lines, cursor.at);
  const auto to_line = [&](std::size_t target) {
    const float x =
        layout.left_of(text, layout.lines[line]) + layout.width_of(text, layout.lines[line].begin, cursor.at);
    cursor.move(layout.place_at(text, target, x), selecting);
  };
  if (key_pressed(Key::left)) {
    const bool collapse = cursor.has_selection() && !selecting && !word;
    cursor.move(collapse ? cursor.first()
                : word   ? previous_word(text, cursor.at)
                         : previous_character(text, cursor.at),
                selecting);
  }
  if (key_pressed(Key::right)) {
    const bool collapse = cursor.has_selection() && !selecting && !word;
    cursor.move(collapse ? cursor.last()
                : word   ? next_word(text, cursor.at)
                         : next_character(text, cursor.at),
                selecting);
  }
  if (key_pressed(Key::home)) cursor.move(word ? 0 : layout.lines[line].begin, selecting);
  if (key_pressed(Key::end)) {
    const TextLine& here = layout.lines[line];
    const bool last = line + 1 == layout.lines.size();
    cursor.move(word || last ? text.size() : previous_character(text, here.end), selecting);
  }
  if (layout.multi_line && key_pressed(Key::up)) {
    line > 0 ? to_line(line - 1) : cursor.move(0, selecting);
  }
  if (layout.multi_line && key_pressed(Key::down)) {
    line + 1 < layout.lines.size() ? to_line(line + 1) : cursor.move(text.size(), selecting);
  }
}

// A single-line field takes no line breaks: pasted ones become blanks.
std::string fitting(std::string_view text, bool multi_line) {
  std::string out(text);
  std::erase(out, '\r');
  if (!multi_line) std::replace(out.begin(), out.end(), '\n', ' ');
  return out;
}

bool enter_pressed(bool repeat) {
  return key_pressed(Key::enter, repeat) || key_pressed(Key::keypad_enter, repeat);
}

bool edit_by_keys(const Layout& layout, std::string& text, TextCursor& cursor, bool enter_breaks) {
  ImGuiIO& io = ImGui::GetIO();
  const std::string before = text;
  if (key_pressed(Key::backspace)) erase_backward(text, cursor, io.KeyCtrl);
  if (key_pressed(Key::del)) erase_forward(text, cursor, io.KeyCtrl);
  if (enter_breaks && enter_pressed(true)) insert_text(text, cursor, "\n");
  if (io.KeyCtrl && !io.KeyAlt) {
    const std::string selected = text.substr(cursor.first(), cursor.last() - cursor.first());
    if (key_pressed(letter('A'), false)) cursor = {text.size(), 0};
    if (key_pressed(letter('C'), false) && !selected.empty()) ImGui::SetClipboardText(selected.c_str());
    if (key_pressed(letter('X'), false) && !selected.empty()) {
      ImGui::SetClipboardText(selected.c_str());
      erase_backward(text, cursor);
    }
    if (key_pressed(letter('V'), true)) {
      if (const char* clipboard = ImGui::GetClipboardText()) {
        insert_text(text, cursor, fitting(clipboard, layout.multi_line));
      }
    }
  } else {
    for (const ImWchar typed : io.InputQueueCharacters) {
      if (typed < 0x20 || typed == 0x7F) continue;
      std::string bytes;
      append_utf8(bytes, typed);
      insert_text(text, cursor, bytes);
    }
  }
  return text != before;
}

void follow_mouse(const Layout& layout, const std::string& text, TextCursor& cursor, float scroll_x,
                  float scroll_y) {
  const ImGuiIO& io = ImGui::GetIO();
  const float y = io.MousePos.y - layout.origin.y + scroll_y;
  const auto line = static_cast<std::size_t>(
      std::clamp(std::floor(y / layout.line_height), 0.0f, float(layout.lines.size() - 1)));
  const std::size_t place = layout.place_at(text, line, io.MousePos.x - layout.origin.x + scroll_x);
  if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    const std::size_t begin = previous_word(text, next_character(text, place));
    std::size_t end = next_word(text, begin);
    while (end > begin && text[end - 1] == ' ') --end;
    cursor = {end, begin};
  } else if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    cursor.move(place, io.KeyShift);
  } else if (ImGui::IsMouseDragging(ImGuiMouseButton_Left)) {
    cursor.move(place, true);
  }
}

void draw_lines(const WidgetContext& context, const Layout& layout, const std::string& text, ImVec2 shift,
                const TextCursor* cursor, ImVec2 clip_min, ImVec2 clip_max) {
  const Painter paint = context.painter();
  const std::size_t cursor_line = cursor ? line_of(layout.lines, cursor->at) : layout.lines.size();
  for (std::size_t i = 0; i < layout.lines.size(); ++i) {
    const TextLine& line = layout.lines[i];
    const float top = layout.origin.y - shift.y + float(i) * layout.line_height;
    if (top > clip_max.y) break;
    if (top + layout.line_height < clip_min.y) continue;
    const float left = layout.origin.x - shift.x + layout.left_of(text, line);
    const auto x_of = [&](std::size_t at) { return left + layout.width_of(text, line.begin, at); };
    if (cursor && cursor->first() < line.end && cursor->last() > line.begin) {
      const float from = x_of(std::max(cursor->first(), line.begin)),
                  to = x_of(std::min(cursor->last(), line.end));
      paint.fill({from, top}, {to, top + layout.line_height}, {context.palette.q, 0.35f});
    }
    const std::string shown = drawable(std::string_view(text).substr(line.begin, line.end - line.begin));
    need_characters(shown, *layout.font);
    paint.text(layout.font, {std::round(left), std::round(top)}, context.palette.text, shown);
    if (i == cursor_line) {
      const float x = std::round(x_of(cursor->at));
      paint.fill({x, top}, {x + std::max(1.0f, std::floor(1.5f * context.scale)), top + layout.line_height},
                 context.palette.focus);
    }
  }
}

// A field's state in this frame, from its scroll position to what was done with it.
struct Field {
  const WidgetContext& context;
  const TextFieldOptions& options;
  Layout layout;
  ImVec2 min, size, padding;
  ImGuiID item = 0;
  float scroll_x = 0.0f;
  float* scroll_y = nullptr;  // a long text's scroll position stays with the field, focused or not

  void lay_out(const std::string& text) {
    layout.lines = layout.multi_line ? text_layouts().of(text, *layout.font, layout.width)
                                     : std::vector<TextLine>{{0, text.size()}};
  }
  ImVec2 max() const { return {min.x + size.x, min.y + size.y}; }
  float inner_height() const { return size.y - 2 * padding.y; }
};

// Lays out the text and determines the field's height. Empty lines at the end are scrolled to,
// and take no space.
Field field_at_cursor(const WidgetContext& context, const std::string& text, const TextFieldOptions& options) {
  ImFont* font = options.font    ? options.font
                 : options.mono  ? context.fonts.mono
                 : options.small ? context.fonts.small
                                 : context.fonts.sans;
  const bool multi_line = options.lines > 1;
  const ImVec2 padding{context.px(options.small ? 7.0f : 8.0f), context.px(options.small ? 3.0f : 7.0f)};
  const float width =
      std::max(options.width > 0.0f ? options.width : ImGui::GetContentRegionAvail().x, context.px(20));
  const ImVec2 min = ImGui::GetCursorScreenPos();
  Field field{context, options, {}, min, {}, padding};
  field.layout = {font,
                  font->FontSize + (multi_line ? context.px(4) : 0.0f),
                  {min.x + padding.x, min.y + padding.y},
                  width - 2 * padding.x,
                  multi_line,
                  options.align_right && !multi_line,
                  {}};
  field.lay_out(text);
  const std::size_t written = text.find_last_not_of(" \t\r\n");
  const std::size_t filled = written == std::string::npos ? 1 : line_of(field.layout.lines, written) + 1;
  const float lines =
      float(std::clamp<std::size_t>(filled, multi_line ? 2 : 1, static_cast<std::size_t>(options.lines)));
  field.size = {width, std::round(lines * field.layout.line_height + 2 * padding.y)};
  return field;
}

bool moving_key_pressed() {
  return std::ranges::any_of(std::array{Key::up, Key::down, Key::left, Key::right, Key::home, Key::end},
                             [](Key key) { return key_pressed(key); });
}

// For a focused field: applies keys and mouse to text and cursor, which stays in view.
void edit(Field& field, std::string& text, TextFieldResult& result) {
  Layout& layout = field.layout;
  FocusOrder& focus = *field.context.focus;
  TextCursor& cursor = focus.cursor;
  keep_inside(cursor, text);
  // Reached by Tab: everything is selected, so that typing replaces it.
  if (focus.moved) cursor = {text.size(), 0};
  move_cursor(layout, text, cursor);
  const bool enter_breaks = layout.multi_line && (!field.options.enter_ends || ImGui::GetIO().KeyShift);
  result.changed = edit_by_keys(layout, text, cursor, enter_breaks);
  result.entered = !enter_breaks && enter_pressed(false);
  if (result.changed) field.lay_out(text);
  field.scroll_x = focus.scroll;
  const bool drags = field.options.draggable && focus.before_press != field.item && !focus.moved &&
                     !ImGui::IsMouseClicked(ImGuiMouseButton_Left);
  if (ImGui::IsItemActive() && !drags) follow_mouse(layout, text, cursor, field.scroll_x, *field.scroll_y);
  const std::size_t line = line_of(layout.lines, cursor.at);
  const float x = layout.width_of(text, layout.lines[line].begin, cursor.at);
  if (!layout.multi_line) field.scroll_x = std::clamp(field.scroll_x, std::max(0.0f, x - layout.width), x);
  focus.scroll = field.scroll_x;
  const float top = float(line) * layout.line_height;
  if (result.changed || moving_key_pressed())
    *field.scroll_y = std::clamp(*field.scroll_y, top + layout.line_height - field.inner_height(), top);
}

// With the mouse wheel, if there is more than the field shows.
void scroll(Field& field, bool hovered) {
  const float line = field.layout.line_height;
  const float overflow = float(field.layout.lines.size()) * line - field.inner_height();
  if (hovered && field.layout.multi_line && overflow > 0.0f) {
    ImGui::SetItemUsingMouseWheel();
    *field.scroll_y -= ImGui::GetIO().MouseWheel * 2 * line;
  }
  *field.scroll_y = std::clamp(*field.scroll_y, 0.0f, std::max(0.0f, overflow));
}

// Draws a dotted line below each marked passage. Returns the mark that the mouse is on.
std::optional<std::size_t> draw_marks(const Field& field, const std::string& text) {
  const WidgetContext& context = field.context;
  const Layout& layout = field.layout;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  std::optional<std::size_t> pointed;
  for (std::size_t i = 0; i < field.options.marks.size(); ++i) {
    const TextMark& mark = field.options.marks[i];
    const std::size_t end = std::min(mark.end, text.size());
    for (std::size_t at = mark.begin; at < end;) {
      const std::size_t number = line_of(layout.lines, at);
      const TextLine& line = layout.lines[number];
      const std::size_t to = std::min(end, line.end);
      if (to <= at) break;
      const float left = layout.origin.x - field.scroll_x + layout.left_of(text, line);
      const float from = std::round(left + layout.width_of(text, line.begin, at));
      const float until = left + layout.width_of(text, line.begin, to);
      const float top = layout.origin.y - *field.scroll_y + float(number) * layout.line_height;
      const float y = std::round(top + layout.font->FontSize + context.px(1));
      const bool shown = y > field.min.y && top < field.max().y;
      if (shown)
        draw_dotted_line(ImGui::GetWindowDrawList(), {from, y}, until, im_color(context.palette.warning),
                         context.scale);
      if (mouse.x >= from && mouse.x < until && mouse.y >= top && mouse.y < top + layout.line_height)
        pointed = i;
      at = to;
    }
  }
  return pointed;
}

// Returns the mark that the mouse is on.
std::optional<std::size_t> draw(const Field& field, const std::string& text, bool focused) {
  const WidgetContext& context = field.context;
  const Layout& layout = field.layout;
  const Painter paint = context.painter();
  const ImVec2 max = field.max();
  const float rounding = context.px(4);
  paint.fill(field.min, max, context.palette.field, rounding);
  const Rgba8 outline = field.options.wrong ? context.palette.error
                        : focused           ? context.palette.text_dim
                                            : context.palette.border;
  paint.outline(field.min, max, outline, std::max(1.0f, std::floor(context.scale)), rounding);
  paint.list->PushClipRect({field.min.x + 1, field.min.y + 1}, {max.x - 1, max.y - 1}, true);
  if (text.empty() && !field.options.placeholder.empty()) {
    const std::string placeholder(field.options.placeholder);
    const float room = layout.width - width_of(layout.font, placeholder);
    const float left = layout.align_right ? std::max(0.0f, room) : 0.0f;
    paint.text(layout.font, {std::round(layout.origin.x + left), std::round(layout.origin.y)},
               context.palette.text_dim, placeholder);
  }
  draw_lines(context, layout, text, {field.scroll_x, *field.scroll_y},
             focused ? &context.focus->cursor : nullptr, field.min, max);
  const std::optional<std::size_t> mark = draw_marks(field, text);
  paint.list->PopClipRect();
  return mark;
}

ImVec2 below_cursor(const Field& field, const std::string& text) {
  const Layout& layout = field.layout;
  const std::size_t at = field.context.focus->cursor.at, number = line_of(layout.lines, at);
  const TextLine& line = layout.lines[number];
  const float x = layout.left_of(text, line) + layout.width_of(text, line.begin, at);
  return {layout.origin.x - field.scroll_x + x,
          layout.origin.y - *field.scroll_y + float(number + 1) * layout.line_height};
}

}  // namespace

TextFieldResult text_field(const WidgetContext& context, const char* id, std::string& text,
                           const TextFieldOptions& options) {
  TextFieldResult result;
  Field field = field_at_cursor(context, text, options);
  ImGui::InvisibleButton(id, field.size);
  field.item = ImGui::GetID(id);
  field.scroll_y = ImGui::GetStateStorage()->GetFloatRef(field.item, 0.0f);
  const bool hovered = ImGui::IsItemHovered();
  const bool typing = context.focus && context.focus->focused == field.item;
  if (hovered)
    ImGui::SetMouseCursor(options.draggable && !typing ? ImGuiMouseCursor_ResizeEW
                                                       : ImGuiMouseCursor_TextInput);
  result.focused = focus_stop(context.focus, field.item, FocusKeys::text);
  if (result.focused) edit(field, text, result);
  scroll(field, hovered);
  const std::optional<std::size_t> mark = draw(field, text, result.focused);
  if (hovered) result.mark = mark;
  if (result.focused) result.below_cursor = below_cursor(field, text);
  return result;
}

}  // namespace headwise
