// Small models that are trained while you watch: tasks, the passes forward and backward, optimisers,
// checkpoints, and what a second run with one change explains.
#pragma once

// What other rooms use of it; the rest is its own.
#include "core/train/cell_update.h"
#include "core/train/checkpoint.h"
#include "core/train/train_json.h"
#include "core/train/train_task.h"
#include "core/train/trained_models.h"
#include "core/train/training_changes.h"
#include "core/train/training_folder.h"
#include "core/train/training_history.h"
#include "core/train/training_outcome.h"
#include "core/train/training_program.h"
#include "core/train/training_run.h"
