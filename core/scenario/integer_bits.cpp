#include "core/scenario/integer_bits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "core/files/element_type.h"

namespace headwise {
namespace {

// A floating-point type whose bits are saved as integers of `bits` bits. Numbers of a layer are between
// `least` and `most`, or 0; the bounds tell bf16 from f16, whose bits read as each other's are far smaller,
// or all between 1 and 4.
struct SavedBits {
  const char* name;
  int bits;
  double least, most;
  double (*number)(std::uint32_t bits);
  const char* remedy;
};

constexpr std::array saved{
    SavedBits{"bf16", 16, 0x1p-20, 0x1p16,
              [](std::uint32_t bits) { return double{bfloat16_to_float(static_cast<std::uint16_t>(bits))}; },
              "in NumPy (a.astype('uint32') << 16).view('float32') restores them; in PyTorch save "
              "tensor.float().numpy()"},
    SavedBits{"f16", 16, 0x1p-13, 0x1p12,
              [](std::uint32_t bits) { return double{half_to_float(static_cast<std::uint16_t>(bits))}; },
              "in NumPy a.view('float16') restores them; in PyTorch save tensor.float().numpy()"},
    SavedBits{"f32", 32, 0x1p-20, 0x1p16, [](std::uint32_t bits) { return double{std::bit_cast<float>(bits)}; },
              "in NumPy a.view('float32') restores them"}};

// Whether nearly all of the integers are the bits of plausible numbers, as a signed or an unsigned type.
bool looks_like(const SavedBits& form, std::span<const std::int64_t> integers, std::int64_t least,
                std::int64_t most) {
  const std::int64_t end = std::int64_t{1} << form.bits;
  if (least < -end / 2 || most >= (least < 0 ? end / 2 : end)) return false;
  const auto plausible = [&](std::int64_t integer) {
    const double size = std::abs(form.number(static_cast<std::uint32_t>(integer)));
    return size == 0.0 || (size >= form.least && size <= form.most);
  };
  const bool only_zeros = least == 0 && most == 0;
  return !only_zeros && 10 * std::ranges::count_if(integers, plausible) >= 9 * std::ssize(integers);
}

}  // namespace

IntegerLook look_of_integers(const Tensor& tensor) {
  const auto integers = tensor.values<std::int64_t>();
  const char* const whole =
      "if whole numbers are meant: a.astype('float32') in NumPy, tensor.float() in PyTorch";
  if (integers.empty()) return {"integers", whole};
  const auto [least, most] = std::ranges::minmax(integers);
  const std::string range = fmt::format("integers from {} to {}", least, most);
  for (const SavedBits& form : saved)
    if (looks_like(form, integers, least, most))
      return {fmt::format("{}, which look like {} saved as {}int{}", range, form.name, least < 0 ? "" : "u",
                          form.bits),
              form.remedy};
  return {range, whole};
}

}  // namespace headwise
