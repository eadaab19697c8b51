// What the stage shows and where, as functions of a trace and of shapes: figures, layouts, texts for steps
// and cells. It has no ImGui, so it is tested without a window.
#pragma once

// What other rooms use of it; the rest is its own.
#include "app/content/cell_terms.h"
#include "app/content/doc_layout.h"
#include "app/content/doc_pages.h"
#include "app/content/filmstrip_layout.h"
#include "app/content/followed_token.h"
#include "app/content/graph_layout.h"
#include "app/content/map_figures.h"
#include "app/content/map_zoom.h"
#include "app/content/memory_scene.h"
#include "app/content/motion.h"
#include "app/content/opening_layout.h"
#include "app/content/paired_layout.h"
#include "app/content/query_key_layout.h"
#include "app/content/stage_content.h"
#include "app/content/stage_layout.h"
#include "app/content/stage_matrix.h"
#include "app/content/stage_views.h"
#include "app/content/step_words.h"
#include "app/content/training_layout.h"
