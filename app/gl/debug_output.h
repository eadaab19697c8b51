// Messages from the driver (KHR_debug): errors and undefined behaviour as they happen,
// in the call that caused them.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace headwise::gl {

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
