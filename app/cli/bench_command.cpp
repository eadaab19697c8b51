// headwise bench: how fast the window is, and how fast the backends are.
#include <fmt/format.h>
#include <algorithm>
#include <string>
#include <vector>

#include "app/cli/bench_backends.h"
#include "app/cli/command_line.h"
#include "app/cli/command_options.h"
#include "app/cli/report.h"
#include "app/cli/standard_streams.h"
#include "app/cli/trace_request.h"
#include "app/window/window_visit.h"
#include "core/scenario/presets.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr int largest_side = 16384;
constexpr int most_threads = 1024, most_repeats = 10000;

Error incompatible_option(const std::string& option, const std::string& expected, const std::string& what) {
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

Report visit_report(const std::string& scenario, const VisitReport& visit) {
  const auto ms = [](const char* key, double number) { return number_cell(key, number, "{:.2f}"); };
  Report report, ui;
  ui.add_line("{} at {} × {} pixels on {}\nfirst frame {} ms\n\n",
              {{"scenario", scenario, scenario},
               integer_cell("width", visit.width),
               integer_cell("height", visit.height),
               visit.renderer,
               number_cell("first_frame_ms", milliseconds(visit.first_frame_seconds), "{:.1f}")});
  std::vector<Row> parts{{"frames", "count", "median ms", "p99 ms", "CPU ms"}};
  for (const VisitPart& part : visit.parts)
    parts.push_back({{"part", part.name, part.name},
                     integer_cell("frames", static_cast<Index>(part.seconds.size())),
                     ms("median_ms", milliseconds(frame_quantile(part, 0.5))),
                     ms("p99_ms", milliseconds(frame_quantile(part, 0.99))),
                     ms("cpu_ms", processor_milliseconds(part))});
  ui.add_list("parts", "{:<36} {:>6} {:>11} {:>11} {:>11}\n", parts);
  ui.text += "\n";
  std::vector<Row> edits{{"from an edit to its picture", "frames", "refreshes", "ms", "CPU ms", "computed"}};
  for (const EditLatency& edit : visit.edits) {
    const Cell processor = ms("cpu_ms", milliseconds(edit.processor_seconds));
    edits.push_back({{"edit", edit.name, edit.name},
                     integer_cell("frames", edit.frames),
                     integer_cell("refreshes", edit.refreshes),
                     {processor.key, processor.value},
                     ms("ms", milliseconds(edit.seconds)),
                     *processor.words,
                     integer_cell("computed", static_cast<Index>(edit.computed))});
  }
  ui.add_list("edits", "{:<36} {:>6} {:>11} {:>11} {:>11} {:>11}\n", edits);
  report.json["machine"] = {{"gl_renderer", visit.renderer}};
  report.add_section("ui", ui);
  return report;
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
    if (options.given("--size"))
      throw incompatible_option("--size", "--ui", "it sets the size of the window");
    return print(backend_bench_report(backends).printed(json));
  }
  for (const char* option : {"--backend", "--threads", "--repeat"})
    if (options.given(option)) throw incompatible_option(option, "no --ui", "it sets how backends are timed");
  if (backends.presets.size() > 1)
    throw incompatible_option("--ui", "one --preset", "a window shows only one scenario");
  const TraceRequest request{.scenario = backends.presets.empty() ? "welcome" : backends.presets.front(),
                             .inputs = {},
                             .settings = backends.settings,
                             .strict = backends.strict};
  const PixelSize pixels = pixel_size_of(size, 1, largest_side, "1600x1000");
  const Scenario scenario = requested_scenario(request);
  Warnings warnings;
  read_inputs(request, warnings);
  print(visit_report(request.scenario, visit_window(scenario, pixels.width, pixels.height)).printed(json));
}

}  // namespace headwise
