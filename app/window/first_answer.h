// Proposes what a page's question is answered with: a key from what the window shows, which is right at once and can be
// changed.
#pragma once

#include "app/panels/panel.h"
#include "core/playlist/playlist.h"

namespace headwise {

// An answer of this kind, with its key: of the pinned cell, else of the step's result. A choice about a pinned row of
// queries and keys offers its strongest keys, by their words.
PageAnswer first_answer(const PanelContext& context, const PlaylistPage& page, AnswerKind kind);

// One more option for page.answer, a choice: of a pinned row the strongest key that is not offered yet, where the last
// option is about that row; else an empty one.
AnswerOption next_option(const PanelContext& context, const PlaylistPage& page);

}  // namespace headwise
