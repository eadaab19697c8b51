#include "app/window/stage_pictures.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <imgui.h>

#include "app/content/stage_views.h"
#include "app/lesson/answer_kinds.h"
#include "app/lesson/page_answers.h"
#include "app/lesson/page_flow.h"
#include "app/lesson/page_place.h"
#include "app/widgets/draw_data_vectors.h"
#include "app/widgets/heatmap_view.h"
#include "app/widgets/palette.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/ui_probe.h"
#include "app/window/frame_snapshot.h"
#include "core/export/vector_canvas.h"

namespace headwise {
namespace {

// The text of the page below its picture.

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

// At the cursor, `whole_width` pixels wide; returns their height, for which nothing need be drawn. With the
// answer, or, while the page asks, with its options instead; the title is that of the stage above it. A page
// must be shown.
float put_caption_words(const PanelContext& context, float whole_width, PlaylistWalk& walk, bool draws) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = words_beside_bars(context.scale, whole_width, walk);
  const BarsRoom chart = answer_bars_room(context.scale, whole_width, walk);
  if (draws && chart.beside > 0.0f) {
    ImGui::SetCursorScreenPos({at.x + whole_width - chart.beside, at.y});
    draw_answer_bars(context, walk, {chart.beside, chart.height});
  }
  float height = 0.0f;
  for (const PictureText& each : texts_in_picture(context.fonts, walk)) {
    if (height > 0.0f) height += std::round(below_question * context.scale);
    if (draws)
      draw_text_in(ImGui::GetWindowDrawList(), each.font, {at.x, at.y + height},
                   im_color(each.dim ? context.palette.text_dim : context.palette.text), width, each.text);
    height += size_in(each.font, width, each.text).y;
  }
  return std::max(height, chart.beside > 0.0f ? chart.height : 0.0f);
}

// A picture measures this many units, whatever its pixels; more pixels make it sharper.
constexpr double units_wide = 1000, units_high = 580;
constexpr float smallest_scale = 0.25f, largest_scale = 6.0f;
constexpr float margin = 26, gap = 16, frame_room = 5;  // design units
constexpr double highest_picture_caption = 0.4;         // of the picture

// 25 pictures per second, a little slower than on the screen: an audience sees it for the first time.
constexpr int milliseconds_each = 40, milliseconds_before = 500, milliseconds_after = 2000;

float picture_scale(int width, int height, Theme theme) {
  const double fits = std::min(width / units_wide, height / units_high);
  return std::clamp(static_cast<float>(fits) * std::sqrt(palette_of(theme).text_size), smallest_scale,
                    largest_scale);
}

// No test may take what is on a picture for what is in the window.
class WithoutProbes {
 public:
  WithoutProbes() : before_(ui_probes()) { set_ui_probes(nullptr); }
  ~WithoutProbes() { set_ui_probes(before_); }
  WithoutProbes(const WithoutProbes&) = delete;
  WithoutProbes& operator=(const WithoutProbes&) = delete;

 private:
  UiProbes* before_;
};

template <class T>
class Restored {
 public:
  explicit Restored(T& value) : value_(value), before_(value) {}
  ~Restored() { value_ = std::move(before_); }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;

 private:
  T& value_;
  T before_;
};

}  // namespace

std::string no_motion(const Selection& selection, const Trace& trace) {
  if (selection.step == Step::inputs) return "The inputs are the first step: nothing moves into them.";
  if (stage_view_entry(selection.view).motion != StepMotion::shown)
    return "Only the views One head and All heads are animated.";
  return step_pictures(selection.step, trace).empty() ? "This step has nothing to show." : "";
}

StagePictures::StagePictures(int width, int height, Theme theme, Look look)
    : theme_(theme), look_(look), surface_(width, height, picture_scale(width, height, theme)) {}

void StagePictures::draw(WindowState& window, const Fonts& fonts, float scale) {
  WindowDocument& document = window.document;
  FrameSnapshot looked(window);
  looked.selection.hovered.reset();
  looked.add_gradients(window);
  looked.add_comparison_target(document);
  looked.add_predictions(document);
  double wake_after = 0.0;
  PanelContext context = looked.context(window.view, heatmaps_, fonts, scale, wake_after);
  context.picture = true;
  context.right_head = right_head(document.walk);
  context.right_cells = right_cells(document.walk);
  AnswerMask* painted = answer_mask(document.walk);
  std::optional<AnswerMask> shown_mask;  // a picture paints nothing
  if (painted) context.answer_mask = &shown_mask.emplace(*painted);
  context.focus = nullptr;
  context.pointed = nullptr;
  context.pointing = nullptr;
  apply_style(context.palette, scale);

  const auto px = [scale](float units) { return std::round(units * scale); };
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const float width = size.x - 2 * px(margin);
  // Away from the page's place neither its title nor its words say what the stage shows.
  const bool of_page = document.walk.page && !document.walk.departure;
  float caption = of_page ? put_caption_words(context, width, document.walk, false) : 0.0f;
  caption = std::min(caption, static_cast<float>(highest_picture_caption) * size.y);
  const float stage_height = size.y - 2 * px(margin) - (caption > 0.0f ? caption + px(gap) : 0.0f);
  constexpr ImGuiWindowFlags bare = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                    ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBackground |
                                    ImGuiWindowFlags_NoNav;
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0.0f);
  ImGui::Begin("picture", nullptr, bare);
  if (width >= 1 && stage_height >= 1) {
    // The frame of a map at the edge of the stage extends slightly beyond it.
    const float frame = px(frame_room);
    ImGui::SetCursorScreenPos({px(margin) - frame, px(margin) - frame});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {frame, frame});
    ImGui::BeginChild("stage", {width + 2 * frame, stage_height + 2 * frame}, false,
                      bare | ImGuiWindowFlags_AlwaysUseWindowPadding);
    ImGui::PopStyleVar();
    stage_.title = of_page ? document.walk.shown()->title : "";
    take_choices(stage_, window.view.stage_choices);
    stage_.alone = look_ == Look::presentation;
    draw_stage(context, stage_);
    ImGui::EndChild();
  }
  if (caption > 0.0f) {
    ImGui::SetCursorScreenPos({px(margin), size.y - px(margin) - caption});
    ImGui::BeginChild("caption", {width, caption}, false, bare);
    put_caption_words(context, width, document.walk, true);
    ImGui::EndChild();
  }
  ImGui::End();
  ImGui::PopStyleVar(2);
  // What is still being computed is available in the following frames.
  document.gradients.finish();
  document.comparison_targets.finish();
  document.predictions.finish();
}

Image StagePictures::image(WindowState& window) {
  const WithoutProbes no_probes;
  const Restored theme(window.view.settings.theme);
  window.view.settings.theme = theme_;
  return surface_.image([&](const Fonts& fonts, float scale) { draw(window, fonts, scale); },
                        im_vec4(palette_of(theme_).panel));
}

void StagePictures::draw_vectors(WindowState& window, const BeginCanvas& begin) {
  const WithoutProbes no_probes;
  const Restored theme(window.view.settings.theme);
  window.view.settings.theme = theme_;
  PlaneRecording recording;
  record_planes(&recording);
  const auto draw_recorded = [&](const Fonts& fonts, float scale) {
    recording.batches.clear();
    draw(window, fonts, scale);
  };
  try {
    surface_.shapes(draw_recorded, [&](const ImDrawData& data, const Fonts& fonts) {
      draw_data_vectors(begin(data.DisplaySize.x, data.DisplaySize.y), data, fonts, recording,
                        palette_of(theme_).panel);
    });
  } catch (...) {
    record_planes(nullptr);
    throw;
  }
  record_planes(nullptr);
}

std::string StagePictures::svg(WindowState& window) {
  std::optional<SvgCanvas> canvas;
  draw_vectors(window, [&](double width, double height) -> VectorCanvas& {
    return canvas.emplace(width, height, palette_of(theme_).panel);
  });
  return canvas ? canvas->finish() : "";
}

void StagePictures::add_page(WindowState& window, PdfDocument& document) {
  draw_vectors(window, [&](double width, double height) -> VectorCanvas& {
    return document.begin_page(width, height, palette_of(theme_).panel);
  });
}

std::string StagePictures::pdf(WindowState& window) {
  PdfDocument document;
  add_page(window, document);
  return document.finish();
}

int StagePictures::motion_count(const WindowState& window) {
  return no_motion(window.view.selection, window.document.session.trace()).empty() ? most_motion_pictures : 1;
}

void StagePictures::add_motion_frame(WindowState& window, int which, AnimatedPng& animation) {
  const Restored before(window.view.motion);
  const int moving = motion_count(window) - 1;
  window.view.motion = {};
  if (which > 0) window.view.motion = {static_cast<double>(which - 1) / moving, false};
  animation.add(image(window), which == 0   ? milliseconds_after
                               : which == 1 ? milliseconds_before
                                            : milliseconds_each);
}

std::vector<std::uint8_t> StagePictures::motion(WindowState& window) {
  AnimatedPng animation;
  for (int which = 0; which < motion_count(window); ++which) add_motion_frame(window, which, animation);
  return animation.finish();
}

}  // namespace headwise
