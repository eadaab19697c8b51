#include "core/model/picture/picture_processor.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/files/file_paths.h"
#include "core/files/input_file.h"
#include "core/model/files/model_json.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

constexpr Index colours = 3;
// Weights as Pillow rounds them, so that the 8-bit results agree: whole numbers of 2^-22.
constexpr int weight_bits = 22;

struct ResampleFilter {
  double reach;  // it is 0 beyond, in pixels of a picture that keeps its size
  double (*weight)(double x);
};

double sinc(double x) {
  return x == 0.0 ? 1.0 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}

ResampleFilter filter_of(Resample resample) {
  switch (resample) {
    case Resample::lanczos:
      return {3.0, [](double x) { return sinc(x) * sinc(x / 3.0); }};
    case Resample::bicubic:  // Keys 1981, a = −0.5
      return {2.0, [](double x) {
                constexpr double a = -0.5;
                const double t = std::abs(x);
                if (t < 1.0) return ((a + 2.0) * t - (a + 3.0)) * t * t + 1.0;
                return t < 2.0 ? (((t - 5.0) * t + 8.0) * t - 4.0) * a : 0.0;
              }};
    case Resample::box:
      return {0.5, [](double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }};
    case Resample::hamming:
      return {1.0, [](double x) {
                return std::abs(x) < 1.0 ? sinc(x) * (0.54 + 0.46 * std::cos(std::numbers::pi * x)) : 0.0;
              }};
    default:
      return {1.0, [](double x) { return std::max(0.0, 1.0 - std::abs(x)); }};
  }
}

// Which pixels a pixel of the result is made of, along one axis.
struct PixelMix {
  Index first = 0;
  std::vector<std::int32_t> weights;
};

std::vector<PixelMix> mixes(Index from, Index to, const ResampleFilter& filter) {
  const double step = static_cast<double>(from) / static_cast<double>(to), widened = std::max(step, 1.0);
  const double reach = filter.reach * widened;
  std::vector<PixelMix> all(static_cast<std::size_t>(to));
  std::vector<double> weights;
  for (Index i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * step;
    PixelMix& mix = all[static_cast<std::size_t>(i)];
    mix.first = std::max<Index>(0, static_cast<Index>(centre - reach + 0.5));
    const Index end = std::min(from, static_cast<Index>(centre + reach + 0.5));
    weights.clear();
    double sum = 0.0;
    for (Index j = mix.first; j < end; ++j) {
      weights.push_back(filter.weight((static_cast<double>(j) - centre + 0.5) / widened));
      sum += weights.back();
    }
    for (const double weight : weights)
      mix.weights.push_back(static_cast<std::int32_t>(std::lround(std::ldexp(weight / sum, weight_bits))));
  }
  return all;
}

RgbPicture blank(Index width, Index height) {
  const Index bytes = checked_multiply(checked_multiply(width, height, "the picture"), colours, "the picture");
  require_memory(bytes, "the picture");
  return {width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(bytes)), false};
}

// The pixel (x,y) of the result is what `mix` says of the pixels that begin at `from`, `stride` apart.
void mix_pixel(const PixelMix& mix, const std::uint8_t* from, Index stride, std::uint8_t* to) {
  for (Index c = 0; c < colours; ++c) {
    std::int64_t sum = std::int64_t{1} << (weight_bits - 1);
    const std::uint8_t* at = from + mix.first * stride + c;
    for (const std::int32_t weight : mix.weights) {
      sum += std::int64_t{*at} * weight;
      at += stride;
    }
    to[c] = static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> weight_bits, 0, 255));
  }
}

RgbPicture along_rows(const RgbPicture& picture, Index width, const ResampleFilter& filter) {
  RgbPicture made = blank(width, picture.height);
  const std::vector<PixelMix> all = mixes(picture.width, width, filter);
  for (Index y = 0; y < picture.height; ++y)
    for (Index x = 0; x < width; ++x)
      mix_pixel(all[static_cast<std::size_t>(x)], picture.rgb.data() + y * picture.width * colours, colours,
                made.rgb.data() + (y * width + x) * colours);
  return made;
}

RgbPicture along_columns(const RgbPicture& picture, Index height, const ResampleFilter& filter) {
  RgbPicture made = blank(picture.width, height);
  const std::vector<PixelMix> all = mixes(picture.height, height, filter);
  for (Index y = 0; y < height; ++y)
    for (Index x = 0; x < picture.width; ++x)
      mix_pixel(all[static_cast<std::size_t>(y)], picture.rgb.data() + x * colours, picture.width * colours,
                made.rgb.data() + (y * picture.width + x) * colours);
  return made;
}

RgbPicture with_nearest(const RgbPicture& picture, Index width, Index height) {
  RgbPicture made = blank(width, height);
  const auto place = [](Index i, Index from, Index to) {
    const double step = static_cast<double>(from) / static_cast<double>(to);
    return std::min(from - 1, static_cast<Index>((static_cast<double>(i) + 0.5) * step));
  };
  for (Index y = 0; y < height; ++y)
    for (Index x = 0; x < width; ++x)
      std::copy_n(
          picture.rgb.data() +
              (place(y, picture.height, height) * picture.width + place(x, picture.width, width)) * colours,
          colours, made.rgb.data() + (y * width + x) * colours);
  return made;
}

}  // namespace

RgbPicture resized(const RgbPicture& picture, Index width, Index height, Resample resample) {
  if (resample == Resample::nearest) return with_nearest(picture, width, height);
  const ResampleFilter filter = filter_of(resample);
  const auto in_width = [&](const RgbPicture& from) {
    return from.width == width ? from : along_rows(from, width, filter);
  };
  const auto in_height = [&](const RgbPicture& from) {
    return from.height == height ? from : along_columns(from, height, filter);
  };
  // The height comes first where it shrinks by more than twice as many pixels as the width; found by trying
  // Pillow 13 on many sizes. Values are rounded and clipped between, so the order shows.
  const bool height_first = height < picture.height && 2 * (picture.width - width) < picture.height - height;
  return height_first ? in_width(in_height(picture)) : in_height(in_width(picture));
}

RgbPicture centre_crop(const RgbPicture& picture, Index width, Index height) {
  // Half of the difference, rounded down also below 0.
  const auto offset = [](Index from, Index to) { return (from - to) >> 1; };
  RgbPicture made = blank(width, height);
  const Index top = offset(picture.height, height), left = offset(picture.width, width);
  const Index first = std::max<Index>(0, -left), end = std::min(width, picture.width - left);
  for (Index y = std::max<Index>(0, -top); y < std::min(height, picture.height - top); ++y)
    std::copy_n(picture.rgb.data() + ((y + top) * picture.width + first + left) * colours,
                (end - first) * colours, made.rgb.data() + (y * width + first) * colours);
  return made;
}

namespace {

constexpr Index most_side = 8192;  // of a picture that a model reads

struct AnyNumber {
  bool contains(double) const { return true; }
  std::string text() const { return "a number"; }
};

Index side(const JsonValue& value) {
  return value.integer(1, most_side);
}

// 224, {"height": 224, "width": 224} or {"shortest_edge": 224}; `shortest` null: such a key is refused.
void read_size(const JsonValue& value, PictureSize& size, std::optional<Index>* shortest) {
  if (value.json().is_number()) {
    size = {side(value), side(value)};
    return;
  }
  value.object("a size");
  if (shortest && value.has("shortest_edge") && !value.has("longest_edge")) {
    *shortest = side(value["shortest_edge"]);
    return;
  }
  if (!value.has("height") || !value.has("width"))
    value.refuse("this size is not computed",
                 shortest ? "height and width, or shortest_edge" : "height and width");
  size = {side(value["height"]), side(value["width"])};
}

void read_colours(const JsonValue& value, std::array<double, 3>& numbers, bool divides) {
  const auto number = [&](const JsonValue& one) {
    const double read = one.number(AnyNumber{});
    if (divides && read == 0.0) one.refuse("out of range", "a number other than 0");
    return read;
  };
  if (value.json().is_number()) return numbers.fill(number(value));
  const std::vector<JsonValue> entries = value.list("3 numbers").entries();
  if (entries.size() != numbers.size()) value.refuse("wrong length", "3 numbers, for red, green and blue");
  std::ranges::transform(entries, numbers.begin(), number);
}

// The image processors of transformers, by how their names begin, with what they do where a file does not say
// it.
struct ProcessorKind {
  std::string_view name;
  PictureProcessor usual;
};

const ProcessorKind* find_kind(std::string_view type) {
  constexpr PictureSize usual_size{224, 224};
  static const std::array kinds{
      ProcessorKind{"ViT", {.size = usual_size, .crop = usual_size}},
      ProcessorKind{"DeiT",
                    {.size = {256, 256}, .resample = Resample::bicubic, .crops = true, .crop = usual_size}},
      ProcessorKind{"Bit",
                    {.size = usual_size,
                     .shortest_edge = 224,
                     .resample = Resample::bicubic,
                     .crops = true,
                     .crop = usual_size,
                     .mean = {0.48145466, 0.4578275, 0.40821073},
                     .deviation = {0.26862954, 0.26130258, 0.27577711}}}};
  // "ViTFeatureExtractor" is the name of before 2023.
  const auto is_of = [&](const ProcessorKind& kind) {
    return type.starts_with(kind.name) && (type.substr(kind.name.size()).starts_with("ImageProcessor") ||
                                           type.substr(kind.name.size()).starts_with("FeatureExtractor"));
  };
  const auto found = std::ranges::find_if(kinds, is_of);
  return found == kinds.end() ? nullptr : &*found;
}

// Of the longer side, as int() rounds it.
Index in_proportion(Index shorter, Index longer, Index wanted) {
  return wanted * longer / shorter;
}

}  // namespace

PictureProcessor read_picture_processor(const std::string& folder, const std::string& model_type,
                                        PictureSize reads) {
  const std::string path = folder + "/preprocessor_config.json";
  const bool is_deit = model_type == "deit";
  if (!is_there(path)) {
    PictureProcessor usual = find_kind(is_deit ? "DeiTImageProcessor" : "ViTImageProcessor")->usual;
    usual.size = reads;
    usual.crops = false;
    usual.assumed = fmt::format(
        "there is no preprocessor_config.json: the picture is resized to {} × {} pixels, and its colours go "
        "from −1 to 1",
        reads.width, reads.height);
    return usual;
  }
  const Json json = read_json_object(path, model_format);
  static constexpr JsonFormat format{.dialect = JsonDialect::python,
                                     .problem = "the preprocessing of this model is not computed"};
  const JsonValue settings(json, path, format);
  const char* const type_key =
      settings.has("image_processor_type") ? "image_processor_type" : "feature_extractor_type";
  const ProcessorKind* const kind =
      find_kind(settings.text(type_key, is_deit ? "DeiTImageProcessor" : "ViTImageProcessor"));
  if (!kind)
    settings[type_key].refuse("unknown choice", "ViTImageProcessor, DeiTImageProcessor or BitImageProcessor");
  PictureProcessor made = kind->usual;
  made.resizes = settings.flag("do_resize", made.resizes);
  if (settings.has("size")) {
    const bool by_shortest = made.shortest_edge.has_value();  // of a single number
    made.shortest_edge.reset();
    read_size(settings["size"], made.size, &made.shortest_edge);
    if (by_shortest && settings.at("size").is_number()) made.shortest_edge = made.size.height;
  }
  if (settings.has("resample"))
    made.resample = static_cast<Resample>(settings["resample"].integer(0, static_cast<int>(Resample::hamming)));
  made.crops = settings.flag("do_center_crop", made.crops);
  if (settings.has("crop_size")) read_size(settings["crop_size"], made.crop, nullptr);
  made.rescales = settings.flag("do_rescale", made.rescales);
  if (settings.has("rescale_factor")) made.rescale_factor = settings["rescale_factor"].number(AnyNumber{});
  made.normalises = settings.flag("do_normalize", made.normalises);
  if (settings.has("image_mean")) read_colours(settings["image_mean"], made.mean, false);
  if (settings.has("image_std")) read_colours(settings["image_std"], made.deviation, true);
  return made;
}

RgbPicture prepared(const RgbPicture& picture, const PictureProcessor& processor) {
  RgbPicture made = picture;
  if (processor.resizes) {
    PictureSize size = processor.size;
    if (const std::optional<Index> edge = processor.shortest_edge) {
      const bool upright = picture.width <= picture.height;
      const Index longer = upright ? in_proportion(picture.width, picture.height, *edge)
                                   : in_proportion(picture.height, picture.width, *edge);
      size = upright ? PictureSize{longer, *edge} : PictureSize{*edge, longer};
      if (longer > most_png_side || longer * *edge > most_png_pixels)
        refuse_input("the picture", "its sides differ too much for this model",
                     fmt::format("{} × {} pixels", picture.width, picture.height),
                     fmt::format("at most {} pixels a side when the shorter one has {}", most_png_side, *edge),
                     "cut out a part of it");
    }
    made = resized(picture, size.width, size.height, processor.resample);
  }
  return processor.crops ? centre_crop(made, processor.crop.width, processor.crop.height) : made;
}

Tensor pixel_values(const RgbPicture& picture, const PictureProcessor& processor) {
  const Index pixels = picture.width * picture.height;
  require_memory(pixels * colours * static_cast<Index>(sizeof(float)), "pixel_values");
  Tensor made =
      Tensor::unwritten(Shape{{"C", colours}, {"H", picture.height}, {"W", picture.width}}, DType::f32);
  const std::span<float> values = made.values<float>();
  for (Index c = 0; c < colours; ++c) {
    const auto at = static_cast<std::size_t>(c);
    const auto mean = static_cast<float>(processor.mean[at]),
               deviation = static_cast<float>(processor.deviation[at]);
    for (Index i = 0; i < pixels; ++i) {
      const auto stored = static_cast<double>(picture.rgb[static_cast<std::size_t>(i * colours + c)]);
      const auto value = static_cast<float>(processor.rescales ? stored * processor.rescale_factor : stored);
      values[static_cast<std::size_t>(c * pixels + i)] =
          processor.normalises ? (value - mean) / deviation : value;
    }
  }
  return made;
}

}  // namespace headwise
