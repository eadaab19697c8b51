// Where the parts of a product lie on the stage: the left operand left of the result, row for row; the
// operand above it, column for column. A function of shapes, measured text and the free rectangle alone, so
// it is tested without a window. All lengths are pixels except where "units" is said; `scale` is pixels per
// unit.
#pragma once

#include <optional>
#include <vector>

#include "core/export/picture.h"

namespace headwise {

// Places the thumbnails of the heads. All lengths are pixels; `scale` is pixels per unit.

inline constexpr double head_name_units = 13.0;  // height of the line with a head's name

// Square thumbnails in rows from the top left, a caption above them, and a line with number and dot under
// each; a line with the head's name under that, where the names fit.
struct HeadGrid {
  RectF area;
  Index columns = 0;
  double side = 0, pitch_x = 0, pitch_y = 0;
  RectF caption;
  std::optional<std::size_t> name_form;       // which of the wordings of the names fits; none: no names
  double number_height = 0, name_height = 0;  // of the two lines; the second is 0 without names

  RectF thumbnail(Index head) const;
  RectF number_line(Index head) const;  // under the thumbnail, as wide as it
  RectF name_line(Index head) const;    // under that, as wide as the pitch allows; only with a name_form
};

// The largest thumbnails that fit, at most `largest` pixels a side. `names`: the width of the widest name in
// each wording, the longest wording first.
// Thumbnails move apart for the names and give up a fifth of their side at most.
HeadGrid head_grid(Index heads, RectF area, double scale, double largest,
                   const std::vector<double>& names = {});

// What has to be placed. Text widths are those of the widest label, in pixels; 0 where there are no labels.
struct StageShape {
  Index rows = 0, cols = 0;              // of the result, both > 0
  std::optional<Index> left_cols = {};   // the left operand has the rows of the result
  std::optional<Index> above_rows = {};  // the operand above has the columns of the result
  bool cell_for_cell = false;  // operands have the result's own shape: they get cells of the same size
  bool presentation = false;   // seen from afar: cells up to twice as large, and larger labels
  bool bias_row = false;       // one row between the operand above and the result
  bool low_heads = false;      // thumbnails above the matrices are as low as possible
  int row_figures = 0;         // columns of one number per row, between left operand and result
  int col_figures = 0;         // rows of one number per column, over the result
  bool sink_column = false;    // the sink's part of each row: cells between those and the result
  bool sink_row = false;       // of each column: cells over the result
  Index heads = 0;             // thumbnails; 0: none
  std::vector<double> head_names = {};       // widths of their names, as head_grid takes them
  std::vector<double> bar_captions = {};     // widths of the captions of the colour bars at the foot
  double legend_width = 0;                   // of what blocked cells mean, to the right of the bars
  double row_label_width = 0;                // left of the leftmost matrix
  double above_label_width = 0;              // left of the operand above
  double col_label_width = 0;                // under the result
  double sign_width = 0;                     // of the sign between left operand and result
  double left_col_label_width = 0;           // under the left operand
  double digit_width = 0, digit_height = 0;  // of the number in a cell of the result; 0: no cell shows one
  int note_lines = 0;                        // for maps in a grid: lines of text under each title
  bool upright_labels = false;               // for maps in a grid: those of columns run straight down
};

struct StageLayout {
  RectF result;
  std::optional<RectF> left, above, bias, sink;
  std::vector<RectF> row_figures, col_figures;
  std::vector<RectF> bars;  // the colour strips; caption above, ticks below
  std::optional<HeadGrid> heads;
  bool slanted = false;       // labels under the result
  bool left_slanted = false;  // labels under the left operand
};

inline constexpr double label_slant_degrees = 40.0;
inline constexpr double caption_line_units = 15.0,
                        label_margin_units = 8.0;  // units: of a caption; between labels and cells

// Side of a cell so that `count` of them fill `length`, at most `largest`: whole pixels once a cell has
// several, so that lines between cells stay sharp.
double cell_side(double length, Index count, double largest);
// Of slanted labels whose text is so wide: their height, and how far they reach beyond their column.
double slanted_height(double text_width, double scale);
double slanted_overhang(double text_width);
inline constexpr double title_height_units = 20.0;  // a line over each matrix with its name and sizes
inline constexpr double note_line_units = 13.0;     // a line of text between title and map

StageLayout stage_layout(const StageShape& shape, RectF area, double scale);

// `count` maps of the same shape as a grid, each under a title line; labels only where they fit.
struct MapGrid {
  Index columns = 0;
  double map_width = 0, map_height = 0;
  double pitch_x = 0, pitch_y = 0;
  RectF area;
  bool row_labels = false, col_labels = false;  // of the first column, of the last row
  std::vector<RectF> bars;

  RectF map(Index i) const;
};
MapGrid map_grid(Index count, const StageShape& shape, RectF area, double scale);

}  // namespace headwise
