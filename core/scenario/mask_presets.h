// Masks by name: what mask.preset may say. A preset is a word and, behind colons, its numbers:
// "sliding_window:3", "dilated:2:3", "document:0,4,9"; numbers that are left out have the default of its form.
// "causal" sets is_causal; each other makes a boolean attn_mask (L,S), which merges with all other masks.
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

  // Whether query i sees key j of S. `position` is that of the query among the keys: i, or i + S − L where
  // mask.causal_alignment is bottom_right; `last` is i + S − L.
  bool sees(Index position, Index last, Index key, Index keys) const;
};

// A preset, or why the text is none: "mask.preset "prefx" is not known: did you mean prefix:P? …".
struct MaskPresetReading {
  std::optional<MaskPreset> preset;
  std::string refusal;
};
MaskPresetReading read_mask_preset(const std::string& text, Index keys);

// The attn_mask of a preset: (L,S) with the operator's sense of True, or `given` with the preset's blocked cells
// blocked as well; `given` may be null, else its last two axes are (L,S).
Tensor preset_mask(const MaskPreset& preset, const AttentionOptions& options, Index queries, Index keys,
                   const Tensor* given);

}  // namespace headwise
