// The words of a page as they stand under the stage: with live numbers, and with those of its claims that hold.
#pragma once

#include <string>

#include "core/answers/live_text.h"
#include "core/playlist/playlist.h"
#include "core/scenario/scenario_inputs.h"

namespace headwise {

struct PageWords {
  std::string ask, caption;
  // A claim of theirs does not hold, since the page was changed: "You changed this page." then stands in its place.
  bool ask_changed = false, caption_changed = false;
};

// What stands in the place of a claim, before the link that restores the page.
inline constexpr const char* page_changed_text = "You changed this page:";
inline constexpr const char* page_restore_text = "restore its settings";

// Of a page whose scenario may have been edited: `scenario`, `inputs` and `trace` are what is shown. Where words need a number
// that the trace lacks, they are not shown at all; where only a part of them does not hold, the rest stands. On a page that
// nobody changed, a number that is missing is "–".
PageWords page_words(const PlaylistPage& page, const Scenario& scenario, const ScenarioInputs& inputs,
                     const Trace& trace, LiveAnswers answers = LiveAnswers::all);

// What the words need and the page's own scenario does not have, each as it is written: numbers, and conditions of which no
// part holds. Empty where the page says all that it should.
std::vector<std::string> page_gaps(const PlaylistPage& page, const ScenarioInputs& inputs, const Trace& trace);

}  // namespace headwise
