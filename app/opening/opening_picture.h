// The opening scene as a picture: what is drawn in it, each part with its own opacity, so that it can fade into the stage.
#pragma once

#include <imgui.h>

#include <optional>
#include <string>
#include <vector>

#include "app/content/opening_layout.h"
#include "app/opening/opening_scene.h"
#include "app/widgets/widget_context.h"

namespace headwise {

class OpeningPicture {
 public:
  // The state must have a row, and outlive the picture.
  OpeningPicture(const WidgetContext& context, const OpeningState& state, ImVec2 size);

  // opacity in [0,1]
  void draw_name(ImDrawList* list, float opacity) const;
  void draw_arcs(ImDrawList* list, float opacity) const;
  void draw_words(ImDrawList* list, float opacity) const;
  void draw_weights(ImDrawList* list, float opacity) const;
  void draw_text(ImDrawList* list, float opacity) const;
  // The words and the feet of the arcs on their way to the map; `share` of it is done.
  void draw_flight(ImDrawList* list, const OpeningTarget& target, double share) const;

  const OpeningLayout& layout() const { return layout_; }
  // The word that can be exchanged, with its mark below it; what is below the text, for buttons.
  RectF swap_area() const;
  ImVec2 buttons() const { return buttons_; }  // the middle of their line's top

 private:
  struct Line {
    std::string text;
    ImFont* font;
    bool dim;
    float above;  // space before it, in pixels
  };
  const OpeningRow& row() const { return *state_.row; }
  ImVec2 text_size(const Line& line) const;
  ImFont* word_font(std::size_t word) const;
  Rgba8 word_color(std::size_t word) const;
  double weight(std::size_t word) const;  // swinging from the previous row to this one
  float arc_width(double weight) const;

  const WidgetContext& context_;
  const OpeningState& state_;
  ImVec2 size_;
  ImFont* font_ = nullptr;  // of the sentence
  ImFont* bold_ = nullptr;
  std::vector<Line> lines_;  // below the sentence
  OpeningLayout layout_;
  ImVec2 buttons_;
};

}  // namespace headwise
