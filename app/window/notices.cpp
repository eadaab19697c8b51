#include "app/window/notices.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "app/widgets/controls.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr double seconds_to_read = 6.0, seconds_to_read_an_error = 20.0;
constexpr std::size_t most_notices = 2;
constexpr float widest = 420.0f;  // design units

// Draws one notice with its lower edge at `bottom`; returns its upper edge. `pressed` is set if it was
// clicked away. `buttons`, where given, draws a row of them below the text.
float draw_notice(const WidgetContext& context, const char* id, const std::string& text, bool error,
                  const RectF& area, float bottom, bool& pressed, const std::function<void()>& buttons = {}) {
  ImFont* font = context.fonts.small;
  const float padding = context.px(10);
  const float wrap = std::min(context.px(widest), static_cast<float>(area.width) - 4 * padding);
  if (wrap < context.px(60)) return bottom;
  const std::string lines = with_line_breaks(text, font, wrap);
  const ImVec2 text_size = font->CalcTextSizeA(font->FontSize, FLT_MAX, wrap, lines.c_str());
  const float row = buttons ? context.px(26) + padding : 0.0f;
  const ImVec2 size{std::ceil(text_size.x + 2 * padding), std::ceil(text_size.y + row + 2 * padding)};
  // In the corner: the maps and their labels lie left of it.
  const ImVec2 min{std::round(static_cast<float>(area.x + area.width) - size.x - context.px(14)),
                   bottom - size.y};
  ImGui::SetNextWindowPos(min);
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, im_color(buttons ? context.palette.panel : context.palette.control));
  ImGui::PushStyleColor(ImGuiCol_Border, im_color(error ? context.palette.error : context.palette.text_faint));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {padding, padding});
  ImGui::Begin(id, nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoNav);
  ImGui::GetWindowDrawList()->AddText(font, font->FontSize, {min.x + padding, min.y + padding},
                                      im_color(error ? context.palette.error : context.palette.text),
                                      lines.c_str(), nullptr, wrap);
  if (buttons) {
    ImGui::SetCursorScreenPos({min.x + padding, std::round(min.y + text_size.y + 2 * padding)});
    buttons();
  }
  pressed = ImGui::IsWindowHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Left);
  ui_probe(id, min, {min.x + size.x, min.y + size.y});
  ImGui::End();
  ImGui::PopStyleVar();
  ImGui::PopStyleColor(2);
  return min.y - context.px(6);
}

void add(std::vector<Notice>& notices, Notice notice) {
  std::erase_if(notices, [&](const Notice& other) { return other.text == notice.text; });
  notices.push_back(std::move(notice));
  if (notices.size() > most_notices) notices.erase(notices.begin());
}

}  // namespace

void NoticesState::say(std::string text) {
  add(notices, {std::move(text), false, seconds_to_read, false});
}

void NoticesState::complain(std::string text) {
  log.write(text);
  add(notices, {std::move(text), true, seconds_to_read_an_error, false});
}

bool NoticesState::dismiss_all() {
  const bool any = !notices.empty();
  notices.clear();
  return any;
}

std::optional<bool> draw_notices(const WidgetContext& context, NoticesState& state,
                                 const std::string& lasting, const RectF& area, double seconds, bool offers) {
  float bottom = static_cast<float>(area.y + area.height) - context.px(14);
  bool pressed = false;
  std::optional<bool> answer;
  if (const NoticeOffer& offer = state.offer; offers && !offer.text.empty())
    bottom = draw_notice(context, "notice/offer", offer.text, false, area, bottom, pressed, [&] {
      if (text_button(context, "notice/accept", offer.accept)) answer = true;
      ui_probe_item("notice/accept");
      ImGui::SameLine(0, context.px(10));
      if (text_button(context, "notice/decline", offer.decline)) answer = false;
      ui_probe_item("notice/decline");
    });
  if (!lasting.empty()) bottom = draw_notice(context, "notice/lasting", lasting, true, area, bottom, pressed);
  static constexpr const char* ids[most_notices] = {"notice/0", "notice/1"};
  std::vector<bool> gone(state.notices.size(), false);
  for (std::size_t i = state.notices.size(); i-- > 0;) {
    Notice& notice = state.notices[i];
    pressed = false;
    bottom = draw_notice(context, ids[i], notice.text, notice.error, area, bottom, pressed);
    if (std::exchange(notice.shown, true)) notice.seconds_left -= seconds;
    gone[i] = pressed || notice.seconds_left <= 0.0;
    if (context.wake_after)
      *context.wake_after = std::min(*context.wake_after, std::max(notice.seconds_left, 0.0));
  }
  for (std::size_t i = gone.size(); i-- > 0;) {
    if (gone[i]) state.notices.erase(state.notices.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return answer;
}

}  // namespace headwise
