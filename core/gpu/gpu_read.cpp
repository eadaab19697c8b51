#include "core/gpu/gpu_read.h"

#include <algorithm>
#include <array>

#include "core/gpu/gpu_faults.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr Index numbers_at_once = Index{1} << 20;
constexpr GLuint64 nanoseconds_between_questions = 1'000'000;

// Also unmaps if what takes the bytes throws.
struct Mapped {
  GLuint name;
  ~Mapped() {
    glBindBuffer(GL_COPY_WRITE_BUFFER, name);
    glUnmapBuffer(GL_COPY_WRITE_BUFFER);
  }
};

}  // namespace

ReadbackBuffer::ReadbackBuffer(Index words) : buffer_("numbers read back") {
  glBindBuffer(GL_COPY_WRITE_BUFFER, buffer_.name());
  glBufferData(GL_COPY_WRITE_BUFFER, static_cast<GLsizeiptr>(4 * words), nullptr, GL_STREAM_READ);
}

void ReadbackBuffer::forget() {
  if (fence_ != nullptr) glDeleteSync(fence_);
  fence_ = nullptr;
}

void ReadbackBuffer::fetch(const StorageBuffer& from, Index first, Index count) {
  glBindBuffer(GL_COPY_WRITE_BUFFER, buffer_.name());
  from.copy_to(GL_COPY_WRITE_BUFFER, first, count);
  forget();
  fence_ = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
  glFlush();
  fetched_ = static_cast<GLsizeiptr>(4 * count);
}

// The fence is needed: right after a dispatch NVIDIA's driver (580.159) let glGetBufferSubData read what was
// there before the copy.
void ReadbackBuffer::hand_over(const std::function<void(std::span<const std::byte>)>& take,
                               const std::function<void()>& while_waiting) {
  while (glClientWaitSync(fence_, 0, nanoseconds_between_questions) == GL_TIMEOUT_EXPIRED) while_waiting();
  while_waiting();
  check_gpu();
  glBindBuffer(GL_COPY_WRITE_BUFFER, buffer_.name());
  const void* const data = glMapBufferRange(GL_COPY_WRITE_BUFFER, 0, fetched_, GL_MAP_READ_BIT);
  if (data == nullptr) {
    check_gpu();
    throw Error(ExitStatus::no_display, {.where = "gl", .what = "what the GPU computed cannot be read"});
  }
  const Mapped mapped{buffer_.name()};
  take({static_cast<const std::byte*>(data), static_cast<std::size_t>(fetched_)});
}

void read_back(const StorageBuffer& from, Index size,
               const std::function<void(Index piece, std::span<const float> numbers)>& take) {
  if (from.count() == 0) return;
  const Index room = std::min(size, from.count()), pieces = (from.count() + size - 1) / size;
  std::array<ReadbackBuffer, 2> readbacks{ReadbackBuffer(room), ReadbackBuffer(pieces > 1 ? room : 1)};
  check_gpu();
  const auto fetch = [&](Index piece) {
    readbacks[static_cast<std::size_t>(piece % 2)].fetch(from, piece * size,
                                                         std::min(size, from.count() - piece * size));
  };
  fetch(0);
  for (Index piece = 0; piece < pieces; ++piece) {
    if (piece + 1 < pieces) fetch(piece + 1);
    readbacks[static_cast<std::size_t>(piece % 2)].hand_over(
        [&](std::span<const std::byte> bytes) {
          take(piece, {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)});
        },
        check_cancelled);
  }
}

void read_back(const StorageBuffer& from, std::span<float> to) {
  read_back(from, numbers_at_once, [&](Index piece, std::span<const float> numbers) {
    std::ranges::copy(numbers, to.begin() + piece * numbers_at_once);
  });
}

}  // namespace headwise
