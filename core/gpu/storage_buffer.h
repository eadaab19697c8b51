// A buffer of 32-bit numbers in GPU memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/gpu/object.h"
#include "core/tensor/shape.h"

namespace headwise {

class StorageBuffer {
 public:
  StorageBuffer() = default;
  // `count` numbers, initially 0, between guard words. Throws Error(memory) if the GPU has no room. `label`
  // appears in debug messages.
  StorageBuffer(std::string_view label, Index count);

  Index count() const { return count_; }
  Index bytes() const;  // of GPU memory
  explicit operator bool() const { return static_cast<bool>(object_); }

  // Writes after everything dispatched.
  void write(Index first, std::span<const float> numbers);
  void write(Index first, std::span<const std::uint32_t> numbers);
  // Copies numbers [first, first + count) to the beginning of the buffer bound to `target`,
  // after everything dispatched.
  void copy_to(GLenum target, Index first, Index count) const;
  // Copies them to numbers [at, at + count) of `target`, likewise; shaders dispatched later see them.
  void copy_to(const StorageBuffer& target, Index first, Index at, Index count) const;
  // Waits until everything dispatched is done:
  // for tests and for a few numbers (core/gpu/gpu_read.h for many).
  void read(Index first, std::span<float> numbers) const;

  // Binds numbers [first, first + count) for a shader, and a few before them: a piece must start at a
  // multiple of GpuLimits::offset_alignment. Returns the offset of `first` in the piece.
  std::uint32_t bind(unsigned binding, Index first, Index count, Index alignment) const;

  // Whether nothing was written outside the numbers.
  bool guards_intact() const;

 private:
  void write_bytes(Index first, std::span<const std::byte> bytes);
  void read_bytes(Index first, std::span<std::byte> bytes) const;

  gl::Object<gl::BufferKind<GL_SHADER_STORAGE_BUFFER>> object_;
  Index count_ = 0;
};

}  // namespace headwise
