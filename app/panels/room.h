// What every panel is given and returns, and the panels beside the stage: the setup on the left, the sheets
// that open over the window, Ask, the palette of commands, the opening.
#pragma once

// What other rooms use of it; the rest is its own.
#include "app/panels/ask_pages.h"
#include "app/panels/command_palette.h"
#include "app/panels/comparison_sheet.h"
#include "app/panels/doc_sheet.h"
#include "app/panels/export_dialog.h"
#include "app/panels/file_dialog.h"
#include "app/panels/full_size_sheet.h"
#include "app/panels/heads_question.h"
#include "app/panels/heads_sheet.h"
#include "app/panels/help_sheet.h"
#include "app/panels/named_text.h"
#include "app/panels/opening_scene.h"
#include "app/panels/panel.h"
#include "app/panels/panel_frame.h"
#include "app/panels/setup_panel.h"
#include "app/panels/veil.h"
