#include <fmt/format.h>

#include "app/setup/setup_rows.h"
#include "core/attention/scaled_dot_product_attention.h"

namespace headwise {

void draw_setup_scale(SetupRows& rows) {
  section_caption(rows.widgets(), "SCALE AND DROPOUT");
  AttentionSpec& a = rows.scenario().attention;
  const double derived = derived_scale(rows.context().trace.options);
  rows.number(
      {"setup/scale", "scale", "1/√D",
       "Every score is multiplied by this before masking: scaled_scores = scale · scores. Empty: 1/√D, so "
       "that wide heads do not get larger scores than narrow ones. 0 makes attention uniform."},
      a.scale, fmt::format("{:.4g}", derived), {.drag_step = 0.01});
  const auto plain_number = [&](const RowLabel& label, double& value, FieldOptions drag) {
    std::optional<double> typed = value;
    drag.wrong = rows.is_wrong(label.id);
    drag.required = true;
    const FieldResult field = number_row(rows.widgets(), label, typed, drag);
    if (field.changed && typed) {
      value = *typed;
      rows.edited(label.id, std::string(label.name), true);
    }
    rows.draw_errors(label.id, field.error);
  };
  plain_number(
      {"setup/temperature", "temperature", "t",
       "Scaled scores are divided by t > 0: below 1 attention sharpens towards the best key, above 1 it "
       "flattens towards uniform."},
      a.temperature, {.drag_step = 0.05, .drag_least = 0.05});
  if (rows.rare("setup/softcap", a.softcap != 0.0)) {
    plain_number({"setup/softcap", "softcap", "c",
                  "c > 0: scaled scores become c·tanh(x/c), which never exceeds ±c; 0: none. Applied before "
                  "masking, as in ONNX's Attention and Gemma."},
                 a.softcap, {.drag_step = 0.5});
  }
  const bool clips = rows.rare("setup/clip_qkv", a.clip_qkv.has_value());
  if (clips && rows.scenario().op == Op::scaled_dot_product_attention) {
    rows.idle_value({"setup/clip_qkv", "clip_qkv", "", not_in_sdpa}, "none");
  } else if (clips) {
    rows.number({"setup/clip_qkv", "clip_qkv", "",
                 "Every number of q, k and v is clipped to [−c, c] where the heads are split, as in OLMo. "
                 "Empty: none."},
                a.clip_qkv, "none", {.drag_step = 0.1, .drag_least = 0.1});
  }
  const bool listed = a.rotary_inverse_frequencies.has_value();
  if (rows.rare("setup/rotary_base", a.rotary_base || listed)) {
    rows.number({"setup/rotary_base", "rotary base", "θ",
                 "Rotary position embedding (RoPE): before the scores every pair of columns j, j + D/2 of q "
                 "and k is rotated by position · base^(−2j/D), so that a score depends on how far apart two "
                 "tokens are. 10000 in the first Llama models (rope_theta). Empty: none. D must be even."},
                a.rotary_base, listed ? "given" : "none");
    if (a.rotary_base) a.rotary_inverse_frequencies.reset();  // a typed base replaces them
    if (a.rotary_inverse_frequencies)
      dim_text(rows.widgets(), fmt::format("{} frequencies are given; a base replaces them",
                                           a.rotary_inverse_frequencies->size()));
  }
  std::optional<double> dropout = a.dropout;
  const FieldResult field = number_row(
      rows.widgets(),
      {"setup/dropout", "dropout", "p",
       "Each attention weight becomes 0 with probability p, and the survivors are divided by 1 − p. In "
       "[0,1]; 0 outside training. Rows of dropped_weights need not sum to 1."},
      dropout,
      {.wrong = rows.is_wrong("setup/dropout"), .required = true, .drag_step = 0.05, .drag_most = 1.0});
  if (field.changed && dropout) {
    a.dropout = *dropout;
    rows.edited("setup/dropout", "dropout", true);
  }
  rows.draw_errors("setup/dropout", field.error);
  if (a.dropout > 0.0) {
    std::optional<std::int64_t> seed = static_cast<std::int64_t>(a.dropout_seed);
    const FieldResult seeded = integer_row(
        rows.widgets(),
        {"setup/dropout_seed", "dropout seed", "",
         "Determines which weights are dropped. The same seed drops the same weights on every machine."},
        seed, {.wrong = rows.is_wrong("setup/dropout_seed"), .required = true, .least = 0});
    if (seeded.changed && seed) {
      a.dropout_seed = static_cast<std::uint64_t>(*seed);
      rows.edited("setup/dropout_seed", "dropout seed", true);
    }
    rows.draw_errors("setup/dropout_seed", seeded.error);
  }
}

}  // namespace headwise
