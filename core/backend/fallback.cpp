#include "core/backend/backend.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

// Whether it is a GPU error: no context or shaders; a GPU that was reset or is out of memory.
bool is_of_the_gpu(const Backend& backend, const Error& error) {
  return backend.id == BackendId::gl &&
         (error.status() == ExitStatus::no_display || error.status() == ExitStatus::memory);
}

}  // namespace

BackendId compute_with_fallback(
    BackendId wanted, const AttentionInputs& inputs, const MakeContext& context,
    const std::function<void(const Backend& backend)>& compute,
    const std::function<void(const std::string& reason, const Backend& next)>& refused) {
  for (auto id = static_cast<int>(wanted);; --id) {
    const Backend& backend = backend_of(static_cast<BackendId>(id));
    std::string reason;
    try {
      std::shared_ptr<const void> current;
      if (backend.id == BackendId::gl) current = context();
      reason = backend.refusal(inputs);
      if (reason.empty()) {
        compute(backend);
        return backend.id;
      }
    } catch (const Error& error) {
      if (!is_of_the_gpu(backend, error)) throw;
      reason = error.what();
    }
    refused(reason, backend_of(static_cast<BackendId>(id - 1)));  // the reference refuses nothing
  }
}

}  // namespace headwise
