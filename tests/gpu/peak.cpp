#include "core/gpu/gpu_speed.h"
#include "tests/gpu/json_text.h"
#include "tests/gpu/phases.h"

namespace headwise::gpu_bench {

std::string peak_phase(const PhaseOptions& options) {
  GpuSpeed speed;
  JsonObject told;
  told.number("fma_peak_gflops", speed.fma_peak_gflops(options.small ? 2.0 : 20.0));
  return told.number("copy_gbytes_per_s", speed.copy_gbytes_per_s()).written();
}

}  // namespace headwise::gpu_bench
