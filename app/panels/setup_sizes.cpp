#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <imgui.h>

#include "app/panels/setup_rows.h"
#include "app/widgets/controls.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/scenario_schema.h"
#include "core/scenario/text_inputs.h"

namespace headwise {
namespace {

// A new number of sequences: added ones get the length that all others have. Lengths that differ stay as they
// are, and the error reports it.
void fit_valid_lens(Scenario& scenario) {
  MaskSpec& mask = scenario.mask;
  if (!mask.valid_lens || mask.valid_lens->empty() || mask.valid_lens_per_query) return;
  const std::vector<std::int64_t> first = mask.valid_lens->front();
  const bool same = std::all_of(mask.valid_lens->begin(), mask.valid_lens->end(),
                                [&](const auto& lens) { return lens == first; });
  if (same) mask.valid_lens->resize(setup_list_size(scenario.inputs.batch), first);
}

// For a model's layer: the numbers that fit its arrays.
std::vector<std::int64_t> fitting_head_counts(const AttentionLayer& layer) {
  std::vector<std::int64_t> all;
  for (const HeadChoice& choice : head_choices(layer)) all.push_back(choice.num_heads);
  return all;
}

// Where the number of heads of a trained layer comes from, if it is not the trained one.
void draw_head_count_note(SetupRows& rows) {
  const std::shared_ptr<const AttentionLayer>& layer = rows.context().inputs.layer;
  if (!layer || !is_of_model(rows.scenario())) return;
  const AttentionOptions& now = rows.context().trace.options;
  if (layer->num_heads) {
    if (rows.context().inputs.head_count_note.empty()) return;
    warning_line(rows.widgets(), rows.context().inputs.head_count_note);
  } else if (heads_are_assumed(rows.context().scenario, *layer)) {
    warning_line(rows.widgets(),
                 fmt::format("no config.json: assuming {} of width {}", now.num_heads, now.head_dim));
  } else {
    dim_sentence(rows.widgets(),
                 fmt::format("{} of width {}, set by you: no config.json", now.num_heads, now.head_dim));
  }
  ui_probe_item("setup/head_count_note");
}

// Below a width that the model does not have: the heads that can have it.
void draw_other_heads(SetupRows& rows) {
  if (!rows.is_wrong("setup/embed_dim")) return;
  const struct {
    const char *id, *label, *edit;
    ParameterSource source;
  } choices[] = {
      {"setup/embed_dim/random", "random heads", "random parameters", ParameterSource::random},
      {"setup/embed_dim/hand_made", "hand-made heads", "hand-made heads", ParameterSource::hand_made}};
  for (const auto& choice : choices) {
    if (&choice != choices) ImGui::SameLine(0, rows.widgets().px(6));
    if (text_button(rows.widgets(), choice.id, choice.label)) {
      rows.scenario().parameters.source = choice.source;
      rows.edited("setup/parameters", choice.edit, false);
    }
    named_item(rows.widgets(), choice.id,
               "Keeps the width that you typed, and takes these parameters instead of the model’s.");
  }
}

constexpr std::array<std::string_view, 2> input_sources{"random", "text"},
    picture_sources{"random", "picture"};
constexpr std::array<std::string_view, 2> attention_kinds{"self", "cross"};

// A model makes its inputs itself: from its own positions, and one text for queries, keys and values.
bool made_by_model(SetupRows& rows) {
  const InputsSpec& in = rows.scenario().inputs;
  return rows.context().inputs.model_input &&
         (in.source == InputSource::picture || (in.source == InputSource::text && !in.key_text));
}

void draw_positions(SetupRows& rows) {
  InputsSpec& in = rows.scenario().inputs;
  if (made_by_model(rows)) {
    rows.idle_choice(
        {"setup/positions", "positions", "", "The model adds positions of its own, the way it was trained."},
        off_on, -1);
  } else if (in.source != InputSource::text) {
    rows.idle_choice({"setup/positions", "positions", "",
                      "Sinusoidal positions in the embeddings of a text. Random numbers have none."},
                     off_on, -1);
  } else {
    rows.choice(setup_row("setup/positions"), off_on, in.positions, "positions ");
  }
}

void draw_attention(SetupRows& rows) {
  InputsSpec& in = rows.scenario().inputs;
  const bool text = in.source == InputSource::text;
  const bool cross_now = text ? in.key_text.has_value() : !in.self_attention;
  int cross = cross_now ? 1 : 0;
  if (made_by_model(rows)) {
    rows.idle_choice({"setup/attention", "attention", "",
                      in.source == InputSource::picture
                          ? "Self: this model takes queries, keys and values from one picture."
                          : "Self: this model takes queries, keys and values from one text."},
                     attention_kinds, 0);
  } else if (!text && rows.scenario().op == Op::scaled_dot_product_attention) {
    rows.idle_choice(
        {"setup/attention", "attention", "",
         "scaled_dot_product_attention takes query, key and value as three arrays, so the random ones are "
         "always different. Choose MHA at the top for this."},
        attention_kinds, 1);
  } else if (rows.choice(setup_row("setup/attention"), attention_kinds, cross)) {
    in.self_attention = cross == 0;
    if (text && cross == 1) in.key_text = "The street was too wide";
    if (cross == 0) in.key_text.reset();
    rows.edited("setup/attention", cross == 1 ? "cross-attention" : "self-attention", false);
  }
  if (text && in.key_text) rows.sentence(setup_row("setup/key_text"), *in.key_text);
}

// Of multi_head_latent_attention.
void draw_latent_sizes(SetupRows& rows) {
  AttentionSpec& a = rows.scenario().attention;
  const auto size = [&](const char* id, std::optional<std::int64_t>& value, double step, const char* derived) {
    rows.optional_integer(setup_row(id), value, derived,
                          {.drag_step = step, .drag_least = step, .drag_most = 1024});
  };
  size("setup/kv_lora_rank", a.kv_lora_rank, 1, "");
  size("setup/q_lora_rank", a.q_lora_rank, 1, "none");
  size("setup/qk_nope_head_dim", a.qk_nope_head_dim, 1, "");
  size("setup/qk_rope_head_dim", a.qk_rope_head_dim, a.rotary_base ? 2 : 1, "");
  rows.choice(setup_row("setup/latent_layout"), choice_names<LatentLayout>, a.layout, "latent ");
}

}  // namespace

void draw_setup_sizes(SetupRows& rows) {
  section_caption(rows.widgets(), "SIZES");
  AttentionSpec& a = rows.scenario().attention;
  InputsSpec& in = rows.scenario().inputs;
  const AttentionOptions& now = rows.context().trace.options;
  // Every value a drag passes must have a trace: widths that the heads divide, and vice versa.
  const double width_step =
      static_cast<double>(a.head_dim ? 1 : std::clamp<std::int64_t>(a.num_heads, 1, 1024));
  const std::shared_ptr<const AttentionLayer>& layer = rows.context().inputs.layer;
  const bool of_model = layer && is_of_model(rows.scenario());
  rows.integer(
      setup_row("setup/embed_dim"), a.embed_dim,
      {.drag_step = width_step, .drag_least = width_step, .drag_most = 4096},
      of_model ? "A trained model has fixed sizes: choose random or hand-made heads to change them." : "");
  if (of_model) draw_other_heads(rows);
  const std::vector<std::int64_t> head_stops =
                                      of_model ? fitting_head_counts(*layer) : divisors_of(a.embed_dim),
                                  group_stops = group_choices(rows);
  const FieldResult heads =
      rows.integer(setup_row("setup/num_heads"), a.num_heads, {.drag_least = 1, .drag_stops = head_stops});
  if (!std::exchange(rows.state().typing_heads, heads.focused) || !heads.focused)
    rows.state().gains_before_typing = rows.context().scenario.head_gain;
  if (heads.changed && of_model) {
    if (!layer->num_heads) rows.scenario().origin.written.insert(num_heads_path);
    if (const auto choice = choice_of_heads(*layer, a.num_heads)) set_heads(a, *choice);
  }
  draw_head_count_note(rows);
  if (heads.changed && rows.state().gains_before_typing) {
    rows.scenario().head_gain = rows.state().gains_before_typing;
    rows.scenario().head_gain->resize(setup_list_size(a.num_heads), 1.0);
  }

  // Not repeated if the slider of the heads says it.
  const bool slides = group_stops.size() > 1;
  const bool latent = is_latent(rows.scenario().op);
  if (latent) draw_latent_sizes(rows);
  if (!latent && (!slides || rows.rare("setup/num_kv_heads", false)))
    rows.optional_integer(setup_row("setup/num_kv_heads"), a.num_kv_heads, std::to_string(a.num_heads),
                          {.drag_least = 1, .drag_stops = group_stops});
  if (rows.rare("setup/head_dim", a.head_dim.has_value())) {
    std::optional<std::int64_t> head_dim;
    integer_row(
        rows.widgets(),
        {"setup/head_dim", "head_dim",
         latent       ? "D = Dn+R"
         : a.head_dim ? "D"
                      : "D = E/H",
         latent
             ? "The width of one head's q: qk_nope_head_dim + qk_rope_head_dim."
             : "The width of one head's q and k: embed_dim / num_heads, unless the scenario's file sets it."},
        head_dim, {.derived = std::to_string(now.head_dim), .read_only = true});
  }
  const FieldResult batch =
      rows.integer(setup_row("setup/batch"), in.batch, {.drag_least = 1, .drag_most = 64});
  if (batch.changed) fit_valid_lens(rows.scenario());

  if (in.source != InputSource::text && in.source != InputSource::picture) {
    rows.integer(setup_row("setup/query_length"), in.query_length, {.drag_least = 1, .drag_most = 2048});
    if (!in.self_attention || rows.scenario().op == Op::scaled_dot_product_attention)
      rows.optional_integer(setup_row("setup/key_length"), in.key_length, std::to_string(in.query_length),
                            {.drag_least = 1, .drag_most = 2048});
  }
  if (rows.rare("setup/past_length", in.past_length > 0))
    rows.integer(setup_row("setup/past_length"), in.past_length, {.drag_most = 2048});
}

void draw_setup_text(SetupRows& rows) {
  InputsSpec& in = rows.scenario().inputs;
  const bool text = in.source == InputSource::text, picture = in.picture.has_value() && !text;
  section_caption(rows.widgets(), picture ? "PICTURE" : "TEXT");
  if (text) draw_builder_button(rows);
  int source = text || in.source == InputSource::picture ? 1 : in.source == InputSource::random ? 0 : -1;
  if (rows.choice(setup_row("setup/source"), picture ? picture_sources : input_sources, source)) {
    in.source = source == 0 ? InputSource::random : picture ? InputSource::picture : InputSource::text;
    if (in.source == InputSource::text && in.text.empty()) in.text = "The animal didn't cross the street";
    rows.edited("setup/source",
                fmt::format("inputs from {}", source == 0 ? "random numbers"
                                              : picture   ? "a picture"
                                                          : "text"),
                false);
  }
  if (in.source == InputSource::picture && in.picture) {
    dim_text(rows.widgets(), model_name(*in.picture));
    named_item(rows.widgets(), "setup/picture", *in.picture);
  }
  if (text) {
    draw_typed_text(rows, setup_row("setup/text"), in.text);
    draw_sentence_builder(rows);
  }
  if (const ModelInput* const model = rows.context().inputs.model_input.get())
    for (const std::string& notice : model->text.notices) warning_line(rows.widgets(), notice);
  draw_positions(rows);
  draw_attention(rows);
}

}  // namespace headwise
