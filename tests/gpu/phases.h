// What tests/gpu/on_a_gpu.sh runs on a machine: each phase measures or tries one thing, and gives it as JSON.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace headwise::gpu_bench {

struct PhaseOptions {
  bool small = false;    // sizes that software computes in seconds
  std::string binaries;  // a folder for the drivers' binaries of the shaders; empty: they are not kept
  // Long phases end early rather than lose everything that they have measured.
  std::optional<std::chrono::steady_clock::time_point> ends = {};

  bool time_is_up() const { return ends && std::chrono::steady_clock::now() >= *ends; }
};

// Every device that EGL offers: renderer, version, limits and extensions, or why it has no context.
// Needs no current context.
std::string devices_phase();
// The other phases need a current context that computes.
// Every variant of every shader: how long the driver takes for it, what it says, and how large its binary is.
std::string shaders_phase(const PhaseOptions& options);
// Multiply-adds in registers, and copies of memory.
std::string peak_phase(const PhaseOptions& options);
// One matrix product, and attention, over tiles and numbers of work groups.
std::string kernels_phase(const PhaseOptions& options);
// Whole layers, and attention alone.
std::string layers_phase(const PhaseOptions& options);
// Long sequences, buffers of more than 2 GiB, memory that runs out, numbers read back, two contexts.
std::string extremes_phase(const PhaseOptions& options);

}  // namespace headwise::gpu_bench
