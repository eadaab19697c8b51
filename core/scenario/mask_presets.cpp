#include "core/scenario/mask_presets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>

#include "core/attention/attention_mask.h"
#include "core/tensor/edit_distance.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

using Kind = MaskPreset::Kind;

// In the order of Kind.
constexpr std::array<MaskPresetEntry, 7> entries{{
    {"causal", "no keys after the query: the same as mask.is_causal"},
    {"causal_bottom_right", "causal, with the last query aligned to the last key"},
    {"sliding_window:W", "keys fewer than W positions away on either side; default 3"},
    {"prefix:P", "causal, but the first P keys are visible to all (prefix LM); default 2"},
    {"dilated:W:R", "keys 0, R, 2R … positions away, fewer than W steps on either side; default 2:2"},
    {"document:0,A,B", "documents packed into one sequence, each starting at one of the numbers"},
    {"padding:K", "the last K keys are padding; default 1"},
}};

// The defaults of the numbers.
std::vector<Index> default_numbers(Kind kind) {
  if (kind == Kind::sliding_window) return {3};
  if (kind == Kind::prefix) return {2};
  if (kind == Kind::dilated) return {2, 2};
  return kind == Kind::padding ? std::vector<Index>{1} : std::vector<Index>{};
}

std::string_view word_of(std::string_view form) {
  return form.substr(0, form.find(':'));
}

std::string unknown(const std::string& text) {
  const std::string_view word = word_of(text);
  std::vector<std::string> words, forms;
  for (const MaskPresetEntry& entry : entries) {
    words.emplace_back(word_of(entry.form).substr(0, word.size() + 1));  // "slidng" begins a longer word
    forms.emplace_back(entry.form);
  }
  const auto nearest =
      static_cast<std::size_t>(std::ranges::find(words, nearest_name(word, words)) - words.begin());
  const std::string meant = nearest < entries.size()
                                ? fmt::format("did you mean {}? ", word_of(entries[nearest].form))
                                : std::string();
  return fmt::format("mask.preset \"{}\" is not known: {}the presets are {}", one_line(text, 40), meant,
                     join(forms, ", "));
}

// "3:1,2" → {3,1,2}; nullopt if a part is not an integer.
std::optional<std::vector<Index>> numbers_of(std::string_view text) {
  std::vector<Index> numbers;
  while (true) {
    const std::size_t end = text.find_first_of(":,");
    const std::string_view part = text.substr(0, end);
    Index number = 0;
    const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || stop != part.data() + part.size()) return std::nullopt;
    numbers.push_back(number);
    if (end == std::string_view::npos) return numbers;
    text.remove_prefix(end + 1);
  }
}

// What is wrong with the numbers, or an empty string.
std::string number_refusal(Kind kind, const std::vector<Index>& numbers, Index keys) {
  const std::size_t count = kind == Kind::dilated                                       ? 2
                            : kind == Kind::causal || kind == Kind::causal_bottom_right ? 0
                                                                                        : 1;
  if (kind == Kind::document) {
    if (numbers.empty() || numbers[0] != 0) return "the first document must start at 0";
    if (std::ranges::adjacent_find(numbers, std::greater_equal{}) != numbers.end())
      return "the starts must increase";
    if (numbers.back() >= std::max(keys, Index{1}))
      return fmt::format("every document must start before the end, S = {}", keys);
    return "";
  }
  if (numbers.size() != count) return "expected " + counted(static_cast<Index>(count), "number");
  const Index least = kind == Kind::sliding_window || kind == Kind::dilated ? 1 : 0;
  if (std::ranges::any_of(numbers, [&](Index n) { return n < least; }))
    return fmt::format("expected numbers of at least {}", least);
  if ((kind == Kind::prefix || kind == Kind::padding) && numbers[0] > keys)
    return fmt::format("expected 0 to S = {}", keys);
  return "";
}

}  // namespace

std::span<const MaskPresetEntry> mask_presets() {
  return entries;
}

bool MaskPreset::sees(Index position, Index last, Index key, Index keys) const {
  const Index distance = std::abs(position - key);
  switch (kind) {
    case Kind::causal:
      return key <= position;
    case Kind::causal_bottom_right:
      return key <= last;
    case Kind::sliding_window:
      return distance < numbers[0];
    case Kind::prefix:
      return key < numbers[0] || key <= position;
    case Kind::dilated:
      return distance % numbers[1] == 0 && distance / numbers[1] < numbers[0];
    case Kind::document: {
      const auto document = [&](Index at) { return std::ranges::upper_bound(numbers, at) - numbers.begin(); };
      return document(position) == document(key);
    }
    case Kind::padding:
      return key < keys - numbers[0];
  }
  return true;
}

MaskPresetReading read_mask_preset(const std::string& text, Index keys) {
  const auto found = std::ranges::find(entries, word_of(text),
                                       [](const MaskPresetEntry& entry) { return word_of(entry.form); });
  if (found == entries.end()) return {std::nullopt, unknown(text)};
  MaskPreset preset;
  preset.kind = static_cast<Kind>(found - entries.begin());
  const std::size_t colon = text.find(':');
  const auto numbers = colon == std::string::npos ? default_numbers(preset.kind)
                                                  : numbers_of(std::string_view(text).substr(colon + 1));
  const std::string wrong =
      !numbers ? "its numbers must be whole numbers" : number_refusal(preset.kind, *numbers, keys);
  if (!wrong.empty()) {
    return {std::nullopt, fmt::format("mask.preset \"{}\": {}; the form is {}, {}", one_line(text, 40), wrong,
                                      found->form, found->what)};
  }
  preset.numbers = *numbers;
  return {preset, ""};
}

Tensor preset_mask(const MaskPreset& preset, const AttentionOptions& options, Index queries, Index keys,
                   const Tensor* given) {
  const double blocked_flag = projects(options.op) ? 1.0 : 0.0;
  Tensor mask = given != nullptr ? *given : Tensor({{"L", queries}, {"S", keys}}, DType::boolean);
  const Index offset = causal_offset(options, queries, keys);
  const bool flags = mask.dtype() == DType::boolean;
  const double blocked = flags ? blocked_flag : -std::numeric_limits<double>::infinity();
  for (Index cell = 0; cell < mask.size(); ++cell) {
    const Index key = cell % keys, query = cell / keys % queries;
    if (!preset.sees(query + offset, query + keys - queries, key, keys))
      mask.set_flat(cell, blocked);
    else if (given == nullptr)
      mask.set_flat(cell, 1.0 - blocked_flag);
  }
  return mask;
}

}  // namespace headwise
