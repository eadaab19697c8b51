#include "core/train/training_changes.h"

#include <algorithm>
#include <array>

#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr double dropout_of_change = 0.2, times_learning_rate = 30.0;
constexpr Index window_of_change = 4;

void set_heads(TrainModelConfig& model, Index heads, Index head_width) {
  model.kv_heads = heads;
  model.heads = heads;
  if (heads * head_width == model.width)
    model.head_width.reset();
  else
    model.head_width = head_width;
}

// The changes that set one value of the model.
template <auto member, auto value>
bool set(TrainingSettings& settings) {
  settings.model.*member = value;
  return true;
}

bool each_its_keys(const TrainModelConfig& model) {
  return model.kv_heads == model.heads;
}

bool has_pairs_of_heads(const TrainModelConfig& model) {
  return model.heads >= 4 && model.heads % 2 == 0;
}

constexpr std::array change_entries{
    TrainingChangeEntry{
        TrainingChange::one_wide_head, "heads", "one-wide-head", "one wide head", "with one wide head",
        "One head as wide as all heads together has as many parameters. Does it learn the same?",
        [](TrainingSettings& settings) {
          TrainModelConfig& model = settings.model;
          if (!each_its_keys(model) || model.heads == 1) return false;  // grouped heads have fewer parameters
          set_heads(model, 1, model.heads * head_width_of(model));
          return true;
        }},
    TrainingChangeEntry{TrainingChange::half_the_heads, "heads", "half-the-heads", "half the heads",
                        "with half the heads",
                        "Half as many heads, each as wide as before. How many does the task need?",
                        [](TrainingSettings& settings) {
                          TrainModelConfig& model = settings.model;
                          if (!each_its_keys(model) || !has_pairs_of_heads(model)) return false;
                          set_heads(model, model.heads / 2, head_width_of(model));
                          return true;
                        }},
    TrainingChangeEntry{
        TrainingChange::one_head, "heads", "one-head", "one head", "with one head",
        "A single head in each layer, as wide as one was before. What can one attention map do alone?",
        [](TrainingSettings& settings) {
          TrainModelConfig& model = settings.model;
          if (!each_its_keys(model) || model.heads == 1) return false;
          set_heads(model, 1, head_width_of(model));
          return true;
        }},
    TrainingChangeEntry{TrainingChange::frozen_head, "heads", "frozen-head", "one head frozen",
                        "with one head frozen",
                        "Head 0 of layer 0 stays as it began. Do the other heads take over its work?",
                        [](TrainingSettings& settings) {
                          std::vector<FrozenHead>& frozen = settings.model.frozen_heads;
                          if (std::ranges::count(frozen, FrozenHead{0, 0}) > 0) return false;
                          frozen.push_back({0, 0});
                          return true;
                        }},
    TrainingChangeEntry{TrainingChange::equal_heads, "heads", "equal-heads", "heads begin equal",
                        "with heads that begin equal",
                        "Every head begins with the same numbers. What could make them differ?",
                        [](TrainingSettings& settings) {
                          settings.model.heads_begin_equal = settings.model.equal_out_projection = true;
                          return settings.model.heads > 1;
                        }},
    TrainingChangeEntry{TrainingChange::equal_but_output, "heads", "equal-but-output", "equal except W_O",
                        "with heads that begin equal except for W_O",
                        "Every head begins with the same W_Q, W_K and W_V, and random columns of W_O. Is "
                        "that enough to make the heads differ?",
                        [](TrainingSettings& settings) {
                          settings.model.heads_begin_equal = true;
                          settings.model.equal_out_projection = false;
                          return settings.model.heads > 1 && settings.model.out_projection;
                        }},
    TrainingChangeEntry{TrainingChange::grouped_keys, "keys and values", "grouped-keys", "grouped keys (H/2)",
                        "with grouped keys",
                        "Two query heads share each key and value head; Llama 3 has such groups too. What "
                        "does the smaller cache cost?",
                        [](TrainingSettings& settings) {
                          TrainModelConfig& model = settings.model;
                          if (!each_its_keys(model) || !has_pairs_of_heads(model)) return false;
                          model.kv_heads = model.heads / 2;
                          return true;
                        }},
    TrainingChangeEntry{TrainingChange::one_key_head, "keys and values", "one-key-head", "one key head (MQA)",
                        "with one key head",
                        "All heads share one key and value head. Can they still look for different things?",
                        set<&TrainModelConfig::kv_heads, Index{1}>},
    TrainingChangeEntry{
        TrainingChange::latents, "keys and values", "latents", "latents of E/4 (MLA)", "with latents",
        "Keys and values of all heads are made of one latent a token, here a quarter as wide as the model "
        "(MLA, as in DeepSeek-V3). A cache keeps only it and the columns that all keys share. What does "
        "that cost?",
        [](TrainingSettings& settings) {
          TrainModelConfig& model = settings.model;
          if (!each_its_keys(model) || model.latent_width) return false;
          model.latent_width = model.width / 4;
          return true;
        }},
    TrainingChangeEntry{TrainingChange::no_scale, "scores and weights", "no-scale", "without 1/√D",
                        "without 1/√D",
                        "Without the division the scores are √D times as large. Does the softmax get stuck?",
                        set<&TrainModelConfig::scaled, false>},
    TrainingChangeEntry{TrainingChange::qk_norm, "scores and weights", "qk-norm", "QK-norm", "with QK-norm",
                        "Each head's rows of q and k get the same length. Is anything lost?",
                        set<&TrainModelConfig::qk_norm, true>},
    TrainingChangeEntry{
        TrainingChange::qk_norm_high_learning_rate, "scores and weights", "qk-norm-high-learning-rate",
        "QK-norm, rate × 30", "with QK-norm and 30 times the learning rate",
        "Long steps make q and k longer, and scores with them. If their length is fixed, does the "
        "model learn where “learning rate × 30” alone does not?",
        [](TrainingSettings& settings) {
          settings.model.qk_norm = true;
          settings.optimiser.learning_rate *= times_learning_rate;
          return true;
        }},
    TrainingChangeEntry{TrainingChange::sink, "scores and weights", "sink", "sink", "with a sink",
                        "Each head may put weight on one more score, to which no value belongs, as in "
                        "gpt-oss. Do heads learn to rest there, and no longer on the first token?",
                        set<&TrainModelConfig::sink, true>},
    TrainingChangeEntry{
        TrainingChange::no_causal_mask, "scores and weights", "no-causal-mask", "no causal mask",
        "without the causal mask",
        "Every token also sees what follows it. What does the model learn if it can read the answer?",
        set<&TrainModelConfig::causal, false>},
    TrainingChangeEntry{TrainingChange::sliding_window, "scores and weights", "sliding-window", "window of 4",
                        "with a window of 4",
                        "Each token sees itself and three tokens before it; in the local layers of Gemma 3, "
                        "1,023. Can a second layer pass on what stands "
                        "further back?",
                        [](TrainingSettings& settings) {
                          settings.model.sliding_window = window_of_change;
                          return settings.model.longest_sequence > window_of_change;
                        }},
    TrainingChangeEntry{TrainingChange::dropout, "scores and weights", "dropout", "dropout 0.2",
                        "with dropout 0.2",
                        "In every step a fifth of the attention weights are dropped. Does that disturb a "
                        "head that needs one token?",
                        set<&TrainModelConfig::dropout, dropout_of_change>},
    TrainingChangeEntry{TrainingChange::output_gate, "output", "output-gate", "output gate",
                        "with an output gate",
                        "Each number of a head is multiplied by a gate between 0 and 1, which the token "
                        "itself chooses, as in Qwen3-Next. Which heads does it close, and where?",
                        set<&TrainModelConfig::output_gate, true>},
    TrainingChangeEntry{TrainingChange::no_out_projection, "output", "no-out-projection", "without W_O",
                        "without W_O",
                        "Each head writes into columns of its own, which no matrix mixes. Is W_O needed?",
                        set<&TrainModelConfig::out_projection, false>},
    TrainingChangeEntry{
        TrainingChange::no_positions, "positions", "no-positions", "no positions", "without positions",
        "Attention sees a set of tokens, not their order. Can the causal mask replace positions?",
        set<&TrainModelConfig::positions, TrainPositions::none>},
    TrainingChangeEntry{
        TrainingChange::learned_positions, "positions", "learned-positions", "learned positions",
        "with learned positions",
        "A learned vector is added for each position, as in GPT-2. Is it learned fast enough?",
        set<&TrainModelConfig::positions, TrainPositions::learned>},
    TrainingChangeEntry{TrainingChange::sinusoidal_positions, "positions", "sinusoidal-positions",
                        "sinusoidal positions", "with sinusoidal positions",
                        "Fixed waves are added, as in “Attention Is All You Need”. Are they easier to use "
                        "than learned ones?",
                        set<&TrainModelConfig::positions, TrainPositions::sinusoidal>},
    TrainingChangeEntry{TrainingChange::rotary_positions, "positions", "rotary-positions", "rotary positions",
                        "with rotary positions",
                        "Queries and keys are rotated, so that scores depend on distances. Is “one token "
                        "back” found sooner?",
                        set<&TrainModelConfig::positions, TrainPositions::rotary>},
    TrainingChangeEntry{TrainingChange::alibi_positions, "positions", "alibi-positions", "ALiBi positions",
                        "with ALiBi positions",
                        "Scores fall with distance, with a different slope in each head. Which heads see "
                        "near, and which see far?",
                        set<&TrainModelConfig::positions, TrainPositions::alibi>},
    TrainingChangeEntry{TrainingChange::relative_bias, "positions", "relative-bias", "relative bias",
                        "with a relative bias",
                        "Each head learns a number for each distance, which is added to its scores, as in "
                        "T5. Which distances do the heads prefer?",
                        set<&TrainModelConfig::positions, TrainPositions::relative_bias>},
    TrainingChangeEntry{TrainingChange::high_learning_rate, "optimiser", "high-learning-rate",
                        "learning rate × 30", "with 30 times the learning rate",
                        "Steps that are 30 times as long. What does too high a learning rate look like?",
                        [](TrainingSettings& settings) {
                          settings.optimiser.learning_rate *= times_learning_rate;
                          return true;
                        }}};

}  // namespace

std::span<const TrainingChangeEntry> training_change_entries() {
  return change_entries;
}

const TrainingChangeEntry& training_change_entry(TrainingChange change) {
  return change_entries[static_cast<std::size_t>(change)];
}

TrainingChange training_change_named(const std::string& option, const std::string& name) {
  std::vector<std::string_view> known;
  for (const TrainingChangeEntry& entry : change_entries) {
    if (entry.name == name) return entry.change;
    known.push_back(entry.name);
  }
  throw Error(ExitStatus::usage, {option, "there is no such change", name, join(known, ", "), ""});
}

std::optional<TrainingSettings> changed_settings(const TrainingSettings& settings, TrainingChange change) {
  TrainingSettings changed = settings;
  if (!training_change_entry(change).apply(changed) || changed == settings) return std::nullopt;
  try {
    check_train_model(changed.model);
    check_optimiser(changed.optimiser);
  } catch (const Error&) {
    return std::nullopt;  // as W_O where the heads are wider than the model
  }
  return changed;
}

}  // namespace headwise
