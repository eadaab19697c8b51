#include "app/widgets/drop_down.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/widgets/focus_order.h"
#include "app/widgets/text_edit.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

// Design units
constexpr float chip_height = 24.0f, chip_padding = 7.0f, arrow_room = 15.0f;
constexpr float listed_height = 22.0f, list_padding = 6.0f, least_list_width = 120.0f;
constexpr int most_lines = 17;       // at once; the rest is scrolled to
constexpr float least_lines = 6.0f;  // with these a list below the chip is high enough

// A line of the list: a word, or the caption above a group.
struct ListLine {
  std::string_view text;
  bool caption = false;
};

struct Listed {
  std::vector<ListLine> lines;
  std::vector<std::size_t> words;  // the lines that are words
};

// Words are compared so: "qk" finds "QK-norm".
std::string in_small_letters(std::string text) {
  for (char& letter : text)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return text;
}

Listed listed(std::span<const DropDownGroup> groups, const std::string& filter) {
  Listed list;
  for (const DropDownGroup& group : groups) {
    bool captioned = group.caption.empty();
    for (const std::string& word : group.words) {
      if (in_small_letters(word).find(filter) == std::string::npos) continue;
      if (!std::exchange(captioned, true)) list.lines.push_back({group.caption, true});
      list.words.push_back(list.lines.size());
      list.lines.push_back({word, false});
    }
  }
  return list;
}

// What is typed filters: the first word that begins so is lit, else the first that contains it.
void filter_by_keys(std::span<const DropDownGroup> groups, DropDownState& state) {
  const std::string before = state.filter;
  if (key_pressed(Key::backspace)) state.filter.resize(previous_character(state.filter, state.filter.size()));
  for (const ImWchar typed : ImGui::GetIO().InputQueueCharacters) {
    const bool leading_space = typed == ' ' && state.filter.empty();
    if (typed < 0x20 || typed == 0x7F || leading_space) continue;
    append_utf8(state.filter, typed);
  }
  state.filter = in_small_letters(std::move(state.filter));
  if (state.filter == before) return;
  const Listed list = listed(groups, state.filter);
  const auto first = std::ranges::find_if(list.words, [&](std::size_t line) {
    return in_small_letters(std::string(list.lines[line].text)).starts_with(state.filter);
  });
  state.lit = first == list.words.end() ? 0 : static_cast<std::size_t>(first - list.words.begin());
  state.scroll_to = true;
}

void move_by_keys_in_list(std::size_t count, DropDownState& state) {
  if (count == 0) return;
  const std::size_t last = count - 1, before = state.lit, page = most_lines - 1;
  if (key_pressed(Key::down)) state.lit = (state.lit + 1) % count;
  if (key_pressed(Key::up)) state.lit = (state.lit + last) % count;
  if (key_pressed(Key::page_down)) state.lit = std::min(last, state.lit + page);
  if (key_pressed(Key::page_up)) state.lit -= std::min(state.lit, page);
  if (key_pressed(Key::home)) state.lit = 0;
  if (key_pressed(Key::end)) state.lit = last;
  if (state.lit != before) state.scroll_to = true;
}

void draw_list_text(const WidgetContext& context, ImFont* font, ImVec2 min, float height, Rgba8 color,
                    std::string_view text) {
  const float y = std::round(min.y + 0.5f * (height - font->FontSize));
  context.painter().text(font, {std::round(min.x + context.px(list_padding)), y}, color, text);
}

// The word that was clicked, if any. The lit one follows the mouse while that moves.
std::optional<std::string> draw_lines_of_list(const WidgetContext& context, const char* id, const Listed& list,
                                              const std::string& word, float width, DropDownState& state) {
  std::optional<std::string> clicked;
  const float height = std::round(context.px(listed_height));
  const ImVec2 moved = ImGui::GetIO().MouseDelta;
  std::size_t number = 0;  // of the word
  for (const ListLine& line : list.lines) {
    const ImVec2 min = ImGui::GetCursorScreenPos();
    if (line.caption) {
      ImGui::Dummy({width, height});
      draw_list_text(context, context.fonts.small, min, height, context.palette.text_dim, line.text);
      continue;
    }
    const std::string name(line.text);
    const bool pressed = ImGui::InvisibleButton(name.c_str(), {width, height});
    ui_probe_item(std::string(id) + "/" + name);
    const bool hovered = ImGui::IsItemHovered();
    if (hovered && (moved.x != 0.0f || moved.y != 0.0f)) state.lit = number;
    if (pressed) clicked = name;
    const ImVec2 max{min.x + width, min.y + height};
    if (number == state.lit) context.painter().fill(min, max, context.palette.control_hover, context.px(4));
    draw_list_text(context, context.fonts.sans, min, height,
                   line.text == word ? context.palette.focus : context.palette.text, line.text);
    ++number;
  }
  return clicked;
}

// Below the chip, as high as there is room; above it where that is too little.
void place_list(const WidgetContext& context, ImVec2 min, ImVec2 max, ImVec2 size) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float gap = context.px(3);
  const float below = screen.y - max.y - 2 * gap, above = min.y - 2 * gap;
  const float least = least_lines * context.px(listed_height);
  const bool down = below >= std::min(size.y, least) || below >= above;
  size.y = std::max(1.0f, std::min(size.y, down ? below : above));
  const float x = std::clamp(min.x, 0.0f, std::max(0.0f, screen.x - size.x));
  ImGui::SetNextWindowPos({x, down ? max.y + gap : min.y - gap - size.y});
  ImGui::SetNextWindowSize(size);
}

float list_width(const WidgetContext& context, std::span<const DropDownGroup> groups, float chip) {
  float widest = context.px(least_list_width - 2 * list_padding);
  for (const DropDownGroup& group : groups) {
    widest = std::max(widest, width_of(context.fonts.small, group.caption));
    for (const std::string& word : group.words) widest = std::max(widest, width_of(context.fonts.sans, word));
  }
  return std::ceil(std::max(chip, widest + context.px(2 * list_padding) + ImGui::GetStyle().ScrollbarSize));
}

// The open list in its popup; the word that was chosen in this frame.
std::optional<std::string> draw_open_list(const WidgetContext& context, const char* id,
                                          const std::string& word, std::span<const DropDownGroup> groups,
                                          float width, DropDownState& state) {
  if (context.focus) context.focus->next_list = KeyedList::filtered;
  // What opened it is not meant for it.
  const bool appearing = ImGui::IsWindowAppearing();
  if (!appearing) filter_by_keys(groups, state);
  const Listed list = listed(groups, state.filter);
  if (!appearing) move_by_keys_in_list(list.words.size(), state);
  state.lit = std::min(state.lit, list.words.empty() ? 0 : list.words.size() - 1);
  const float height = std::round(context.px(listed_height));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool filtered = !state.filter.empty();
  draw_list_text(context, context.fonts.small, at, height,
                 filtered && list.words.empty() ? context.palette.error : context.palette.text_dim,
                 filtered ? state.filter : "type to filter");
  ImGui::Dummy({width, height});
  ui_probe_item(std::string(id) + "/filter");
  const float room = ImGui::GetContentRegionAvail().y;
  if (filtered && list.words.empty()) {
    const ImVec2 below = ImGui::GetCursorScreenPos();
    draw_list_text(context, context.fonts.small, below, height, context.palette.text_dim, "nothing matches");
    ui_probe(std::string(id) + "/nothing", below, {below.x + width, below.y + height});
  }
  ImGui::BeginChild("words", {0, room}, false, ImGuiWindowFlags_NoNav);
  if (std::exchange(state.scroll_to, false) && !list.words.empty()) {
    const float top = float(list.words[state.lit]) * height;
    ImGui::SetScrollY(std::clamp(ImGui::GetScrollY(), std::max(0.0f, top + height - room), top));
  }
  std::optional<std::string> chosen =
      draw_lines_of_list(context, id, list, word, std::max(1.0f, ImGui::GetContentRegionAvail().x), state);
  ImGui::EndChild();
  const bool enter = key_pressed(Key::enter, false) || key_pressed(Key::keypad_enter, false);
  if (!appearing && enter && state.lit < list.words.size())
    chosen = std::string(list.lines[list.words[state.lit]].text);
  return chosen;
}

// The word that the arrow keys lead to from this one.
std::optional<std::string> stepped_to(std::span<const DropDownGroup> groups, const std::string& word) {
  std::vector<std::string> words;
  for (const DropDownGroup& group : groups) words.insert(words.end(), group.words.begin(), group.words.end());
  if (words.empty()) return std::nullopt;
  const auto at = std::ranges::find(words, word) - words.begin(), last = std::ssize(words) - 1;
  auto to = at;
  if (key_pressed(Key::up) || key_pressed(Key::left)) to = at - 1;
  if (key_pressed(Key::down) || key_pressed(Key::right)) to = at > last ? 0 : at + 1;
  if (key_pressed(Key::home)) to = 0;
  if (key_pressed(Key::end)) to = last;
  if (to == at) return std::nullopt;
  to = std::clamp<std::ptrdiff_t>(to, 0, last);
  return to == at ? std::nullopt : std::optional(words[static_cast<std::size_t>(to)]);
}

void draw_chip(const WidgetContext& context, ImVec2 min, ImVec2 max, const std::string& word, bool hovered) {
  const Palette& palette = context.palette;
  const Painter paint = context.painter();
  const float rounding = context.px(4);
  paint.fill(min, max, hovered ? palette.control_hover : palette.control, rounding);
  paint.outline(min, max, palette.border, std::max(1.0f, std::floor(context.scale)), rounding);
  ImFont* font = context.fonts.sans;
  paint.text(
      font, {std::round(min.x + context.px(chip_padding)), std::round(0.5f * (min.y + max.y - font->FontSize))},
      palette.text, word);
  const float r = std::round(context.px(3.5f));
  const ImVec2 c{std::round(max.x - context.px(chip_padding) - r), std::round(0.5f * (min.y + max.y))};
  paint.list->AddTriangleFilled({c.x - r, c.y - 0.6f * r}, {c.x + r, c.y - 0.6f * r}, {c.x, c.y + 0.8f * r},
                                im_color(palette.text_dim));
}

}  // namespace

ImVec2 drop_down_size(const WidgetContext& context, const std::string& word) {
  return {std::ceil(width_of(context.fonts.sans, word) + context.px(2 * chip_padding + arrow_room)),
          std::round(context.px(chip_height))};
}

DropDownResult drop_down(const WidgetContext& context, const char* id, const std::string& word,
                         std::span<const DropDownGroup> groups, DropDownState& state) {
  const ImVec2 min = ImGui::GetCursorScreenPos(), size = drop_down_size(context, word);
  const ImVec2 max{min.x + size.x, min.y + size.y};
  DropDownResult result;
  bool open = ImGui::InvisibleButton(id, size);
  ui_probe_item(id);
  draw_chip(context, min, max, word, ImGui::IsItemHovered());
  if (focus_stop(context.focus, ImGui::GetID(id), FocusKeys::choose)) {
    open |= press_key_pressed();
    result.chosen = stepped_to(groups, word);
    result.stepped = result.chosen.has_value();
  }
  const std::string name = std::string(id) + "/list";
  if (open && !groups.empty()) {
    state = {};
    const Listed all = listed(groups, "");
    for (std::size_t i = 0; i < all.words.size(); ++i)
      if (all.lines[all.words[i]].text == word) state.lit = i;
    state.scroll_to = true;
    ImGui::OpenPopup(name.c_str());
  }
  if (!ImGui::IsPopupOpen(name.c_str())) return result;
  const std::size_t lines = listed(groups, "").lines.size();
  const float padding = std::round(context.px(list_padding));
  const auto shown = float(std::min<std::size_t>(lines, most_lines) + 1);
  const float width = list_width(context, groups, size.x);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {padding, padding});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  place_list(context, min, max,
             {width + 2 * padding, shown * std::round(context.px(listed_height)) + 2 * padding});
  if (ImGui::BeginPopup(name.c_str(),
                        ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoScrollbar)) {
    const std::optional<std::string> chosen = draw_open_list(context, id, word, groups, width, state);
    if (chosen) ImGui::CloseCurrentPopup();
    if (chosen) result = {chosen, false};
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar(2);
  return result;
}

}  // namespace headwise
