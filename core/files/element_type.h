// The types of numbers that files hold, and how they become tensors. f16 and bf16 are widened to f32
// (exactly), integers to i64; 8-bit floats, complex numbers and types
// that only their file names are listed, so that a file can be described, but not read.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/array_files.h"
#include "core/files/input_file.h"
#include "core/tensor/error.h"
#include "core/tensor/tensor.h"

namespace headwise {

// clang-format off
enum class ElementType : std::uint8_t {
  boolean, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64, f8_e4m3, f8_e5m2, f8_e4m3fnuz, f8_e5m2fnuz, f8_e8m0,
  c64, c128, other,
};
// clang-format on

struct ElementTypeEntry {
  ElementType type;
  std::string_view name;         // "f16", as Headwise writes it everywhere
  std::string_view npy;          // "f2": kind and bytes, without the byte order; empty if npy has none
  std::string_view safetensors;  // "F16"; empty if safetensors has none
  Index bytes;
  std::optional<DType> becomes;  // nullopt: it cannot be read
};
const ElementTypeEntry& element_type(ElementType type);
// By the name in one of the columns; nullopt for a name that is not there.
std::optional<ElementType> find_element_type(std::string_view ElementTypeEntry::*column, std::string_view name);
ElementType element_type_of(DType dtype);  // the type in which a tensor is written
// What an array of this type, "f16", becomes; nullopt: it cannot be read.
std::optional<DType> tensor_dtype(std::string_view type_name);
bool holds_floats(std::string_view type_name);  // whether that is f32 or f64

// An array as a file describes it.
struct StoredArray {
  std::string name;
  ElementType type = ElementType::f32;
  std::string other_type;    // of ElementType::other: its name in the file, "F4"
  std::vector<Index> sizes;  // outermost axis first; empty: a single number
  bool big_endian = false;
  bool fortran_order = false;  // the first axis is contiguous
};

std::string stored_type_name(const StoredArray& array);  // "f16", "F4"

// What a file holds are not numbers that can be read: text, records, complex numbers. It does no harm beside
// arrays that can.
class NotNumbers : public Error {
 public:
  explicit NotNumbers(const ErrorParts& parts) : Error(ExitStatus::input, parts) {}
};

// Throws NotNumbers for a type that cannot be read.
void require_readable(const StoredArray& array, const std::string& where);
// Adds that refusal to `unread`, under `name`; false: there is none.
bool add_unreadable(const StoredArray& array, const std::string& name, const std::string& where,
                    std::vector<UnreadEntry>& unread);

// Bytes in the file (of ElementType::other: one for each element, as theirs are not known), and bytes of the
// tensor that they become (0: they cannot be read). Throws Error(input), beginning with `where`, for more
// than 64 axes or sizes whose product overflows (a size of 0 does not hide it).
Index stored_bytes(const StoredArray& array, const std::string& where);
Index tensor_bytes(const StoredArray& array, const std::string& where);

// The shape of an array in a file, which has no names for its axes: they are "axis0", "axis1" …
Shape unnamed_shape(const std::vector<Index>& sizes);

// Reads the array's bytes and creates the tensor of that shape. Throws NotNumbers, and Error(input) for an
// unsigned number above the range of i64, Error(memory).
TensorPtr read_tensor(const StoredArray& array, const ByteSource& source, const std::string& where);

// The tensor's numbers as in memory: row-major, little-endian; this is what writers write.
std::span<const std::byte> tensor_storage(const Tensor& tensor);

// f(the values of the tensor), a span of its own type.
template <class F>
auto with_values(const Tensor& tensor, F f) {
  if (tensor.dtype() == DType::f32) return f(tensor.values<float>());
  if (tensor.dtype() == DType::f64) return f(tensor.values<double>());
  if (tensor.dtype() == DType::boolean) return f(tensor.values<std::uint8_t>());
  return f(tensor.values<std::int64_t>());
}

std::string base64(std::span<const std::byte> bytes);  // RFC 4648
// The same of the bytes deflated, in zlib's format (RFC 1950).
std::string deflated_base64(std::span<const std::byte> bytes);

float half_to_float(std::uint16_t bits);      // IEEE 754 binary16, subnormals and NaN included
float bfloat16_to_float(std::uint16_t bits);  // the upper half of a binary32

}  // namespace headwise
