// What the driver has to say (KHR_debug): errors and undefined behaviour as they happen, in the call that
// caused them.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace headwise::gl {

struct DebugMessage {
  bool error = false;  // an error or undefined behaviour; otherwise advice on portability or deprecation
  std::string text;
};

// Sends the current context's messages to the sink, in the thread that makes the GL call, for as long as this
// lives. Notifications and hints about performance are left out. Move-only; the context must still be current
// at the end.
class DebugOutput {
 public:
  using Sink = std::function<void(const DebugMessage&)>;
  explicit DebugOutput(Sink sink);
  DebugOutput(DebugOutput&&) noexcept = default;
  DebugOutput& operator=(DebugOutput&&) = delete;
  ~DebugOutput();

  // False where the driver has no KHR_debug: then no message ever comes.
  bool available() const { return sink_ != nullptr; }

 private:
  std::unique_ptr<Sink> sink_;
};

}  // namespace headwise::gl
