#include "core/files/foreign_model.h"

#include <algorithm>

#include <fmt/format.h>

namespace headwise {

std::string name_in_python(const std::string& path) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  };
  return name.size() <= 40 && std::ranges::all_of(name, plain) ? name : "FILE";
}

namespace {

Error refusal(const std::string& path, const std::string& lines) {
  return Error(ExitStatus::input,
               {path, "this is a Python pickle, which can run code, and is not read", "",
                ".npy, .npz or .safetensors", "if you trust it, convert it in Python: " + lines});
}

}  // namespace

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

namespace {

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
