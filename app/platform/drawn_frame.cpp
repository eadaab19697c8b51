#include "app/platform/drawn_frame.h"

#include <cstring>

namespace headwise {
namespace {

// Structures have padding with meaningless bytes: their members are added one by one.
class Bytes {
 public:
  explicit Bytes(std::vector<char>& bytes) : bytes_(bytes) { bytes_.clear(); }

  template <class T>
  void add(const T* values, int count) {
    if (count == 0) return;
    const std::size_t at = bytes_.size(), more = sizeof(T) * static_cast<std::size_t>(count);
    bytes_.resize(at + more);
    std::memcpy(bytes_.data() + at, values, more);
  }
  template <class... T>
  void add_all(const T&... values) {
    (add(&values, 1), ...);
  }

 private:
  std::vector<char>& bytes_;
};

}  // namespace

bool DrawnFrame::as_before(const ImDrawData& shapes, ImVec4 ground, std::span<const GroundRect> grounds,
                           bool callbacks_as_before) {
  Bytes bytes(now_);
  bytes.add_all(shapes.DisplayPos, shapes.DisplaySize, shapes.FramebufferScale, ground, grounds.size());
  for (const GroundRect& rect : grounds) bytes.add_all(rect.x, rect.y, rect.width, rect.height, rect.color);
  bool calls = false;
  for (int i = 0; i < shapes.CmdListsCount; ++i) {
    const ImDrawList& list = *shapes.CmdLists[i];
    bytes.add_all(list.CmdBuffer.Size, list.IdxBuffer.Size, list.VtxBuffer.Size);
    for (const ImDrawCmd& command : list.CmdBuffer) {
      bytes.add_all(command.ClipRect, command.TextureId, command.VtxOffset, command.IdxOffset,
                    command.ElemCount, command.UserCallback);
      calls = calls || (command.UserCallback && command.UserCallback != ImDrawCallback_ResetRenderState);
    }
    bytes.add(list.IdxBuffer.Data, list.IdxBuffer.Size);
    bytes.add(list.VtxBuffer.Data, list.VtxBuffer.Size);
  }
  const bool same = now_ == before_;
  now_.swap(before_);
  return same && (callbacks_as_before || !calls);
}

}  // namespace headwise
