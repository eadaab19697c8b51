// headwise export: a tensor of a scenario as a picture, a table or an array.
#include <fmt/format.h>

#include "app/cli/subcommand.h"
#include "app/cli/trace_request.h"
#include "app/session/tensor_export.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

[[noreturn]] void wrong(const std::string& option, const std::string& what, const std::string& got,
                        const std::string& expected, const std::string& remedy = "") {
  throw Error(ExitStatus::usage, {option, what, got, expected, remedy});
}

struct ExportWords {
  std::string tensor, batch = "0", head = "0", color_map, range = "own", scale, theme = "light", output;
};

void add_export_flags(CLI::App& app, ExportWords& words) {
  app.add_option("--tensor", words.tensor, "Which one (see: headwise list tensors)")
      ->type_name("NAME")
      ->required();
  app.add_option("--batch", words.batch, "Which of the batch")->type_name("B")->capture_default_str();
  app.add_option("--head", words.head, "Which head; all: a grid in a picture, a leading column in a table")
      ->type_name("H|all")
      ->capture_default_str();
  app.add_option("--colormap", words.color_map,
                 "Colours (see: headwise list colormaps); by itself: what suits the tensor")
      ->type_name("NAME");
  app.add_option("--range", words.range,
                 "Values at the ends of the colours: LO:HI, own (of each map), shared (of all heads)")
      ->type_name("LO:HI|own|shared")
      ->capture_default_str();
  app.add_option("--scale", words.scale, "Pixels per cell")->type_name("PIXELS");
  app.add_option("--theme", words.theme, "light, dark or projector")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("-o,--output", words.output, "The file to write: .png, .svg, .csv or .npy")
      ->type_name("FILE")
      ->required();
}

ColorMap color_map_of(const std::string& word) {
  const std::optional<ColorMap> map = find_color_map(word);
  if (map) return *map;
  std::string names;
  for (const ColorMapEntry& entry : color_map_entries())
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  wrong("--colormap", "there is no colour map of that name", word, names);
}

Theme theme_of(const std::string& word) {
  const std::optional<Theme> theme = find_theme(word);
  if (!theme) wrong("--theme", "there is no such theme", word, "light, dark or projector");
  return *theme;
}

ValueRange range_of_word(const std::string& word) {
  const std::size_t colon = word.find(':');
  if (colon == std::string::npos) wrong("--range", "the value is wrong", word, "LO:HI, own or shared");
  const ValueRange range{number_of("--range", word.substr(0, colon)),
                         number_of("--range", word.substr(colon + 1))};
  if (range.lo > range.hi) wrong("--range", "the range is upside down", word, "LO:HI with LO at or below HI");
  return range;
}

TensorExport export_of(const TraceRequest& request, const ExportWords& words) {
  TensorExport what;
  what.tensor = requested_tensor(request, "--tensor", words.tensor);
  what.batch = integer_of("--batch", words.batch);
  what.head = words.head == "all" ? std::nullopt : std::optional<Index>(integer_of("--head", words.head));
  if (!words.color_map.empty()) what.color_map = color_map_of(words.color_map);
  what.theme = theme_of(words.theme);
  what.range_kind = words.range == "own"      ? ExportRange::own
                    : words.range == "shared" ? ExportRange::shared
                                              : ExportRange::fixed;
  if (what.range_kind == ExportRange::fixed) what.range = range_of_word(words.range);
  if (!words.scale.empty()) what.cell_pixels = number_of("--scale", words.scale);
  if (what.cell_pixels <= 0)
    wrong("--scale", "the value is wrong", words.scale, "more than 0 pixels per cell");
  return what;
}

}  // namespace

void run_export(CLI::App& app, const Words& words) {
  TraceRequest request;
  ExportWords wanted;
  add_trace_flags(app, request);
  add_export_flags(app, wanted);
  if (!parse_words(app, words)) return;

  const TensorExport what = export_of(request, wanted);
  export_format(wanted.output);  // a wrong name is told before anything is computed
  const ComputedTrace computed = compute_trace(request);
  export_tensor(*computed.trace, computed.inputs.labels, what, wanted.output);
}

}  // namespace headwise
