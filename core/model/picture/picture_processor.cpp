#include "core/model/picture/picture_processor.h"

#include <fmt/format.h>
#include <algorithm>

#include "core/files/file_paths.h"
#include "core/files/input_file.h"
#include "core/model/files/model_json.h"
#include "core/tensor/memory.h"

namespace headwise {
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

void read_colours(const JsonValue& value, std::array<double, 3>& colours, bool divides) {
  const auto number = [&](const JsonValue& one) {
    const double read = one.number(AnyNumber{});
    if (divides && read == 0.0) one.refuse("out of range", "a number other than 0");
    return read;
  };
  if (value.json().is_number()) return colours.fill(number(value));
  const std::vector<JsonValue> entries = value.list("3 numbers").entries();
  if (entries.size() != colours.size()) value.refuse("wrong length", "3 numbers, for red, green and blue");
  std::ranges::transform(entries, colours.begin(), number);
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
        "from "
        "−1 to 1",
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
  constexpr Index colours = 3;
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
