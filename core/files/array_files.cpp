#include "core/files/array_files.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <functional>

#include "core/files/element_type.h"
#include "core/files/npy_format.h"
#include "core/files/safetensors_file.h"
#include "core/files/zip_file.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

enum class Format { npy, zip, safetensors, pickle, foreign, unknown };

std::string extension_of(const std::string& path) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  const std::size_t dot = name.find_last_of('.');
  return dot == std::string::npos ? "" : name.substr(dot);
}

std::string beginning_of(const InputFile& file) {
  return file.read_text(0, std::min<std::uint64_t>(file.size(), 9));
}

// The content decides; the name only if the content is damaged,
// so that the error refers to the intended format.
Format format_of(const InputFile& file) {
  const std::string start = beginning_of(file);
  if (start.starts_with(npy_magic)) return Format::npy;
  if (start.starts_with("PK\3\4") || start.starts_with("PK\5\6")) return Format::zip;
  // A header of up to 100,000,000 bytes leaves the upper four bytes of its length zero;
  // no pickle looks like that.
  if (start.size() == 9 && start[8] == '{' && start.substr(4, 4) == std::string(4, '\0'))
    return Format::safetensors;
  if (looks_like_pickle(start)) return Format::pickle;
  if (refused_foreign_model(file.path(), start)) return Format::foreign;
  const std::string extension = extension_of(file.path());
  if (extension == ".npy") return Format::npy;
  if (extension == ".npz") return Format::zip;
  if (extension == ".safetensors") return Format::safetensors;
  constexpr std::array pickles{".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle"};
  return std::ranges::find(pickles, extension) != pickles.end() ? Format::pickle : Format::unknown;
}

// For a pickle: by its name, or, like PyTorch's files before 1.6, by a pickled magic number at its beginning.
bool saved_by_torch(const InputFile& file) {
  constexpr std::array endings{".pt", ".pth", ".bin", ".ckpt"};
  if (std::ranges::find(endings, extension_of(file.path())) != endings.end()) return true;
  constexpr std::string_view magic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 14);
  return file.size() >= magic.size() && file.read_text(0, magic.size()) == magic;
}

bool holds_pickle(const std::vector<ZipEntry>& entries) {
  return std::ranges::any_of(entries, [](const ZipEntry& entry) {
    return entry.name == "data.pkl" || entry.name.ends_with("/data.pkl");
  });
}

std::string array_name(const std::string& path) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  return name.substr(0, name.size() - extension_of(name).size());
}

ArrayFileInfo npy_info(const InputFile& file) {
  const StoredArray array = read_npy_header(file).array;
  ArrayFileInfo info{"npy",
                     {{array_name(file.path()), std::string(element_type(array.type).name), array.sizes,
                       stored_bytes(array, file.path())}},
                     {},
                     {}};
  add_unreadable(array, info.arrays[0].name, file.path(), info.unread);
  return info;
}

std::vector<NamedTensor> read_npy(const InputFile& file) {
  const ArrayInfo array = npy_info(file).arrays[0];
  return {{array.name, read_npy_array(file), array.stored_dtype}};
}

// Opens the file, recognises it and calls the function of its format.
template <class Npy, class Npz, class Safetensors>
auto with_file(const std::string& path, Npy npy, Npz npz, Safetensors safetensors) {
  const InputFile file(path);
  switch (format_of(file)) {
    case Format::npy:
      return npy(file);
    case Format::safetensors:
      return safetensors(file);
    case Format::pickle:
      throw refused_pickle(path, saved_by_torch(file));
    case Format::zip: {
      const std::vector<ZipEntry> entries = read_zip_directory(file);
      if (holds_pickle(entries)) throw refused_pickle(path, true);
      return npz(file, entries);
    }
    case Format::foreign:
      throw *refused_foreign_model(path, beginning_of(file));
    case Format::unknown:
      break;
  }
  refuse_input(path, "the format is not recognised", "", "a .npy, .npz or .safetensors file");
}

// `unread` may be null: entries that cannot be read are then rejected.
std::vector<NamedTensor> read_arrays(const std::string& path, std::vector<UnreadEntry>* unread) {
  const auto npz = [&](const InputFile& file, const std::vector<ZipEntry>& entries) {
    return read_npz(file, entries, unread);
  };
  const auto safetensors = [&](const InputFile& file) { return read_safetensors(file, unread); };
  return with_file(path, read_npy, npz, safetensors);
}

Tensor rows_of(const Tensor& whole, Index first, Index count) {
  std::vector<Axis> axes = whole.shape().axes();
  const Index row = axes[0].size > 0 ? whole.size() / axes[0].size : 0;
  axes[0].size = count;
  Tensor part = Tensor::unwritten(Shape(axes), whole.dtype());
  with_values(whole, [&]<class T>(std::span<const T> values) {
    std::ranges::copy(
        values.subspan(static_cast<std::size_t>(first * row), static_cast<std::size_t>(part.size())),
        part.values<T>().begin());
  });
  return part;
}

Error refusal(const std::string& path, const std::string& lines) {
  return Error(ExitStatus::input,
               {path, "this is a Python pickle, which can run code, and is not read", "",
                ".npy, .npz or .safetensors", "if you trust it, convert it in Python: " + lines});
}

constexpr std::string_view hdf5_magic{"\x89HDF\r\n\x1a\n", 8};

Error refusal(const std::string& path, const std::string& what, const std::string& remedy) {
  return Error(ExitStatus::input,
               {path, what, "", "a .safetensors file, with the model's config.json beside it", remedy});
}

// For the framework whose weights transformers 4 reads with `flag`.
std::string with_transformers_4(const std::string& framework, const std::string& flag) {
  return fmt::format(
      "use the same model's .safetensors, or convert it in its folder, in Python with transformers 4 and {}: "
      "from transformers import AutoModel; AutoModel.from_pretrained('.', {}=True).save_pretrained('.')",
      framework, flag);
}

}  // namespace

bool is_reserved_name(std::string_view name) {
  return name.size() > 4 && name.starts_with("__") && name.ends_with("__");
}

std::vector<NamedTensor> read_array_file(const std::string& path) {
  return read_arrays(path, nullptr);
}

std::vector<NamedTensor> read_array_file(const std::string& path, std::vector<UnreadEntry>& unread) {
  return read_arrays(path, &unread);
}

ArrayFileInfo read_array_file_info(const std::string& path) {
  return with_file(path, npy_info, npz_info, safetensors_info);
}

Tensor outline_of(const ArrayInfo& array, const std::string& where) {
  const std::optional<DType> dtype = tensor_dtype(array.stored_dtype);
  StoredArray stored{.name = array.name, .other_type = array.stored_dtype, .sizes = array.sizes};
  if (!dtype) stored.type = ElementType::other;
  require_readable(stored, where);
  return Tensor::outline(unnamed_shape(array.sizes), dtype.value_or(DType::f32));
}

void write_npy(const ByteSink& sink, const Tensor& tensor) {
  const std::string header = npy_header_for(tensor);
  sink(std::as_bytes(std::span(header)));
  sink(tensor_storage(tensor));
}

void write_npy(const std::string& path, const Tensor& tensor) {
  write_file_atomically(path, [&](const ByteSink& sink) { write_npy(sink, tensor); });
}

void write_npz(const std::string& path, const std::vector<NamedTensor>& tensors) {
  write_file_atomically(path, [&](const ByteSink& sink) { write_npz(sink, tensors, {}); });
}

void write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                       const FileMetadata& metadata) {
  write_file_atomically(path, [&](const ByteSink& sink) { write_safetensors(sink, tensors, metadata); });
}

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
    std::vector<UnreadEntry> unread;  // as in info_
    places_->entries = array_entries(*file_, read_zip_directory(*file_), &unread);
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
  if (!info)
    refuse_input(path(), "there is no such array", name, fmt::format("one of its {}", info_.arrays.size()),
                 fmt::format("headwise info {} lists them", path()));
  return info->sizes.empty() ? read_rows(name, 0, 1) : read_rows(name, 0, info->sizes[0]);
}

TensorPtr LazyArrayFile::read_rows(const std::string& name, Index first, Index count) const {
  const auto at = by_name_.find(name);
  if (at == by_name_.end()) return read(name);  // which reports that
  const std::string where = path() + ": " + name;
  const ArrayInfo& info = info_.arrays[at->second];
  const Index rows = info.sizes.empty() ? 1 : info.sizes[0];
  if (first < 0 || count < 0 || first > rows || count > rows - first)
    refuse_input(where, "it has no such rows", fmt::format("{} from row {}", count, first),
                 fmt::format("within {} rows", rows));
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

std::string name_in_python(const std::string& path) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  };
  return name.size() <= 40 && std::ranges::all_of(name, plain) ? name : "FILE";
}

bool looks_like_pickle(std::string_view beginning) {
  return beginning.size() >= 2 && beginning[0] == '\x80' && beginning[1] >= 2 && beginning[1] <= 5;
}

Error refused_pickle(const std::string& path, bool torch) {
  const std::string name = name_in_python(path);
  const std::string stem = name.substr(0, name.find_last_of('.'));
  const std::string lines =
      torch ? fmt::format(
                  "import torch, safetensors.torch as st; d = torch.load('{}', 'cpu', weights_only=True); "
                  "d = d.get('model', d.get('state_dict', d)); st.save_file({{k: v.clone().contiguous() "
                  "for k, v in d.items() if torch.is_tensor(v)}}, '{}.safetensors')",
                  name, stem)
            : fmt::format("import numpy, pickle; numpy.savez('{}.npz', **pickle.load(open('{}', 'rb')))",
                          stem, name);
  return refusal(path, lines);
}

Error refused_shards(const std::string& folder) {
  return refusal(
      folder,
      "import glob, torch, safetensors.torch as st; st.save_file({k: v.clone().contiguous() for f in "
      "glob.glob('pytorch_model-*.bin') for k, v in torch.load(f, 'cpu', weights_only=True).items()}, "
      "'model.safetensors')");
}

std::optional<Error> refused_foreign_model(const std::string& path, std::string_view beginning) {
  const std::string name = name_in_python(path), stem = name.substr(0, name.find_last_of('.'));
  const auto is = [&](std::string_view magic, std::initializer_list<const char*> endings) {
    if (!magic.empty() && beginning.starts_with(magic)) return true;
    for (const char* ending : endings)
      if (path.ends_with(ending)) return true;
    return false;
  };
  if (is("GGUF", {".gguf"})) {
    return refusal(
        path, "this is a GGUF file, as used by llama.cpp, which Headwise does not read",
        fmt::format("convert it in its folder, in Python: from transformers import AutoModelForCausalLM as "
                    "M, AutoTokenizer as T; [C.from_pretrained('.', gguf_file='{}').save_pretrained('{}') "
                    "for C in (M, T)]; then open the folder it creates",
                    name, stem));
  }
  if (is(hdf5_magic, {".h5", ".hdf5", ".keras"}))
    return refusal(path, "this is a Keras or TensorFlow file, which Headwise does not read",
                   with_transformers_4("TensorFlow", "from_tf"));
  if (is("", {".ckpt.index", ".ckpt.meta", ".data-00000-of-00001", ".pb"}))
    return refusal(path, "this is part of a TensorFlow checkpoint, which Headwise does not read",
                   with_transformers_4("TensorFlow", "from_tf"));
  if (is("",
         {".ot", ".tflite", ".mlmodel", ".mlpackage", ".nemo", "openvino_model.xml", "openvino_model.bin"}))
    return refusal(path, "this is a model for another program, which Headwise does not read",
                   "use the .safetensors it was made from");
  if (is("", {".msgpack"}))
    return refusal(path, "this is a Flax file, which Headwise does not read",
                   with_transformers_4("Flax", "from_flax"));
  if (is("", {".onnx"})) {
    return refusal(
        path,
        "this is an ONNX graph, which has lost the names of many matrices and which Headwise does not read",
        fmt::format("use the .safetensors it was made from, or, if its initializers still have their names, "
                    "in Python: import numpy, onnx, onnx.numpy_helper as n; numpy.savez('{}.npz', "
                    "**{{t.name: n.to_array(t) for t in onnx.load('{}').graph.initializer}})",
                    stem, name));
  }
  return std::nullopt;
}

}  // namespace headwise
