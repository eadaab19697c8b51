#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/session/frozen_heads.h"
#include "app/session/head_gains.h"
#include "app/setup/setup_rows.h"
#include "app/widgets/measure.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

std::string bytes_text(double bytes) {
  if (bytes < 1024.0) return fmt::format("{:.0f} B", bytes);
  if (bytes < 1024.0 * 1024.0) return fmt::format("{:.1f} KiB", bytes / 1024.0);
  return fmt::format("{:.1f} MiB", bytes / (1024.0 * 1024.0));
}

// What a decoder caches for this layer between two tokens: k and v of every key, per key/value head. Always one line.
void draw_cache(SetupRows& rows) {
  const Trace& trace = rows.context().trace;
  const TraceTensors& t = trace.tensors;
  if (!t.k_heads || !t.v_heads) return dim_text(rows.widgets(), "no keys to cache");
  const auto numbers = static_cast<double>(t.k_heads->size() + t.v_heads->size());
  const Index groups = t.k_heads->shape().rank() > 1 ? t.k_heads->shape().size(1) : 0;
  const Index sharing = groups > 0 ? trace.options.num_heads / groups : 0;
  dim_text(rows.widgets(), fmt::format("KV cache: {} in f16", bytes_text(2.0 * numbers)));
  tooltip(rows.widgets(),
          fmt::format(
              "What a decoder keeps of this layer: k and v of every key, N·S·G·(D + Dv) = {:.0f} numbers. {} "
              "query {} each key/value head.",
              numbers, sharing, sharing == 1 ? "head uses" : "heads share"));
  ui_probe_item("setup/cache");
}

// The effect of all gains together on the output; what the last edit did stands at the bottom of the window.
std::string gain_text(const TensorChange& change) {
  if (change.mismatches > 0)
    return fmt::format("the gains make {} output cells differ (not finite)", change.mismatches);
  const std::optional<double> share = change.relative();
  if (!share) return fmt::format("the gains change the output by up to {:.3g}", change.largest);
  return fmt::format("the gains change the output by {} (relative norm)", percent_text(*share));
}

// In one line: the parenthesis is left out where there is no room for it.
std::string in_one_line(const WidgetContext& widgets, std::string text) {
  if (width_of(widgets.fonts.small, text) > ImGui::GetContentRegionAvail().x)
    text.resize(std::min(text.rfind(" ("), text.size()));
  return text;
}

bool has_muted_head(const Scenario& scenario) {
  return scenario.head_gain && std::ranges::count(*scenario.head_gain, 0.0) > 0;
}

void draw_gain(SetupRows& rows) {
  const Index head = rows.context().selection.head;
  double gain = head_gain_of(rows.scenario(), head);
  const std::string name = fmt::format("gain of head {}", head);
  if (rows.scenario().op == Op::scaled_dot_product_attention) {
    rows.idle_slider({"setup/gain", name, "", not_in_sdpa}, 1.0, "–",
                     {.least = 0.0, .most = 2.0, .normal = 1.0});
    return dim_text(rows.widgets(), "no gains");
  }
  const SliderResult moved = slider_row(
      rows.widgets(),
      {"setup/gain", name, "",
       "This head's output is multiplied by its gain before concat: 0 mutes it, 1 leaves it "
       "unchanged, 2 doubles it. Choose the head on the stage; double-click to reset the gain to 1."},
      gain, fmt::format("{:.2f}", gain), {.least = 0.0, .most = 2.0, .step = 0.05, .normal = 1.0});
  if (moved.changed) {
    // Hundredths: the value shown is the value used.
    const HeadEdit edit = set_head_gain(rows.scenario(), head, std::round(gain * 100.0) / 100.0);
    rows.scenario() = edit.scenario;
    rows.edited("setup/gain", edit.label, true);
  }
  rows.draw_errors("setup/gain", "");
  // Always one line: nothing moves under the mouse that drags the gain.
  const auto change = rows.state().unmuted.change(rows.context().trace);
  const std::string unchanged = has_muted_head(rows.scenario()) ? "output unchanged" : "no head muted";
  dim_text(rows.widgets(), change ? in_one_line(rows.widgets(), gain_text(*change)) : unchanged);
  if (change) ui_probe_item("setup/gain_effect");
  tooltip(rows.widgets(),
          "How far the output is from the output with every gain at 1, as a relative norm: ‖Δoutput‖ / "
          "‖output‖.");
}

// Every operator has heads that can be frozen.
void draw_freeze(SetupRows& rows) {
  constexpr std::string_view states[]{"live", "frozen"};
  const Index head = rows.context().selection.head;
  int chosen = is_frozen(rows.scenario(), head) ? 1 : 0;
  const std::string name = fmt::format("attention of head {}", head);
  if (rows.choice(
          {"setup/freeze", name, "",
           "Live: its attention weights follow from its scores. Frozen: it keeps its present attention "
           "weights A "
           "(L,S), so head_output = A·V with the current V, and its output changes only through the values. "
           "Mask, scale and dropout do not affect A."},
          states, chosen)) {
    HeadEdit edit = toggle_freeze(rows.scenario(), rows.context().trace, head);
    if (!edit.label.empty()) {
      rows.scenario() = std::move(edit.scenario);
      rows.edited("setup/freeze", edit.label, false);
    }
  }
  rows.draw_errors("setup/freeze", "");
}

void draw_groups(SetupRows& rows) {
  AttentionSpec& a = rows.scenario().attention;
  const std::vector<std::int64_t> choices = group_choices(rows);
  const std::int64_t now = a.num_kv_heads.value_or(a.num_heads);
  if (choices.size() < 2) {
    rows.idle_slider(
        {"setup/groups", "KV heads", "",
         "From multi-query through grouped-query to multi-head attention. There is nothing to choose here: "
         "one head, or a model whose keys and values allow this number only."},
        1.0, std::to_string(now), {});
    return draw_cache(rows);
  }
  const auto at = std::ranges::find(choices, now);
  double stop = static_cast<double>(at == choices.end() ? choices.size() - 1
                                                        : static_cast<std::size_t>(at - choices.begin()));
  const char* kind = now == a.num_heads ? "MHA" : now == 1 ? "MQA" : "GQA";
  const SliderResult moved = slider_row(
      rows.widgets(),
      {"setup/groups", "KV heads", kind,
       "From one key/value head for all query heads (multi-query), through groups (grouped-query), to one "
       "per query head (multi-head). Fewer of them mean fewer parameters and a smaller decoder cache."},
      stop, std::to_string(now),
      {.least = 0.0,
       .most = static_cast<double>(choices.size() - 1),
       .step = 1.0,
       .stops = static_cast<int>(choices.size()),
       .normal = static_cast<double>(choices.size() - 1)});
  if (moved.changed) {
    const std::int64_t chosen = choices[static_cast<std::size_t>(std::lround(stop))];
    a.num_kv_heads.reset();
    if (chosen != a.num_heads) a.num_kv_heads = chosen;
    rows.edited("setup/groups", "key/value heads", true);
  }
  rows.draw_errors("setup/groups", "");
  draw_cache(rows);
}

}  // namespace

void draw_setup_head(SetupRows& rows) {
  section_caption(rows.widgets(), "HEADS");
  draw_gain(rows);
  draw_freeze(rows);
  draw_groups(rows);
}

}  // namespace headwise
