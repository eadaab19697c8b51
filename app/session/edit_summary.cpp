#include "app/session/edit_summary.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "app/session/head_gains.h"
#include "core/lessons/tensor_change.h"
#include "core/scenario/scenario_keys.h"
#include "core/tensor/error.h"
#include "core/tensor/float_dispatch.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

// "5", "1 and 4", "0, 1, 2 and 7".
std::string enumerated(const std::vector<Index>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) text += i + 1 == numbers.size() ? " and " : ", ";
    text += std::to_string(numbers[i]);
  }
  return text;
}

std::string heads_text(const std::vector<Index>& heads) {
  if (heads.size() > 6) return fmt::format("{} heads", heads.size());
  return fmt::format("{} {}", heads.size() == 1 ? "Head" : "Heads", enumerated(heads));
}

// What changed in the gains, or empty if no gain has changed.
std::string gain_sentence(const Scenario& before, const Scenario& after, const Trace& trace) {
  const Index heads = trace.options.num_heads;
  std::vector<Index> muted, unmuted, changed, active;
  for (Index head = 0; head < heads; ++head) {
    const double was = head_gain_of(before, head), is = head_gain_of(after, head);
    if (is != 0.0) active.push_back(head);
    if (was == is) continue;
    if (is == 0.0) {
      muted.push_back(head);
    } else if (was == 0.0 && is == 1.0) {
      unmuted.push_back(head);
    } else {
      changed.push_back(head);
    }
  }
  if (active.size() == 1 && heads > 2 && muted.size() + unmuted.size() > 1)
    return fmt::format("Only head {} is unmuted: all other columns of concat are 0", active[0]);
  if (!muted.empty() && unmuted.empty() && changed.empty()) {
    const Index width = trace.options.v_head_dim;
    if (muted.size() > 1) return fmt::format("{} muted: their columns of concat are 0", heads_text(muted));
    return fmt::format("Head {} muted: concat[:, {}:{}] is 0", muted[0], muted[0] * width,
                       (muted[0] + 1) * width);
  }
  if (!unmuted.empty() && muted.empty() && changed.empty()) {
    if (static_cast<Index>(active.size()) == heads) return "All heads are unmuted";
    return fmt::format("{} unmuted", heads_text(unmuted));
  }
  if (changed.size() == 1 && muted.empty() && unmuted.empty())
    return fmt::format("Head {} at gain {:.3g}", changed[0], head_gain_of(after, changed[0]));
  if (muted.empty() && unmuted.empty() && changed.empty()) return "";
  return "Head gains changed";
}

std::vector<Index> frozen_heads_of(const Scenario& scenario) {
  return scenario.frozen_heads
             ? std::vector<Index>(scenario.frozen_heads->heads.begin(), scenario.frozen_heads->heads.end())
             : std::vector<Index>();
}

// "Head 4 frozen: it keeps its 12 × 12 weights", or empty if the same heads are frozen.
std::string freeze_sentence(const Scenario& before, const Scenario& after, const Trace& trace) {
  const std::vector<Index> were = frozen_heads_of(before), are = frozen_heads_of(after);
  std::vector<Index> frozen, unfrozen;
  std::ranges::copy_if(are, std::back_inserter(frozen),
                       [&](Index h) { return std::ranges::count(were, h) == 0; });
  std::ranges::copy_if(were, std::back_inserter(unfrozen),
                       [&](Index h) { return std::ranges::count(are, h) == 0; });
  const bool one = frozen.size() + unfrozen.size() == 1;
  if (!frozen.empty() && unfrozen.empty() && trace.tensors.attn_weights) {
    const Shape& shape = trace.tensors.attn_weights->shape();
    return fmt::format("{} frozen: {} {} {} × {} weights", heads_text(frozen), one ? "it" : "they",
                       one ? "keeps its" : "keep their", shape.size(2), shape.size(3));
  }
  if (!unfrozen.empty() && frozen.empty())
    return fmt::format("{} unfrozen: {} weights follow {} scores again", heads_text(unfrozen),
                       one ? "its" : "their", one ? "its" : "their");
  return "";
}

// Frozen heads that an unrelated edit has unfrozen.
std::string unfrozen_sentence(const Scenario& before, const Trace& after) {
  const std::vector<Index> heads = frozen_heads_of(before);
  if (heads.empty() || !after.tensors.attn_weights) return "";
  const Shape& shape = after.tensors.attn_weights->shape();
  return fmt::format(" {} no longer frozen: the weights {} kept do not fit {} heads of {} × {}.",
                     heads_text(heads), heads.size() == 1 ? "it" : "they", shape.size(1), shape.size(2),
                     shape.size(3));
}

// The share of pairs that the masks block.
std::string blocked_text(const Trace& trace) {
  const TensorPtr mask = trace.tensors.mask_bias;
  if (!mask || mask->size() == 0) return "no pair is blocked";
  const Index blocked = dispatch_float(mask->dtype(), [&]<class T>() -> Index {
    return std::ranges::count(mask->values<T>(), -std::numeric_limits<T>::infinity());
  });
  return fmt::format("{} of the pairs are blocked",
                     percent_text(static_cast<double>(blocked) / static_cast<double>(mask->size())));
}

std::string length_sentence(const Trace& before, const Trace& after) {
  const auto length = [](const Trace& trace) {
    return trace.tensors.q_heads ? trace.tensors.q_heads->shape().size(2) : 0;
  };
  if (length(before) == length(after)) return "";
  const Index now = length(after);
  return fmt::format("{} instead of {}", counted(now, "token"), length(before));
}

std::string name_of_key(const std::string& path) {
  return path.substr(path.rfind('.') + 1);
}

// "embed_dim 128 → 64"; empty where that takes too long.
std::string value_sentence(const std::string& key, const Scenario& before, const Scenario& after) {
  const std::string was = key_value_text(before, key), is = key_value_text(after, key);
  const std::string sentence = fmt::format("{} {} → {}", name_of_key(key), was, is);
  return was.empty() || is.empty() || sentence.size() >= 60 ? "" : sentence;
}

// "embed_dim 128 → 64", if one of the differing keys is the only one, or gave the edit its label: the other
// differences follow from it. Else empty.
std::string key_sentence(const std::string& label, const std::vector<std::string>& differing,
                         const Scenario& before, const Scenario& after) {
  const auto differs = [&](const char* path) { return std::ranges::count(differing, path) > 0; };
  if (differs("heads.frozen") || differs("inputs.text") || differs("inputs.key_text")) return "";
  auto key = std::ranges::find(differing, label, name_of_key);
  if (key == differing.end() && differing.size() == 1) key = differing.begin();
  return key == differing.end() ? "" : value_sentence(*key, before, after);
}

// What an edit did, apart from its effect on the numbers.
struct Cause {
  std::string sentence;  // "Head 5 muted: concat[:, 80:96] is 0"; empty if only its label names it
  std::string fact;      // what holds now: "46 % of the pairs are blocked"; or empty
};

Cause cause(const std::string& label, const Scenario& before, const Trace& trace_before,
            const Scenario& after, const Trace& trace_after) {
  // The single part of the Scenario that differs decides which sentence fits; if several differ,
  // only the label is used.
  const Scenario only_frozen = with_frozen_heads_of(before, after);
  if (only_frozen == after) {
    const std::string sentence = freeze_sentence(before, after, trace_after);
    if (!sentence.empty()) return {sentence, ""};
  }
  const std::vector<std::string> differing = differing_keys(before, after);
  const auto only = [&](const char* part) {
    return std::ranges::all_of(differing, [&](const std::string& path) { return path.starts_with(part); });
  };
  if (only("heads.gain")) {
    const std::string sentence = gain_sentence(before, after, trace_after);
    if (!sentence.empty()) return {sentence, ""};
  }
  if (only("mask.") && !differing.empty()) return {"", blocked_text(trace_after)};
  if (only("inputs.")) {
    const std::string length = length_sentence(trace_before, trace_after);
    if (!length.empty()) return {"", length};
  }
  return {key_sentence(label, differing, before, after), ""};
}

std::string numbers(Index count, const char* what) {
  return counted(count, fmt::format("{} number", what));
}

std::string output_effect(const TensorPtr& before, const TensorPtr& after) {
  if (!before || !after) return "";
  if (!before->shape().same_sizes(after->shape()))
    return fmt::format("the output is now {}", after->shape().sizes_text());
  if (before == after) return "the output did not change";
  const TensorChange change = tensor_change(before, after);
  if (change.changed == 0) return "the output did not change";
  if (change.not_finite > 0)
    return fmt::format("{} of {} output numbers are now NaN or infinite", change.not_finite, after->size());
  const std::optional<double> share = change.relative();
  // What was NaN and is a number again has moved by no measurable amount.
  if (change.mismatches > 0) {
    std::string text = numbers(change.mismatches, "output") +
                       (change.mismatches == 1 ? " is finite again" : " are finite again");
    if (share && change.length > 0.0) text += fmt::format(", the others changed by {}", percent_text(*share));
    return text;
  }
  if (!share) return fmt::format("the output changed by up to {:.3g}", change.largest);
  return fmt::format("the output changed by {} (relative norm)", percent_text(*share));
}

std::string weights_effect(const TensorPtr& before, const TensorPtr& after) {
  if (!before || !after || !before->shape().same_sizes(after->shape())) return "";
  if (before == after) return " The attention weights did not change.";
  if (const std::optional<double> largest = largest_change(before, after)) {
    if (*largest == 0.0) return " The attention weights did not change.";
    return fmt::format(" The attention weights changed by up to {:.2g}.", *largest);
  }
  const TensorChange change = tensor_change(before, after);
  if (change.changed == 0) return " The attention weights did not change.";
  if (change.not_finite > 0)
    return fmt::format(" {} of {} attention weights are NaN.", change.not_finite, after->size());
  if (change.largest == 0.0)
    return fmt::format(" {} attention weights are no longer NaN.", change.mismatches);
  return fmt::format(" The attention weights changed by up to {:.2g}.", change.largest);
}

// `undone`: the label names what no longer holds.
std::string summary(const std::string& label, bool undone, const Scenario& scenario_before,
                    const Trace& before, const Scenario& scenario_after, const Trace& after) {
  const bool unfreezes = scenario_before.frozen_heads && !scenario_after.frozen_heads &&
                         without_frozen_heads(scenario_before) != scenario_after;
  const Cause found = cause(label, unfreezes ? without_frozen_heads(scenario_before) : scenario_before,
                            before, scenario_after, after);
  const std::string output = output_effect(before.tensors.output, after.tensors.output);
  std::string first = found.sentence;
  if (first.empty()) {
    first = capitalised(label) + (found.fact.empty() ? "" : ": " + found.fact);
    if (undone)
      first =
          found.fact.empty() ? "" : capitalised(found.fact) + (found.fact.ends_with("blocked") ? " now" : "");
  }
  // After a colon there is room for one more fact; else the effect follows the colon.
  const std::string joint = undone && found.sentence.empty()        ? ", "
                            : first.find(": ") == std::string::npos ? ": "
                                                                    : ", ";
  std::string text = first.empty() ? capitalised(output) : first + (output.empty() ? "" : joint + output);
  if (!text.empty()) text += ".";
  if (undone) {
    const std::string what = found.sentence.empty() ? "Undone: " + label + "." : "Undone.";
    text = what + (text.empty() ? "" : " " + text);
  }
  return text + (unfreezes ? unfrozen_sentence(scenario_before, after)
                           : weights_effect(before.tensors.attn_weights, after.tensors.attn_weights));
}

constexpr std::int64_t most_gains = 100'000;
constexpr std::size_t most_listed_edits = 3;

// Keys with a value for each head or cell: several edits of them are several changes.
bool is_list(const std::string& key) {
  return key == "heads.gain" || key == "heads.frozen" || key == "edits";
}

}  // namespace

std::string edit_summary(const std::string& label, const Scenario& scenario_before, const Trace& before,
                         const Scenario& scenario_after, const Trace& after) {
  return summary(label, false, scenario_before, before, scenario_after, after);
}

std::string undo_summary(const std::string& label, const Scenario& scenario_before, const Trace& before,
                         const Scenario& scenario_after, const Trace& after) {
  return summary(label, true, scenario_before, before, scenario_after, after);
}

std::string edits_since(const History& history, const std::function<bool(const Scenario&)>& is_base,
                        std::size_t newest) {
  std::size_t base = newest;
  while (!is_base(history.step_back(base).scenario)) {
    // What was edited before the page was turned belongs to another page.
    if (base == history.steps_back() || history.step_back(base).page) return "";
    ++base;
  }
  const Scenario &from = history.step_back(base).scenario, &now = history.step_back(newest).scenario;
  const std::vector<std::string> differing = differing_keys(from, now);
  const auto has = [](const std::vector<std::string>& all, const std::string& one) {
    return std::ranges::find(all, one) != all.end();
  };
  std::vector<std::string> reported, edits;  // the keys of later steps, and the newest edit first
  for (std::size_t back = newest; back < base; ++back) {
    const std::string& label = history.step_back(back).label;
    const std::vector<std::string> keys =
        differing_keys(history.step_back(back + 1).scenario, history.step_back(back).scenario);
    const bool is_reported = std::ranges::any_of(keys, [&](const std::string& key) {
      return has(differing, key) && (is_list(key) || !has(reported, key));
    });
    reported.insert(reported.end(), keys.begin(), keys.end());
    if (!is_reported) continue;
    const bool any_setting = label == restored_label;
    const auto add_edit = [&](const std::string& edit) {
      if (!has(edits, edit)) edits.push_back(edit);
    };
    if (!any_setting && std::ranges::find(keys, label, name_of_key) == keys.end()) add_edit(label);
    for (const std::string& key : keys) {
      if (any_setting ? !has(differing, key) : name_of_key(key) != label) continue;
      const std::string values = value_sentence(key, from, now);
      add_edit(values.empty() ? std::string(name_of_key(key)) : values);
    }
  }
  const std::size_t more = edits.size() > most_listed_edits ? edits.size() - most_listed_edits : 0;
  edits.resize(edits.size() - more);
  std::ranges::reverse(edits);
  return join(edits, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
}

Scenario with_edit_of(const Scenario& onto, const Scenario& from, const Scenario& edited) {
  Scenario made = onto;
  copy_keys(differing_keys(from, edited), edited, made);
  const bool other_heads = made.head_gain && from.attention.num_heads != made.attention.num_heads;
  if (other_heads && made.attention.num_heads > 0 && made.attention.num_heads <= most_gains)
    made.head_gain->resize(static_cast<std::size_t>(made.attention.num_heads), 1.0);
  return made;
}

std::string put_back_sentence(const Scenario& refused, const Scenario& now) {
  constexpr const char* several = "The settings without a result were restored. ";
  std::vector<std::string> keys = differing_keys(refused, now);
  // Too long to be reported.
  for (const char* path : {"inputs.text", "inputs.key_text", "heads.gain", "heads.frozen", "edits"})
    std::erase(keys, path);
  if (keys.size() != 1) return several;
  try {
    const std::string value = key_value_text(now, keys[0]);
    const std::string sentence =
        fmt::format("{} was reset to {}. ", keys[0].substr(keys[0].rfind('.') + 1), value);
    return value.empty() || sentence.size() > 60 ? several : sentence;
  } catch (const Error&) {  // the name of a file is not UTF-8
    return several;
  }
}

}  // namespace headwise
