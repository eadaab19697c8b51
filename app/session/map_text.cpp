#include "app/session/map_text.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "core/picture/table.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

HeatmapSpec map_of(const Trace& trace, const TokenLabels& labels, const TensorExport& what) {
  const TensorPtr tensor = trace.tensor(what.tensor);
  const Index rank = tensor ? tensor->shape().rank() : 0;
  const Index cols = rank >= 1 ? tensor->shape().size(rank - 1) : 1;
  const Index rows = rank >= 2 ? tensor->shape().size(rank - 2) : 1;
  if (rows > 0 && cols > most_copied_cells / rows) {
    throw Error(ExitStatus::memory, {.where = to_string(what.tensor),
                                     .what = "this map is too large to be copied",
                                     .got = fmt::format("{} × {} cells", rows, cols),
                                     .expected = fmt::format("at most {}", most_copied_cells),
                                     .remedy = "export it to a .csv or .npy file"});
  }
  return export_heatmaps(trace, labels, what).front();
}

const char* type_name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "np.float32";
    case DType::f64:
      return "np.float64";
    case DType::boolean:
      return "bool";
    case DType::i64:
      return "np.int64";
  }
  return "";
}

std::string number_text(const Tensor& tensor, Index flat) {
  const double value = tensor.flat(flat);
  switch (tensor.dtype()) {
    case DType::boolean:
      return value != 0.0 ? "True" : "False";
    case DType::i64:  // not via a double, which rounds above 2^53
      return std::to_string(tensor.values<std::int64_t>()[static_cast<std::size_t>(flat)]);
    case DType::f32:
    case DType::f64:
      break;
  }
  if (std::isnan(value)) return "np.nan";
  if (std::isinf(value)) return value > 0 ? "np.inf" : "-np.inf";
  return tensor.dtype() == DType::f32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
}

}  // namespace

std::string map_as_table(const Trace& trace, const TokenLabels& labels, const TensorExport& what) {
  const HeatmapSpec map = map_of(trace, labels, what);
  const Shape& shape = map.values.tensor->shape();
  const Index rank = shape.rank();
  std::string text;
  write_tsv({map.values, rank >= 2 ? shape.name(rank - 2) : "", rank >= 1 ? shape.name(rank - 1) : "",
             map.row_labels, map.col_labels},
            [&text](std::string_view piece) { text += piece; });
  return text;
}

std::string map_as_numpy_array(const Trace& trace, const TokenLabels& labels, const TensorExport& what) {
  const MatrixView values = map_of(trace, labels, what).values;
  const Tensor& tensor = *values.tensor;
  const std::string type = type_name(tensor.dtype());
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
