// headwise export: a tensor of a scenario as a picture, a table or an array.
#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "app/cli/command_line.h"
#include "app/cli/standard_streams.h"
#include "app/cli/trace_request.h"
#include "app/session/tensor_export.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

struct ExportWords {
  std::string tensor, batch = "0", head = "0", color_map, range = "own", scale, theme = "light", output, format;
  std::string title, bar_label, font_size, dpi = "96";
  bool no_bar = false, cell_titles = false;
};

void add_export_flags(CommandOptions& options, ExportWords& words) {
  options.value("--tensor", words.tensor, "The tensor to write (see: headwise list tensors)",
                {.type = "NAME", .required = true});
  options.value("--batch", words.batch, "The batch entry", {.type = "B", .shows_default = true});
  options.value("--head", words.head, "The head; all: a grid in a picture, a leading column in a table",
                {.type = "H|all", .shows_default = true});
  options.value("--colormap", words.color_map,
                "The colour map (see: headwise list colormaps); default: one that suits the tensor",
                {.type = "NAME"});
  options.value("--range", words.range,
                "Values at the ends of the colours: LO:HI, own (of each map), shared (of all heads)",
                {.type = "LO:HI|own|shared", .shows_default = true});
  options.value("--scale", words.scale, "Pixels per cell", {.type = "PIXELS"});
  options.value("--theme", words.theme, "light, dark or projector", {.type = "NAME", .shows_default = true});
  const auto picture = [&](const char* name, std::string& word, const PictureChoice& choice,
                           const OptionForm& form, const char* more = "") {
    options.value(name, word, std::string(choice.what) + more, form);
  };
  picture("--title", words.title, title_choice, {.type = "TEXT"}, "; \"\": none");
  picture("--bar-label", words.bar_label, bar_label_choice, {.type = "TEXT"}, "; \"\": nothing");
  options.flag("--no-bar", words.no_bar, "Leave out the colour bar");
  options.flag("--cell-titles", words.cell_titles,
               "In an .svg: say each cell's labels and number at the pointer, for web pages and notebooks");
  picture("--font-size", words.font_size, font_size_choice, {.type = "PIXELS"});
  picture("--dpi", words.dpi, dpi_choice, {.type = "N", .shows_default = true});
  options.value("-o,--output", words.output,
                "The file to write: .png, .svg, .pdf, .csv or .npy; - is standard output",
                {.type = "FILE", .required = true});
  options.value("--format", words.format, "png, svg, pdf, csv or npy; default: from the file's extension",
                {.type = "NAME"});
}

ColorMap color_map_of(const std::string& word) {
  const std::optional<ColorMap> map = find_color_map(word);
  if (map) return *map;
  std::vector<std::string_view> names;
  for (const ColorMapEntry& entry : color_map_entries()) names.push_back(entry.name);
  refuse_option("--colormap", "there is no colour map of that name", word, join(names, ", "));
}

ValueRange range_of_word(const std::string& word) {
  const std::size_t colon = word.find(':');
  if (colon == std::string::npos)
    refuse_option("--range", "the value is wrong", word, "LO:HI, own or shared");
  const ValueRange range{number_of("--range", word.substr(0, colon)),
                         number_of("--range", word.substr(colon + 1))};
  if (range.lo > range.hi)
    refuse_option("--range", "the range is upside down", word, "LO:HI with LO not above HI");
  return range;
}

ExportFormat export_format_of(const ExportWords& words) {
  constexpr const char* expected = "png, svg, pdf, csv or npy";
  if (!words.format.empty()) {
    if (const std::optional<ExportFormat> format = find_export_format(words.format)) return *format;
    refuse_option("--format", "there is no such format", words.format, expected);
  }
  if (words.output == standard_stream)
    refuse_option("--format", "the format is unknown for standard output", "", expected, "add --format csv");
  return export_format(words.output);
}

// Why an option is irrelevant to the exported tensor; empty if it is relevant.
std::string without_axis(const char* option, const std::string& word, const char* things,
                         const std::string& name, const Shape& shape,
                         std::initializer_list<const char*> letters) {
  for (Index axis = 0; axis + 2 < shape.rank(); ++axis)
    for (const char* const letter : letters)
      if (shape.name(axis) == letter) return "";
  return fmt::format("{} {} is not used: {} {} has no {}", option, word, name, shape.letters(), things);
}

double number_within(const char* option, const std::string& word, const PictureChoice& choice) {
  const double number = number_of(option, word);
  if (number < choice.least || number > choice.most)
    refuse_option(option, "the value is wrong", word,
                  fmt::format("a number from {} to {}", choice.least, choice.most));
  return number;
}

// What is added to the picture of the cells, and how large it is.
void choose_picture(const CommandOptions& options, const ExportWords& words, TensorExport& what) {
  if (options.given("--title")) what.title = words.title;
  if (options.given("--bar-label")) what.picture.bar_label = words.bar_label;
  what.picture.color_bar = !words.no_bar;
  what.picture.cell_titles = words.cell_titles;
  if (words.no_bar && what.picture.bar_label)
    refuse_option("--bar-label", "there is no colour bar to label", "--no-bar", "one of the two");
  if (options.given("--font-size"))
    what.picture.font_size = number_within("--font-size", words.font_size, font_size_choice);
  what.dpi = number_within("--dpi", words.dpi, dpi_choice);
}

TensorExport export_of(const CommandOptions& options, const TraceRequest& request, const ExportWords& words) {
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
    refuse_option("--scale", "the value is wrong", words.scale, "more than 0 pixels per cell");
  choose_picture(options, words, what);
  return what;
}

}  // namespace

void run_export(CommandOptions& options, const Words& words) {
  TraceRequest request;
  ExportWords wanted;
  add_trace_flags(options, request);
  add_export_flags(options, wanted);
  if (!options.parse(words)) return;
  const bool asks_head = options.given("--head") && wanted.head != "all",
             asks_batch = options.given("--batch");

  const TensorExport what = export_of(options, request, wanted);
  const ExportFormat format = export_format_of(wanted);  // a wrong name is reported before anything is computed
  if (wanted.cell_titles && format != ExportFormat::svg)
    refuse_option("--cell-titles", "only an .svg can say something at the pointer", wanted.output,
                  "a .svg file");
  keep_inputs(request, wanted.output);
  const bool to_stdout = wanted.output == standard_stream;
  ByteSink standard_output;
  if (to_stdout)
    standard_output = standard_output_sink(format == ExportFormat::csv || format == ExportFormat::svg);
  request.check = [&](const ScenarioInputs& inputs) { check_export(inputs, what, format); };
  const ComputedTrace computed = compute_trace(request);
  if (const TensorPtr tensor = computed.trace->tensor(what.tensor)) {
    Warnings warnings;
    const Shape& shape = tensor->shape();
    const auto check = [&](const std::string& unused) {
      if (!unused.empty()) warnings.add(unused);
    };
    if (asks_head)
      check(without_axis("--head", wanted.head, "heads", wanted.tensor, shape, {"H", "G", "N·H"}));
    if (asks_batch) check(without_axis("--batch", wanted.batch, "batch", wanted.tensor, shape, {"N", "N·H"}));
    warnings.refuse_where(request.strict);
  }
  const auto write = export_writer(*computed.trace, computed.inputs.labels, what, format);
  if (to_stdout) return write(standard_output);
  write_file_atomically(wanted.output, write);
}

}  // namespace headwise
