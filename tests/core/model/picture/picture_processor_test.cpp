#include "core/model/picture/picture_processor.h"

#include <algorithm>
#include <cmath>

#include "core/files/array_files.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/refusals.h"

using namespace headwise;
using namespace headwise::test;

namespace {

const std::string picture_folder = HEADWISE_SOURCE_DIR "/tests/golden/pictures/";

PictureProcessor processor_of(const std::string& json, const std::string& type = "vit") {
  const TemporaryFolder folder;
  folder.with_file("preprocessor_config.json", json);
  return read_picture_processor(folder.file(""), type, {32, 32});
}

}  // namespace

TEST_CASE("every filter resizes as Pillow does, to the last bit") {
  const RgbPicture photo = read_png(picture_folder + "photo.png");
  int compared = 0;
  for (const NamedTensor& expected : read_array_file(picture_folder + "expected.npz")) {
    int filter = 0, width = 0, height = 0;
    if (std::sscanf(expected.name.c_str(), "photo.%d.%d.%d", &filter, &width, &height) != 3) continue;
    CAPTURE(expected.name);
    const RgbPicture made = resized(photo, width, height, static_cast<Resample>(filter));
    REQUIRE(static_cast<Index>(made.rgb.size()) == expected.tensor->size());
    CHECK(std::ranges::equal(made.rgb, expected.tensor->values<std::int64_t>()));
    ++compared;
  }
  CHECK(compared == 24);
}

TEST_CASE("the middle of a picture is cut out, black where the picture is smaller") {
  const RgbPicture picture{3, 1, {1, 1, 1, 2, 2, 2, 3, 3, 3}, false};
  CHECK(centre_crop(picture, 1, 1).rgb == std::vector<std::uint8_t>{2, 2, 2});
  CHECK(centre_crop(picture, 2, 1).rgb == std::vector<std::uint8_t>{1, 1, 1, 2, 2, 2});
  CHECK(centre_crop(picture, 4, 1).rgb == std::vector<std::uint8_t>{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3});
}

TEST_CASE(
    "a preprocessor_config.json is read with the defaults of its kind, also as older versions wrote it") {
  const PictureProcessor vit = processor_of("{}");
  CHECK(vit.size == PictureSize{224, 224});
  CHECK(vit.resample == Resample::bilinear);
  CHECK_FALSE(vit.crops);
  const PictureProcessor older = processor_of(
      R"({"feature_extractor_type": "ViTFeatureExtractor", "size": 384, "resample": 3, "image_std": 0.25})");
  CHECK(older.size == PictureSize{384, 384});
  CHECK(older.resample == Resample::bicubic);
  CHECK(older.deviation == std::array{0.25, 0.25, 0.25});
  const PictureProcessor deit = processor_of("{}", "deit");
  CHECK(deit.size == PictureSize{256, 256});
  CHECK(deit.crops);
  const PictureProcessor bit = processor_of(R"({"image_processor_type": "BitImageProcessor", "size": 256})");
  CHECK(bit.shortest_edge == 256);
  CHECK(bit.mean[0] == doctest::Approx(0.48145466));
  const TemporaryFolder empty;
  const PictureProcessor none = read_picture_processor(empty.file(""), "deit", {32, 40});
  CHECK(none.size == PictureSize{32, 40});
  CHECK_CONTAINS(none.assumed, "there is no preprocessor_config.json");
}

TEST_CASE("a preprocessing that is not computed is refused with one line") {
  const auto refused = [](const std::string& json, const std::string& part) {
    refused_with([&] { processor_of(json); }, {"preprocessor_config.json", part});
  };
  refused("[]", "object");
  refused("{", "line 1");
  refused(R"({"image_processor_type": "ConvNextImageProcessor"})", "ConvNextImageProcessor");
  refused(R"({"size": {"shortest_edge": 3, "longest_edge": 9}})", "size");
  refused(R"({"size": {"height": 0, "width": 3}})", "height");
  refused(R"({"size": {"height": 100000, "width": 3}})", "height");
  refused(R"({"size": "big"})", "size");
  refused(R"({"resample": 6})", "resample");
  refused(R"({"image_mean": [1, 2]})", "image_mean");
  refused(R"({"image_std": [1, 0, 1]})", "image_std");
  refused(R"({"do_resize": 3})", "do_resize");
}

TEST_CASE("a picture that is far too long for its shorter side is refused") {
  PictureProcessor processor{.shortest_edge = 224};
  const RgbPicture line{2000, 1, std::vector<std::uint8_t>(6000), false};
  refused_with([&] { prepared(line, processor); }, {"its sides differ too much", "2000 × 1 pixels"});
}
