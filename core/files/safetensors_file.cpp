#include "core/files/safetensors_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/files/json_text.h"
#include "core/tensor/join.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

using Json = nlohmann::json;
constexpr std::string_view metadata_key = "__metadata__";
constexpr std::size_t most_type_bytes = 40;  // of its name, as it is shown

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
    for (const char* field : {"dtype", "shape", "data_offsets"})
      if (!fields_.contains(field))
        fail(fmt::format("the array '{}' has no '{}'", array_.array.name, field), "",
             "dtype, shape and data_offsets");
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
    array_.array.type = find_element_type(&ElementTypeEntry::safetensors, text).value_or(ElementType::other);
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
    refuse_input(where_, what, got, expected, remedy);
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

constexpr std::uint64_t length_bytes = 8;
constexpr std::uint64_t max_header_bytes = 100'000'000;  // the reference reader's limit

// Checks that the data of all arrays together fills the file from the header's end to its own,
// each byte once.
void check_layout(const std::string& path, const SafetensorsHeader& header, std::uint64_t data_bytes) {
  std::vector<const SafetensorsArray*> order;
  for (const SafetensorsArray& array : header.arrays) order.push_back(&array);
  std::ranges::sort(order, {},
                    [](const SafetensorsArray* array) { return std::pair(array->begin, array->end); });
  std::uint64_t expected_begin = 0;
  for (const SafetensorsArray* array : order) {
    const std::string where = path + ": " + array->array.name;
    const auto needed = static_cast<std::uint64_t>(stored_bytes(array->array, where));
    const std::string got = fmt::format("bytes {} to {}", array->begin, array->end);
    if (array->begin > array->end || array->end > data_bytes)
      refuse_input(where, "its data lies outside the file", got,
                   fmt::format("within {} bytes of data", data_bytes),
                   "the file may be incomplete: download or save it again");
    if (array->begin != expected_begin)
      refuse_input(where,
                   array->begin < expected_begin ? "its data overlaps that of another array"
                                                 : "there is a gap before its data",
                   got, fmt::format("a start at {}", expected_begin));
    if (array->array.type != ElementType::other && array->end - array->begin != needed)
      refuse_input(where, "its data does not fill its shape",
                   fmt::format("{} bytes", array->end - array->begin),
                   fmt::format("{} for {} of shape ({})", needed, stored_type_name(array->array),
                               join(array->array.sizes, ",")));
    expected_begin = array->end;
  }
  if (expected_begin != data_bytes)
    refuse_input(path, "the data does not end at the end of the file",
                 fmt::format("{} bytes of data", data_bytes), fmt::format("{}", expected_begin));
}

std::string place_of(const InputFile& file, const SafetensorsArray& array) {
  return file.path() + ": " + array.array.name;
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view json, const std::string& where) {
  // A zero byte would end the text for the parser, and hide what follows it.
  if (json.find('\0') != std::string_view::npos)
    refuse_input(where, "the JSON of the header is malformed", "a zero byte", "valid JSON");
  HeaderReader reader(where);
  Json::sax_parse(json, &reader);
  return reader.take();
}

OpenSafetensors open_safetensors(const InputFile& file) {
  if (file.size() < length_bytes)
    refuse_input(file.path(), "this is not a safetensors file", fmt::format("{} bytes", file.size()),
                 "a header");
  std::uint64_t length = 0;
  file.read(0, std::as_writable_bytes(std::span(&length, 1)));
  if (length > max_header_bytes || length > file.size() - length_bytes)
    refuse_input(file.path(), "the length of the safetensors header is wrong", fmt::format("{} bytes", length),
                 fmt::format("at most {}, within the file of {} bytes", max_header_bytes, file.size()),
                 "the file may be incomplete: download or save it again");
  const std::string json = file.read_text(length_bytes, length);
  if (!json.starts_with('{'))
    refuse_input(file.path(), "the safetensors header is damaged", json.substr(0, 1), "a JSON object");
  OpenSafetensors open{parse_safetensors_header(json, file.path()), length_bytes + length};
  check_layout(file.path(), open.header, file.size() - open.data_begin);
  std::erase_if(open.header.arrays,
                [](const SafetensorsArray& array) { return is_reserved_name(array.array.name); });
  return open;
}

ArrayFileInfo safetensors_info(const InputFile& file) {
  const OpenSafetensors open = open_safetensors(file);
  ArrayFileInfo info{"safetensors", {}, {}, open.header.metadata};
  for (const SafetensorsArray& array : open.header.arrays) {
    add_unreadable(array.array, array.array.name, place_of(file, array), info.unread);
    info.arrays.push_back({array.array.name, stored_type_name(array.array), array.array.sizes,
                           static_cast<Index>(array.end - array.begin)});
  }
  return info;
}

std::vector<NamedTensor> read_safetensors(const InputFile& file, std::vector<UnreadEntry>* unread) {
  OpenSafetensors open = open_safetensors(file);
  if (unread) {
    const std::size_t all = std::erase_if(open.header.arrays, [&](const SafetensorsArray& array) {
      return add_unreadable(array.array, array.array.name, place_of(file, array), *unread);
    });
    if (all > 0 && open.header.arrays.empty()) throw unread->front().why;
  }
  Index total = 0;
  for (const SafetensorsArray& array : open.header.arrays)
    if (__builtin_add_overflow(total, tensor_bytes(array.array, file.path()), &total))
      refuse_input(file.path(), "the arrays together are out of range");
  require_memory(total, file.path());
  std::vector<NamedTensor> tensors;
  for (const SafetensorsArray& array : open.header.arrays) {
    TensorPtr tensor =
        read_tensor(array.array, file.source(open.data_begin + array.begin), place_of(file, array));
    tensors.push_back({array.array.name, std::move(tensor), stored_type_name(array.array)});
  }
  return tensors;
}

void write_safetensors(const ByteSink& sink, const std::vector<NamedTensor>& tensors,
                       const FileMetadata& metadata) {
  // Wide types first, so that every array begins at a multiple of its own width, which suits readers that map
  // the file.
  std::vector<const NamedTensor*> order;
  for (const NamedTensor& array : tensors) order.push_back(&array);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [](const NamedTensor* array) { return dtype_bytes(array->tensor->dtype()); });
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t end = 0;
  for (const NamedTensor* array : order) {
    const std::uint64_t begin = end;
    end += array->tensor->bytes();
    header[array->name] = {{"dtype", element_type(element_type_of(array->tensor->dtype())).safetensors},
                           {"shape", array->tensor->shape().sizes()},
                           {"data_offsets", {begin, end}}};
  }
  std::string json = json_text(header);
  json.append((length_bytes - json.size() % length_bytes) % length_bytes, ' ');
  const std::uint64_t length = json.size();
  sink(std::as_bytes(std::span(&length, 1)));
  sink(std::as_bytes(std::span(json)));
  for (const NamedTensor* array : order) sink(tensor_storage(*array->tensor));
}

}  // namespace headwise
