#include "core/files/pickle.h"

#include <fmt/format.h>

#include "core/files/python_name.h"

namespace headwise {
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

}  // namespace headwise
