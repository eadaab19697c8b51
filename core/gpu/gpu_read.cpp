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

// Memory that the GPU writes and the CPU reads, and the fence between the two.
class Landing {
 public:
  explicit Landing(Index count) : buffer_("numbers read back") {
    glBindBuffer(GL_COPY_WRITE_BUFFER, buffer_.name());
    glBufferData(GL_COPY_WRITE_BUFFER, static_cast<GLsizeiptr>(4 * count), nullptr, GL_STREAM_READ);
  }
  ~Landing() { forget(); }
  Landing(const Landing&) = delete;
  Landing& operator=(const Landing&) = delete;

  void fetch(const StorageBuffer& from, Index first, Index count) {
    glBindBuffer(GL_COPY_WRITE_BUFFER, buffer_.name());
    from.copy_to(GL_COPY_WRITE_BUFFER, first, count);
    forget();
    fence_ = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    glFlush();
    count_ = count;
  }

  void take(Index piece, const std::function<void(Index, std::span<const float>)>& to) {
    while (glClientWaitSync(fence_, 0, nanoseconds_between_questions) == GL_TIMEOUT_EXPIRED)
      check_cancelled();
    check_cancelled();
    check_gpu();
    glBindBuffer(GL_COPY_WRITE_BUFFER, buffer_.name());
    const void* const data =
        glMapBufferRange(GL_COPY_WRITE_BUFFER, 0, static_cast<GLsizeiptr>(4 * count_), GL_MAP_READ_BIT);
    if (data == nullptr) {
      check_gpu();
      throw Error(ExitStatus::no_display, {.where = "gl", .what = "what the GPU computed cannot be read"});
    }
    const Mapped mapped{buffer_.name()};
    to(piece, {static_cast<const float*>(data), static_cast<std::size_t>(count_)});
  }

 private:
  struct Kind {
    static GLuint create() {
      GLuint name = 0;
      glGenBuffers(1, &name);
      glBindBuffer(GL_COPY_WRITE_BUFFER, name);  // only binding creates an object that can be labelled
      return name;
    }
    static void destroy(GLuint name) { glDeleteBuffers(1, &name); }
    static constexpr GLenum identifier = GL_BUFFER;
  };
  // Also unmaps if `take` throws.
  struct Mapped {
    GLuint name;
    ~Mapped() {
      glBindBuffer(GL_COPY_WRITE_BUFFER, name);
      glUnmapBuffer(GL_COPY_WRITE_BUFFER);
    }
  };
  void forget() {
    if (fence_ != nullptr) glDeleteSync(fence_);
    fence_ = nullptr;
  }

  gl::Object<Kind> buffer_;
  GLsync fence_ = nullptr;
  Index count_ = 0;
};

}  // namespace

void read_back(const StorageBuffer& from, Index size,
               const std::function<void(Index piece, std::span<const float> numbers)>& take) {
  if (from.count() == 0) return;
  const Index room = std::min(size, from.count()), pieces = (from.count() + size - 1) / size;
  std::array<Landing, 2> landings{Landing(room), Landing(pieces > 1 ? room : 1)};
  check_gpu();
  const auto fetch = [&](Index piece) {
    landings[static_cast<std::size_t>(piece % 2)].fetch(from, piece * size,
                                                        std::min(size, from.count() - piece * size));
  };
  fetch(0);
  for (Index piece = 0; piece < pieces; ++piece) {
    if (piece + 1 < pieces) fetch(piece + 1);
    landings[static_cast<std::size_t>(piece % 2)].take(piece, take);
  }
}

void read_back(const StorageBuffer& from, std::span<float> to) {
  read_back(from, numbers_at_once, [&](Index piece, std::span<const float> numbers) {
    std::ranges::copy(numbers, to.begin() + piece * numbers_at_once);
  });
}

}  // namespace headwise
