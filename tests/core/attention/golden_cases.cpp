#include "tests/core/attention/golden_cases.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/tensor/random.h"

namespace headwise::test {
namespace {

using Json = nlohmann::json;

std::string unzipped(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  REQUIRE_MESSAGE(file != nullptr, path);
  std::string text;
  std::vector<char> buffer(1 << 16);
  for (int count = 1; count > 0;) {
    count = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()));
    REQUIRE_MESSAGE(count >= 0, path);
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  gzclose(file);
  return text;
}

std::string from_base64(const std::string& text) {
  static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto digit = digits.find(c);
    if (digit == std::string::npos) break;  // the padding
    bits = (bits << 6 | static_cast<unsigned>(digit)) & 0xFFFFu;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push_back(static_cast<char>(bits >> count & 0xFFu));
    }
  }
  return bytes;
}

template <class T>
std::vector<T> values_of(const std::string& base64) {
  const std::string bytes = from_base64(base64);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

Tensor read_array(const Json& json, const std::string& name, std::uint64_t seed) {
  std::vector<Axis> axes;
  for (const Json& size : json["shape"])
    axes.push_back({"axis " + std::to_string(axes.size()), size.get<Index>()});
  Shape shape(std::move(axes));
  if (json.contains("f64")) return {std::move(shape), values_of<double>(json["f64"])};
  if (json.contains("bool")) return {std::move(shape), values_of<std::uint8_t>(json["bool"])};
  if (json.contains("i64")) return {std::move(shape), values_of<std::int64_t>(json["i64"])};
  Tensor tensor(std::move(shape), DType::f64);
  const CounterRandom random(seed, name);
  const double amplitude = json.at("amplitude").get<double>();
  for (Index i = 0; i < tensor.size(); ++i) {
    tensor.set_flat(
        i, (std::floor(random.uniform(static_cast<std::uint64_t>(i)) * 4096) / 2048 - 1) * amplitude);
  }
  return tensor;
}

template <class T>
void read(const Json& json, const char* key, T& value) {
  if (json.contains(key) && !json[key].is_null()) value = json[key].get<T>();
}

template <class T>
void read(const Json& json, const char* key, std::optional<T>& value) {
  if (json.contains(key) && !json[key].is_null()) value = json[key].get<T>();
}

AttentionOptions read_options(const Json& json) {
  AttentionOptions o;
  o.embed_dim = 8;  // the defaults of the script
  o.num_heads = 2;
  read(json, "embed_dim", o.embed_dim);
  read(json, "num_heads", o.num_heads);
  o.num_kv_heads = o.num_heads;
  o.kdim = o.vdim = o.embed_dim;
  o.head_dim = o.embed_dim / o.num_heads;
  read(json, "num_kv_heads", o.num_kv_heads);
  read(json, "kdim", o.kdim);
  read(json, "vdim", o.vdim);
  read(json, "head_dim", o.head_dim);
  o.v_head_dim = o.head_dim;
  read(json, "v_head_dim", o.v_head_dim);
  read(json, "add_zero_attn", o.add_zero_attn);
  read(json, "rotary_base", o.rotary_base);
  read(json, "rotary_inverse_frequencies", o.rotary_inverse_frequencies);
  read(json, "rotary_factor", o.rotary_factor);
  if (json.value("rotary_pairs", "") == "neighbours") o.rotary_pairs = RotaryPairs::neighbours;
  read(json, "qk_norm_offset", o.qk_norm_offset);
  read(json, "qk_norm_epsilon", o.qk_norm_epsilon);
  read(json, "scale", o.scale);
  read(json, "softcap", o.softcap);
  read(json, "temperature", o.temperature);
  read(json, "dropout", o.dropout);
  read(json, "dropout_seed", o.dropout_seed);
  read(json, "need_weights", o.need_weights);
  read(json, "average_attn_weights", o.average_attn_weights);
  read(json, "output_gate", o.output_gate);
  read(json, "residual", o.residual);
  read(json, "layer_norm", o.layer_norm);
  read(json, "is_causal", o.is_causal);
  read(json, "sliding_window", o.sliding_window);
  read(json, "window_left", o.window_left);
  read(json, "window_right", o.window_right);
  read(json, "alibi", o.alibi);
  read(json, "mask_value", o.mask_value);
  read(json, "head_gain", o.head_gain);
  if (json.value("op", "") == "scaled_dot_product_attention") o.op = Op::scaled_dot_product_attention;
  if (json.value("op", "") == "multi_head_latent_attention") o.op = Op::multi_head_latent_attention;
  if (json.value("layout", "") == "absorbed") o.layout = LatentLayout::absorbed;
  read(json, "kv_lora_rank", o.kv_lora_rank);
  read(json, "q_lora_rank", o.q_lora_rank);
  read(json, "qk_nope_head_dim", o.qk_nope_head_dim);
  read(json, "qk_rope_head_dim", o.qk_rope_head_dim);
  read(json, "latent_norm_epsilon", o.latent_norm_epsilon);
  if (json.value("causal_alignment", "") == "bottom_right")
    o.causal_alignment = CausalAlignment::bottom_right;
  if (json.value("fully_masked_rows", "") == "zero") o.fully_masked_rows = FullyMaskedRows::zero;
  const auto named = [&](const char* key, const auto& names) {
    return std::ranges::find(names, json.value(key, "")) - names.begin();
  };
  if (json.contains("relative_bias")) {
    RelativeBias& bias = o.relative_bias.emplace();
    read(json["relative_bias"], "buckets", bias.buckets);
    read(json["relative_bias"], "max_distance", bias.max_distance);
    read(json["relative_bias"], "bidirectional", bias.bidirectional);
  }
  if (json.contains("indexer")) {
    const Json& indexer = json["indexer"];
    o.indexer = Indexer{
        indexer.at("heads"), indexer.at("width"), indexer.at("k"),
        indexer.value("rotary_pairs", "") == "neighbours" ? RotaryPairs::neighbours : RotaryPairs::halves};
  }
  constexpr std::array<std::string_view, 3> places{"per_head", "whole", "per_head_after_rotary"};
  constexpr std::array<std::string_view, 3> kinds{"rms", "layer", "l2"};
  if (json.contains("qk_norm")) o.qk_norm = static_cast<QkNorm>(named("qk_norm", places));
  if (json.contains("qk_norm_kind")) o.qk_norm_kind = static_cast<NormKind>(named("qk_norm_kind", kinds));
  return o;
}

GoldenCase read_case(const Json& json) {
  GoldenCase golden;
  golden.name = json.at("name");
  golden.by = json.at("by");
  golden.inputs.dtype = DType::f64;
  golden.inputs.options = read_options(json.at("options"));
  TraceTensors& tensors = golden.inputs.tensors;
  for (const auto& [name, array] : json.at("arrays").items()) {
    if (!array.is_object()) continue;
    auto read = std::make_shared<const Tensor>(read_array(array, name, json.at("seed").get<std::uint64_t>()));
    if (name == "grad_output") {
      golden.grad_output = std::move(read);
      continue;
    }
    const auto found = find_tensor_name(name);
    REQUIRE_MESSAGE(found.has_value(), name);
    tensors.*(tensor_entry(found->id).member) = std::move(read);
  }
  if (!tensors.key) {  // "key": "query"
    tensors.key = tensors.query;
    if (!is_latent(golden.inputs.options)) tensors.value = tensors.query;
  }
  for (const auto& [name, array] : json.at("expected").items())
    golden.expected.emplace(name, read_array(array, name, 0));
  return golden;
}

}  // namespace

const std::vector<GoldenCase>& golden_cases() {
  static const std::vector<GoldenCase> cases = [] {
    std::vector<GoldenCase> read;
    const Json json = Json::parse(unzipped(HEADWISE_SOURCE_DIR "/tests/golden/attention_golden.json.gz"));
    for (const Json& one : json) read.push_back(read_case(one));
    return read;
  }();
  return cases;
}

const GoldenCase& golden_case(const std::string& name) {
  const auto found = std::ranges::find(golden_cases(), name, &GoldenCase::name);
  REQUIRE_MESSAGE(found != golden_cases().end(), name);
  return *found;
}

AttentionInputs converted(const AttentionInputs& inputs, DType dtype) {
  AttentionInputs out = inputs;
  out.dtype = dtype;
  std::map<TensorPtr, TensorPtr> made;
  for (const TensorEntry& entry : tensor_entries()) {
    TensorPtr& tensor = out.tensors.*(entry.member);
    if (!tensor || tensor->dtype() != inputs.dtype) continue;
    TensorPtr& once = made[tensor];
    if (!once) once = std::make_shared<const Tensor>(tensor->converted(dtype));
    tensor = once;
  }
  return out;
}

}  // namespace headwise::test
