#include "app/window/hall_type.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/widgets/controls.h"
#include "app/window/answer_bars.h"
#include "app/window/page_answers.h"
#include "app/window/page_place.h"

namespace headwise {
namespace {

constexpr float beside_option = 12;  // design units, as app/widgets/controls.cpp draws it

}  // namespace

Type heading_type(const Fonts& fonts, float scale, const HallType& type, const std::string& title) {
  const Type bold = type_at(fonts, scale, type.title, title, true),
             plain = type_at(fonts, scale, type.title, title);
  return plain.size > bold.size ? plain : bold;
}

float hall_words_height(const Fonts& fonts, float scale, float width, const HallType& type,
                        const PlaylistWalk& walk) {
  const float wrap = words_beside_bars(scale, width, walk), spacing = ImGui::GetStyle().ItemSpacing.y;
  const auto height = [&](const std::string& text) {
    return size_in(type_at(fonts, scale, type.words, text), wrap, text).y;
  };
  const std::string& title = walk.shown()->title;
  float all = 0.0f;
  if (!title.empty())
    all += size_in(heading_type(fonts, scale, type, title), wrap, title).y + below_title * scale + spacing;
  if (!walk.words.ask.empty()) all += height(walk.words.ask) + below_question * scale + spacing;
  for (const auto& [words, way_back, place] : stage_differences(walk, true))
    all += height(words) + spacing + (4 + below_question) * scale +
           button_shape(scale, type_at(fonts, scale, type.words, words), wrap, way_back).size.y + spacing;
  if (const float chart = answer_bars_room(scale, width, walk, true).below; chart > 0.0f)
    all += chart + spacing;
  const float shows =
      button_shape(scale, type_at(fonts, scale, type.words, answer_hint), wrap, answer_hint).size.y;
  if (walk.shown()->answer) all += answer_height_now(fonts, scale, wrap, walk, type.words);
  if (walk.answered)
    all += height(walk.words.caption);
  else if (!walk.shown()->answer)
    all += shows;
  return all;
}

bool hall_type_suits(const Fonts& fonts, float scale, float width, const HallType& type,
                     const PlaylistWalk& walk) {
  const float wrap = words_beside_bars(scale, width, walk), inside = wrap - 2 * beside_option * scale;
  const std::string& title = walk.shown()->title;
  const Type heading = heading_type(fonts, scale, type, title);
  const auto suits = [&](const std::string& text, float room) {
    const Type words = type_at(fonts, scale, type.words, text);
    return words.size >= std::round(type.words * scale) && (title.empty() || heading.size > words.size) &&
           widest_word(words, text) <= room;
  };
  return widest_word(heading, title) <= wrap && suits(walk.words.ask, wrap) &&
         suits(walk.answered ? walk.words.caption : "", wrap) && suits(answer_words_now(walk), inside);
}

HallType hall_type(const Fonts& fonts, float scale, float width, float height, const PlaylistWalk& walk) {
  for (const HallType& type : hall_types)
    if (hall_type_suits(fonts, scale, width, type, walk) &&
        hall_words_height(fonts, scale, width, type, walk) <= height)
      return type;
  return hall_types.back();
}

}  // namespace headwise
