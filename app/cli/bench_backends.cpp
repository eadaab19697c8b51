#include "app/cli/bench_backends.h"

#include <fmt/format.h>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/command_line.h"
#include "app/cli/trace_request.h"
#include "app/platform/driver.h"
#include "app/platform/offscreen_context.h"
#include "core/attention/attention_sizes.h"
#include "core/attention/reference_backend.h"
#include "core/backend/backend.h"
#include "core/fused/attention_work.h"
#include "core/fused/fused_backend.h"
#include "core/fused/interleaved_runs.h"
#include "core/fused/machine_speed.h"
#include "core/gpu/gl_backend.h"
#include "core/gpu/gpu_speed.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_json.h"
#include "core/scenario/scenario_schema.h"
#include "core/tensor/error.h"
#include "core/tensor/instruction_set.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

struct BackendRun {
  std::string backend, preset;
  long embed_dim = 0, num_heads = 0, num_kv_heads = 0, length = 0;
  Op op = Op::multi_head_attention;
  bool is_causal = false, keeps_weights = false;
  // What differs from the previous run: "scale", "gain" or "token"; empty: a run from scratch.
  std::string edit = {};
  int threads = 0;
  // peak_gflops: of what computes, the processor or with gl the GPU, measured beside the run; extra_mib: with
  // gl, GPU memory including inputs and parameters.
  double median_ms = 0.0, least_ms = 0.0, gflops = 0.0, peak_gflops = 0.0, fraction_of_peak = 0.0,
         extra_mib = 0.0;
  double max_abs_diff = 0.0;
};

struct BackendBench {
  double fma_peak_gflops = 0.0, bandwidth_gbs = 0.0;  // on `threads` threads
  int threads = 0;
  std::string isa;
  std::optional<std::string> gl_renderer;  // none if no backend needed one
  // What its shaders reach: medians of what was measured beside each gl run; none if there was none.
  std::optional<double> gl_fma_peak_gflops, gl_copy_gbytes_per_s;
  std::vector<BackendRun> runs;
};

constexpr double seconds_of_peak = 0.05;

// Default number of rounds: as many as fit into this time, by the estimated duration of the work.
constexpr double seconds_of_case = 6.0;
constexpr double guessed_flops = 50e9;
constexpr int fewest_rounds = 7, most_rounds = 41;

// The reference keeps every intermediate: beyond this many scores it is not run by default.
constexpr Index most_reference_scores = 8 * 512 * 512;

// One attention to time.
struct BenchCase {
  std::string preset;
  AttentionInputs inputs;
  bool keeps_weights = false;
  std::vector<int> threads;
  bool edited = false;  // also times edits after it
};

// The standard benchmark: embed_dim 512 in 8 heads, without and with weights, on all threads and on one;
// scaled dot-product attention without and with a causal mask.
std::vector<BenchCase> own_cases(const BackendBenchRequest& request, const std::vector<int>& threads,
                                 Warnings& warnings) {
  std::vector<int> and_one = threads;
  if (request.threads.empty() && !std::ranges::count(and_one, 1)) and_one.push_back(1);
  std::vector<BenchCase> cases;
  const auto add = [&](bool module, Index length, bool causal, bool weights, const std::vector<int>& on) {
    TraceRequest one{
        .scenario = "random",
        .inputs = {},
        .settings = {"inputs.source=random",
                     fmt::format("op={}", module ? "multi_head_attention" : "scaled_dot_product_attention"),
                     "attention.embed_dim=512", "attention.num_heads=8", "attention.need_weights=true",
                     "attention.average_attn_weights=false", "inputs.batch=1",
                     fmt::format("inputs.query_length={}", length), fmt::format("mask.is_causal={}", causal)},
        .strict = request.strict};
    one.settings.insert(one.settings.end(), request.settings.begin(), request.settings.end());
    const AttentionInputs inputs = read_inputs(one, warnings).attention;
    cases.push_back({"random", inputs, weights, on, module && length == 512 && !weights});
  };
  for (const Index length : {128, 512, 2048}) {
    add(true, length, false, false, and_one);
    add(true, length, false, true, threads);
  }
  add(true, 4096, false, false, threads);
  add(false, 2048, false, false, threads);
  add(false, 2048, true, false, threads);
  return cases;
}

std::vector<BenchCase> asked_cases(const BackendBenchRequest& request, const std::vector<int>& threads,
                                   Warnings& warnings) {
  std::vector<BenchCase> cases;
  for (const std::string& preset : request.presets) {
    const TraceRequest one{
        .scenario = preset, .inputs = {}, .settings = request.settings, .strict = request.strict};
    const AttentionInputs inputs = read_inputs(one, warnings).attention;
    const bool module = projects(inputs.options.op);
    cases.push_back({preset, inputs, module && inputs.options.need_weights, threads});
  }
  return cases;
}

// A backend on some inputs: a whole run, and the part of it that is timed.
struct Runner {
  std::function<TracePtr()> whole;
  std::function<void()> timed;
  double gpu_mib = 0.0;  // of GPU memory that it holds
};

// Inputs that differ from the original in one thing.
struct Edit {
  std::string name;
  AttentionInputs inputs;
  double flops = 0.0;  // of what has to be recomputed, with q, k, v and head_output kept
};

// For a module with self-attention; a token is changed for fused only, which reprojects its panel of 64.
std::vector<Edit> edits_of(const AttentionInputs& inputs, const std::string& backend) {
  const AttentionSizes s = attention_sizes(inputs);
  const double tokens = static_cast<double>(s.batch * s.queries), width = static_cast<double>(s.embed_dim);
  const double projections =
      2.0 * tokens * width *
      static_cast<double>(s.heads * s.head_dim + s.kv_heads * (s.head_dim + s.v_head_dim));
  const double attention_and_output = attention_flops(inputs) - projections;
  std::vector<Edit> edits{
      {"scale", inputs, attention_and_output},
      {"gain", inputs, 2.0 * tokens * width * static_cast<double>(s.heads * s.v_head_dim)},
      {"token", inputs,
       attention_and_output + projections / static_cast<double>(s.batch * ((s.queries + 63) / 64))}};
  edits[0].inputs.options.scale = 0.1;
  edits[1].inputs.options.head_gain.assign(static_cast<std::size_t>(s.heads), 1.0);
  edits[1].inputs.options.head_gain.back() = 0.0;
  Tensor token = *inputs.tensors.query;
  token.set_flat(token.size() / 2, 1.0);
  TraceTensors& t = edits[2].inputs.tensors;
  t.query = t.key = std::make_shared<const Tensor>(std::move(token));
  if (t.value) t.value = t.query;
  if (backend == "gl") edits.pop_back();
  return edits;
}

// Times an edit after a run that has kept what it can.
Runner edited_runner(const std::string& backend, const AttentionInputs& inputs, const AttentionInputs& edited,
                     int threads) {
  if (backend == "gl") {
    const auto forward = std::make_shared<GlForward>(inputs);
    forward->finish();
    const auto follow = [forward](const AttentionInputs& next) {
      forward->follow(next);
      forward->finish();
    };
    // There and back: the same inputs again would leave nothing to do.
    return {[=] {
              follow(edited);
              return forward->trace();
            },
            [=, on = true]() mutable {
              on = !on;
              follow(on ? edited : inputs);
            },
            static_cast<double>(forward->gpu_bytes()) / (1024.0 * 1024.0)};
  }
  const auto run = [edited, threads,
                    before = fused_forward(inputs, {.keep_projections = true, .keep_head_output = true})] {
    return fused_forward(edited, {.threads = threads, .before = before});
  };
  return {run, run};
}

// None if it refuses the inputs, with a warning.
std::optional<Runner> runner(const std::string& backend, const BenchCase& work, int threads,
                             Warnings& warnings) {
  const AttentionInputs& inputs = work.inputs;
  const bool keep = work.keeps_weights;
  const Backend& by = backend_named(backend);
  if (const std::string reason = by.refusal(inputs); !reason.empty()) {
    warnings.add(reason + ": not measured");
    return std::nullopt;
  }
  PassOptions options{.needed = std::vector<TensorName>{{TensorId::output}}, .threads = threads};
  if (keep) options.needed->push_back({TensorId::attn_weights});
  if (by.id == BackendId::reference) options.needed.reset();
  const std::shared_ptr<BackendPass> pass = by.start(inputs, options);
  // gl is timed from the inputs on the GPU to the output there, as are other implementations that keep their
  // tensors on it; if weights are kept, reading them back is included.
  const bool reads_back = by.id == BackendId::gl && keep;
  return Runner{[pass] {
                  pass->compute();
                  return pass->trace();
                },
                [pass, reads_back] {
                  pass->compute();
                  if (reads_back) pass->trace();
                },
                static_cast<double>(pass->gpu_bytes()) / (1024.0 * 1024.0)};
}

// What is timed together, and where in `runs` each piece is reported.
struct Turns {
  std::vector<TimedWork> timed;
  std::vector<double> flops;
  std::vector<std::size_t> at;
};

// A backend on a case, and on its edits; `rounds` 0: depends on the duration of the work; `peak`:
// as in TimedWork.
void add_case(const std::string& backend, const BenchCase& work, int rounds,
              const std::function<double()>& peak, std::vector<BackendRun>& runs, Turns& turns,
              Warnings& warnings) {
  const AttentionSizes sizes = attention_sizes(work.inputs);
  const bool reference = backend == "reference";
  if (reference && sizes.heads * sizes.queries * sizes.all_keys > most_reference_scores) return;
  const double flops = attention_flops(work.inputs);
  if (rounds == 0)
    rounds = std::clamp(static_cast<int>(seconds_of_case * guessed_flops / flops), fewest_rounds, most_rounds);
  for (const int threads : work.threads) {
    const std::optional<Runner> run = runner(backend, work, threads, warnings);
    if (!run) return;
    BackendRun entry{.backend = backend,
                     .preset = work.preset,
                     .embed_dim = sizes.embed_dim,
                     .num_heads = sizes.heads,
                     .num_kv_heads = sizes.kv_heads,
                     .length = sizes.queries,
                     .op = work.inputs.options.op,
                     .is_causal = work.inputs.options.is_causal,
                     .keeps_weights = work.keeps_weights || reference,
                     .threads = threads};
    const auto add = [&](const Runner& runner, const AttentionInputs& inputs, double left) {
      entry.max_abs_diff = difference_from_reference(inputs, *runner.whole()->tensors.output);
      entry.extra_mib = runner.gpu_mib;
      turns.at.push_back(runs.size());
      turns.timed.push_back({runner.timed, threads, rounds, peak});
      turns.flops.push_back(left);
      runs.push_back(entry);
    };
    add(*run, work.inputs, flops);
    if (!work.edited || reference) continue;
    for (const Edit& edit : edits_of(work.inputs, backend)) {
      entry.edit = edit.name;
      add(edited_runner(backend, work.inputs, edit.inputs, threads), edit.inputs, edit.flops);
    }
  }
}

void time_turns(const Turns& turns, std::vector<BackendRun>& runs) {
  const std::vector<Timing> timings = time_in_turns(turns.timed);
  for (std::size_t i = 0; i < timings.size(); ++i) {
    BackendRun& run = runs[turns.at[i]];
    run.median_ms = 1e3 * timings[i].median_seconds;
    run.least_ms = 1e3 * timings[i].least_seconds;
    run.gflops = 1e-9 * turns.flops[i] / timings[i].median_seconds;
    run.peak_gflops = timings[i].peak_gflops;
    run.fraction_of_peak = run.gflops / run.peak_gflops;
    if (run.backend != "gl") run.extra_mib = timings[i].extra_mib;
  }
}

BackendBench bench_backends(const BackendBenchRequest& request) {
  std::vector<std::string> names = request.backends;
  if (names.empty()) names = {"reference", "fused"};
  for (const std::string& name : names) backend_named(name);
  const std::vector<int> threads =
      request.threads.empty() ? std::vector<int>{available_threads()} : request.threads;
  Warnings warnings;
  const std::vector<BenchCase> cases = request.presets.empty() ? own_cases(request, threads, warnings)
                                                               : asked_cases(request, threads, warnings);

  BackendBench bench;
  bench.threads = *std::ranges::max_element(threads);
  bench.isa = instruction_set_name(chosen_instruction_set());
  std::unique_ptr<OffscreenContext> context;
  if (std::ranges::count(names, "gl")) {
    context = std::make_unique<OffscreenContext>(1, 1, OffscreenUse::computing);
    bench.gl_renderer = gl::renderer_name();
    std::string reason = compute_refusal();
    if (gl::expects_gpu()) {
      if (reason.empty()) reason = gl::missing_gpu(*bench.gl_renderer);
      if (!reason.empty())
        throw Error(
            ExitStatus::no_display,
            {.where = "gl",
             .what = reason,
             .remedy =
                 "install the GPU's driver and unset LIBGL_ALWAYS_SOFTWARE, or unset HEADWISE_EXPECT_GPU"});
    }
    if (!reason.empty()) {
      warnings.add(reason + ": gl is not measured");
      warnings.refuse_where(request.strict);
      std::erase(names, "gl");
    }
  }
  bench.fma_peak_gflops = fma_peak_gflops(bench.threads, seconds_of_peak);
  bench.bandwidth_gbs = copy_bandwidth_gbs(bench.threads);
  // All in turns, a few rounds each, so that a disturbance of some seconds affects them all; but with gl one
  // case after the other, because its working set stays in GPU memory.
  Turns turns;
  std::vector<double> gl_peaks, gl_copies;
  const auto bench_gl = [&](const BenchCase& work) {
    GpuSpeed speed;
    gl_copies.push_back(speed.copy_gbytes_per_s());
    const auto peak = [&] {
      gl_peaks.push_back(speed.fma_peak_gflops());
      return gl_peaks.back();
    };
    Turns alone;
    add_case("gl", work, request.rounds, peak, bench.runs, alone, warnings);
    warnings.refuse_where(request.strict);
    time_turns(alone, bench.runs);
  };
  for (const BenchCase& work : cases) {
    for (const std::string& name : names) {
      if (name == "gl") {
        bench_gl(work);
        continue;
      }
      add_case(name, work, request.rounds, {}, bench.runs, turns, warnings);
      warnings.refuse_where(request.strict);
    }
  }
  if (!gl_peaks.empty()) bench.gl_fma_peak_gflops = median(gl_peaks);
  if (!gl_copies.empty()) bench.gl_copy_gbytes_per_s = median(gl_copies);
  time_turns(turns, bench.runs);
  return bench;
}

std::string speed_text(double gflops, double copied) {
  return fmt::format("{:.0f} GFLOP/s of multiply-adds, {:.1f} GB/s copied", gflops, copied);
}

Report machine_report(const BackendBench& bench) {
  Report report;
  report.json = {{"fma_peak_gflops", bench.fma_peak_gflops},
                 {"gl_fma_peak_gflops", value_or_null(bench.gl_fma_peak_gflops)},
                 {"gl_copy_gbytes_per_s", value_or_null(bench.gl_copy_gbytes_per_s)},
                 {"bandwidth_gbs", bench.bandwidth_gbs},
                 {"threads", bench.threads},
                 {"isa", bench.isa},
                 {"gl_renderer", value_or_null(bench.gl_renderer)}};
  report.text = fmt::format("{} threads, {}: {}\n", bench.threads, bench.isa,
                            speed_text(bench.fma_peak_gflops, bench.bandwidth_gbs));
  if (bench.gl_renderer) {
    const bool measured = bench.gl_fma_peak_gflops && bench.gl_copy_gbytes_per_s;
    report.text += fmt::format(
        "gl, {}: {}\n", *bench.gl_renderer,
        measured ? speed_text(*bench.gl_fma_peak_gflops, *bench.gl_copy_gbytes_per_s) : "not measured");
  }
  return report;
}

Report bench_report(const BackendBench& bench) {
  constexpr std::string_view short_names[] = {"mha", "sdpa", "mla"};  // of Op
  std::vector<Row> rows{{"backend", "preset", "op", "E", "H", "L", "mask/edit", "weights", "threads",
                         "median ms", "least ms", "GFLOP/s", "of peak", "extra MiB", "max diff"}};
  for (const BackendRun& run : bench.runs)
    rows.push_back({text_cell("backend", run.backend),
                    text_cell("preset", run.preset),
                    {"op", choice_name(run.op), std::string(short_names[static_cast<std::size_t>(run.op)])},
                    integer_cell("embed_dim", run.embed_dim),
                    integer_cell("num_heads", run.num_heads),
                    {"num_kv_heads", run.num_kv_heads},
                    integer_cell("length", run.length),
                    {"is_causal", run.is_causal},
                    {"keeps_weights", run.keeps_weights},
                    {"edit", run.edit, run.edit.empty() && run.is_causal ? "causal" : run.edit},
                    run.keeps_weights ? "kept" : "",
                    integer_cell("threads", run.threads),
                    number_cell("median_ms", run.median_ms, "{:.3f}"),
                    number_cell("min_ms", run.least_ms, "{:.3f}"),
                    number_cell("gflops", run.gflops, "{:.1f}"),
                    {"peak_gflops", run.peak_gflops},
                    number_cell("fraction_of_peak", run.fraction_of_peak, "{:.3f}"),
                    number_cell("extra_mib", run.extra_mib, "{:.1f}"),
                    number_cell("max_abs_diff", run.max_abs_diff, "{:.2g}")});
  Report report;
  report.add_section("machine", machine_report(bench));
  report.text += "\n";
  report.add_list(
      "runs",
      "{:<10} {:<16} {:<4} {:>5} {:>3} {:>6} {:<9} {:<8} {:>7} {:>10} {:>10} {:>8} {:>8} {:>9} {:>9}\n", rows);
  return report;
}

}  // namespace

Report backend_bench_report(const BackendBenchRequest& request) {
  return bench_report(bench_backends(request));
}

}  // namespace headwise
