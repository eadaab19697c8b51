// headwise bench: how fast the window is, and how fast the backends are.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

#include "app/cli/backend_bench.h"
#include "app/cli/command_options.h"
#include "app/cli/standard_streams.h"
#include "app/cli/subcommand.h"
#include "app/cli/trace_request.h"
#include "app/window/window_visit.h"
#include "core/files/json_text.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

using Json = nlohmann::ordered_json;

constexpr int largest_side = 16384;
constexpr int most_threads = 1024, most_repeats = 10000;

Error wrong_together(const std::string& option, const std::string& expected, const std::string& what) {
  return Error(ExitStatus::usage, {"bench", "incompatible options", option, expected, what});
}

double milliseconds(double seconds) {
  return 1e3 * seconds;
}

// Per frame, all threads together.
double processor_milliseconds(const VisitPart& part) {
  return milliseconds(part.processor_seconds) /
         static_cast<double>(std::max<std::size_t>(1, part.seconds.size()));
}

std::string report_text(const std::string& scenario, const VisitReport& report) {
  std::string text =
      fmt::format("{} at {} × {} pixels on {}\n", scenario, report.width, report.height, report.renderer);
  text += fmt::format("first frame {:.1f} ms\n\n", milliseconds(report.first_frame_seconds));
  text +=
      fmt::format("{:<36} {:>6} {:>11} {:>11} {:>11}\n", "frames", "count", "median ms", "p99 ms", "CPU ms");
  for (const VisitPart& part : report.parts) {
    text += fmt::format("{:<36} {:>6} {:>11.2f} {:>11.2f} {:>11.2f}\n", part.name, part.seconds.size(),
                        milliseconds(frame_quantile(part, 0.5)), milliseconds(frame_quantile(part, 0.99)),
                        processor_milliseconds(part));
  }
  text += fmt::format("\n{:<36} {:>6} {:>11} {:>11} {:>11} {:>11}\n", "from an edit to its picture", "frames",
                      "refreshes", "ms", "CPU ms", "computed");
  for (const EditLatency& edit : report.edits) {
    text += fmt::format("{:<36} {:>6} {:>11} {:>11.2f} {:>11.2f} {:>11}\n", edit.name, edit.frames,
                        edit.refreshes, milliseconds(edit.seconds), milliseconds(edit.processor_seconds),
                        edit.computed);
  }
  return text;
}

std::string report_json(const std::string& scenario, const VisitReport& report) {
  Json parts = Json::array(), edits = Json::array();
  for (const VisitPart& part : report.parts) {
    parts.push_back({{"part", part.name},
                     {"frames", part.seconds.size()},
                     {"median_ms", milliseconds(frame_quantile(part, 0.5))},
                     {"p99_ms", milliseconds(frame_quantile(part, 0.99))},
                     {"cpu_ms", processor_milliseconds(part)}});
  }
  for (const EditLatency& edit : report.edits) {
    edits.push_back({{"edit", edit.name},
                     {"frames", edit.frames},
                     {"refreshes", edit.refreshes},
                     {"cpu_ms", milliseconds(edit.processor_seconds)},
                     {"ms", milliseconds(edit.seconds)},
                     {"computed", edit.computed}});
  }
  const Json document{{"machine", {{"gl_renderer", report.renderer}}},
                      {"ui",
                       {{"scenario", scenario},
                        {"width", report.width},
                        {"height", report.height},
                        {"first_frame_ms", milliseconds(report.first_frame_seconds)},
                        {"parts", parts},
                        {"edits", edits}}}};
  return json_text(document, {.indent = 2}) + "\n";
}

}  // namespace

void run_bench(CommandOptions& options, const Words& words) {
  bool ui = false, json = false;
  BackendBenchRequest backends;
  std::string size = "1600x1000";
  options.flag("--ui", ui, "Run a scripted tour of the window, without a display, and time its frames");
  options.values("--preset", backends.presets,
                 "A scenario: a preset, or a file (.json); may be repeated. Default: welcome with --ui, "
                 "otherwise the sizes\nused for the published measurements",
                 {.type = "NAME", .several_words = true});
  options.values("--set", backends.settings, "Change a setting of the scenario first (may be repeated)",
                 {.type = "PATH=VALUE", .several_words = true});
  options.values("--backend", backends.backends, "reference,fused,gl; default: reference,fused",
                 {.type = "NAME,…", .several_words = true, .delimiter = ','});
  options.values("--threads", backends.threads, "The numbers of threads to use; default: all available",
                 {.type = "N,…", .several_words = true, .delimiter = ',', .least = 1, .most = most_threads});
  options.value("--repeat", backends.rounds,
                "How often to time each, in turns; default: chosen by its duration",
                {.type = "N", .least = 1, .most = most_repeats});
  options.value("--size", size, "With --ui: the size of the window in pixels",
                {.type = "WxH", .shows_default = true});
  options.flag("--json", json, "Print JSON");
  add_strict_flag(options, backends.strict);
  if (!options.parse(words)) return;
  if (!ui) {
    if (options.given("--size")) throw wrong_together("--size", "--ui", "it sets the size of the window");
    const BackendBench bench = bench_backends(backends);
    print(json ? bench_json(bench) : bench_text(bench));
    return;
  }
  for (const char* option : {"--backend", "--threads", "--repeat"})
    if (options.given(option)) throw wrong_together(option, "no --ui", "it sets how backends are timed");
  if (backends.presets.size() > 1)
    throw wrong_together("--ui", "one --preset", "a window shows only one scenario");
  TraceRequest request;
  request.scenario = backends.presets.empty() ? "welcome" : backends.presets.front();
  request.settings = backends.settings;
  request.strict = backends.strict;
  const PixelSize pixels = pixel_size_of(size, 1, largest_side, "1600x1000");
  const Scenario scenario = requested_scenario(request);
  Warnings warnings;
  read_inputs(request, warnings);
  const VisitReport report = visit_window(scenario, pixels.width, pixels.height);
  print(json ? report_json(request.scenario, report) : report_text(request.scenario, report));
}

}  // namespace headwise
