#include "app/widgets/plane_recording.h"

namespace headwise {
namespace {

PlaneRecording* active = nullptr;

}  // namespace

void record_planes(PlaneRecording* recording) {
  active = recording;
}

PlaneRecording* plane_recording() {
  return active;
}

void recorded_planes(const ImDrawList*, const ImDrawCmd*) {}

}  // namespace headwise
