#include "tests/fuzz/model_folder.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/files/array_files.h"
#include "tests/fuzz/fuzz_target.h"

namespace headwise::fuzz {
namespace {

std::vector<NamedTensor> llama_arrays() {
  const std::string block = "model.layers.0.";
  const std::vector<std::pair<std::string, std::vector<Index>>> shapes{
      {"model.embed_tokens.weight", {6, 4}},
      {block + "input_layernorm.weight", {4}},
      {block + "self_attn.q_proj.weight", {4, 4}},
      {block + "self_attn.k_proj.weight", {2, 4}},
      {block + "self_attn.v_proj.weight", {2, 4}},
      {block + "self_attn.o_proj.weight", {4, 4}},
      {block + "post_attention_layernorm.weight", {4}},
      {block + "mlp.gate_proj.weight", {5, 4}},
      {block + "mlp.up_proj.weight", {5, 4}},
      {block + "mlp.down_proj.weight", {4, 5}},
      {"model.norm.weight", {4}},
      {"lm_head.weight", {6, 4}}};
  std::vector<NamedTensor> arrays;
  for (const auto& [name, sizes] : shapes) {
    std::vector<Axis> axes;
    for (const Index size : sizes) axes.push_back({"axis", size});
    Tensor tensor(Shape(std::move(axes)), DType::f32);
    for (Index i = 0; i < tensor.size(); ++i) tensor.set_flat(i, 0.1 * static_cast<double>(i % 7) - 0.2);
    arrays.push_back({name, std::make_shared<const Tensor>(std::move(tensor)), "f32"});
  }
  return arrays;
}

}  // namespace

const std::string& model_folder() {
  static const struct Folder {
    Folder() {
      const std::filesystem::path memory = "/dev/shm";
      path = ((std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path()) /
              "headwise_fuzz_XXXXXX")
                 .string();
      require(mkdtemp(path.data()) != nullptr, "no folder for temporary files");
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
    std::string path;
  } folder;
  return folder.path;
}

void write_model_arrays(Parts parts) {
  std::vector<NamedTensor> arrays = llama_arrays();
  if (parts == Parts::one) return write_safetensors(model_folder() + "/model.safetensors", arrays);
  const std::vector<NamedTensor> second(arrays.begin() + 6, arrays.end());
  arrays.resize(6);
  write_safetensors(model_folder() + "/part-1.safetensors", arrays);
  write_safetensors(model_folder() + "/part-2.safetensors", second);
}

void write_bytes(const std::string& name, const std::uint8_t* data, std::size_t size) {
  std::ofstream file(model_folder() + "/" + name, std::ios::binary);
  file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  require(file.good(), "the file could not be written");
}

}  // namespace headwise::fuzz
