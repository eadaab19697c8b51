// What `headwise bench` prints about the backends.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/cli/backend_bench.h"
#include "core/files/json_text.h"

namespace headwise {

using Json = nlohmann::ordered_json;

namespace {

std::string speed_text(double gflops, double copied) {
  return fmt::format("{:.0f} GFLOP/s of multiply-adds, {:.1f} GB/s copied", gflops, copied);
}

Json number_or_null(const std::optional<double>& number) {
  return number ? Json(*number) : Json(nullptr);
}

}  // namespace

std::string bench_text(const BackendBench& bench) {
  std::string text = fmt::format("{} threads, {}: {}\n", bench.threads, bench.isa,
                                 speed_text(bench.fma_peak_gflops, bench.bandwidth_gbs));
  if (bench.gl_renderer) {
    const bool measured = bench.gl_fma_peak_gflops && bench.gl_copy_gbytes_per_s;
    text += fmt::format(
        "gl, {}: {}\n", *bench.gl_renderer,
        measured ? speed_text(*bench.gl_fma_peak_gflops, *bench.gl_copy_gbytes_per_s) : "not measured");
  }
  text += '\n';
  text += fmt::format(
      "{:<10} {:<16} {:<4} {:>5} {:>3} {:>6} {:<9} {:<8} {:>7} {:>10} {:>10} {:>8} {:>8} {:>9} {:>9}\n",
      "backend", "preset", "op", "E", "H", "L", "mask/edit", "weights", "threads", "median ms", "least ms",
      "GFLOP/s", "of peak", "extra MiB", "max diff");
  for (const BackendRun& run : bench.runs) {
    text += fmt::format(
        "{:<10} {:<16} {:<4} {:>5} {:>3} {:>6} {:<9} {:<8} {:>7} {:>10.3f} {:>10.3f} {:>8.1f} {:>8.3f} "
        "{:>9.1f} {:>9.2g}\n",
        run.backend, run.preset, run.op == "multi_head_attention" ? "mha" : "sdpa", run.embed_dim,
        run.num_heads, run.length,
        !run.edit.empty() ? run.edit
        : run.is_causal   ? "causal"
                          : "",
        run.keeps_weights ? "kept" : "", run.threads, run.median_ms, run.least_ms, run.gflops,
        run.fraction_of_peak, run.extra_mib, run.max_abs_diff);
  }
  return text;
}

std::string bench_json(const BackendBench& bench) {
  Json runs = Json::array();
  for (const BackendRun& run : bench.runs) {
    runs.push_back({{"backend", run.backend},
                    {"preset", run.preset},
                    {"op", run.op},
                    {"embed_dim", run.embed_dim},
                    {"num_heads", run.num_heads},
                    {"num_kv_heads", run.num_kv_heads},
                    {"length", run.length},
                    {"is_causal", run.is_causal},
                    {"keeps_weights", run.keeps_weights},
                    {"edit", run.edit},
                    {"threads", run.threads},
                    {"median_ms", run.median_ms},
                    {"min_ms", run.least_ms},
                    {"gflops", run.gflops},
                    {"peak_gflops", run.peak_gflops},
                    {"fraction_of_peak", run.fraction_of_peak},
                    {"extra_mib", run.extra_mib},
                    {"max_abs_diff", run.max_abs_diff}});
  }
  const Json document{{"machine",
                       {{"fma_peak_gflops", bench.fma_peak_gflops},
                        {"gl_fma_peak_gflops", number_or_null(bench.gl_fma_peak_gflops)},
                        {"gl_copy_gbytes_per_s", number_or_null(bench.gl_copy_gbytes_per_s)},
                        {"bandwidth_gbs", bench.bandwidth_gbs},
                        {"threads", bench.threads},
                        {"isa", bench.isa},
                        {"gl_renderer", bench.gl_renderer ? Json(*bench.gl_renderer) : Json(nullptr)}}},
                      {"runs", runs}};
  return json_text(document, {.indent = 2}) + "\n";
}

}  // namespace headwise
