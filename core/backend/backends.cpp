#include <algorithm>
#include <array>
#include <vector>

#include "core/attention/grad_output.h"
#include "core/attention/reference_backend.h"
#include "core/attention/reference_parts.h"
#include "core/attention/trace_warnings.h"
#include "core/backend/backend.h"
#include "core/backend/kept_tuning.h"
#include "core/fused/fused_backend.h"
#include "core/gpu/gl_backend.h"
#include "core/scenario/scenario_inputs.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

// Whether it is a GPU error: no context or shaders; a GPU that was reset or is out of memory.
bool is_gpu_error(const Backend& backend, const Error& error) {
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
      if (!is_gpu_error(backend, error)) throw;
      reason = error.what();
    }
    refused(reason, backend_of(static_cast<BackendId>(id - 1)));  // the reference refuses nothing
  }
}

namespace {

bool needs_any(const NeededTensors& needed, std::initializer_list<TensorId> ids) {
  return std::ranges::any_of(ids, [&](TensorId id) {
    return !needed || std::ranges::find(*needed, TensorName{id}) != needed->end();
  });
}

bool needs_weights(const NeededTensors& needed) {
  return needs_any(needed, {TensorId::attn_weights, TensorId::dropped_weights, TensorId::attn_output_weights});
}

// A pass on the CPU: a function from the inputs to a trace.
class CpuPass : public BackendPass {
 public:
  explicit CpuPass(std::function<TracePtr()> forward) : forward_(std::move(forward)) {}
  void compute() override {
    trace_.reset();  // frees its memory for the next one
    trace_ = forward_();
  }
  TracePtr trace() override { return trace_; }

 private:
  std::function<TracePtr()> forward_;
  TracePtr trace_;
};

// These backends look at no tensor while they compute, and keep none that says where such a number is from.
TracePtr told_of_its_output(const TracePtr& trace) {
  const TensorId id = last_output(trace->tensors);
  const TensorPtr output = trace->tensor(id);
  const std::string cells = output ? non_finite_cells(tensor_entry(id).name, *output) : "";
  if (cells.empty()) return trace;
  const auto told = std::make_shared<Trace>(*trace);
  told->warnings.push_back(cells + ": --backend reference says where the first such number comes from");
  return told;
}

class FusedPass : public CpuPass {
 public:
  using CpuPass::CpuPass;
  TracePtr trace() override { return told_of_its_output(CpuPass::trace()); }
};

std::string no_refusal(const AttentionInputs&) {
  return {};
}

std::unique_ptr<BackendPass> start_reference(const AttentionInputs& inputs, const PassOptions& options) {
  return std::make_unique<CpuPass>([&inputs, options] {
    const ThreadLimit limit(options.threads > 0 ? options.threads : available_threads());
    return options.needed ? reference_forward_of(inputs, *options.needed) : reference_forward(inputs);
  });
}

std::unique_ptr<BackendPass> start_fused(const AttentionInputs& inputs, const PassOptions& options) {
  const NeededTensors& needed = options.needed;
  const bool what_it_keeps = needed && needed->empty();
  const FusedRun run{
      .threads = options.threads,
      .keep_attn_weights = needs_weights(needed),
      .keep_projections = what_it_keeps || needs_any(needed, {TensorId::q, TensorId::k, TensorId::v}),
      .keep_head_output = needs_any(needed, {TensorId::head_output}),
      .before = options.before};
  return std::make_unique<FusedPass>([&inputs, run] { return fused_forward(inputs, run); });
}

std::string refusal_of_gl(const AttentionInputs& inputs) {
  const std::string reason = compute_refusal();
  return reason.empty() ? gl_refusal(inputs, gpu_limits()) : reason;
}

class GlPass : public BackendPass {
 public:
  GlPass(const AttentionInputs& inputs, const GlRun& run) : forward_(inputs, run) {}
  void compute() override {
    if (computed_) forward_.again();
    computed_ = true;
    forward_.finish();
  }
  TracePtr trace() override { return told_of_its_output(forward_.trace()); }
  Index gpu_bytes() const override { return forward_.gpu_bytes(); }
  double longest_slice() const override { return forward_.longest_slice(); }

 private:
  GlForward forward_;
  bool computed_ = false;
};

std::unique_ptr<BackendPass> start_gl(const AttentionInputs& inputs, const PassOptions& options) {
  const SliceLimits& alone = gpu_limits().software ? slices_on_software : slices_alone;
  const SliceLimits& slices = options.beside_window ? slices_beside_window : alone;
  const GpuLimits limits = tuned_limits(inputs.options.op, attention_sizes(inputs), slices);
  return std::make_unique<GlPass>(
      inputs, GlRun{.keep_attn_weights = needs_weights(options.needed), .slices = slices, .limits = &limits});
}

constexpr std::array table{
    Backend{BackendId::reference, "reference",
            "plain; keeps every intermediate tensor; the other backends are tested against it", true,
            no_refusal, start_reference},
    Backend{BackendId::fused, "fused", "the fast CPU path, f32: one pass over the keys; stores no scores",
            false, fused_refusal, start_fused},
    Backend{BackendId::gl, "gl",
            "the GPU, using OpenGL 4.3 compute shaders, f32; needs no display; runs in software if there is "
            "no GPU",
            false, refusal_of_gl, start_gl},
};

}  // namespace

std::span<const Backend> backends() {
  return table;
}

const Backend& backend_of(BackendId id) {
  return table[static_cast<std::size_t>(id)];
}

const Backend& backend_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Backend& backend : table) {
    if (backend.name == name) return backend;
    names.push_back(backend.name);
  }
  throw Error(ExitStatus::usage,
              {"--backend", "there is no such backend", std::string(name), join(names, ", "), ""});
}

namespace {

// The reference's trace, with the fast backend's tensors where it has them, if those alone are not enough.
TracePtr completed(const TracePtr& fast, const AttentionInputs& inputs, const NeededTensors& needed) {
  if (needed && std::ranges::all_of(*needed, [&](TensorName name) { return fast->tensor(name) != nullptr; }))
    return fast;
  const TracePtr whole = needed ? reference_forward_of(inputs, *needed) : reference_forward(inputs);
  const auto trace = std::make_shared<Trace>(*whole);
  for (const TensorEntry& entry : tensor_entries()) {
    if (const TensorPtr tensor = fast->tensor(entry.id)) trace->tensors.*(entry.member) = tensor;
  }
  return trace;
}

}  // namespace

TracePtr backend_trace(const Backend& backend, const AttentionInputs& inputs, bool backward,
                       const NeededTensors& needed, const MakeContext& context,
                       const std::function<void(const std::string&)>& warn) {
  if (backward && backend.id != BackendId::reference)
    warn("the " + std::string(backend.name) + " backend has no backward pass: using the reference backend");
  if (backward) return reference_forward(inputs);
  TracePtr trace;
  compute_with_fallback(
      backend.id, inputs, context,
      [&](const Backend& used) {
        const auto pass = used.start(inputs, {.needed = needed});
        pass->compute();
        trace = used.keeps_every_tensor ? pass->trace() : completed(pass->trace(), inputs, needed);
      },
      [&](const std::string& reason, const Backend& next) {
        warn(reason + ": using the " + std::string(next.name) + " backend");
      });
  return trace;
}

Index least_maps_of(const Backend& backend, bool backward, const NeededTensors& needed) {
  const bool whole = !needed || (backend.keeps_every_tensor && needed->empty());
  return backward || whole ? least_reference_maps : needed_maps(*needed);
}

}  // namespace headwise
