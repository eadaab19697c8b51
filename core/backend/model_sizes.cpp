#include "core/backend/model_sizes.h"

#include <array>

namespace headwise {
namespace {

constexpr std::array models{
    ModelSizes{"Transformer base", 512, 8, 8, 64, false, 512, "Vaswani et al. 2017, table 3"},
    ModelSizes{"Transformer big", 1024, 16, 16, 64, false, 512, "Vaswani et al. 2017, table 3"},
    ModelSizes{"BERT base", 768, 12, 12, 64, false, 512, "Devlin et al. 2019, section 3"},
    ModelSizes{"BERT large", 1024, 16, 16, 64, false, 512, "Devlin et al. 2019, section 3"},
    ModelSizes{"GPT-2 small", 768, 12, 12, 64, true, 1024, "Radford et al. 2019, table 2"},
    ModelSizes{"GPT-2 medium", 1024, 16, 16, 64, true, 1024, "Radford et al. 2019, table 2"},
    ModelSizes{"GPT-2 large", 1280, 20, 20, 64, true, 1024, "Radford et al. 2019, table 2"},
    ModelSizes{"GPT-2 XL", 1600, 25, 25, 64, true, 1024, "Radford et al. 2019, table 2"},
    ModelSizes{"Llama 3 8B", 4096, 32, 8, 128, true, 8192, "Grattafiori et al. 2024, table 3"},
    ModelSizes{"ViT-B/16", 768, 12, 12, 64, false, 197, "Dosovitskiy et al. 2021, table 1"},
};

}  // namespace

std::span<const ModelSizes> model_sizes() {
  return models;
}

Scenario model_scenario(const ModelSizes& model, Index length, bool is_causal) {
  Scenario scenario;
  scenario.inputs.source = InputSource::random;
  scenario.inputs.query_length = length;
  scenario.attention.embed_dim = model.embed_dim;
  scenario.attention.num_heads = model.num_heads;
  scenario.attention.num_kv_heads = model.num_kv_heads;
  scenario.attention.head_dim = model.head_dim;
  scenario.attention.need_weights = false;
  scenario.mask.is_causal = is_causal;
  return scenario;
}

}  // namespace headwise
