#include "core/files/png_file.h"

#include <algorithm>
#include <filesystem>

#include "core/files/array_files.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/refusals.h"

using namespace headwise;
using namespace headwise::test;

namespace {

const std::string png_folder = HEADWISE_SOURCE_DIR "/tests/golden/pictures/";

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}

std::string png_refusal(const TemporaryFolder& folder, const std::string& content) {
  const std::string path = folder.with_file("a.png", content);
  const std::string line = refused_with([&] { read_png(path); }, {});
  CHECK(line.starts_with(path));
  return line;
}

}  // namespace

TEST_CASE("every colour type, depth and interlacing of a PNG becomes 8-bit RGB") {
  int compared = 0;
  for (const NamedTensor& expected : read_array_file(png_folder + "expected.npz")) {
    if (!std::filesystem::exists(png_folder + expected.name + ".png")) continue;
    CAPTURE(expected.name);
    const RgbPicture picture = read_png(png_folder + expected.name + ".png");
    CHECK(picture.height == expected.tensor->shape().size(0));
    CHECK(picture.width == expected.tensor->shape().size(1));
    REQUIRE(static_cast<Index>(picture.rgb.size()) == expected.tensor->size());
    CHECK(std::ranges::equal(picture.rgb, expected.tensor->values<std::int64_t>()));
    const bool has_alpha = expected.name.find("alpha") != std::string::npos ||
                           expected.name.find("transparent") != std::string::npos;
    CHECK(picture.has_alpha == has_alpha);
    ++compared;
  }
  CHECK(compared == 32);
}

TEST_CASE("what is no PNG, or a damaged one, is refused with one line") {
  const TemporaryFolder folder;
  const std::string whole = content_of(png_folder + "rgb-8.png");
  CHECK_CONTAINS(png_refusal(folder, "\xFF\xD8\xFF\xE0 and so on"), "got a JPEG; expected a PNG");
  CHECK_CONTAINS(png_refusal(folder, "x"), "not a PNG");
  CHECK_CONTAINS(png_refusal(folder, "GIF89a........."), "a GIF");
  for (std::size_t length = 9; length < whole.size(); ++length) {
    CAPTURE(length);
    png_refusal(folder, whole.substr(0, length));
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x41);
    const std::string path = folder.with_file("a.png", changed);
    try {
      read_png(path);  // a chunk that is not needed may be damaged
    } catch (const Error& error) {
      CHECK(error.status() == ExitStatus::input);
    }
  }
}

TEST_CASE("a PNG that says it is huge is refused before memory is taken for it") {
  const TemporaryFolder folder;
  // The header is changed together with its checksum, which libpng would complain of first.
  const auto sized = [&](std::uint32_t width, std::uint32_t height, const std::string& checksum) {
    const std::string whole = content_of(png_folder + "rgb-8.png");
    return whole.substr(0, 16) + big_endian(width) + big_endian(height) + whole.substr(24, 5) + checksum +
           whole.substr(33);
  };
  CHECK_CONTAINS(png_refusal(folder, sized(30000, 30000, "\xE9\x45\x6F\xED")), "the picture is too large");
  CHECK_CONTAINS(png_refusal(folder, sized(8000, 8000, "\x89\x93\x3A\xA3")), "bytes for 8000 × 8000 pixels");
  png_refusal(folder, sized(0, 7, "    "));
  png_refusal(folder, sized(4000000000U, 4000000000U, "    "));
}

TEST_CASE("a name is a PNG's by its ending") {
  CHECK(is_png_name("a/cat.png"));
  CHECK(is_png_name("CAT.PNG"));
  CHECK_FALSE(is_png_name(".png"));
  CHECK_FALSE(is_png_name("cat.jpg"));
}
