// A page in the window: its question, its words, the answers that are given by key, click or drawing, and the
// verdict.
#pragma once

// What other rooms use of it; the rest is its own.
#include "app/lesson/answer_kinds.h"
#include "app/lesson/caption_panel.h"
#include "app/lesson/page_answers.h"
#include "app/lesson/page_flow.h"
#include "app/lesson/page_place.h"
#include "app/lesson/page_text.h"
#include "app/lesson/playlist_walk.h"
