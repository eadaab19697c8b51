#include "core/files/png_file.h"

#include <fmt/format.h>
#include <png.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <csetjmp>
#include <cstring>
#include <utility>

#include "core/files/input_file.h"
#include "core/tensor/error.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

constexpr std::size_t signature_bytes = 8;
// Deflate makes at most 1032 bytes of one.
constexpr std::uint64_t most_inflation = 1032;
constexpr png_alloc_size_t most_chunk = png_alloc_size_t{8} << 20;

// What libpng reads from, and what it says. No destructor may be skipped by its longjmp, so the functions
// that call setjmp have none: everything they touch is here.
struct PngReading {
  std::string_view bytes;
  std::size_t at = 0;
  std::array<char, 160> problem{};
  png_structp png = nullptr;
  png_infop info = nullptr;
  png_uint_32 width = 0, height = 0;
  std::size_t row_bytes = 0;
  int channels = 0, passes = 1;
};

void keep_problem(png_structp png, png_const_charp message) {
  auto& reading = *static_cast<PngReading*>(png_get_error_ptr(png));
  std::strncpy(reading.problem.data(), message, reading.problem.size() - 1);
  png_longjmp(png, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

void copy_bytes(png_structp png, png_bytep to, png_size_t count) {
  auto& reading = *static_cast<PngReading*>(png_get_io_ptr(png));
  if (count > reading.bytes.size() - reading.at) png_error(png, "the file ends too early");
  std::memcpy(to, reading.bytes.data() + reading.at, count);
  reading.at += count;
}

// Reads up to the pixels, and asks for 8-bit RGB or RGBA. False: `problem` says why.
bool read_header(PngReading& reading) {
  if (setjmp(png_jmpbuf(reading.png)) != 0) return false;
  png_set_read_fn(reading.png, &reading, copy_bytes);
  png_set_user_limits(reading.png, most_png_side, most_png_side);
  png_set_chunk_malloc_max(reading.png, most_chunk);
  png_read_info(reading.png, reading.info);
  png_set_expand(reading.png);  // palettes, fewer than 8 bits, a transparent colour
  png_set_strip_16(reading.png);
  png_set_gray_to_rgb(reading.png);
  reading.passes = png_set_interlace_handling(reading.png);
  reading.width = png_get_image_width(reading.png, reading.info);
  reading.height = png_get_image_height(reading.png, reading.info);
  return true;
}

// Whether that many bytes can hold as many pixels.
bool has_enough_bytes(const PngReading& reading) {
  const auto bits = static_cast<std::uint64_t>(png_get_bit_depth(reading.png, reading.info)) *
                    png_get_channels(reading.png, reading.info);
  const std::uint64_t row = (reading.width * bits + 7) / 8 + 1;
  return row * reading.height / most_inflation <= reading.bytes.size();
}

bool start_rows(PngReading& reading) {
  if (setjmp(png_jmpbuf(reading.png)) != 0) return false;
  png_read_update_info(reading.png, reading.info);
  reading.row_bytes = png_get_rowbytes(reading.png, reading.info);
  reading.channels = png_get_channels(reading.png, reading.info);
  return true;
}

bool read_rows(PngReading& reading, png_bytep pixels) {
  if (setjmp(png_jmpbuf(reading.png)) != 0) return false;
  for (int pass = 0; pass < reading.passes; ++pass)
    for (png_uint_32 y = 0; y < reading.height; ++y)
      png_read_row(reading.png, pixels + y * reading.row_bytes, nullptr);
  png_read_end(reading.png, nullptr);
  return true;
}

// The format that a file begins as.
const char* format_of(std::string_view bytes) {
  using namespace std::string_view_literals;
  constexpr std::array beginnings{std::pair("\xFF\xD8\xFF"sv, "a JPEG"),
                                  std::pair("GIF8"sv, "a GIF"),
                                  std::pair("BM"sv, "a BMP"),
                                  std::pair("RIFF"sv, "a RIFF file, such as a WebP"),
                                  std::pair("II*\0"sv, "a TIFF"),
                                  std::pair("MM\0*"sv, "a TIFF")};
  for (const auto& [beginning, name] : beginnings)
    if (bytes.starts_with(beginning)) return name;
  return "a file that does not begin as a PNG";
}

}  // namespace

bool is_png_name(std::string_view path) {
  constexpr std::string_view ending = ".png";
  return path.size() > ending.size() &&
         std::ranges::equal(path.substr(path.size() - ending.size()), ending, {}, [](char c) {
           return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
         });
}

RgbPicture read_png(const std::string& path) {
  const InputFile file(path);
  const std::string head = file.read_text(0, std::min<std::uint64_t>(file.size(), signature_bytes));
  if (head.size() < signature_bytes ||
      png_sig_cmp(reinterpret_cast<png_const_bytep>(head.data()), 0, signature_bytes) != 0)
    refuse_input(path, "this is not a PNG picture", format_of(head), "a PNG",
                 "convert it, for example with an image viewer");
  const std::string bytes = file.read_text(0, file.size());
  PngReading reading{.bytes = bytes};
  struct Owner {
    PngReading& of;
    ~Owner() { png_destroy_read_struct(&of.png, &of.info, nullptr); }
  } owner{reading};
  reading.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reading, keep_problem, ignore_warning);
  reading.info = reading.png ? png_create_info_struct(reading.png) : nullptr;
  if (!reading.info) throw std::bad_alloc();
  const auto damaged = [&]() {
    refuse_input(path, "the PNG is damaged", one_line(reading.problem.data()), "a whole PNG",
                 "save or fetch the picture again");
  };
  if (!read_header(reading)) damaged();
  const auto pixels = static_cast<Index>(reading.width) * static_cast<Index>(reading.height);
  if (pixels > most_png_pixels)
    refuse_input(path, "the picture is too large", fmt::format("{} × {} pixels", reading.width, reading.height),
                 fmt::format("at most {} pixels", most_png_pixels), "make it smaller first");
  if (!has_enough_bytes(reading))
    refuse_input(path, "the PNG is damaged",
                 fmt::format("{} bytes for {} × {} pixels", bytes.size(), reading.width, reading.height),
                 "as many bytes as the pixels need", "save or fetch the picture again");
  if (!start_rows(reading)) damaged();
  const Index all = static_cast<Index>(reading.row_bytes) * static_cast<Index>(reading.height);
  require_memory(all, path);
  RgbPicture picture{static_cast<Index>(reading.width), static_cast<Index>(reading.height), {}, false};
  picture.rgb.resize(static_cast<std::size_t>(all));
  if (!read_rows(reading, picture.rgb.data())) damaged();
  if (reading.channels == 3) return picture;
  for (Index i = 0; i < pixels; ++i) {
    const std::uint8_t* const from = picture.rgb.data() + 4 * i;
    picture.has_alpha = picture.has_alpha || from[3] != 255;  // before it is overwritten
    std::memmove(picture.rgb.data() + 3 * i, from, 3);
  }
  picture.rgb.resize(static_cast<std::size_t>(3 * pixels));
  return picture;
}

}  // namespace headwise
