// A buffer of 32-bit numbers in the GPU's memory.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/gpu/object.h"
#include "core/tensor/shape.h"

namespace headwise {

class StorageBuffer {
 public:
  StorageBuffer() = default;
  // `count` numbers, 0 at first, between guard words. Throws Error(memory) where the GPU has no room. `label` is seen in
  // debug messages.
  StorageBuffer(std::string_view label, Index count);

  Index count() const { return count_; }
  Index bytes() const;  // of the GPU's memory
  explicit operator bool() const { return static_cast<bool>(object_); }

  void write(Index first, std::span<const float> numbers);
  void write(Index first, std::span<const std::uint32_t> numbers);
  // Numbers [first, first + count) to the beginning of the buffer that is bound at `target`, behind what was dispatched.
  void copy_to(GLenum target, Index first, Index count) const;
  // Waits until what was dispatched is done: for tests and for a few numbers (core/gpu/gpu_read.h for many).
  void read(Index first, std::span<float> numbers) const;

  // Numbers [first, first + count) for a shader's binding, and a few before them: a piece begins where the context allows
  // (GpuLimits::offset_alignment). Returns where `first` lies in the piece.
  std::uint32_t bind(unsigned binding, Index first, Index count, Index alignment) const;

  // Whether nothing was written beside the numbers.
  bool guards_intact() const;

 private:
  struct Kind {
    static GLuint create();
    static void destroy(GLuint name);
    static constexpr GLenum identifier = GL_BUFFER;
  };
  gl::Object<Kind> object_;
  Index count_ = 0;
};

}  // namespace headwise
