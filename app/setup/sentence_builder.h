// The sentence builder: a sentence with lists of words that the model knows well.
// Each choice is an edit of the text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/widgets/drop_down.h"
#include "core/model/files/sentence_patterns.h"
#include "core/model/transformer/text_model.h"

namespace headwise {

class SetupRows;

struct SentenceBuilderState {
  bool open = false;
  std::weak_ptr<const TextModel> model;              // whose patterns these are
  std::shared_ptr<const SentencePatterns> patterns;  // null: it has none
  std::string refused;                               // why they could not be read, a sentence
  std::optional<PatternSentence> last;               // shown while the text is no sentence of a pattern
  std::uint64_t drawn =
      0;  // seed of the next sentence drawn at random; the program starts with one of the clock
  DropDownState list;
};

// "Build a sentence…" at the right end of the line that the last item stands in. Draws nothing if the text's
// model has no patterns.
void draw_builder_button(SetupRows& rows);
// The builder, while it is open: below the text.
void draw_sentence_builder(SetupRows& rows);

}  // namespace headwise
