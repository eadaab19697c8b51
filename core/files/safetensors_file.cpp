#include "core/files/safetensors_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/files/array_writers.h"
#include "core/files/json_text.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

constexpr std::uint64_t length_bytes = 8;
constexpr std::uint64_t max_header_bytes = 100'000'000;  // the reference reader's limit

[[noreturn]] void fail(const std::string& where, const std::string& what, const std::string& got,
                       const std::string& expected, const std::string& remedy = "") {
  throw Error(ExitStatus::input, {where, what, got, expected, remedy});
}

// Checks that the data of all arrays together fills the file from the header's end to its own, each byte once.
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
    if (array->begin > array->end || array->end > data_bytes) {
      fail(where, "its data lies outside the file", got, fmt::format("within {} bytes of data", data_bytes),
           "the file may be incomplete: download or save it again");
    }
    if (array->begin != expected_begin) {
      fail(where,
           array->begin < expected_begin ? "its data overlaps that of another array"
                                         : "there is a gap before its data",
           got, fmt::format("a start at {}", expected_begin));
    }
    if (array->array.type != ElementType::other && array->end - array->begin != needed) {
      fail(where, "its data does not fill its shape", fmt::format("{} bytes", array->end - array->begin),
           fmt::format("{} for {} of shape ({})", needed, stored_type_name(array->array),
                       join(array->array.sizes, ",")));
    }
    expected_begin = array->end;
  }
  if (expected_begin != data_bytes) {
    fail(path, "the data does not end at the end of the file", fmt::format("{} bytes of data", data_bytes),
         fmt::format("{}", expected_begin));
  }
}

std::string place_of(const InputFile& file, const SafetensorsArray& array) {
  return file.path() + ": " + array.array.name;
}

}  // namespace

OpenSafetensors open_safetensors(const InputFile& file) {
  if (file.size() < length_bytes)
    fail(file.path(), "this is not a safetensors file", fmt::format("{} bytes", file.size()), "a header");
  std::uint64_t length = 0;
  file.read(0, std::as_writable_bytes(std::span(&length, 1)));
  if (length > max_header_bytes || length > file.size() - length_bytes) {
    fail(file.path(), "the length of the safetensors header is wrong", fmt::format("{} bytes", length),
         fmt::format("at most {}, within the file of {} bytes", max_header_bytes, file.size()),
         "the file may be incomplete: download or save it again");
  }
  const std::string json = file.read_text(length_bytes, length);
  if (!json.starts_with('{'))
    fail(file.path(), "the safetensors header is damaged", json.substr(0, 1), "a JSON object");
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
  for (const SafetensorsArray& array : open.header.arrays) {
    if (__builtin_add_overflow(total, tensor_bytes(array.array, file.path()), &total)) {
      fail(file.path(), "the arrays together are out of range", "", "");
    }
  }
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
