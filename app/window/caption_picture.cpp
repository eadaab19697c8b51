#include "app/window/caption_picture.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/widgets/large_type.h"
#include "app/window/answer_bars.h"
#include "app/window/hall_type.h"
#include "app/window/page_answers.h"
#include "app/window/page_place.h"

namespace headwise {
namespace {

// "1   at itself", a line for each option.
std::string options_in_picture(const PlaylistWalk& walk) {
  std::string lines;
  for (std::size_t i = 0; i < walk.words.options.size(); ++i)
    lines += fmt::format("{}{}   {}", i == 0 ? "" : "\n", i + 1, walk.words.options[i]);
  return lines;
}

// A slide tells no one person's answer, but what is right. Bars are drawn beside it.
std::string verdict_in_picture(const PlaylistWalk& walk) {
  const PlaylistPage& page = *walk.shown();
  return page.answer && !page.ask.empty() ? right_answer(walk) : "";
}

std::string change_in_picture(const PlaylistWalk& walk) {
  for (const StageDifference& difference : stage_differences(walk, false))
    if (!difference.place) return difference.words;
  return "";
}

struct PictureText {
  std::string text;
  ImFont* font;
  bool dim = false;
};

// The question, then the answer, or the options that the page asks to choose from; one below the other.
std::vector<PictureText> texts_in_picture(const Fonts& fonts, const PlaylistWalk& walk) {
  const bool asks = walk.asking();
  std::vector<PictureText> texts{{walk.words.ask, fonts.caption, !asks}};
  if (asks) {
    texts.push_back({options_in_picture(walk), fonts.sans});
  } else {
    texts.push_back({verdict_in_picture(walk), fonts.caption});
    texts.push_back({walk.words.caption, fonts.caption});
  }
  texts.push_back({change_in_picture(walk), fonts.caption, true});
  std::erase_if(texts, [](const PictureText& each) { return each.text.empty(); });
  return texts;
}

}  // namespace

float caption_words_height(const Fonts& fonts, float scale, float whole_width, const PlaylistWalk& walk) {
  const float width = words_beside_bars(scale, whole_width, walk), gap = std::round(below_question * scale);
  float height = 0.0f;
  for (const PictureText& each : texts_in_picture(fonts, walk))
    height += (height > 0.0f ? gap : 0.0f) + size_in(own_size(each.font), width, each.text).y;
  const BarsRoom chart = answer_bars_room(scale, whole_width, walk);
  return std::max(height, chart.beside > 0.0f ? chart.height : 0.0f);
}

void draw_caption_words(const PanelContext& context, float whole_width, PlaylistWalk& walk) {
  ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = words_beside_bars(context.scale, whole_width, walk);
  if (const BarsRoom chart = answer_bars_room(context.scale, whole_width, walk); chart.beside > 0.0f) {
    ImGui::SetCursorScreenPos({at.x + whole_width - chart.beside, at.y});
    PanelAction none;
    draw_answer_bars(context, walk, {chart.beside, chart.height}, none);
  }
  for (const PictureText& each : texts_in_picture(context.fonts, walk)) {
    const Type type = own_size(each.font);
    draw_text_in(ImGui::GetWindowDrawList(), type, at,
                 im_color(each.dim ? context.palette.text_dim : context.palette.text), width, each.text);
    at.y += size_in(type, width, each.text).y + std::round(below_question * context.scale);
  }
}

}  // namespace headwise
