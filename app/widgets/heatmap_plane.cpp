#include "app/widgets/heatmap_plane.h"

#include <algorithm>
#include <cmath>

namespace headwise {
namespace {

PlaneRecording* active = nullptr;

PixelRect to_pixels(ImVec2 min, ImVec2 max) {
  // Far outside any screen, and still within an int.
  const auto pixel = [](float x) { return static_cast<int>(std::round(std::clamp(x, -1e8f, 1e8f))); };
  return {pixel(min.x), pixel(min.y), pixel(max.x), pixel(max.y)};
}

// ImGui calls this while it draws the frame.
void draw_batch(const ImDrawList*, const ImDrawCmd* command) {
  const auto& batch = *static_cast<const HeatmapRenderer::Batch*>(command->UserCallbackData);
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const ImVec4& clip = command->ClipRect;
  batch.renderer->draw(batch, static_cast<int>(size.x), static_cast<int>(size.y),
                       to_pixels(ImVec2(clip.x, clip.y), ImVec2(clip.z, clip.w)));
}

// Rounded as in the renderer.
void record(PlaneRecording& recording, ImDrawList* list, std::span<const HeatmapPlane> planes) {
  list->AddCallback(recorded_planes, reinterpret_cast<void*>(recording.batches.size()));
  std::vector<PlaneItem>& batch = recording.batches.emplace_back();
  for (const HeatmapPlane& plane : planes) {
    if (!(plane.max.x > plane.min.x && plane.max.y > plane.min.y)) continue;
    const double x = std::round(plane.min.x), y = std::round(plane.min.y);
    batch.push_back({{x, y, std::round(plane.max.x) - x, std::round(plane.max.y) - y}, *plane.spec});
  }
}

}  // namespace

void record_planes(PlaneRecording* recording) {
  active = recording;
}

PlaneRecording* plane_recording() {
  return active;
}

void recorded_planes(const ImDrawList*, const ImDrawCmd*) {}

void draw_heatmap_planes(ImDrawList* list, HeatmapRenderer& renderer, std::span<const HeatmapPlane> planes) {
  if (PlaneRecording* recording = plane_recording()) return record(*recording, list, planes);
  HeatmapRenderer::Batch& batch = renderer.new_batch(ImGui::GetFrameCount());
  const PixelRect clip = to_pixels(list->GetClipRectMin(), list->GetClipRectMax());
  for (const HeatmapPlane& plane : planes)
    // Written so that a corner that is NaN draws nothing.
    if (plane.max.x > plane.min.x && plane.max.y > plane.min.y)
      renderer.add(batch, *plane.spec, to_pixels(plane.min, plane.max), clip);
  if (batch.tiles.empty()) return;
  list->AddCallback(draw_batch, &batch);
  list->AddCallback(ImDrawCallback_ResetRenderState, nullptr);
  // ImGui 1.86 asserts when it dims the background of a dialog whose list ends in a callback: end it with a
  // rectangle that is always clipped.
  list->AddRectFilled({-2, -2}, {-1, -1}, IM_COL32_BLACK);
}

void draw_heatmap_plane(ImDrawList* list, HeatmapRenderer& renderer, const HeatmapSpec& spec, ImVec2 min,
                        ImVec2 max) {
  const HeatmapPlane plane = {&spec, min, max};
  draw_heatmap_planes(list, renderer, {&plane, 1});
}

}  // namespace headwise
