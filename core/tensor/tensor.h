// A dense, row-major tensor with named axes. Values are float, double, bool (one byte each) or int64;
// mathematics is done in f32 or f64 only, bool and i64 carry masks and valid_lens.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <variant>

#include "core/tensor/memory.h"
#include "core/tensor/shape.h"

namespace headwise {

enum class DType : std::uint8_t { f32, f64, boolean, i64 };

const char* dtype_name(DType dtype);  // "f32", "f64", "bool", "i64"
std::size_t dtype_bytes(DType dtype);

// Default-initialises a vector's new values without writing zeros, at an address aligned to a cache line.
template <class T>
struct UnwrittenValues : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = UnwrittenValues<U>;
  };
  // The library's aligned allocation requests more than it uses, so that a freed tensor's block is too small
  // for the next one of its size; here the original address is stored before the values.
  static constexpr std::size_t line = 64;
  T* allocate(std::size_t count) {
    if (count > (std::numeric_limits<std::size_t>::max() - line) / sizeof(T))
      throw std::bad_array_new_length();
    char* const given = static_cast<char*>(::operator new(count * sizeof(T) + line));
    char* const at = given + (line - reinterpret_cast<std::uintptr_t>(given) % line);
    std::memcpy(at - sizeof given, &given, sizeof given);
    prefer_large_pages(at, count * sizeof(T));
    return static_cast<T*>(static_cast<void*>(at));
  }
  void deallocate(T* at, std::size_t) noexcept {
    char* given = nullptr;
    std::memcpy(&given, static_cast<const char*>(static_cast<void*>(at)) - sizeof given, sizeof given);
    ::operator delete(given);
  }
  template <class U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class From>
  void construct(U* at, const From& from) {
    ::new (static_cast<void*>(at)) U(from);
  }
};

class Tensor {
 public:
  // Zeros. Throws Error(memory) if the bytes overflow or are not available (core/tensor/memory.h).
  Tensor(Shape shape, DType dtype);
  // T is float, double, std::uint8_t (bool) or std::int64_t; values.size() must equal shape.element_count().
  template <class T>
  Tensor(Shape shape, const std::vector<T>& values);
  // For callers that write every value before any is read: zeroing costs as much as the work for a large map.
  static Tensor unwritten(Shape shape, DType dtype);
  // A shape and a type without values, and without memory for them: for checks before an array is read.
  // values() is empty.
  static Tensor outline(Shape shape, DType dtype);
  bool is_outline() const;

  const Shape& shape() const { return shape_; }
  DType dtype() const { return static_cast<DType>(storage_.index()); }
  Index size() const { return shape_.element_count(); }
  std::size_t bytes() const { return static_cast<std::size_t>(size()) * dtype_bytes(dtype()); }

  // The values as stored; T must be the stored type (std::bad_variant_access otherwise).
  template <class T>
  std::span<const T> values() const {
    return std::get<Values<T>>(storage_);
  }
  template <class T>
  std::span<T> values() {
    return std::get<Values<T>>(storage_);
  }

  // Any cell as a double, whatever the type: used by views, exporters and provenance.
  double flat(Index offset) const;
  double at(std::span<const Index> index) const { return flat(shape_.offset(index)); }
  double at(std::initializer_list<Index> index) const { return at(std::span(index.begin(), index.size())); }
  void set_flat(Index offset, double value);

  // The same numbers under another shape of the same element count.
  Tensor reshaped(Shape shape) const;
  Tensor converted(DType dtype) const;

 private:
  template <class T>
  using Values = std::vector<T, UnwrittenValues<T>>;
  struct Taken {};

  Tensor(Shape shape, DType dtype, Taken);  // values not written

  Shape shape_;
  std::variant<Values<float>, Values<double>, Values<std::uint8_t>, Values<std::int64_t>> storage_;
};

using TensorPtr = std::shared_ptr<const Tensor>;

// Same shape (names included), same type, same bits (so NaN equals NaN and 0 differs from -0).
bool identical(const Tensor& a, const Tensor& b);

}  // namespace headwise
