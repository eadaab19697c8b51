#include "app/session/carried_edit.h"

#include <fmt/format.h>

#include <exception>
#include <nlohmann/json.hpp>

#include "core/scenario/scenario_json.h"

namespace headwise {
namespace {

constexpr std::int64_t most_gains = 100'000;

// Without what is long, and what JSON may not hold: the bytes of a text.
Scenario without_lists(Scenario scenario) {
  scenario.inputs.text.clear();
  scenario.inputs.key_text.reset();
  scenario.head_gain.reset();
  scenario.frozen_heads.reset();
  scenario.edits.clear();
  return scenario;
}

nlohmann::json json_of(const Scenario& scenario) {
  return nlohmann::json::parse(scenario_to_json(without_lists(scenario), true));
}

template <class Part>
void carry(Part& onto, const Part& from, const Part& edited) {
  if (!(edited == from)) onto = edited;
}

template <class Part, class... Members>
void carry_each(Part& onto, const Part& from, const Part& edited, Members... members) {
  (carry(onto.*members, from.*members, edited.*members), ...);
}

}  // namespace

Scenario with_edit_of(const Scenario& onto, const Scenario& from, const Scenario& edited) {
  Scenario made = onto;
  carry_each(made, from, edited, &Scenario::op, &Scenario::head_gain, &Scenario::frozen_heads,
             &Scenario::edits);
  using A = AttentionSpec;
  carry_each(made.attention, from.attention, edited.attention, &A::embed_dim, &A::num_heads, &A::num_kv_heads,
             &A::kdim, &A::vdim, &A::head_dim, &A::v_head_dim, &A::bias, &A::add_bias_kv, &A::add_zero_attn,
             &A::rotary_base, &A::rotary_inverse_frequencies, &A::scale, &A::softcap, &A::clip_qkv,
             &A::temperature, &A::dropout, &A::dropout_seed, &A::need_weights, &A::average_attn_weights,
             &A::residual, &A::layer_norm);
  using I = InputsSpec;
  carry_each(made.inputs, from.inputs, edited.inputs, &I::source, &I::seed, &I::text, &I::key_text,
             &I::positions, &I::file, &I::batch, &I::query_length, &I::key_length, &I::self_attention,
             &I::batch_first);
  using P = ParametersSpec;
  carry_each(made.parameters, from.parameters, edited.parameters, &P::source, &P::layout, &P::init, &P::seed,
             &P::file, &P::layer);
  using M = MaskSpec;
  carry_each(made.mask, from.mask, edited.mask, &M::is_causal, &M::causal_alignment, &M::sliding_window,
             &M::valid_lens, &M::valid_lens_per_query, &M::alibi, &M::alibi_scale, &M::preset, &M::file,
             &M::value, &M::fully_masked_rows);
  const bool other_heads = made.head_gain && from.attention.num_heads != made.attention.num_heads;
  if (other_heads && made.attention.num_heads > 0 && made.attention.num_heads <= most_gains)
    made.head_gain->resize(static_cast<std::size_t>(made.attention.num_heads), 1.0);
  return made;
}

std::string put_back_sentence(const Scenario& refused, const Scenario& now) {
  constexpr const char* several = "The settings without a result were restored. ";
  try {
    const nlohmann::json was = json_of(refused).flatten(), is = json_of(now).flatten();
    std::string sentence;
    for (const auto& [path, value] : is.items()) {
      const auto other = was.find(path);
      if (other != was.end() && *other == value) continue;
      if (!sentence.empty()) return several;
      const std::string text = value.is_null()     ? "automatic"
                               : value.is_string() ? value.get<std::string>()
                                                   : value.dump();
      sentence = fmt::format("{} was reset to {}. ", path.substr(path.rfind('/') + 1), text);
    }
    return sentence.empty() || sentence.size() > 60 ? several : sentence;
  } catch (const std::exception&) {
    return several;
  }
}

}  // namespace headwise
