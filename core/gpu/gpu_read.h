// Reads numbers back from the GPU without blocking in the driver: they are copied to memory visible to both,
// behind a fence, while the previous piece is processed.
#pragma once

#include <epoxy/gl.h>

#include <functional>
#include <span>

#include "core/gpu/object.h"
#include "core/gpu/storage_buffer.h"

namespace headwise {

// Memory that the GPU writes and the CPU reads, and the fence between the two.
class ReadbackBuffer {
 public:
  explicit ReadbackBuffer(Index words);  // of 32 bits
  ~ReadbackBuffer() { forget(); }
  ReadbackBuffer(const ReadbackBuffer&) = delete;
  ReadbackBuffer& operator=(const ReadbackBuffer&) = delete;

  // Begins to copy words [first, first + count) of `from`, after everything dispatched; they fit in.
  void fetch(const StorageBuffer& from, Index first, Index count);
  // Waits for what was fetched and hands it over: `bytes` is invalid once `take` returns. `while_waiting` is
  // called at least once, and may throw. Throws what check_gpu() throws (core/gpu/gpu_faults.h).
  void hand_over(
      const std::function<void(std::span<const std::byte> bytes)>& take,
      const std::function<void()>& while_waiting = [] {});

 private:
  void forget();

  gl::Object<gl::BufferKind<GL_COPY_WRITE_BUFFER>> buffer_;
  GLsync fence_ = nullptr;
  GLsizeiptr fetched_ = 0;  // bytes
};

// Calls take(i, numbers) for the pieces [i·size, (i+1)·size) of `from`, in order; the last one may be
// shorter. `numbers` is invalid once it returns. Throws Error(cancelled), what check_gpu() throws
// (core/gpu/gpu_faults.h), and what `take` throws.
void read_back(const StorageBuffer& from, Index size,
               const std::function<void(Index piece, std::span<const float> numbers)>& take);

// Reads all of it; `to` has from.count() numbers.
void read_back(const StorageBuffer& from, std::span<float> to);

}  // namespace headwise
