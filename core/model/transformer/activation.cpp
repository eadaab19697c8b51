#include "core/model/transformer/activation.h"

#include <cmath>
#include <numbers>
#include <string>

#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

constexpr double cost_of_activation = 40.0;  // in multiply-adds

double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::gelu:
      return 0.5 * x * (1.0 + std::erf(x / std::numbers::sqrt2));
    case Activation::gelu_tanh:
      return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::quick_gelu:
      return x / (1.0 + std::exp(-1.702 * x));
    case Activation::relu:
      return x < 0.0 ? 0.0 : x;  // NaN stays
    case Activation::relu_squared:
      return x < 0.0 ? 0.0 : x * x;
    case Activation::silu:
      return x / (1.0 + std::exp(-x));
  }
  return x;
}

Activation activation_under(const JsonValue& settings, const char* key, std::string name,
                            const TransformerNames& names) {
  if (name == "gelu" || name == "gelu_python")
    return names.gelu_is_tanh && names.activation_key.empty() ? Activation::gelu_tanh : Activation::gelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh" || name == "gelu_fast" || name == "gelu_accurate")
    return Activation::gelu_tanh;
  if (name == "quick_gelu") return Activation::quick_gelu;
  if (name == "relu") return Activation::relu;
  if (name == "relu2") return Activation::relu_squared;
  if (name == "silu" || name == "swish") return Activation::silu;
  settings[key].refuse("unknown choice",
                       "gelu, gelu_new, gelu_pytorch_tanh, quick_gelu, relu, relu2 or silu");
}

// "relu", "gated-silu"; a "gated-gelu" is the approximation by tanh.
Activation read_feed_forward_kind(const JsonValue& settings, const TransformerConfig& config) {
  const std::string key(config.names->feed_forward_kind_key);
  constexpr std::string_view gated = "gated-";
  std::string name = settings.at(key).is_null() ? "" : settings.text(key.c_str(), "");
  if (!name.empty() && name.starts_with(gated) != is_gated(config))
    settings[key].refuse("config.json and the arrays disagree",
                         is_gated(config) ? "\"gated-…\": the file has a gate" : "no gate: the file has none");
  // What transformers makes of it is written beside it, and is read first.
  if (constexpr const char* made = "dense_act_fn"; settings.has(made))
    return activation_under(settings, made, settings.text(made, ""), *config.names);
  if (name.empty()) return is_gated(config) ? Activation::gelu_tanh : config.names->activation;
  if (name == "gated-gelu") return Activation::gelu_tanh;
  if (name.starts_with(gated)) name.erase(0, gated.size());
  return activation_under(settings, key.c_str(), name, *config.names);
}

}  // namespace

void activate(Activation activation, Rows& x) {
  for_ranges(x.size(), cost_of_activation, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i)
      x.data()[i] = static_cast<float>(activated(activation, static_cast<double>(x.data()[i])));
  });
}

const char* activation_name(Activation activation) {
  constexpr const char* names[] = {"GELU", "GELU (tanh)", "quick GELU",
                                   "ReLU", "ReLU²",       "SiLU"};  // in their order
  static_assert(std::size(names) == static_cast<std::size_t>(Activation::silu) + 1);
  return names[static_cast<std::size_t>(activation)];
}

bool is_gated(const TransformerConfig& config) {
  return config.names->gate_is_in_feed_in || !config.feed_gate.empty();
}

Activation read_activation(const JsonValue& settings, const TransformerConfig& config) {
  const TransformerNames& names = *config.names;
  if (!names.feed_forward_kind_key.empty()) return read_feed_forward_kind(settings, config);
  std::string key(names.activation_key.empty() ? "hidden_act" : names.activation_key);
  for (const char* other : {"activation_function", "activation", "hidden_activation"})
    if (names.activation_key.empty() && settings.at(key).is_null()) key = other;
  return settings.at(key).is_null()
             ? names.activation
             : activation_under(settings, key.c_str(), settings.text(key.c_str(), ""), names);
}

Activation read_head_activation(const JsonValue& settings, const TransformerConfig& config,
                                const LmHeadNames& head) {
  if (head.activation_key.empty()) return head.is_gelu ? Activation::gelu : config.activation;
  const std::string key(head.activation_key);
  return activation_under(settings, key.c_str(), settings.text(key.c_str(), "gelu"), *config.names);
}

}  // namespace headwise
