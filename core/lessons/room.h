// Pages that explain and ask: playlists, the answers that are right and why, live text whose numbers are
// those of the page's own trace, answers to what learners ask, and the search that finds the page for a
// question.
#pragma once

// What other rooms use of it; the rest is its own.
#include "core/lessons/answer_key.h"
#include "core/lessons/given_answer.h"
#include "core/lessons/head_statistics.h"
#include "core/lessons/head_width_comparison.h"
#include "core/lessons/homework.h"
#include "core/lessons/layout_comparison.h"
#include "core/lessons/lessons.h"
#include "core/lessons/live_text.h"
#include "core/lessons/live_value.h"
#include "core/lessons/lookup_comparison.h"
#include "core/lessons/operation_counts.h"
#include "core/lessons/page_words.h"
#include "core/lessons/playlist.h"
#include "core/lessons/query_row.h"
#include "core/lessons/search_index.h"
#include "core/lessons/stage_view.h"
#include "core/lessons/tensor_change.h"
#include "core/lessons/traced_inputs.h"
