#include "core/model/model_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "core/files/file_paths.h"
#include "core/files/reachable.h"
#include "core/model/model_json.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

constexpr Index most = Index{1} << 32;  // of any size, so that products of two stay far from overflow

// The first of the keys that is there and not null.
std::optional<Index> size_under(const nlohmann::json& config, std::initializer_list<const char*> keys,
                                const std::string& path) {
  for (const char* key : keys) {
    const auto at = config.find(key);
    if (at == config.end() || at->is_null()) continue;
    const bool whole = at->is_number_unsigned() && at->get<std::uint64_t>() >= 1 &&
                       at->get<std::uint64_t>() <= static_cast<std::uint64_t>(most);
    if (!whole) {
      throw Error(ExitStatus::input, {fmt::format("{}: {}", path, key), "this is no size", at->dump(),
                                      fmt::format("a whole number from 1 to {}", most), ""});
    }
    return at->get<Index>();
  }
  return std::nullopt;
}

}  // namespace

std::optional<ModelConfig> read_model_config(const std::string& folder) {
  const std::string path = (std::filesystem::path(folder) / "config.json").string();
  require_reachable(path);
  if (!is_there(path)) return std::nullopt;
  const nlohmann::json json = read_model_json(path);
  const auto of = [&](std::initializer_list<const char*> keys) { return size_under(json, keys, path); };
  ModelConfig config;
  if (const auto type = json.find("model_type"); type != json.end() && type->is_string())
    config.model_type = type->get<std::string>();
  config.embed_dim = of({"hidden_size", "n_embd", "d_model", "dim"});
  config.num_layers = of({"num_hidden_layers", "n_layer", "n_layers", "num_layers"});
  config.num_heads = of({"num_attention_heads", "n_head", "n_heads", "num_heads"});
  config.num_kv_heads = of({"num_key_value_heads"});
  config.head_dim = of({"head_dim", "d_kv"});
  config.encoder_heads = of({"encoder_attention_heads"});
  config.decoder_heads = of({"decoder_attention_heads"});
  const auto says = [&](const char* key, const nlohmann::json& value) {
    const auto at = json.find(key);
    return at != json.end() && *at == value;
  };
  // Qwen2's layers below max_window_layers see everything; newer files say it of each layer.
  const auto kinds = json.find("layer_types");
  const bool every_layer_sees_all =
      kinds != json.end() && kinds->is_array() &&
      std::ranges::all_of(*kinds, [](const nlohmann::json& kind) { return kind == "full_attention"; });
  if (!says("use_sliding_window", false) && !every_layer_sees_all)
    config.sliding_window = of({"sliding_window"});
  config.rotary = read_model_rotary(json, path);
  return config;
}

}  // namespace headwise
