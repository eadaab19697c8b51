#include "core/code/program_arrays.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr Index most_listed_cells = 64;
constexpr std::size_t text_columns = 110;

const char* numpy_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "<f4";
    case DType::f64:
      return "<f8";
    case DType::boolean:
      return "?";
    case DType::i64:
      return "<i8";
  }
  return "";
}

std::string number_text(const Tensor& tensor, Index i) {
  const double value = tensor.flat(i);
  if (tensor.dtype() == DType::boolean) return value != 0.0 ? "True" : "False";
  if (std::isnan(value)) return "np.nan";
  if (std::isinf(value)) return value > 0 ? "np.inf" : "-np.inf";
  return tensor.dtype() == DType::f32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
}

std::string base64(std::span<const unsigned char> bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t there = std::min<std::size_t>(3, bytes.size() - i);
    unsigned group = 0;
    for (std::size_t b = 0; b < 3; ++b) group = group << 8 | (b < there ? bytes[i + b] : 0u);
    for (std::size_t d = 0; d < 4; ++d) text += d <= there ? digits[group >> (18 - 6 * d) & 63u] : '=';
  }
  return text;
}

std::span<const unsigned char> bytes_of(const Tensor& tensor) {
  const auto bytes = [](const auto& values) {
    return std::span(reinterpret_cast<const unsigned char*>(values.data()), values.size_bytes());
  };
  switch (tensor.dtype()) {
    case DType::f32:
      return bytes(tensor.values<float>());
    case DType::f64:
      return bytes(tensor.values<double>());
    case DType::boolean:
      return bytes(tensor.values<std::uint8_t>());
    case DType::i64:
      return bytes(tensor.values<std::int64_t>());
  }
  return {};
}

std::string deflated_base64(const Tensor& tensor) {
  static_assert(std::endian::native == std::endian::little, "the program reads little-endian numbers");
  const std::span<const unsigned char> raw = bytes_of(tensor);
  uLongf size = compressBound(static_cast<uLong>(raw.size()));
  std::vector<unsigned char> packed(size);
  if (compress2(packed.data(), &size, raw.data(), static_cast<uLong>(raw.size()), 9) != Z_OK) {
    throw std::runtime_error("zlib cannot deflate the arrays of a program");
  }
  return base64(std::span(packed.data(), size));
}

std::string sizes_tuple(const Tensor& tensor) {
  const std::vector<Index> sizes = tensor.shape().sizes();
  return fmt::format("({}{})", join(sizes, ", "), sizes.size() == 1 ? "," : "");
}

}  // namespace

std::string python_array(const Tensor& tensor) {
  const char* type = numpy_type(tensor.dtype());
  if (tensor.size() <= most_listed_cells) {
    std::vector<std::string> numbers;
    for (Index i = 0; i < tensor.size(); ++i) numbers.push_back(number_text(tensor, i));
    return fmt::format("np.array([{}], \"{}\").reshape{}", join(numbers, ", "), type, sizes_tuple(tensor));
  }
  const std::string text = deflated_base64(tensor);
  std::string lines;
  for (std::size_t at = 0; at < text.size(); at += text_columns) {
    lines += fmt::format("\n    \"{}\"", std::string_view(text).substr(at, text_columns));
  }
  return fmt::format("unpack(\"{}\", {},{})", type, sizes_tuple(tensor), lines);
}

std::string python_unpack_definition() {
  return "def unpack(dtype, sizes, text):\n"
         "    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype).reshape(sizes).copy()\n";
}

}  // namespace headwise
