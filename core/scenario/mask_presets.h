// Named masks: the values of mask.preset. A preset is a name followed by numbers after colons:
// "sliding_window:3", "dilated:2:3", "document:0,4,9"; omitted numbers have the defaults of their form.
// "causal" sets is_causal; each other preset makes a boolean attn_mask (L,S),
// which merges with all other masks.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/attention_options.h"
#include "core/tensor/tensor.h"

namespace headwise {

struct MaskPresetEntry {
  std::string_view form;  // "sliding_window:W"
  std::string_view what;  // one line, with the default
};
std::span<const MaskPresetEntry> mask_presets();

struct MaskPreset {
  enum class Kind { causal, causal_bottom_right, sliding_window, prefix, dilated, document, padding };
  Kind kind = Kind::causal;
  std::vector<Index> numbers;

  // Whether query i sees key j of S. `position` is that of the query among the keys: i, or i + S − L if
  // mask.causal_alignment is bottom_right; `last` is i + S − L.
  bool sees(Index position, Index last, Index key, Index keys) const;
};

// A preset, or why the text is not one: "mask.preset "prefx" is not known: did you mean prefix:P? …".
struct MaskPresetReading {
  std::optional<MaskPreset> preset;
  std::string refusal;
};
MaskPresetReading read_mask_preset(const std::string& text, Index keys);

// The attn_mask of a preset: (L,S) with the operator's meaning of True, or `given` with the preset's cells
// blocked as well; `given` may be null, else its last two axes are (L,S).
Tensor preset_mask(const MaskPreset& preset, const AttentionOptions& options, Index queries, Index keys,
                   const Tensor* given);

}  // namespace headwise
