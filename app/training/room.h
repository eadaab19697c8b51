// The view of a training run: its setup, its losses, its heads, the run trained alongside.
#pragma once

// What other rooms use of it; the rest is its own.
#include "app/training/training_heads.h"
#include "app/training/training_plot.h"
#include "app/training/training_view.h"
