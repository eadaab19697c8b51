// All that a result depends on, as one value that reads and writes as JSON: options, inputs, weights, words.
// Undo is a list of them; to compute a result, it is turned into inputs.
#pragma once

// What other rooms use of it; the rest is its own.
#include "core/scenario/embeddings.h"
#include "core/scenario/given_arrays.h"
#include "core/scenario/hand_made_heads.h"
#include "core/scenario/json_document.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/mask_presets.h"
#include "core/scenario/overridden_settings.h"
#include "core/scenario/presets.h"
#include "core/scenario/run_record.h"
#include "core/scenario/scenario.h"
#include "core/scenario/scenario_inputs.h"
#include "core/scenario/scenario_json.h"
#include "core/scenario/scenario_keys.h"
#include "core/scenario/scenario_schema.h"
#include "core/scenario/text_inputs.h"
