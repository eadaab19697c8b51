// A tensor of a trace as a file: a picture (.png, .svg, .pdf), a table (.csv) or an array (.npy). Shared by
// the window's export dialog and the command line's `export`.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/trace.h"
#include "core/export/picture.h"
#include "core/files/atomic_file.h"
#include "core/scenario/scenario_inputs.h"

namespace headwise {

enum class ExportRange {
  own,     // of what is in the picture; for all heads: each head its own
  shared,  // over all heads of this batch
  fixed,   // TensorExport::range
};

struct TensorExport {
  TensorName tensor;
  Index batch = 0;  // ignored if the tensor has no such axis
  // likewise; none: all heads, a grid in a picture, a leading column in a table
  std::optional<Index> head = 0;
  std::optional<ColorMap> color_map;  // none: viridis for probabilities, blue_orange for others
  ExportRange range_kind = ExportRange::own;
  ValueRange range;
  double cell_pixels = 24.0;  // the side of a cell in a picture
  Theme theme = Theme::light;
  // in pictures of maps of queries and keys; tables and arrays stay as stored
  bool queries_as_columns = false;
  std::optional<std::string> title;  // of a picture; none: export_title(); "": no title
  PictureOptions picture;
  double dpi = usual_dpi;  // of a picture on paper
};

// What can be chosen of a picture: its line in the command line's help and the window's tooltips, and the
// numbers that it takes.
struct PictureChoice {
  std::string_view what;
  double least = 0.0, most = 0.0;
};
inline constexpr PictureChoice title_choice{"The title; default: the tensor, its index and its shape"};
inline constexpr PictureChoice bar_label_choice{
    "What the colour bar is labelled with; default: what its range covers"};
inline constexpr PictureChoice font_size_choice{
    "The size of names and labels in pixels; default: one that suits the cells", 4, 400};
inline constexpr PictureChoice dpi_choice{
    "Pixels per inch on paper: sets the printed size of a picture, not its number of pixels", 1, 100'000};

// The label of the colour bar, unless PictureOptions say otherwise: what its range covers. `has_heads`: the
// tensor has more than one.
std::string_view range_note(const TensorExport& what, bool has_heads);

// Whether the last two axes are queries and keys: scores … attn_weights, and their gradients.
bool is_pair_map(const Tensor& tensor);

// How many maps the tensor has in one batch (1 if it has no head axis), and which of them a query head reads:
// on an axis of key/value heads (G), that of its group.
Index export_head_count(const Trace& trace, TensorName tensor);
Index export_head_of(const Trace& trace, TensorName tensor, Index query_head);

enum class ExportFormat { png, svg, pdf, csv, npy };
// In that order, pictures first: "png", "svg" …
std::span<const std::string_view> export_format_words();
inline constexpr std::size_t picture_format_count = 3;
std::optional<ExportFormat> find_export_format(std::string_view word);
// By the extension, in either case.
std::optional<ExportFormat> find_path_format(const std::string& path);
// The same; throws Error(usage) naming all of them for any other.
ExportFormat export_format(const std::string& path);
// The same of pictures alone: png, svg or pdf.
ExportFormat picture_format(const std::string& path);
// With this format's extension in place of another's; appended to a path that has none of theirs.
std::string path_with_format(const std::string& path, ExportFormat format);

// What is in the picture, one heatmap per head. Throws Error(usage), stating the tensor's shape, if the trace
// has no such tensor, batch or head.
std::vector<HeatmapSpec> export_heatmaps(const Trace& trace, const TokenLabels& labels,
                                         const TensorExport& what);
// "attn_weights[0,3]", or "attn_weights[0,:]" for all heads.
std::string export_title(const Trace& trace, const TensorExport& what);

// Writes the file whole or not at all; throws Error: usage as above, output if it cannot be written, memory
// if the picture would not fit. Pictures follow core/export/picture.h, a .csv core/export/table.h (with a
// leading column "head" for all heads of a tensor that has a head axis); a .npy holds the matrix (rows, cols)
// or (heads, rows, cols). A tensor without cells gives an empty table or array, but no picture: Error(usage).
void export_tensor(const Trace& trace, const TokenLabels& labels, const TensorExport& what,
                   const std::string& path);

// A tensor's picture, table or array as bytes, for a file, the clipboard or standard output.

// Throws what export_writer throws for a trace of these inputs where it follows from the sizes and the
// labels: a head or batch entry that is not there, a picture that is too large.
// Called before anything is computed.
void check_export(const ScenarioInputs& inputs, const TensorExport& what, ExportFormat format);

// The function that writes the bytes; everything wrong with the request is reported beforehand,
// as by export_tensor.
std::function<void(const ByteSink&)> export_writer(const Trace& trace, const TokenLabels& labels,
                                                   const TensorExport& what, ExportFormat format);

// A map of a trace as text for the clipboard: a table for a spreadsheet, an array for Python. Its contents
// are those of an exported map: one head, or a tensor that has no heads.

// Larger maps are too much for a clipboard.
inline constexpr Index most_copied_cells = Index{1} << 20;

// Tab-separated with headings, as write_tsv in core/export/table.h. Throws Error: usage if the trace has no
// such tensor, batch or head, memory above most_copied_cells.
std::string map_as_table(const Trace& trace, const TokenLabels& labels, const TensorExport& what);

// An expression, "np.array([[0.5, 0.25],\n          [1, np.nan]], dtype=np.float32)": a list of rows, or a flat list for a
// tensor with one axis. Numbers round-trip to the same bits. Throws as above.
std::string map_as_numpy_array(const Trace& trace, const TokenLabels& labels, const TensorExport& what);

}  // namespace headwise
