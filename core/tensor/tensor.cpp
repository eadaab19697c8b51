#include "core/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "core/tensor/error.h"

namespace headwise {
namespace {

// Throws std::out_of_range: a cell that a tensor does not have is never read or written.
std::size_t cell_place(Index offset, std::size_t cells) {
  const auto place = static_cast<std::size_t>(offset);  // a negative one is too large
  if (place >= cells) throw std::out_of_range("a cell outside of the tensor");
  return place;
}

}  // namespace

const char* dtype_name(DType dtype) {
  constexpr const char* names[] = {"f32", "f64", "bool", "i64"};
  return names[static_cast<std::size_t>(dtype)];
}

std::size_t dtype_bytes(DType dtype) {
  constexpr std::size_t bytes[] = {4, 8, 1, 8};
  return bytes[static_cast<std::size_t>(dtype)];
}

Tensor::Tensor(Shape shape, DType dtype, Taken) : shape_(std::move(shape)) {
  constexpr Index small = Index{1} << 17;  // cells, under 1 MiB: never refused, and made sooner than named
  if (size() >= small) {
    const std::string name = "tensor " + shape_.to_string();
    require_memory(checked_multiply(size(), static_cast<Index>(dtype_bytes(dtype)), name), name);
  }
  const auto count = static_cast<std::size_t>(size());
  switch (dtype) {
    case DType::f32:
      storage_.emplace<Values<float>>(count);
      break;
    case DType::f64:
      storage_.emplace<Values<double>>(count);
      break;
    case DType::boolean:
      storage_.emplace<Values<std::uint8_t>>(count);
      break;
    case DType::i64:
      storage_.emplace<Values<std::int64_t>>(count);
      break;
  }
}

Tensor::Tensor(Shape shape, DType dtype) : Tensor(std::move(shape), dtype, Taken{}) {
  std::visit([](auto& values) { std::ranges::fill(values, 0); }, storage_);
}

Tensor Tensor::unwritten(Shape shape, DType dtype) {
  return Tensor(std::move(shape), dtype, Taken{});
}

Tensor Tensor::outline(Shape shape, DType dtype) {
  Tensor outline(Shape{{"none", 0}}, dtype);
  outline.shape_ = std::move(shape);
  return outline;
}

bool Tensor::is_outline() const {
  return size() > 0 && std::visit([](const auto& values) { return values.empty(); }, storage_);
}

template <class T>
Tensor::Tensor(Shape shape, const std::vector<T>& values) : shape_(std::move(shape)) {
  if (static_cast<Index>(values.size()) != size()) {
    throw Error(ExitStatus::usage,
                {"tensor", "the values do not fill the shape", fmt::format("{} values", values.size()),
                 fmt::format("{} for {}", size(), shape_.to_string()), ""});
  }
  storage_.emplace<Values<T>>(values.begin(), values.end());
}

template Tensor::Tensor(Shape, const std::vector<float>&);
template Tensor::Tensor(Shape, const std::vector<double>&);
template Tensor::Tensor(Shape, const std::vector<std::uint8_t>&);
template Tensor::Tensor(Shape, const std::vector<std::int64_t>&);

double Tensor::flat(Index offset) const {
  return std::visit([&](const auto& v) { return static_cast<double>(v[cell_place(offset, v.size())]); },
                    storage_);
}

void Tensor::set_flat(Index offset, double value) {
  std::visit([&]<class T>(Values<T>& v) { v[cell_place(offset, v.size())] = static_cast<T>(value); }, storage_);
}

Tensor Tensor::reshaped(Shape shape) const {
  Tensor other = *this;
  if (shape.element_count() != size()) {
    throw Error(ExitStatus::usage,
                {"tensor", "the values do not fill the shape", fmt::format("{} values", size()),
                 fmt::format("{} for {}", shape.element_count(), shape.to_string()), ""});
  }
  other.shape_ = std::move(shape);
  return other;
}

Tensor Tensor::converted(DType target) const {
  if (target == dtype()) return *this;
  Tensor out = unwritten(shape_, target);
  std::visit(
      [&]<class T>(Values<T>& to) {
        std::visit(
            [&](const auto& from) {
              for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<T>(from[i]);
            },
            storage_);
      },
      out.storage_);
  return out;
}

bool identical(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const auto same = [&]<class T>(std::span<const T> x, std::span<const T> y) {
    return x.empty() || std::memcmp(x.data(), y.data(), x.size_bytes()) == 0;
  };
  switch (a.dtype()) {
    case DType::f32:
      return same(a.values<float>(), b.values<float>());
    case DType::f64:
      return same(a.values<double>(), b.values<double>());
    case DType::boolean:
      return same(a.values<std::uint8_t>(), b.values<std::uint8_t>());
    case DType::i64:
      return same(a.values<std::int64_t>(), b.values<std::int64_t>());
  }
  return false;
}

}  // namespace headwise
