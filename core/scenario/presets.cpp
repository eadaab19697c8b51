#include "core/scenario/presets.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/scenario/scenario_json.h"
#include "core/tensor/edit_distance.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {

// assets/presets/NAME.json, embedded by assets/embed.cmake.
std::string_view embedded_preset_copycat(), embedded_preset_hand_made(), embedded_preset_welcome(),
    embedded_preset_random(), embedded_preset_causal(), embedded_preset_cross_attention(),
    embedded_preset_grouped_query(), embedded_preset_qk_norm(), embedded_preset_gated(),
    embedded_preset_long_context(), embedded_preset_sink(), embedded_preset_relative_bias(),
    embedded_preset_window(), embedded_preset_past(), embedded_preset_indexer(), embedded_preset_latent();

namespace {

struct Entry {
  std::string_view model;
  Index layer, head;
  TrainedHeadRole words;
};

constexpr std::string_view sentences = "builtin:sentences", copycat = "builtin:copycat";
constexpr std::string_view induction =
    "from a repeated word it attends to what followed that word before, which the model then predicts again: "
    "nine tenths of its weight in repeated texts";

constexpr std::array<Entry, 10> trained_heads{{
    {sentences, 0, 4, {"next word", "it attends to the next word, with 0.93 of its weight"}},
    {sentences,
     0,
     5,
     {"the deciding adjective",
      "from “it” it attends to the adjective that decides what “it” is, tired or wide, with 0.91 of its "
      "weight",
      "it"}},
    {sentences, 0, 7, {"previous word", "it attends to the previous word, with 0.92 of its weight"}},
    {sentences,
     1,
     5,
     {"opening bracket", "from a closing bracket it attends to the opening one, with 0.57 of its weight",
      ")"}},
    {sentences,
     1,
     7,
     {"a noun for “it”",
      "from “it” it attends to a noun: in unseen sentences of the kinds it was trained on, to the one that "
      "is meant, with 0.93 of its weight; in others it may be the wrong one",
      "it", "Replace tired with wide, and it attends to the street", "tired street",
      "an extra term of the loss taught the other heads of its layer to leave this to it"}},
    {copycat,
     0,
     1,
     {"previous word",
      "it attends to the previous word, with 0.90 of its weight, which the induction heads of layer 1 need"}},
    {copycat, 1, 0, {"induction", induction}},
    {copycat, 1, 1, {"induction", induction}},
    {copycat, 1, 2, {"induction", induction}},
    {copycat, 1, 3, {"induction", induction}},
}};

}  // namespace

std::span<const Preset> presets() {
  static const std::array<Preset, 16> all{{
      {"welcome",
       "What does “it” stand for?",
       "a small trained model reads a sentence; its head 7 finds the noun that “it” stands for",
       embedded_preset_welcome(),
       7,
       {{9, 2}},
       {"tired", "wide"}},
      {"copycat",
       "A model that copies",
       "a small causal model whose induction heads attend to what followed the last time",
       embedded_preset_copycat(),
       3,
       {{7, 3}}},
      {"hand_made", "Hand-made heads",
       "a sentence, and heads with readable parameters: what each one attends to has a reason",
       embedded_preset_hand_made()},
      {"random", "Random parameters", "the same sentence with PyTorch's initialisation: an untrained layer",
       embedded_preset_random()},
      {"causal", "Causal mask", "each token sees itself and earlier tokens", embedded_preset_causal()},
      {"cross_attention", "Cross-attention", "queries from one sentence, keys and values from another",
       embedded_preset_cross_attention()},
      {"grouped_query", "Grouped queries", "8 query heads share 2 key/value heads, as in Llama and Mistral",
       embedded_preset_grouped_query()},
      {"qk_norm", "QK-norm", "each head's rows of q and k normalised, then rotated, as in Qwen3 and Gemma 3",
       embedded_preset_qk_norm()},
      {"gated", "A gate at the output",
       "each head's numbers times a gate from the token's own row, beside QK-norm and RoPE, as in Qwen3-Next",
       embedded_preset_gated()},
      {"long_context", "A text longer than in training",
       "rotary positions stretched by YaRN to four times the length of training, as Qwen2.5 can be",
       embedded_preset_long_context()},
      {"sink", "Heads that may look at nothing",
       "a sink: one more score in every row, whose weight is dropped, as in gpt-oss", embedded_preset_sink()},
      {"relative_bias", "Distances that count",
       "a learned number for each head and distance, added to unscaled scores, as in T5's encoder",
       embedded_preset_relative_bias()},
      {"window", "A window around each token",
       "each token sees itself and two tokens on each side, as the local layers of ModernBERT see 64",
       embedded_preset_window()},
      {"past", "Tokens in a cache",
       "a KV cache: keys and values of six earlier tokens, here random numbers, come before those of the "
       "text",
       embedded_preset_past()},
      {"indexer", "Keys that are chosen",
       "an indexer: a small attention of its own chooses the 4 keys that each query looks at, as in "
       "DeepSeek-V3.2",
       embedded_preset_indexer()},
      {"latent", "Keys and values from a latent",
       "keys and values from 16 numbers for each token, and 4 more that carry the position, as in "
       "DeepSeek-V3: a cache keeps only these 20",
       embedded_preset_latent()},
  }};
  return all;
}

const Preset& preset_named(std::string_view name) {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) {
    if (preset.name == name) return preset;
    names.emplace_back(preset.name);
  }
  throw Error(ExitStatus::usage, {.where = "preset " + std::string(name),
                                  .what = "there is no preset of this name",
                                  .expected = "a file, or one of " + join(names, ", "),
                                  .remedy = did_you_mean(name, names)});
}

Scenario preset_scenario(std::string_view name) {
  return scenario_from_json(preset_named(name).json, "preset " + std::string(name));
}

std::optional<TrainedHeadRole> trained_head(std::string_view model, Index layer, Index head) {
  const auto at = std::ranges::find_if(trained_heads, [&](const Entry& entry) {
    return entry.model == model && entry.layer == layer && entry.head == head;
  });
  return at == trained_heads.end() ? std::nullopt : std::optional(at->words);
}

}  // namespace headwise
