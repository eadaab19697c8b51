// What the driver of the current context says of itself: its name, whether it has memory, and its messages
// (KHR_debug).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace headwise::gl {

// Of the current context: "llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5".
std::string renderer_name();

// Measurements and tests that are meant for a GPU must not land on software unnoticed: whether the
// environment variable HEADWISE_EXPECT_GPU says so (set, and neither empty nor 0).
bool expects_gpu();
// A sentence for work that was meant for a GPU but got a renderer of this name;
// empty if that is not software.
std::string missing_gpu(std::string_view renderer);

// Throws Error(memory) if there is so little that a driver in software (Mesa's llvmpipe) might crash: where
// it runs out of memory while it starts, it ends the process. To be called before a context is made.
void require_context_memory();

struct DebugMessage {
  bool error = false;  // an error or undefined behaviour; otherwise advice on portability or deprecation
  std::string text;
};

// Sends the current context's messages to the sink, on the thread that makes the GL call, for as long as this
// lives. Notifications and performance hints are omitted. Move-only;
// the context must still be current on destruction.
class DebugOutput {
 public:
  using Sink = std::function<void(const DebugMessage&)>;
  explicit DebugOutput(Sink sink);
  DebugOutput(DebugOutput&&) noexcept = default;
  DebugOutput& operator=(DebugOutput&&) = delete;
  ~DebugOutput();

  // False if the driver has no KHR_debug: then no message ever comes.
  bool available() const { return sink_ != nullptr; }

 private:
  std::unique_ptr<Sink> sink_;
};

}  // namespace headwise::gl
