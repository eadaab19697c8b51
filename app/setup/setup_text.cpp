#include <fmt/format.h>

#include <array>

#include "app/setup/setup_rows.h"
#include "core/scenario/text_inputs.h"

namespace headwise {
namespace {

constexpr std::array<std::string_view, 2> off_on{"off", "on"};
constexpr std::array<std::string_view, 2> input_sources{"random", "text"};
constexpr std::array<std::string_view, 2> attention_kinds{"self", "cross"};

// A model makes its inputs itself: from its own positions, and one text for queries, keys and values.
bool made_by_model(SetupRows& rows) {
  const InputsSpec& in = rows.scenario().inputs;
  return rows.context().inputs.model_input && in.source == InputSource::text && !in.key_text;
}

void draw_positions(SetupRows& rows) {
  InputsSpec& in = rows.scenario().inputs;
  int positions = in.positions ? 1 : 0;
  if (in.source != InputSource::text) {
    rows.idle_choice({"setup/positions", "positions", "",
                      "Sinusoidal positions in the embeddings of a text. Random numbers have none."},
                     off_on, -1);
  } else if (made_by_model(rows)) {
    rows.idle_choice(
        {"setup/positions", "positions", "", "The model adds positions of its own, the way it was trained."},
        off_on, -1);
  } else if (rows.choice({"setup/positions", "positions", "",
                          "Sinusoidal positions in the embeddings. Without them, and without a mask that "
                          "depends on the "
                          "order, the same tokens in another order give the same rows in that order."},
                         off_on, positions)) {
    in.positions = positions == 1;
    rows.edited("setup/positions", fmt::format("positions {}", off_on[static_cast<std::size_t>(positions)]),
                false);
  }
  rows.draw_errors("setup/positions", "");
}

void draw_attention(SetupRows& rows) {
  InputsSpec& in = rows.scenario().inputs;
  const bool text = in.source == InputSource::text;
  const bool cross_now = text ? in.key_text.has_value() : !in.self_attention;
  int cross = cross_now ? 1 : 0;
  if (made_by_model(rows)) {
    rows.idle_choice(
        {"setup/attention", "attention", "", "Self: this model takes queries, keys and values from one text."},
        attention_kinds, 0);
  } else if (!text && rows.scenario().op == Op::scaled_dot_product_attention) {
    rows.idle_choice(
        {"setup/attention", "attention", "",
         "scaled_dot_product_attention takes query, key and value as three arrays, so the random ones are "
         "always different. Choose MHA at the top for this."},
        attention_kinds, 1);
  } else if (rows.choice(
                 {"setup/attention", "attention", "",
                  "Self: queries, keys and values come from the same rows. Cross: keys and values come from "
                  "a second sentence (S rows)."},
                 attention_kinds, cross)) {
    in.self_attention = cross == 0;
    if (text && cross == 1) in.key_text = "The street was too wide";
    if (cross == 0) in.key_text.reset();
    rows.edited("setup/attention", cross == 1 ? "cross-attention" : "self-attention", false);
  }
  rows.draw_errors("setup/attention", "");
  if (text && in.key_text) {
    rows.sentence(
        {"setup/key_text", "key text", "", "The second sentence: its tokens are the keys and values, S rows."},
        *in.key_text);
  }
}

}  // namespace

void draw_setup_text(SetupRows& rows) {
  section_caption(rows.widgets(), "TEXT");
  InputsSpec& in = rows.scenario().inputs;
  const bool text = in.source == InputSource::text;
  if (text) draw_builder_button(rows);
  int source = text ? 1 : in.source == InputSource::random ? 0 : -1;
  if (rows.choice({"setup/source", "inputs", "",
                   "Where query, key and value come from: seeded random numbers of variance 1, or the tokens "
                   "of a text as seeded embeddings (N,L,E)."},
                  input_sources, source)) {
    in.source = source == 1 ? InputSource::text : InputSource::random;
    if (in.source == InputSource::text && in.text.empty()) in.text = "The animal didn't cross the street";
    rows.edited("setup/source", fmt::format("inputs from {}", source == 1 ? "text" : "random numbers"), false);
  }
  rows.draw_errors("setup/source", "");
  if (text) {
    draw_typed_text(rows,
                    {"setup/text", "text", "",
                     "Your own sentence: words and punctuation become tokens, each one row of the query."},
                    in.text);
    draw_sentence_builder(rows);
  }
  if (const ModelInput* const model = rows.context().inputs.model_input.get())
    for (const std::string& notice : model->text.notices) warning_line(rows.widgets(), notice);
  draw_positions(rows);
  draw_attention(rows);
}

}  // namespace headwise
