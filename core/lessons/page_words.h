// The texts of a page as shown under the stage: with live numbers, and with the claims that hold.
#pragma once

#include <string>
#include <vector>

#include "core/lessons/answer_key.h"
#include "core/lessons/live_text.h"
#include "core/lessons/playlist.h"
#include "core/scenario/scenario_inputs.h"

namespace headwise {

struct PageWords {
  std::string ask, caption, notes;
  // A claim no longer holds because the page was changed: "You changed this page." then replaces it.
  bool ask_changed = false, caption_changed = false;
  // Of the page's answer, if it takes one: the options as shown, why each is wrong, and which is right.
  std::vector<std::string> options, reasons;
  std::string why;  // of a number: why it is right
  AnswerKey key;
  std::vector<std::string> weight_labels;  // of a row of weights: its tokens, or their indices
  std::vector<std::string> rows, columns;  // the tokens of the map to point at; empty where it has none
};

// What replaces a claim, before the link that restores the page.
inline constexpr const char* page_changed_text = "You changed this page";
inline constexpr const char* page_restore_text = "Restore its settings";

// Returns the texts of a page whose scenario may have been edited: `scenario`, `inputs` and `trace` are those
// on the screen. A text that needs a number the trace lacks is left out; if only a part of it does not hold,
// the rest is kept. On an unchanged page, a missing number is "–".
PageWords page_words(const PlaylistPage& page, const Scenario& scenario, const ScenarioInputs& inputs,
                     const Trace& trace, LiveAnswers answers = LiveAnswers::all);

// "“it” (row 8), “because” (column 7)": a cell of a map by its tokens, "row 8, column 7" where it has none. An index that is
// missing is left out.
std::string cell_words(const std::vector<std::string>& rows, const std::vector<std::string>& columns,
                       std::optional<Index> row, std::optional<Index> column);

// Returns what the texts need and the page's own scenario lacks, as written: numbers, and conditions of which
// no part holds. Empty if the texts are complete.
std::vector<std::string> page_gaps(const PlaylistPage& page, const ScenarioInputs& inputs, const Trace& trace);

}  // namespace headwise
