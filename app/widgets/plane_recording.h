// Planes of cells are drawn by a shader, bypassing ImGui. To get a frame as vectors, they are recorded instead.
#pragma once

#include <imgui.h>

#include <vector>

#include "core/picture/picture.h"

namespace headwise {

struct PlaneRecording {
  std::vector<std::vector<PlaneItem>> batches;  // in the order in which they were drawn
};

// Records planes here from now on instead of drawing them; null: they are drawn. Whoever sets it must reset it.
void record_planes(PlaneRecording* recording);
PlaneRecording* plane_recording();

// Stands for recorded planes in a draw list; its user data is the number of the batch.
void recorded_planes(const ImDrawList*, const ImDrawCmd*);

}  // namespace headwise
