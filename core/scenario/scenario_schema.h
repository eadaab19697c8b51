// The scenario format, declared once: every key, where it is stored in the struct, and its allowed values.
// Reading, writing and checking are visitors of this declaration; none of them has keys of its own.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/scenario/scenario.h"

namespace headwise {

// The names of an enumeration, in the order of its enumerators.
template <class Enum>
inline constexpr std::array<std::string_view, 0> choice_names{};
template <>
inline constexpr std::array<std::string_view, 3> choice_names<Op>{
    "multi_head_attention", "scaled_dot_product_attention", "multi_head_latent_attention"};
template <>
inline constexpr std::array<std::string_view, 2> choice_names<LatentLayout>{"expanded", "absorbed"};
template <>
inline constexpr std::array<std::string_view, 6> choice_names<InputSource>{"random", "ones", "uniform01",
                                                                           "text",   "file", "picture"};
template <>
inline constexpr std::array<std::string_view, 4> choice_names<ParameterSource>{"random", "hand_made", "file",
                                                                               "model"};
template <>
inline constexpr std::array<std::string_view, 3> choice_names<ProjectionLayout>{"packed", "separate",
                                                                                "per_head"};
template <>
inline constexpr std::array<std::string_view, 5> choice_names<Initialisation>{
    "xavier_uniform", "xavier_normal", "normal_dk", "uniform01", "identity"};
template <>
inline constexpr std::array<std::string_view, 2> choice_names<CausalAlignment>{"top_left", "bottom_right"};
template <>
inline constexpr std::array<std::string_view, 2> choice_names<FullyMaskedRows>{"nan", "zero"};
template <>
inline constexpr std::array<std::string_view, 3> choice_names<QkNorm>{"per_head", "whole",
                                                                      "per_head_after_rotary"};
template <>
inline constexpr std::array<std::string_view, 2> choice_names<RotaryPairs>{"halves", "neighbours"};
template <>
inline constexpr std::array<std::string_view, 3> choice_names<NormKind>{"rms", "layer", "l2"};
template <class Enum>
struct ChoiceNames {
  static constexpr const auto& names = choice_names<Enum>;
};

template <class Enum>
std::string_view choice_name(Enum value) {
  return ChoiceNames<Enum>::names[static_cast<std::size_t>(value)];
}

inline constexpr int scenario_format_version = 1;

struct FillValue : NumberRange {};  // null is "-inf"
inline constexpr FillValue fill_value{{.words = "\"-inf\" or a finite number"}};

// S is Scenario or const Scenario. The visitor has
//   field(section, key, member)         bool, string, seed, enumeration (each may be optional),
//                                       frozen heads, rotary scaling, relative bias, indexer, edits
//   field(section, key, member, range)  (optional) integers and numbers;
//   of mask.value the range is a FillValue
//   field(section, key, numbers, range) a number for every head, or a list with one a head; empty: null
//   field(section, key, member, each)   optional lists of numbers, with what there is one of
//   valid_lens(section, key, mask)      stored in two members
// `section` is "" at the top level.
template <class S, class Visitor>
void visit_scenario(S& s, Visitor& visit) {
  constexpr IntegerRange positive{1}, natural{0};
  visit.field("", "op", s.op);
  auto& a = s.attention;
  visit.field("attention", "embed_dim", a.embed_dim, positive);
  visit.field("attention", "num_heads", a.num_heads, positive);
  visit.field("attention", "num_kv_heads", a.num_kv_heads, positive);
  visit.field("attention", "kdim", a.kdim, positive);
  visit.field("attention", "vdim", a.vdim, positive);
  visit.field("attention", "head_dim", a.head_dim, positive);
  visit.field("attention", "v_head_dim", a.v_head_dim, positive);
  visit.field("attention", "bias", a.bias);
  visit.field("attention", "add_bias_kv", a.add_bias_kv);
  visit_layer_options([&](const OptionRow& row, auto member, const auto&... range) {
    visit.field("attention", row.key, a.*member, range...);
    if (row.key != std::string_view("rotary_base")) return;
    visit.field("attention", "rotary_inverse_frequencies", a.rotary_inverse_frequencies,
                "one per pair of columns");
    visit.field("attention", "rotary_scaling", a.rotary_scaling);
  });

  auto& i = s.inputs;
  visit.field("inputs", "source", i.source);
  visit.field("inputs", "seed", i.seed);
  visit.field("inputs", "text", i.text);
  visit.field("inputs", "key_text", i.key_text);
  visit.field("inputs", "positions", i.positions);
  visit.field("inputs", "file", i.file);
  visit.field("inputs", "picture", i.picture);
  visit.field("inputs", "batch", i.batch, natural);
  visit.field("inputs", "query_length", i.query_length, natural);
  visit.field("inputs", "key_length", i.key_length, natural);
  visit.field("inputs", "past_length", i.past_length, natural);
  visit.field("inputs", "self_attention", i.self_attention);
  visit.field("inputs", "batch_first", i.batch_first);

  auto& p = s.parameters;
  visit.field("parameters", "source", p.source);
  visit.field("parameters", "layout", p.layout);
  visit.field("parameters", "init", p.init);
  visit.field("parameters", "seed", p.seed);
  visit.field("parameters", "file", p.file);
  visit.field("parameters", "layer", p.layer, natural);

  auto& m = s.mask;
  visit_position_options([&](const OptionRow& row, auto member, const auto&... range) {
    visit.field("mask", row.key, m.*member, range...);
    if (row.key == std::string_view("sliding_window")) visit.valid_lens("mask", "valid_lens", m);
  });
  visit.field("mask", "preset", m.preset);
  visit.field("mask", "file", m.file);
  visit.field("mask", "value", m.value, fill_value);
  visit.field("mask", "fully_masked_rows", m.fully_masked_rows);

  visit.field("heads", "gain", s.head_gain, "one per head");
  visit.field("heads", "frozen", s.frozen_heads);
  visit.field("", "edits", s.edits);
}

// A visitor that treats every key alike: calls f(section, key, member), whatever the form of the key; twice
// for mask.valid_lens, which is stored in two members.
template <class F>
struct EachKey {
  F f;
  template <class T, class... Rest>
  void field(const char* section, const char* key, T& member, const Rest&...) {
    f(section, key, member);
  }
  template <class T>
  void valid_lens(const char* section, const char* key, T& mask) {
    f(section, key, mask.valid_lens);
    f(section, key, mask.valid_lens_per_query);
  }
};

template <class S, class F>
void for_each_key(S& s, F f) {
  EachKey<F> each{std::move(f)};
  visit_scenario(s, each);
}

// "attention.scale"; "edits" at the top level.
inline std::string key_path(const std::string& section, const std::string& key) {
  return section.empty() ? key : section + "." + key;
}

// Calls f(path, member of a, member of b) for every key. Both are visited in the order of the format, so that
// the member addresses of one have the types of the other's.
template <class A, class F>
void for_key_pairs(A& a, const Scenario& b, F&& f) {
  std::vector<const void*> others;
  for_each_key(b, [&](const char*, const char*, const auto& member) { others.push_back(&member); });
  auto other = others.begin();
  for_each_key(a, [&]<class T>(const char* section, const char* key, T& member) {
    f(key_path(section, key), member, *static_cast<const T*>(*other++));
  });
}

}  // namespace headwise
