// What is being worked on, apart from how it is drawn: the scenario and its history, what is computed in the
// background, the selected cell, settings, commands and their keys, the training that is watched, what is
// saved between sessions.
#pragma once

// What other rooms use of it; the rest is its own.
#include "app/session/answer_check.h"
#include "app/session/cell_editing.h"
#include "app/session/commands.h"
#include "app/session/comparison_target.h"
#include "app/session/computation.h"
#include "app/session/edit_summary.h"
#include "app/session/explained_cell.h"
#include "app/session/folder_listing.h"
#include "app/session/full_size_runs.h"
#include "app/session/fuzzy_match.h"
#include "app/session/gradients.h"
#include "app/session/head_finding.h"
#include "app/session/head_gains.h"
#include "app/session/history.h"
#include "app/session/kept_work.h"
#include "app/session/live_training.h"
#include "app/session/opening_row.h"
#include "app/session/selection.h"
#include "app/session/session.h"
#include "app/session/session_backup.h"
#include "app/session/settings.h"
#include "app/session/suggestions.h"
#include "app/session/tensor_export.h"
#include "app/session/token_predictions.h"
#include "app/session/training_draft.h"
#include "app/session/training_saving.h"
#include "app/session/worker.h"
