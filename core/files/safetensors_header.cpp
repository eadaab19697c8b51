#include "core/files/safetensors_header.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "core/tensor/error.h"

namespace headwise {
namespace {

using Json = nlohmann::json;

constexpr std::string_view metadata_key = "__metadata__";
constexpr std::size_t most_type_bytes = 40;  // of its name, as it is shown

std::optional<ElementType> find_element_type(std::string_view safetensors) {
  for (const ElementTypeEntry& entry : element_types()) {
    if (!safetensors.empty() && entry.safetensors == safetensors) return entry.type;
  }
  return std::nullopt;
}

// Receives the JSON piece by piece and accepts only what the format allows at that place:
// { "__metadata__": {KEY: STRING}, NAME: {"dtype": STRING, "shape": [SIZE…], "data_offsets": [BEGIN, END]} …
// }
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderReader(const std::string& where) : where_(where) {}

  SafetensorsHeader take() { return std::move(header_); }

  bool start_object(std::size_t) override {
    if (place_ == Place::nothing) return enter(Place::top);
    if (place_ == Place::top_value) return enter(key_ == metadata_key ? Place::metadata : Place::array);
    wrong("an object");
  }

  bool end_object() override {
    if (place_ == Place::top) return enter(Place::end);
    if (place_ == Place::metadata) return enter(Place::top);
    for (const char* field : {"dtype", "shape", "data_offsets"}) {
      if (!fields_.contains(field)) {
        fail(fmt::format("the array '{}' has no '{}'", array_.array.name, field), "",
             "dtype, shape and data_offsets");
      }
    }
    if (offsets_.size() != 2)
      fail(fmt::format("the data_offsets of '{}' are damaged", array_.array.name),
           fmt::format("{} numbers", offsets_.size()), "2");
    array_.begin = offsets_[0];
    array_.end = offsets_[1];
    header_.arrays.push_back(std::move(array_));
    return enter(Place::top);
  }

  bool key(string_t& key) override {
    key_ = key;
    if (place_ == Place::top) {
      if (!names_.insert(key).second) fail("a key occurs twice", key, "each name once");
      array_ = {};
      array_.array.name = key;
      fields_.clear();
      offsets_.clear();
      return enter(Place::top_value);
    }
    if (place_ == Place::metadata) {
      if (header_.metadata.contains(key)) fail("a key of __metadata__ occurs twice", key, "each key once");
      return enter(Place::metadata_value);
    }
    if (!fields_.insert(key).second)
      fail(fmt::format("a key of '{}' occurs twice", array_.array.name), key, "each key once");
    if (key == "dtype") return enter(Place::dtype);
    if (key == "shape") return enter(Place::shape);
    if (key == "data_offsets") return enter(Place::offsets);
    fail(fmt::format("a key of '{}' is unknown", array_.array.name), key, "dtype, shape or data_offsets");
  }

  bool string(string_t& text) override {
    if (place_ == Place::metadata_value) {
      header_.metadata.emplace(key_, text);
      return enter(Place::metadata);
    }
    if (place_ != Place::dtype) wrong("a string");
    // The rest of a file with a newer type can still be read.
    array_.array.type = find_element_type(text).value_or(ElementType::other);
    if (array_.array.type == ElementType::other)
      array_.array.other_type = text.empty() ? "unnamed" : one_line(text, most_type_bytes);
    return enter(Place::array);
  }

  bool start_array(std::size_t) override {
    if (place_ == Place::shape) return enter(Place::shape_sizes);
    if (place_ == Place::offsets) return enter(Place::offset_numbers);
    wrong("a list");
  }
  bool end_array() override { return enter(Place::array); }

  bool number_unsigned(number_unsigned_t number) override {
    if (place_ == Place::shape_sizes) {
      if (!std::in_range<Index>(number)) wrong("a size above 63 bits");
      array_.array.sizes.push_back(static_cast<Index>(number));
    } else if (place_ == Place::offset_numbers && offsets_.size() < 2) {
      offsets_.push_back(number);
    } else {
      wrong("a number");
    }
    return true;
  }
  bool number_integer(number_integer_t) override { wrong("a negative number"); }
  bool number_float(number_float_t, const string_t&) override {
    wrong("a number that is not whole, or is too large");
  }
  bool null() override {
    // The reference reader takes a null __metadata__ for none; it refuses an entry that is no string.
    if (place_ == Place::top_value && key_ == metadata_key) return enter(Place::top);
    wrong("null");
  }
  bool boolean(bool) override { wrong("true or false"); }
  bool binary(binary_t&) override { wrong("binary data"); }
  bool parse_error(std::size_t position, const std::string& token, const Json::exception& error) override {
    if (dynamic_cast<const Json::out_of_range*>(&error)) wrong("a number that is not whole, or is too large");
    fail("the JSON of the header is malformed", fmt::format("'{}' at byte {}", token, position), "valid JSON");
  }

 private:
  enum class Place {
    nothing,
    top,
    top_value,
    metadata,
    metadata_value,
    array,
    dtype,
    shape,
    shape_sizes,
    offsets,
    offset_numbers,
    end
  };

  bool enter(Place place) {
    place_ = place;
    return true;
  }
  [[noreturn]] void fail(const std::string& what, const std::string& got, const std::string& expected,
                         const std::string& remedy = "") const {
    throw Error(ExitStatus::input, {where_, what, got, expected, remedy});
  }
  [[noreturn]] void wrong(const std::string& got) const {
    fail(key_.empty() ? "the header is wrong" : fmt::format("the header is wrong at '{}'", key_), got,
         "{NAME: {dtype, shape, data_offsets}} and __metadata__ of strings");
  }

  const std::string& where_;
  SafetensorsHeader header_;
  Place place_ = Place::nothing;
  std::string key_;
  std::set<std::string, std::less<>> names_, fields_;
  SafetensorsArray array_;
  std::vector<std::uint64_t> offsets_;
};

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view json, const std::string& where) {
  // A zero byte would end the text for the parser, and hide what follows it.
  if (json.find('\0') != std::string_view::npos) {
    throw Error(ExitStatus::input,
                {where, "the JSON of the header is malformed", "a zero byte", "valid JSON", ""});
  }
  HeaderReader reader(where);
  Json::sax_parse(json, &reader);
  return reader.take();
}

}  // namespace headwise
