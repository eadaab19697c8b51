#include "core/files/pickle.h"

#include <fmt/format.h>

#include <algorithm>

namespace headwise {
namespace {

// The file's name and the name it gets, as they can stand in a line of Python; a placeholder where that is
// not plain.
std::string name_in_python(const std::string& path) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  };
  return name.size() <= 40 && std::ranges::all_of(name, plain) ? name : "FILE";
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
                  "import torch, safetensors.torch as st; st.save_file({{k: v.clone() for k, v in "
                  "torch.load('{}', "
                  "'cpu', weights_only=True).items()}}, '{}.safetensors')",
                  name, stem)
            : fmt::format("import numpy, pickle; numpy.savez('{}.npz', **pickle.load(open('{}', 'rb')))",
                          stem, name);
  return Error(ExitStatus::input,
               {path, "this is a Python pickle, a program in disguise, and is not read", "",
                ".npy, .npz or .safetensors", "convert it, where you trust it, in Python: " + lines});
}

}  // namespace headwise
