// The backends behind one interface: the reference, the fused CPU path and the GPU. A new one is a row of the table in backends.cpp.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/trace.h"

namespace headwise {

// Each stands in for the one behind it: what gl cannot compute fused does, and what fused cannot the reference.
enum class BackendId { reference, fused, gl };

// The tensors that a trace is wanted for. None: every tensor; an empty list: what the backend keeps anyway.
using NeededTensors = std::optional<std::vector<TensorName>>;

struct PassOptions {
  NeededTensors needed = std::nullopt;
  int threads = 0;            // 0: as many as this process may run on; the GPU has its own
  TracePtr before = nullptr;  // fused takes over what is the same in it (core/fused/fused_backend.h)
};

// One forward pass, which can be repeated. Its inputs must outlive it.
class BackendPass {
 public:
  virtual ~BackendPass() = default;
  // Computes all of it; once more when called again. Throws Error(memory), Error(cancelled), and what the GPU throws.
  virtual void compute() = 0;
  // After compute(): the tensors that the backend keeps of those that are needed, read back from the GPU.
  virtual TracePtr trace() = 0;
  virtual Index gpu_bytes() const { return 0; }  // of the GPU's memory, inputs and parameters too
  virtual double longest_slice() const {
    return 0.0;
  }  // milliseconds that the GPU was kept from drawing at once
};

struct Backend {
  BackendId id;
  std::string_view name;  // as --backend takes it
  std::string_view what;
  // Returns why these inputs are another backend's to compute, a sentence; empty where this one can. gl needs a current context.
  std::string (*refusal)(const AttentionInputs& inputs);
  // Throws Error(input) as check_attention_inputs does, Error(usage) where there is a refusal, Error(memory).
  std::unique_ptr<BackendPass> (*start)(const AttentionInputs& inputs, const PassOptions& options);
};

// In the order of BackendId.
std::span<const Backend> backends();
const Backend& backend_of(BackendId id);
// Throws Error(usage) for a name that is no backend.
const Backend& backend_named(std::string_view name);

// Makes an OpenGL context current for the calling thread for as long as what it returns lives; throws Error(no_display).
using MakeContext = std::function<std::shared_ptr<const void>()>;

// Calls `compute` with `wanted` where it can compute these inputs, else with the first that stands in for it, and returns which one
// did it. The next one is also taken where `compute` breaks off because there is no context, no shader compiles, or the GPU was
// reset or has no room. `refused` is told each reason and who is next.
BackendId compute_with_fallback(
    BackendId wanted, const AttentionInputs& inputs, const MakeContext& context,
    const std::function<void(const Backend& backend)>& compute,
    const std::function<void(const std::string& reason, const Backend& next)>& refused);

}  // namespace headwise
