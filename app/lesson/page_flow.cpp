#include "app/lesson/page_flow.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "app/lesson/page_answers.h"
#include "app/session/commands.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr double low_window = 640;     // units, like a projector's window, 1280×720 with its larger text
constexpr float most_large_lines = 3;  // of text in large type, in a low window
constexpr float beside_option = 12;    // design units, as app/widgets/controls.cpp draws it

float spacing() {
  return ImGui::GetStyle().ItemSpacing.y;
}

// In a low window the answer replaces the question, so that the stage keeps those lines.
bool answer_replaces_question(const PageFlow& flow, double window_height) {
  return !flow.hall && window_height < low_window * flow.scale;
}

// In a low window the stage needs the space that long texts would take in large type.
ImFont* words_font(const PageFlow& flow, double window_height, const PlaylistWalk& walk) {
  ImFont* large = flow.fonts.caption;
  if (!answer_replaces_question(flow, window_height)) return large;
  const float longest =
      std::max(size_in(large, flow.wrap, walk.words.ask).y, size_in(large, flow.wrap, walk.words.caption).y);
  return longest > most_large_lines * large->FontSize + 1.0f ? flow.fonts.sans : large;
}

// A title's: bold, unless its letters are to be had larger without.
Type heading_type(const PageFlow& flow, const std::string& title) {
  if (!flow.hall) return flow.fonts.title;
  const Type bold = type_at(flow.fonts, flow.scale, flow.hall->title, title, true),
             plain = type_at(flow.fonts, flow.scale, flow.hall->title, title);
  return plain.size > bold.size ? plain : bold;
}

// Of a page whose question takes no answer.
void put_hint(PageFlow& flow) {
  const ButtonShape shape =
      button_shape(flow.scale, flow.type(flow.fonts.small, answer_hint), flow.wrap, answer_hint);
  if (flow.drawing) {
    const WidgetContext widgets = flow.drawing->context;
    if (wrapped_button(widgets, "caption/answer", answer_hint, shape, ButtonLook::plain))
      flow.drawing->walk.given.done = true;
    named_item(
        widgets, "caption/answer",
        fmt::format("think first; then press this, or {}, to see it", first_key_text(CommandId::next_page)));
  }
  flow.count(shape.size.y);
}

}  // namespace

Type PageFlow::type(ImFont* usual, const std::string& text) const {
  return hall ? type_at(fonts, scale, hall->words, text) : Type(usual);
}

void PageFlow::count(float high) {
  height += below + high;
  below = spacing();
}

void PageFlow::take(float high) {
  if (drawing) ImGui::Dummy({wrap, high});
  count(high);
}

void PageFlow::gap(float units) {
  if (drawing) ImGui::Dummy({1, px(units) - spacing()});
  height += std::exchange(below, 0.0f) + px(units);
}

void PageFlow::text(const Type& words_type, Rgba8 Palette::*ink, const std::string& words) {
  if (drawing)
    draw_text_in(ImGui::GetWindowDrawList(), words_type, ImGui::GetCursorScreenPos(),
                 im_color(drawing->context.palette.*ink), wrap, words);
  take(size_in(words_type, wrap, words).y);
}

// Before a caption while the stage shows something else, or in its place:
// it would be read as if it were about that.
void put_difference(PageFlow& flow, const Type& type, const StageDifference& difference) {
  const float begin = flow.height + flow.below, width = width_in(type, difference.words);
  const ButtonShape shape = button_shape(flow.scale, type, flow.wrap, difference.way_back);
  // Beside its words where that line has room for it, else below them.
  const bool beside = width + flow.px(12) + shape.size.x <= flow.wrap;
  const ImVec2 at = flow.drawing ? ImGui::GetCursorScreenPos() : ImVec2();
  flow.text(type, &Palette::text_dim, difference.words);
  if (!beside || flow.hall) flow.count(shape.size.y);
  flow.keep(begin + flow.px(restore_height));
  if (!flow.drawing) return;
  ui_probe_item(difference.place ? "caption/elsewhere" : "caption/changed");
  ui_text_probe(difference.words, at);
  if (beside)
    ImGui::SetCursorScreenPos(
        {at.x + width + flow.px(12), std::round(at.y + 0.5f * (type.size - shape.size.y))});
  const WidgetContext widgets = flow.drawing->context;
  const char* id = difference.place ? "caption/back_to_page" : "caption/restore";
  if (wrapped_button(widgets, id, difference.way_back, shape, ButtonLook::filled)) {
    if (difference.place)
      flow.drawing->action.returns_to_page = true;
    else
      flow.drawing->action.command = CommandId::restore_page;
  }
  named_item(widgets, id,
             difference.place ? "shows again what this page is about; your changes stay"
                              : label_with_keys(CommandId::restore_page));
}

void put_page_words(PageFlow& flow, const PlaylistWalk& walk, float width, double window_height,
                    PageMoment moment) {
  const PlaylistPage& page = *walk.shown();
  const PlaylistWalk::Words& words = walk.words;
  const auto probe = [&](const char* name) {
    if (flow.drawing) ui_probe_item(name);
  };
  flow.wrap = words_beside_bars(flow.scale, width, walk);
  const BarsRoom bars = answer_bars_room(flow.scale, width, walk, flow.hall != nullptr);
  ImFont* usual = words_font(flow, window_height, walk);
  const bool low = answer_replaces_question(flow, window_height);
  const bool answered = moment != PageMoment::asks;
  if (bars.beside > 0.0f && flow.drawing) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::SetCursorScreenPos({at.x + width - bars.beside, at.y});
    draw_answer_bars(flow.drawing->context, flow.drawing->walk, {bars.beside, bars.height});
    ImGui::SetCursorScreenPos(at);
  }
  if (!page.title.empty()) {
    flow.text(heading_type(flow, page.title), &Palette::text, page.title);
    probe("caption/heading");
    flow.gap(below_title);
  }
  if (!words.ask.empty() && !(low && answered && (!words.caption.empty() || page.answer))) {
    flow.text(flow.type(usual, words.ask), answered ? &Palette::text_dim : &Palette::text, words.ask);
    probe("caption/ask");
    flow.gap(below_question);
  }
  if (bars.below > 0.0f) {
    if (flow.drawing) draw_answer_bars(flow.drawing->context, flow.drawing->walk, {flow.wrap, bars.height});
    flow.count(bars.height);
  }
  const std::vector<StageDifference> differences = stage_differences(walk, flow.hall != nullptr);
  if (moment == PageMoment::left || flow.hall || !walk.has_left())
    for (const StageDifference& difference : differences) {
      put_difference(flow, flow.type(usual, difference.words), difference);
      if (flow.drawing) ImGui::SetCursorPosY(std::round(ImGui::GetCursorPosY() + flow.px(4)));
      flow.keep_more(flow.px(4) + (flow.hall ? flow.px(below_question) : spacing()));
    }
  const auto ink = differences.empty() ? &Palette::text : &Palette::text_dim;
  if (flow.drawing && walk.arrival) {  // it can neither be answered nor judged yet
    if (answered) flow.text(flow.type(usual, words.caption), ink, words.caption);
  } else if (moment == PageMoment::answered) {
    put_answer_verdict(flow, walk, ink);
    flow.text(flow.type(usual, words.caption), ink, words.caption);
    probe("caption/words");
  } else if (moment == PageMoment::asks && page.answer) {
    put_answer_controls(flow, walk);
  } else if (moment == PageMoment::asks && (flow.drawing || flow.hall)) {
    put_hint(flow);
  } else if (moment == PageMoment::asks && low) {
    flow.keep_more(flow.px(restore_height));  // elsewhere the hint has the room of the caption
  }
  if (bars.beside > 0.0f) flow.height = std::max(flow.height, bars.height);
}

bool presentation_type_fits(const Fonts& fonts, float scale, ImVec2 room, const PresentationType& type,
                            const PlaylistWalk& walk) {
  PageFlow flow{fonts, scale, words_beside_bars(scale, room.x, walk), &type};
  const std::string& title = walk.shown()->title;
  const Type heading = heading_type(flow, title);
  const auto suits = [&](const std::string& text, float wide) {
    const Type words = flow.type(nullptr, text);
    return words.size >= std::round(type.words * scale) && (title.empty() || heading.size > words.size) &&
           widest_word(words, text) <= wide;
  };
  if (widest_word(heading, title) > flow.wrap || !suits(walk.words.ask, flow.wrap) ||
      !suits(walk.answered ? walk.words.caption : "", flow.wrap) ||
      !suits(answer_words_now(walk), flow.wrap - 2 * beside_option * scale))
    return false;
  put_page_words(flow, walk, room.x, 0.0, walk.answered ? PageMoment::answered : PageMoment::asks);
  return flow.height <= room.y;
}

PresentationType presentation_type(const Fonts& fonts, float scale, ImVec2 room, const PlaylistWalk& walk) {
  const auto fits = [&](const PresentationType& type) {
    return presentation_type_fits(fonts, scale, room, type, walk);
  };
  const auto largest = std::ranges::find_if(presentation_types, fits);
  return largest == presentation_types.end() ? presentation_types.back() : *largest;
}

}  // namespace headwise
