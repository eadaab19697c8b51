#include "core/scenario/presets.h"

#include <array>
#include <vector>

#include "core/scenario/scenario_json.h"
#include "core/tensor/edit_distance.h"
#include "core/tensor/error.h"

namespace headwise {

// assets/presets/NAME.json, put into the program by assets/embed.cmake.
namespace embedded {
std::span<const unsigned char> preset_hand_made();
std::span<const unsigned char> preset_welcome();
std::span<const unsigned char> preset_random();
std::span<const unsigned char> preset_causal();
std::span<const unsigned char> preset_cross_attention();
std::span<const unsigned char> preset_grouped_query();
}  // namespace embedded

namespace {

std::string_view text(std::span<const unsigned char> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::span<const Preset> presets() {
  static const std::array<Preset, 6> all{{
      {"welcome", "Hand-made heads",
       "a sentence, and heads whose parameters can be read: what each one looks at has a reason",
       text(embedded::preset_welcome())},
      {"hand_made", "Hand-made heads",
       "a sentence, and heads whose parameters can be read: what each one looks at has a reason",
       text(embedded::preset_hand_made())},
      {"random", "Random parameters", "the same sentence with PyTorch's initialisation: an untrained layer",
       text(embedded::preset_random())},
      {"causal", "Causal mask", "each word sees itself and what came before",
       text(embedded::preset_causal())},
      {"cross_attention", "Cross-attention", "one sentence asks, another one answers",
       text(embedded::preset_cross_attention())},
      {"grouped_query", "Grouped queries", "8 query heads share 2 key/value heads, as in Llama and Mistral",
       text(embedded::preset_grouped_query())},
  }};
  return all;
}

Scenario preset_scenario(std::string_view name) {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) {
    if (preset.name == name) return scenario_from_json(preset.json, "preset " + std::string(name));
    names.emplace_back(preset.name);
  }
  throw Error(ExitStatus::usage, {.where = "preset " + std::string(name),
                                  .what = "there is no preset of this name",
                                  .remedy = "did you mean \"" + nearest_name(name, names) + "\"?"});
}

}  // namespace headwise
