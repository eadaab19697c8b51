#include "app/session/tensor_export.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "core/attention/attention_sizes.h"
#include "core/attention/blocked_cells.h"
#include "core/attention/trace_warnings.h"
#include "core/export/table.h"
#include "core/files/array_files.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& what, const std::string& got,
                         const std::string& expected) {
  throw Error(ExitStatus::usage, {.where = where, .what = what, .got = got, .expected = expected});
}

TensorPtr tensor_of(const Trace& trace, TensorName name) {
  TensorPtr tensor = trace.tensor(name);
  if (!tensor)
    throw Error(ExitStatus::usage, {.where = to_string(name),
                                    .what = "there is no such tensor in this run",
                                    .remedy = why_absent(trace, name)});
  return tensor;
}

bool is_head_axis(const std::string& name) {
  return name == "H" || name == "G";
}

// PyTorch's attn_mask has one axis for both: index n·H + h.
bool is_batch_and_head_axis(const std::string& name) {
  return name == "N·H";
}

// Number of heads on the tensor's head axis; none if it has none. An axis of key/value heads counts those.
std::optional<Index> heads_axis_size(const Trace& trace, const Tensor& tensor) {
  for (Index axis = 0; axis + 2 < tensor.shape().rank(); ++axis) {
    if (is_head_axis(tensor.shape().name(axis))) return tensor.shape().size(axis);
    if (is_batch_and_head_axis(tensor.shape().name(axis))) return trace.options.num_heads;
  }
  return std::nullopt;
}

Index head_count(const Trace& trace, const Tensor& tensor) {
  return heads_axis_size(trace, tensor).value_or(1);
}

Index checked(const std::string& where, const char* what, Index index, Index size) {
  if (index < 0 || index >= size)
    refuse(where, fmt::format("there is no {} {}", what, index), "",
           size == 0 ? fmt::format("no {} at all", what) : fmt::format("0 to {}", size - 1));
  return index;
}

// The index of all axes but the last two, for one head.
std::vector<Index> leading_index(const Trace& trace, const Tensor& tensor, const TensorExport& what,
                                 Index head) {
  const std::string name = to_string(what.tensor);
  std::vector<Index> leading;
  for (Index axis = 0; axis + 2 < tensor.shape().rank(); ++axis) {
    const std::string& letter = tensor.shape().name(axis);
    const Index size = tensor.shape().size(axis);
    if (is_head_axis(letter)) {
      leading.push_back(checked(name, "head", head, size));
    } else if (is_batch_and_head_axis(letter)) {
      const Index heads = std::max<Index>(1, trace.options.num_heads);
      checked(name, "head", head, heads);
      leading.push_back(checked(name, "batch", what.batch, size / heads) * heads + head);
    } else {
      leading.push_back(checked(name, "batch", letter == "N" ? what.batch : 0, size));
    }
  }
  return leading;
}

std::vector<Index> heads_of(const Trace& trace, const Tensor& tensor, const TensorExport& what) {
  const std::optional<Index> count = heads_axis_size(trace, tensor);
  if (what.head || !count) return {count ? *what.head : 0};
  std::vector<Index> heads(static_cast<std::size_t>(*count));
  for (Index head = 0; head < *count; ++head) heads[static_cast<std::size_t>(head)] = head;
  return heads;
}

struct AxisNames {
  std::string caption;
  std::vector<std::string> labels;
};

AxisNames axis_names(const Tensor& tensor, Index axis, const TokenLabels& labels) {
  if (axis < 0) return {};
  const std::string& letter = tensor.shape().name(axis);
  const auto size = static_cast<std::size_t>(tensor.shape().size(axis));
  if (letter == "L" && labels.query.size() == size) return {"query", labels.query};
  if (const auto* keys = is_key_axis(letter) ? labels.along(letter) : nullptr; keys && keys->size() >= size)
    return {"key", {keys->begin(), keys->begin() + static_cast<std::ptrdiff_t>(size)}};
  return {letter, {}};
}

std::string matrix_title(const Tensor& tensor, const TensorExport& what, const std::vector<Index>& leading) {
  const Shape& shape = tensor.shape();
  std::string title = to_string(what.tensor);
  if (!leading.empty()) title += fmt::format("[{}]", join(leading, ","));
  const Index rank = shape.rank();
  if (rank >= 2)
    title += fmt::format(" — {}×{} = {}×{}", shape.name(rank - 2), shape.name(rank - 1), shape.size(rank - 2),
                         shape.size(rank - 1));
  return title;
}

// A table keeps the letters of the axes, which a script can rely on: "L\\S".
TableSpec table_of(const HeatmapSpec& spec) {
  const Shape& shape = spec.values.tensor->shape();
  const Index rank = shape.rank();
  return {spec.values, rank >= 2 ? shape.name(rank - 2) : "", rank >= 1 ? shape.name(rank - 1) : "",
          spec.row_labels, spec.col_labels};
}

void write_table(const std::vector<HeatmapSpec>& specs, bool with_heads, const ByteSink& file) {
  std::vector<TableSpec> tables;
  std::vector<std::string> numbers;
  for (const HeatmapSpec& spec : specs) {
    numbers.push_back(std::to_string(tables.size()));
    tables.push_back(table_of(spec));
  }
  const TextSink sink = [&file](std::string_view text) { file(std::as_bytes(std::span(text))); };
  if (with_heads) {
    write_csv(tables, "head", numbers, sink);
  } else {
    write_csv(tables.front(), sink);
  }
}

// The matrices as a single array: (rows, cols), or (heads, rows, cols).
Tensor stacked(const std::vector<HeatmapSpec>& specs, bool with_heads) {
  const MatrixView& first = specs.front().values;
  std::vector<Axis> axes{{"rows", first.rows}, {"cols", first.cols}};
  if (with_heads) axes.insert(axes.begin(), {"heads", static_cast<Index>(specs.size())});
  Tensor array(Shape(std::move(axes)), first.tensor->dtype());
  Index at = 0;
  for (const HeatmapSpec& spec : specs)
    for (Index row = 0; row < first.rows; ++row)
      for (Index col = 0; col < first.cols; ++col) array.set_flat(at++, spec.values.value(row, col));
  return array;
}

constexpr std::array<std::string_view, 5> format_words{"png", "svg", "pdf", "csv", "npy"};

// In lower case, without the dot.
std::string extension_of(const std::string& path) {
  const std::size_t slash = path.rfind('/'), dot = path.rfind('.');
  std::string extension;
  if (dot != std::string::npos && (slash == std::string::npos || dot > slash))
    extension = path.substr(dot + 1);
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

// Throws Error(usage) unless the extension is one of a format before `end`; `expected` names those.
ExportFormat format_before(const std::string& path, std::optional<ExportFormat> end, const char* expected) {
  const std::string extension = extension_of(path);
  const std::optional<ExportFormat> format = find_export_format(extension);
  if (format && (!end || *format < *end)) return *format;
  refuse(path, "the extension sets the format",
         extension.empty() ? "a name without an extension" : "." + extension, expected);
}

Picture picture_of(std::vector<HeatmapSpec> specs, const Trace& trace, const TensorExport& what) {
  if (what.title && specs.size() == 1) specs.front().title = *what.title;
  Picture picture = specs.size() == 1
                        ? heatmap_picture(specs.front(), what.cell_pixels, what.picture)
                        : heatmap_grid_picture(specs, what.title.value_or(export_title(trace, what)),
                                               what.cell_pixels, what.picture);
  picture.cell_titles = what.picture.cell_titles;
  return picture;
}

HeatmapSpec map_of(const Trace& trace, const TokenLabels& labels, const TensorExport& what) {
  const TensorPtr tensor = trace.tensor(what.tensor);
  const Index rank = tensor ? tensor->shape().rank() : 0;
  const Index cols = rank >= 1 ? tensor->shape().size(rank - 1) : 1;
  const Index rows = rank >= 2 ? tensor->shape().size(rank - 2) : 1;
  if (rows > 0 && cols > most_copied_cells / rows)
    throw Error(ExitStatus::memory, {.where = to_string(what.tensor),
                                     .what = "this map is too large to be copied",
                                     .got = fmt::format("{} × {} cells", rows, cols),
                                     .expected = fmt::format("at most {}", most_copied_cells),
                                     .remedy = "export it to a .csv or .npy file"});
  return export_heatmaps(trace, labels, what).front();
}

std::string number_text(const Tensor& tensor, Index flat) {
  const double value = tensor.flat(flat);
  if (tensor.dtype() == DType::boolean) return value != 0.0 ? "True" : "False";
  if (tensor.dtype() == DType::i64)  // not via a double, which rounds above 2^53
    return std::to_string(tensor.values<std::int64_t>()[static_cast<std::size_t>(flat)]);
  if (std::isnan(value)) return "np.nan";
  if (std::isinf(value)) return value > 0 ? "np.inf" : "-np.inf";
  return tensor.dtype() == DType::f32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
}

}  // namespace

std::span<const std::string_view> export_format_words() {
  return format_words;
}

std::optional<ExportFormat> find_export_format(std::string_view word) {
  const auto found = std::ranges::find(format_words, word);
  if (found == format_words.end()) return std::nullopt;
  return static_cast<ExportFormat>(found - format_words.begin());
}

std::optional<ExportFormat> find_path_format(const std::string& path) {
  return find_export_format(extension_of(path));
}

ExportFormat export_format(const std::string& path) {
  return format_before(path, std::nullopt, ".png, .svg, .pdf, .csv or .npy");
}

ExportFormat picture_format(const std::string& path) {
  return format_before(path, ExportFormat::csv, ".png, .svg or .pdf");
}

std::string path_with_format(const std::string& path, ExportFormat format) {
  const std::string stem = find_path_format(path) ? path.substr(0, path.rfind('.')) : path;
  return fmt::format("{}.{}", stem, format_words[static_cast<std::size_t>(format)]);
}

std::string_view range_note(const TensorExport& what, bool has_heads) {
  if (what.range_kind == ExportRange::fixed) return "fixed";
  if (what.range_kind == ExportRange::shared) return "all heads";
  return !has_heads ? "" : what.head ? "this head" : "per head";
}

Index export_head_count(const Trace& trace, TensorName tensor) {
  return head_count(trace, *tensor_of(trace, tensor));
}

Index export_head_of(const Trace& trace, TensorName tensor, Index query_head) {
  const Index maps = export_head_count(trace, tensor), heads = std::max<Index>(trace.options.num_heads, 1);
  return std::clamp<Index>(query_head * maps / heads, 0, std::max<Index>(maps - 1, 0));
}

std::string export_title(const Trace& trace, const TensorExport& what) {
  const TensorPtr tensor = tensor_of(trace, what.tensor);
  if (what.head || head_count(trace, *tensor) == 1) {
    const Index head = heads_of(trace, *tensor, what).front();
    return matrix_title(*tensor, what, leading_index(trace, *tensor, what, head));
  }
  const Shape& shape = tensor->shape();
  const Index rank = shape.rank(), heads = head_count(trace, *tensor);
  const bool grouped = shape.name(rank - 3) == "G";
  return fmt::format("{}[{},:] — {}×{}×{} = {}×{}×{}", to_string(what.tensor), what.batch,
                     grouped ? "G" : "H", shape.name(rank - 2), shape.name(rank - 1), heads,
                     shape.size(rank - 2), shape.size(rank - 1));
}

bool is_pair_map(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  if (shape.rank() < 2 || shape.name(shape.rank() - 2) != "L") return false;
  const std::string& last = shape.name(shape.rank() - 1);
  return is_key_axis(last);
}

std::vector<HeatmapSpec> export_heatmaps(const Trace& trace, const TokenLabels& labels,
                                         const TensorExport& what) {
  const TensorPtr tensor = tensor_of(trace, what.tensor);
  const Index rank = tensor->shape().rank();
  const bool probabilities = tensor_entry(what.tensor.id).probabilities && !what.tensor.gradient;
  const ColorMap map = what.color_map.value_or(probabilities ? ColorMap::viridis : ColorMap::blue_orange);
  const AxisNames rows = axis_names(*tensor, rank - 2, labels), cols = axis_names(*tensor, rank - 1, labels);
  const TensorPtr mask = blocked_cells(trace, what.tensor);
  const std::vector<Index> heads = heads_of(trace, *tensor, what);
  const bool is_grid = !what.head && heads.size() > 1;

  const auto heatmap_of = [&](Index head) {
    const std::vector<Index> leading = leading_index(trace, *tensor, what, head);
    HeatmapSpec spec;
    spec.values = matrix_view(tensor, leading);
    if (mask) {
      spec.mask = matrix_view(mask, leading);
      spec.blocked_at = blocked_value(trace, what.tensor);
    }
    spec.color_map = map;
    spec.theme = what.theme;
    spec.title = is_grid ? fmt::format("head {}", head) : matrix_title(*tensor, what, leading);
    spec.row_axis = rows.caption;
    spec.col_axis = cols.caption;
    spec.row_labels = rows.labels;
    spec.col_labels = cols.labels;
    if (what.queries_as_columns && is_pair_map(*tensor)) {
      spec.values = spec.values.transposed();
      if (spec.mask) spec.mask = spec.mask->transposed();
      std::swap(spec.row_axis, spec.col_axis);
      std::swap(spec.row_labels, spec.col_labels);
      if (!is_grid) spec.title += ", transposed";
    }
    return spec;
  };
  std::vector<HeatmapSpec> specs;
  for (const Index head : heads) specs.push_back(heatmap_of(head));
  if (tensor->is_outline()) return specs;

  const bool diverging = color_map_entries()[static_cast<std::size_t>(map)].diverging;
  if (what.range_kind == ExportRange::shared) {
    std::vector<HeatmapSpec> all;
    for (Index head = 0; head < head_count(trace, *tensor); ++head) all.push_back(heatmap_of(head));
    const ValueRange range = range_of(all, diverging, probabilities);
    for (HeatmapSpec& spec : specs) spec.range = range;
  }
  for (HeatmapSpec& spec : specs) {
    if (what.range_kind == ExportRange::own)
      spec.range = range_of(std::span(&spec, 1), diverging, probabilities);
    if (what.range_kind == ExportRange::fixed) spec.range = what.range;
    spec.range_note = range_note(what, head_count(trace, *tensor) > 1);
  }
  return specs;
}

void check_export(const ScenarioInputs& scenario, const TensorExport& what, ExportFormat format) {
  const AttentionInputs& inputs = scenario.attention;
  const TensorEntry& entry = tensor_entry(what.tensor.id);
  const TensorPtr& given = inputs.tensors.*(entry.member);
  if (!given && entry.role != TensorRole::intermediate) return;  // there is none: export_writer says why
  Trace outlined;
  outlined.options = resolved_options(inputs);
  TensorPtr& outline = (what.tensor.gradient ? outlined.grad : outlined.tensors).*(entry.member);
  outline = std::make_shared<const Tensor>(Tensor::outline(
      given ? given->shape() : computed_shape(entry.id, outlined.options, attention_sizes(inputs)),
      inputs.dtype));
  const Tensor& tensor = *outline;
  const std::vector<Index> heads = heads_of(outlined, tensor, what);
  for (const Index head : heads) leading_index(outlined, tensor, what, head);
  const Index rank = tensor.shape().rank();
  if (tensor.size() == 0 || format >= ExportFormat::csv) return;
  check_picture_size(static_cast<Index>(heads.size()), rank >= 2 ? tensor.shape().size(rank - 2) : 1,
                     rank >= 1 ? tensor.shape().size(rank - 1) : 1, what.cell_pixels, what.picture,
                     format == ExportFormat::png);
  if (format != ExportFormat::png) return;
  // The cells with all that is around them but the bar and the legend, whose texts are numbers.
  TensorExport bare = what;
  bare.picture.color_bar = false;
  const Picture picture = picture_of(export_heatmaps(outlined, scenario.labels, what), outlined, bare);
  check_image_size(picture.width, picture.height);
}

std::function<void(const ByteSink&)> export_writer(const Trace& trace, const TokenLabels& labels,
                                                   const TensorExport& what, ExportFormat format) {
  TensorExport as_shown = what;
  if (format == ExportFormat::csv || format == ExportFormat::npy) as_shown.queries_as_columns = false;
  std::vector<HeatmapSpec> specs = export_heatmaps(trace, labels, as_shown);
  const Tensor& tensor = *trace.tensor(what.tensor);
  const bool with_heads = !what.head && heads_axis_size(trace, tensor).has_value();
  if (format == ExportFormat::csv)
    return
        [specs = std::move(specs), with_heads](const ByteSink& file) { write_table(specs, with_heads, file); };
  if (format == ExportFormat::npy)
    return [specs = std::move(specs), with_heads](const ByteSink& file) {
      write_npy(file, stacked(specs, with_heads));
    };
  if (tensor.size() == 0)
    refuse(to_string(what.tensor), "a tensor without cells has no picture", tensor.shape().to_string(),
           "a .csv or .npy file, or larger sizes");
  const Picture picture = picture_of(std::move(specs), trace, what);
  if (format == ExportFormat::png)
    return [png = to_png(rasterise(picture), what.dpi)](const ByteSink& file) {
      file(std::as_bytes(std::span(png)));
    };
  return [text = format == ExportFormat::svg ? to_svg(picture, what.dpi) : to_pdf(picture, what.dpi)](
             const ByteSink& file) { file(std::as_bytes(std::span(text))); };
}

void export_tensor(const Trace& trace, const TokenLabels& labels, const TensorExport& what,
                   const std::string& path) {
  write_file_atomically(path, export_writer(trace, labels, what, export_format(path)));
}

std::string map_as_table(const Trace& trace, const TokenLabels& labels, const TensorExport& what) {
  std::string text;
  write_tsv(table_of(map_of(trace, labels, what)), [&text](std::string_view piece) { text += piece; });
  return text;
}

std::string map_as_numpy_array(const Trace& trace, const TokenLabels& labels, const TensorExport& what) {
  const MatrixView values = map_of(trace, labels, what).values;
  const Tensor& tensor = *values.tensor;
  constexpr const char* types[] = {"np.float32", "np.float64", "bool", "np.int64"};  // in the order of DType
  const char* const type = types[static_cast<std::size_t>(tensor.dtype())];
  const bool is_list = tensor.shape().rank() < 2;
  // A list of empty rows would lose its columns, and an empty list its rows.
  if (values.rows == 0 || values.cols == 0) {
    const std::string sizes =
        is_list ? std::to_string(values.cols) : fmt::format("({}, {})", values.rows, values.cols);
    return fmt::format("np.zeros({}, dtype={})", sizes, type);
  }
  std::string text = is_list ? "np.array(" : "np.array([";
  for (Index row = 0; row < values.rows; ++row) {
    if (row > 0) text += ",\n          ";
    for (Index col = 0; col < values.cols; ++col) {
      text += col == 0 ? "[" : ", ";
      text += number_text(tensor, values.flat(row, col));
    }
    text += "]";
  }
  return text + fmt::format("{}, dtype={})", is_list ? "" : "]", type);
}

}  // namespace headwise
