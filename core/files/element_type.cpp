#include "core/files/element_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include <zlib.h>

#include "core/tensor/join.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are decoded for a little-endian machine");

constexpr std::size_t max_rank = 64;             // numpy 2's limit
constexpr std::size_t chunk_bytes = 256 * 1024;  // decoded at a time: stays in the L2 cache

constexpr std::array entries{
    ElementTypeEntry{ElementType::boolean, "bool", "b1", "BOOL", 1, DType::boolean},
    ElementTypeEntry{ElementType::u8, "u8", "u1", "U8", 1, DType::i64},
    ElementTypeEntry{ElementType::i8, "i8", "i1", "I8", 1, DType::i64},
    ElementTypeEntry{ElementType::u16, "u16", "u2", "U16", 2, DType::i64},
    ElementTypeEntry{ElementType::i16, "i16", "i2", "I16", 2, DType::i64},
    ElementTypeEntry{ElementType::u32, "u32", "u4", "U32", 4, DType::i64},
    ElementTypeEntry{ElementType::i32, "i32", "i4", "I32", 4, DType::i64},
    ElementTypeEntry{ElementType::u64, "u64", "u8", "U64", 8, DType::i64},
    ElementTypeEntry{ElementType::i64, "i64", "i8", "I64", 8, DType::i64},
    ElementTypeEntry{ElementType::f16, "f16", "f2", "F16", 2, DType::f32},
    // numpy has no bfloat16: the ml_dtypes package saves it as two raw bytes.
    ElementTypeEntry{ElementType::bf16, "bf16", "V2", "BF16", 2, DType::f32},
    ElementTypeEntry{ElementType::f32, "f32", "f4", "F32", 4, DType::f32},
    ElementTypeEntry{ElementType::f64, "f64", "f8", "F64", 8, DType::f64},
    ElementTypeEntry{ElementType::f8_e4m3, "f8_e4m3", "", "F8_E4M3", 1, std::nullopt},
    ElementTypeEntry{ElementType::f8_e5m2, "f8_e5m2", "", "F8_E5M2", 1, std::nullopt},
    ElementTypeEntry{ElementType::f8_e4m3fnuz, "f8_e4m3fnuz", "", "F8_E4M3FNUZ", 1, std::nullopt},
    ElementTypeEntry{ElementType::f8_e5m2fnuz, "f8_e5m2fnuz", "", "F8_E5M2FNUZ", 1, std::nullopt},
    ElementTypeEntry{ElementType::f8_e8m0, "f8_e8m0", "", "F8_E8M0", 1, std::nullopt},
    ElementTypeEntry{ElementType::c64, "c64", "c8", "C64", 8, std::nullopt},
    ElementTypeEntry{ElementType::c128, "c128", "c16", "", 16, std::nullopt},
    ElementTypeEntry{ElementType::other, "other", "", "", 1, std::nullopt},
};

Index checked_bytes(const StoredArray& array, Index element_bytes, const std::string& where) {
  Index bytes = element_bytes;
  bool empty = false;
  bool fits = array.sizes.size() <= max_rank;
  for (const Index size : array.sizes) {
    if (size == 0) empty = true;
    fits = fits && size >= 0 && !__builtin_mul_overflow(bytes, std::max<Index>(size, 1), &bytes);
  }
  if (!fits)
    refuse_input(where, "the shape is out of range", fmt::format("({})", join(array.sizes, ",")),
                 fmt::format("at most {} axes whose product fits in 63 bits", max_rank));
  return empty ? 0 : bytes;
}

template <class T>
T swap_bytes(T value) {
  auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
  std::ranges::reverse(bytes);
  return std::bit_cast<T>(bytes);
}

// Iterates over an array in the order in which its elements are stored and gives the row-major position of
// each.
class StorageOrder {
 public:
  explicit StorageOrder(const StoredArray& array) : sizes_(array.sizes) {
    if (!array.fortran_order || sizes_.size() < 2) {
      sizes_.clear();
      return;
    }
    index_.assign(sizes_.size(), 0);
    strides_.assign(sizes_.size(), 1);
    for (std::size_t i = sizes_.size(); i-- > 1;) strides_[i - 1] = strides_[i] * sizes_[i];
  }

  std::size_t next() {
    if (sizes_.empty()) return static_cast<std::size_t>(position_++);
    const Index here = position_;
    for (std::size_t axis = 0; axis < sizes_.size(); ++axis) {
      position_ += strides_[axis];
      if (++index_[axis] < sizes_[axis]) break;
      position_ -= strides_[axis] * sizes_[axis];
      index_[axis] = 0;
    }
    return static_cast<std::size_t>(here);
  }

 private:
  std::vector<Index> sizes_, index_, strides_;  // empty: row-major already
  Index position_ = 0;
};

// Converts stored elements of type In to elements of type Out.
template <class In, class Out, class Convert>
TensorPtr decode(const StoredArray& array, const Shape& shape, const ByteSource& source, Convert convert) {
  const auto count = static_cast<std::size_t>(shape.element_count());
  std::vector<Out> values(count);
  std::vector<In> chunk(std::min(count, chunk_bytes / sizeof(In)));
  StorageOrder order(array);
  for (std::size_t done = 0; done < count;) {
    const std::span<In> part = std::span(chunk).first(std::min(chunk.size(), count - done));
    source(std::as_writable_bytes(part));
    for (const In element : part)
      values[order.next()] = convert(array.big_endian ? swap_bytes(element) : element);
    done += part.size();
  }
  return std::make_shared<const Tensor>(shape, std::move(values));
}

template <class In>
TensorPtr decode_integers(const StoredArray& array, const Shape& shape, const ByteSource& source,
                          const std::string& where) {
  return decode<In, std::int64_t>(array, shape, source, [&](In value) {
    if (!std::in_range<std::int64_t>(value))
      refuse_input(where, "an unsigned number is too large", fmt::format("{}", value),
                   fmt::format("at most {}", std::numeric_limits<std::int64_t>::max()));
    return static_cast<std::int64_t>(value);
  });
}

}  // namespace

const ElementTypeEntry& element_type(ElementType type) {
  return entries[static_cast<std::size_t>(type)];
}

std::optional<ElementType> find_element_type(std::string_view ElementTypeEntry::*column, std::string_view name) {
  const auto found = std::ranges::find(entries, name, column);
  return name.empty() || found == entries.end() ? std::nullopt : std::optional(found->type);
}

ElementType element_type_of(DType dtype) {
  constexpr ElementType types[] = {ElementType::f32, ElementType::f64, ElementType::boolean, ElementType::i64};
  return types[static_cast<std::size_t>(dtype)];
}

std::optional<DType> tensor_dtype(std::string_view type_name) {
  const auto type = std::ranges::find(entries, type_name, &ElementTypeEntry::name);
  return type == entries.end() ? std::nullopt : type->becomes;
}

bool holds_floats(std::string_view type_name) {
  const std::optional<DType> dtype = tensor_dtype(type_name);
  return dtype == DType::f32 || dtype == DType::f64;
}

std::string stored_type_name(const StoredArray& array) {
  return array.type == ElementType::other ? array.other_type : std::string(element_type(array.type).name);
}

Index stored_bytes(const StoredArray& array, const std::string& where) {
  return checked_bytes(array, element_type(array.type).bytes, where);
}

Index tensor_bytes(const StoredArray& array, const std::string& where) {
  const std::optional<DType> dtype = element_type(array.type).becomes;
  const Index bytes = checked_bytes(array, dtype ? static_cast<Index>(dtype_bytes(*dtype)) : 1, where);
  return dtype ? bytes : 0;
}

void require_readable(const StoredArray& array, const std::string& where) {
  if (element_type(array.type).becomes) return;
  throw NotNumbers({where, "numbers of this type cannot be read", stored_type_name(array),
                    "f16, bf16, f32, f64, bool or integers", "convert the array to f32 and save it again"});
}

Shape unnamed_shape(const std::vector<Index>& sizes) {
  std::vector<Axis> axes;
  for (const Index size : sizes) axes.push_back({fmt::format("axis{}", axes.size()), size});
  return Shape(std::move(axes));
}

bool add_unreadable(const StoredArray& array, const std::string& name, const std::string& where,
                    std::vector<UnreadEntry>& unread) {
  try {
    require_readable(array, where);
    return false;
  } catch (const NotNumbers& refusal) {
    unread.push_back({name, refusal});
    return true;
  }
}

TensorPtr read_tensor(const StoredArray& array, const ByteSource& source, const std::string& where) {
  require_readable(array, where);
  require_memory(tensor_bytes(array, where), where);
  const Shape shape = unnamed_shape(array.sizes);
  const auto same = [](auto value) { return value; };
  switch (array.type) {
    case ElementType::boolean:
      return decode<std::uint8_t, std::uint8_t>(
          array, shape, source, [](std::uint8_t byte) -> std::uint8_t { return byte != 0 ? 1 : 0; });
    case ElementType::u8:
      return decode_integers<std::uint8_t>(array, shape, source, where);
    case ElementType::i8:
      return decode_integers<std::int8_t>(array, shape, source, where);
    case ElementType::u16:
      return decode_integers<std::uint16_t>(array, shape, source, where);
    case ElementType::i16:
      return decode_integers<std::int16_t>(array, shape, source, where);
    case ElementType::u32:
      return decode_integers<std::uint32_t>(array, shape, source, where);
    case ElementType::i32:
      return decode_integers<std::int32_t>(array, shape, source, where);
    case ElementType::u64:
      return decode_integers<std::uint64_t>(array, shape, source, where);
    case ElementType::i64:
      return decode_integers<std::int64_t>(array, shape, source, where);
    case ElementType::f16:
      return decode<std::uint16_t, float>(array, shape, source, half_to_float);
    case ElementType::bf16:
      return decode<std::uint16_t, float>(array, shape, source, bfloat16_to_float);
    case ElementType::f32:
      return decode<float, float>(array, shape, source, same);
    case ElementType::f64:
      return decode<double, double>(array, shape, source, same);
    default:
      throw std::logic_error("a type that can be read has no decoder");
  }
}

std::span<const std::byte> tensor_storage(const Tensor& tensor) {
  return with_values(tensor, [](auto values) { return std::span<const std::byte>(std::as_bytes(values)); });
}

std::string base64(std::span<const std::byte> bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t there = std::min<std::size_t>(3, bytes.size() - i);
    unsigned group = 0;
    for (std::size_t b = 0; b < 3; ++b)
      group = group << 8 | (b < there ? std::to_integer<unsigned>(bytes[i + b]) : 0u);
    for (std::size_t d = 0; d < 4; ++d) text += d <= there ? digits[group >> (18 - 6 * d) & 63u] : '=';
  }
  return text;
}

std::string deflated_base64(std::span<const std::byte> bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::vector<unsigned char> packed(size);
  if (compress2(packed.data(), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                static_cast<uLong>(bytes.size()), 9) != Z_OK)
    throw std::runtime_error("zlib cannot deflate an array");
  return base64(std::as_bytes(std::span(packed.data(), size)));
}

float half_to_float(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1Fu;
  const std::uint32_t fraction = bits & 0x3FFu;
  if (exponent == 0) {  // zero or subnormal: fraction · 2^-24, exact in binary32
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t wide = exponent == 0x1F ? 0xFFu : exponent + 127 - 15;
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

float bfloat16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace headwise
