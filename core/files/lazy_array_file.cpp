#include "core/files/lazy_array_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/files/element_type.h"
#include "core/files/npy_format.h"
#include "core/files/npz_file.h"
#include "core/files/safetensors_file.h"
#include "core/tensor/error.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

template <class T>
void copy_rows(const Tensor& from, Index first, Tensor& to) {
  std::ranges::copy(
      from.values<T>().subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(to.size())),
      to.values<T>().begin());
}

Tensor rows_of(const Tensor& whole, Index first, Index count) {
  std::vector<Axis> axes = whole.shape().axes();
  const Index row = axes[0].size > 0 ? whole.size() / axes[0].size : 0;
  axes[0].size = count;
  Tensor part = Tensor::unwritten(Shape(axes), whole.dtype());
  switch (whole.dtype()) {
    case DType::f32:
      copy_rows<float>(whole, first * row, part);
      break;
    case DType::f64:
      copy_rows<double>(whole, first * row, part);
      break;
    case DType::boolean:
      copy_rows<std::uint8_t>(whole, first * row, part);
      break;
    case DType::i64:
      copy_rows<std::int64_t>(whole, first * row, part);
      break;
  }
  return part;
}

}  // namespace

// Where the arrays are, in the order of the information about them.
struct LazyArrayFile::Places {
  std::optional<OpenSafetensors> safetensors;
  std::vector<ZipEntry> entries;  // of an npz
};

LazyArrayFile::LazyArrayFile(const std::string& path)
    : info_(read_array_file_info(path)),
      file_(std::make_unique<InputFile>(path)),
      places_(std::make_unique<Places>()) {
  if (info_.format == "safetensors") places_->safetensors = open_safetensors(*file_);
  if (info_.format == "npz") {
    std::vector<UnreadEntry> told;  // as in info_
    places_->entries = array_entries(*file_, read_zip_directory(*file_), &told);
  }
  for (std::size_t i = 0; i < info_.arrays.size(); ++i) by_name_.emplace(info_.arrays[i].name, i);
}

LazyArrayFile::~LazyArrayFile() = default;
LazyArrayFile::LazyArrayFile(LazyArrayFile&&) noexcept = default;

const std::string& LazyArrayFile::path() const {
  return file_->path();
}

const ArrayInfo* LazyArrayFile::find(const std::string& name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? nullptr : &info_.arrays[at->second];
}

TensorPtr LazyArrayFile::read(const std::string& name) const {
  const ArrayInfo* const info = find(name);
  if (!info) {
    throw Error(ExitStatus::input,
                {path(), "there is no such array", name, fmt::format("one of its {}", info_.arrays.size()),
                 fmt::format("headwise info {} lists them", path())});
  }
  return info->sizes.empty() ? read_rows(name, 0, 1) : read_rows(name, 0, info->sizes[0]);
}

TensorPtr LazyArrayFile::read_rows(const std::string& name, Index first, Index count) const {
  const auto at = by_name_.find(name);
  if (at == by_name_.end()) return read(name);  // which reports that
  const std::string where = path() + ": " + name;
  const ArrayInfo& info = info_.arrays[at->second];
  const Index rows = info.sizes.empty() ? 1 : info.sizes[0];
  if (first < 0 || count < 0 || first > rows || count > rows - first) {
    throw Error(ExitStatus::input, {where, "it has no such rows", fmt::format("{} from row {}", count, first),
                                    fmt::format("within {} rows", rows), ""});
  }
  if (places_->safetensors) {
    const SafetensorsArray& array = places_->safetensors->header.arrays[at->second];
    StoredArray part = array.array;
    const std::uint64_t row_bytes = rows > 0 ? (array.end - array.begin) / static_cast<std::uint64_t>(rows) : 0;
    if (!part.sizes.empty()) part.sizes[0] = count;
    require_memory(tensor_bytes(part, where), where);
    return read_tensor(part,
                       file_->source(places_->safetensors->data_begin + array.begin +
                                     static_cast<std::uint64_t>(first) * row_bytes),
                       where);
  }
  const TensorPtr whole =
      info_.format == "npz" ? read_npz_array(*file_, places_->entries[at->second]) : read_npy_array(*file_);
  if (count == rows) return whole;
  return std::make_shared<const Tensor>(rows_of(*whole, first, count));
}

std::vector<LazyArray> open_arrays(const std::string& path, std::vector<UnreadEntry>& unread) {
  const auto file = std::make_shared<const LazyArrayFile>(path);
  std::vector<LazyArray> arrays;
  for (const ArrayInfo& array : file->info().arrays)
    if (tensor_dtype(array.stored_dtype))
      arrays.push_back({array.name,
                        {outline_of(array, path), [file, name = array.name] { return file->read(name); }},
                        array.stored_dtype});
  unread = file->info().unread;
  if (arrays.empty() && !unread.empty()) throw unread.front().why;
  return arrays;
}

}  // namespace headwise
