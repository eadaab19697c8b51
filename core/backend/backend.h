// All backends behind one interface: the reference, the fused CPU path and the GPU. To add one, add a row to
// the table in backends.cpp.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/trace.h"

namespace headwise {

// Each falls back to the one before it: fused computes what gl cannot, and the reference what fused cannot.
enum class BackendId { reference, fused, gl };

// The tensors that a trace is needed for. nullopt: every tensor; an empty list:
// whatever the backend keeps anyway.
using NeededTensors = std::optional<std::vector<TensorName>>;

struct PassOptions {
  NeededTensors needed = std::nullopt;
  int threads = 0;             // 0: as many as this process may use; the GPU has its own
  bool beside_window = false;  // a window draws meanwhile: the GPU is not kept from it for long
  TracePtr before = nullptr;   // fused reuses what has not changed since (core/fused/fused_backend.h)
};

// One forward pass, repeatable. Its inputs must outlive it.
class BackendPass {
 public:
  virtual ~BackendPass() = default;
  // Computes everything; again on each call. Throws Error(memory), Error(cancelled),
  // and whatever the GPU code throws.
  virtual void compute() = 0;
  // After compute(): those of the needed tensors that the backend keeps, read back from the GPU.
  virtual TracePtr trace() = 0;
  virtual Index gpu_bytes() const { return 0; }  // of GPU memory, including inputs and parameters
  virtual double longest_slice() const {
    return 0.0;
  }  // longest time in milliseconds that the GPU was kept from drawing
};

struct Backend {
  BackendId id;
  std::string_view name;  // the argument of --backend
  std::string_view what;
  bool keeps_every_tensor;  // as it computes them; the others store no weights that nobody needs
  // Returns a sentence saying why another backend must compute these inputs; empty if this one can.
  // gl needs a current context.
  std::string (*refusal)(const AttentionInputs& inputs);
  // Throws Error(input) like check_attention_inputs, Error(usage) if there is a refusal, Error(memory).
  std::unique_ptr<BackendPass> (*start)(const AttentionInputs& inputs, const PassOptions& options);
};

// In the order of BackendId.
std::span<const Backend> backends();
const Backend& backend_of(BackendId id);
// Throws Error(usage) if no backend has that name.
const Backend& backend_named(std::string_view name);

// Makes an OpenGL context current for the calling thread as long as the returned pointer lives;
// throws Error(no_display).
using MakeContext = std::function<std::shared_ptr<const void>()>;

// Calls `compute` with `wanted` if that backend can compute these inputs, otherwise with its first fallback
// that can; returns the one that did. Also falls back if `compute` fails because there is no context, a
// shader does not compile, or the GPU was reset or is out of memory.
// `refused` receives each reason and the next backend.
BackendId compute_with_fallback(BackendId wanted, const AttentionInputs& inputs, const MakeContext& context,
                                const std::function<void(const Backend& backend)>& compute,
                                const std::function<void(const std::string& reason, const Backend& next)>& refused);

// A trace with the needed tensors, computed by the requested backend.

// The reference recomputes what a fast backend does not keep and `needed` names; only the reference has a
// backward pass. What a backend cannot do at all is left to its fallback, and `warn` gets a sentence that
// says so. Throws what they throw.
TracePtr backend_trace(const Backend& backend, const AttentionInputs& inputs, bool backward,
                       const NeededTensors& needed, const MakeContext& context,
                       const std::function<void(const std::string&)>& warn);

// The minimum number of tensors of the shape of the scores in such a trace; 0 if a fast backend keeps none.
// Refusals caused by the inputs themselves are not known yet: the fallback checks its own memory.
Index least_maps_of(const Backend& backend, bool backward, const NeededTensors& needed);

}  // namespace headwise
