#include <epoxy/gl.h>
#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "app/platform/offscreen_context.h"
#include "core/fused/attention_work.h"
#include "core/gpu/gl_backend.h"
#include "core/gpu/gpu_read.h"
#include "core/gpu/storage_buffer.h"
#include "core/tensor/error.h"
#include "tests/gpu/bench_inputs.h"
#include "tests/gpu/json_text.h"
#include "tests/gpu/phases.h"
#include "tests/gpu/timed_runs.h"

namespace headwise::gpu_bench {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begun) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
}

std::string long_sequence(Index heads, Index length, Index head_dim, Index window) {
  const AttentionInputs inputs = attention_inputs(heads, length, length, head_dim, true, window);
  JsonObject run;
  run.text("size", fmt::format("H {} L {} D {}{}", heads, length, head_dim,
                               window > 0 ? fmt::format(", window {}", window) : ""));
  const auto uploaded = Clock::now();
  GlForward forward(inputs, {});
  glFinish();
  run.number("upload_ms", milliseconds_since(uploaded)).count("gpu_mib", forward.gpu_bytes() >> 20);
  const auto begun = Clock::now();
  forward.finish();
  run.number("ms", milliseconds_since(begun)).number("gpu_longest_slice_ms", forward.longest_slice());
  const auto read = Clock::now();
  const TracePtr trace = forward.trace();
  run.number("read_back_ms", milliseconds_since(read));
  return run.number("max_abs_diff_of_last_rows", difference_from_reference(inputs, *trace->tensors.output))
      .flag("guards_intact", forward.guards_intact())
      .written();
}

std::string read_back_rate(Index numbers) {
  const StorageBuffer buffer("read back", numbers);
  std::vector<float> to(static_cast<std::size_t>(numbers));
  const double ms = median_milliseconds([&] { read_back(buffer, to); }, 0.1);
  return JsonObject()
      .count("mib", numbers >> 18)
      .number("ms", ms)
      .number("gbytes_per_s", 4.0 * static_cast<double>(numbers) / ms * 1e-6)
      .written();
}

// Takes buffers until the GPU has no more room or the time is up, and computes after giving them back. Ends
// early where the driver goes on in the host's memory: there a GiB may take seconds to come, and to go.
std::string memory_that_runs_out(Index most_buffers, Index numbers, const PhaseOptions& options) {
  JsonObject told;
  std::vector<StorageBuffer> taken;
  std::string how = "not reached";
  const auto begun = Clock::now();
  try {
    while (static_cast<Index>(taken.size()) < most_buffers && milliseconds_since(begun) < 20e3 &&
           !options.time_is_up()) {
      taken.emplace_back("until none is left", numbers);
      glFinish();
    }
  } catch (const Error& error) {
    how = error.status() == ExitStatus::memory ? "told as memory" : std::string("told as ") + error.what();
  }
  told.count("taken_mib", static_cast<Index>(taken.size()) * (numbers >> 18)).text("end", how);
  taken.clear();
  const AttentionInputs inputs = layer_inputs(64, 4, 100, false);
  return told
      .number("max_abs_diff_after", difference_from_reference(inputs, *gl_forward(inputs)->tensors.output))
      .written();
}

std::string two_contexts() {
  const AttentionInputs inputs = layer_inputs(128, 8, 300, true);
  OffscreenContext first(16, 16, OffscreenUse::computing);
  GlForward of_first(inputs, {});
  OffscreenContext second(16, 16, OffscreenUse::computing);
  GlForward of_second(inputs, {});
  // In turns, slice by slice.
  for (bool one = true, other = true; one || other;) {
    first.make_current();
    if (one) one = of_first.advance();
    second.make_current();
    if (other) other = of_second.advance();
  }
  const TracePtr b = of_second.trace();
  { GlForward gone = std::move(of_second); }
  first.make_current();
  const TracePtr a = of_first.trace();
  return JsonObject().flag("same_bits", identical(*a->tensors.output, *b->tensors.output)).written();
}

// What a part gives, or why it gave nothing: a phase goes on where one of its parts fails. A part that lasts
// longer than its phase may is known by the last line of stderr.
std::string tried(const char* part, const std::function<std::string()>& run) {
  const auto begun = Clock::now();
  fmt::print(stderr, "{} …\n", part);
  std::string given;
  try {
    given = run();
  } catch (const std::exception& error) {
    while (glGetError() != GL_NO_ERROR) {
    }
    given = JsonObject().text("problem", error.what()).written();
  }
  fmt::print(stderr, "{}: {:.0f} ms, {}\n", part, milliseconds_since(begun), given);
  return given;
}

}  // namespace

std::string extremes_phase(const PhaseOptions& options) {
  const bool small = options.small;
  JsonObject told;
  const auto part = [&](const char* name, const std::function<std::string()>& run) {
    if (!options.time_is_up()) told.json(name, tried(name, run));
  };
  part("long", [&] { return long_sequence(small ? 1 : 8, small ? 512 : 16384, 64, 0); });
  part("longer", [&] { return long_sequence(1, small ? 1024 : 65536, 64, small ? 64 : 0); });
  part("read_back", [&] { return read_back_rate(small ? Index{1} << 18 : Index{1} << 28); });
  // q, k, v and head_output of 2.3 GB each: more than one binding, and more than 31 bits of bytes.
  part("over_2_gib", [&] { return long_sequence(small ? 2 : 32, small ? 600 : 140000, small ? 64 : 128, 64); });
  part("out_of_memory", [&] {
    return memory_that_runs_out(small ? 3 : 400, small ? Index{1} << 18 : Index{1} << 28, options);
  });
  told.flag("complete", !options.time_is_up());
  return told.json("two_contexts", tried("two_contexts", two_contexts)).written();  // leaves none current
}

}  // namespace headwise::gpu_bench
