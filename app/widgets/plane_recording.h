// Planes of cells are drawn by a shader, behind ImGui's back. Whoever wants a frame as vectors has them recorded instead.
#pragma once

#include <imgui.h>

#include <vector>

#include "core/picture/picture.h"

namespace headwise {

struct PlaneRecording {
  std::vector<std::vector<PlaneItem>> batches;  // in the order in which they were drawn
};

// Where planes are recorded from now on, and then not drawn; null: they are drawn. Whoever sets it takes it back.
void record_planes(PlaneRecording* recording);
PlaneRecording* plane_recording();

// What stands in a draw list in the place of recorded planes; its user data is the number of the batch.
void recorded_planes(const ImDrawList*, const ImDrawCmd*);

}  // namespace headwise
