#include "core/gpu/storage_buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/gpu/gpu_faults.h"
#include "core/gpu/gpu_read.h"
#include "core/tensor/error.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

constexpr Index guard_words = 64;
constexpr std::uint32_t guard_word = 0x7FA5C3D1;  // a NaN, as a float
constexpr Index word_bytes = 4;
constexpr std::size_t most_staged_bytes = std::size_t{64} << 20;

// A buffer that no program may write or map stays in the GPU's memory, as long as none reads it either
// (StorageBuffer::read_bytes).
bool has_fixed_storage() {
  return epoxy_gl_version() >= 44 || epoxy_has_gl_extension("GL_ARB_buffer_storage");
}

GLintptr byte_of(Index word) {
  return static_cast<GLintptr>((guard_words + word) * word_bytes);
}

}  // namespace

StorageBuffer::StorageBuffer(std::string_view label, Index count) : object_(label), count_(count) {
  check_gpu();
  const auto size = static_cast<GLsizeiptr>(bytes());
  if (has_fixed_storage())
    glBufferStorage(GL_SHADER_STORAGE_BUFFER, size, nullptr, 0);
  else
    glBufferData(GL_SHADER_STORAGE_BUFFER, size, nullptr, GL_DYNAMIC_COPY);
  if (gpu_fault() == GpuFault::out_of_memory) {
    throw Error(ExitStatus::memory, {.where = "GPU memory",
                                     .what = fmt::format("no room for {} ({})", label, bytes_text(bytes()))});
  }
  // No shader has seen this memory: no barrier is needed before it is cleared.
  glClearBufferData(GL_SHADER_STORAGE_BUFFER, GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, nullptr);
  // Reading a word waits for it: NVIDIA's driver (580.159) clears behind the first write that follows, and no
  // barrier changes that.
  std::uint32_t cleared = 0;
  read_bytes(-guard_words, std::as_writable_bytes(std::span(&cleared, 1)));
  const std::vector<std::uint32_t> guards(static_cast<std::size_t>(guard_words), guard_word);
  for (const Index first : {-guard_words, count}) write(first, guards);
}

Index StorageBuffer::bytes() const {
  return object_ ? (count_ + 2 * guard_words) * word_bytes : 0;
}

void StorageBuffer::copy_to(GLenum target, Index first, Index count) const {
  glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  glBindBuffer(GL_COPY_READ_BUFFER, object_.name());
  glCopyBufferSubData(GL_COPY_READ_BUFFER, target, byte_of(first), 0,
                      static_cast<GLsizeiptr>(count * word_bytes));
}

void StorageBuffer::copy_to(const StorageBuffer& target, Index first, Index at, Index count) const {
  glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  glBindBuffer(GL_COPY_READ_BUFFER, object_.name());
  glBindBuffer(GL_COPY_WRITE_BUFFER, target.object_.name());
  glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, byte_of(first), byte_of(at),
                      static_cast<GLsizeiptr>(count * word_bytes));
}

void StorageBuffer::write(Index first, std::span<const std::uint32_t> numbers) {
  write_bytes(first, std::as_bytes(numbers));
}

void StorageBuffer::write(Index first, std::span<const float> numbers) {
  write_bytes(first, std::as_bytes(numbers));
}

void StorageBuffer::write_bytes(Index first, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  // Only after this barrier is the write ordered after those of shaders that were dispatched before.
  glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  if (!has_fixed_storage()) {
    glBindBuffer(GL_SHADER_STORAGE_BUFFER, object_.name());
    glBufferSubData(GL_SHADER_STORAGE_BUFFER, byte_of(first), static_cast<GLsizeiptr>(bytes.size()),
                    bytes.data());
    return;
  }
  const gl::Object<gl::BufferKind<GL_SHADER_STORAGE_BUFFER>> staging("numbers on their way");
  glBindBuffer(GL_COPY_READ_BUFFER, staging.name());
  glBindBuffer(GL_SHADER_STORAGE_BUFFER, object_.name());
  for (std::size_t done = 0; done < bytes.size(); done += most_staged_bytes) {
    const auto part = bytes.subspan(done, std::min(most_staged_bytes, bytes.size() - done));
    const auto size = static_cast<GLsizeiptr>(part.size());
    glBufferData(GL_COPY_READ_BUFFER, size, part.data(), GL_STREAM_DRAW);
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_SHADER_STORAGE_BUFFER, 0,
                        byte_of(first) + static_cast<GLintptr>(done), size);
  }
}

void StorageBuffer::read(Index first, std::span<float> numbers) const {
  read_bytes(first, std::as_writable_bytes(numbers));
}

// By way of a copy: NVIDIA's driver moves a buffer that the CPU reads, even one word of it, to the host's
// memory for a while, where shaders are slower to see it. The GPU does nothing else meanwhile: with that
// driver (580.159) the copy of a few words right behind a dispatch had wrong numbers in spite of barriers
// and a fence.
void StorageBuffer::read_bytes(Index first, std::span<std::byte> bytes) const {
  if (bytes.empty()) return;
  ReadbackBuffer readback(static_cast<Index>(std::min(bytes.size(), most_staged_bytes)) / word_bytes);
  for (std::size_t done = 0; done < bytes.size(); done += most_staged_bytes) {
    const auto part = bytes.subspan(done, std::min(most_staged_bytes, bytes.size() - done));
    glFinish();
    readback.fetch(*this, first + static_cast<Index>(done) / word_bytes,
                   static_cast<Index>(part.size()) / word_bytes);
    glFinish();
    readback.hand_over([&](std::span<const std::byte> found) { std::ranges::copy(found, part.begin()); });
  }
}

std::uint32_t StorageBuffer::bind(unsigned binding, Index first, Index count, Index alignment) const {
  const GLintptr from = byte_of(first), begin = from / alignment * alignment;
  glBindBufferRange(GL_SHADER_STORAGE_BUFFER, binding, object_.name(), begin,
                    from - begin + static_cast<GLsizeiptr>(std::max<Index>(count, 1) * word_bytes));
  return static_cast<std::uint32_t>((from - begin) / word_bytes);
}

bool StorageBuffer::guards_intact() const {
  std::array<std::uint32_t, guard_words> words{};
  for (const Index first : {-guard_words, count_}) {
    read_bytes(first, std::as_writable_bytes(std::span(words)));
    if (std::ranges::any_of(words, [](std::uint32_t word) { return word != guard_word; })) return false;
  }
  return true;
}

}  // namespace headwise
