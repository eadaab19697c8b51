// The text of a model while it is typed: words that the model hardly knows are underlined, and a word begun
// can be completed; or it is built of parts, each chosen from a list.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/widgets/drop_down.h"
#include "app/widgets/labelled_field.h"
#include "core/model/files/sentence_patterns.h"
#include "core/model/tokenizer/word_knowledge.h"
#include "core/model/transformer/text_model.h"

namespace headwise {

class SetupRows;

struct TypedWordsState {
  // What was found in this text, for this model.
  std::weak_ptr<const TextModel> model;
  std::string text;
  std::vector<HardlyKnownWord> hardly_known;
  std::vector<std::string> sentences;  // a sentence on each

  // Of the word that the cursor stands behind.
  std::vector<std::string> offered;  // empty: no list
  std::size_t begin = 0, end = 0;    // bytes of what was typed of it
  ImVec2 below;                      // the cursor, where the list hangs
  ImVec2 list_min, list_max;         // where it was drawn last
};

// The field of the text. Words that the model hardly knows are underlined, and say why under the mouse. While
// a word is being typed, a list offers whole words of the vocabulary that begin so: Tab takes the first, a
// click any; Escape closes the list. All other keys edit the text. Without a model it is a plain field.
void draw_typed_text(SetupRows& rows, const RowLabel& label, std::string& text);

// The sentence builder: a sentence with lists of words that the model knows well.
// Each choice is an edit of the text.
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
