// The pieces that every panel is drawn with: the painter, text that flows, buttons, fields, lists, maps with
// their axes, the Tab order.
#pragma once

// What other rooms use of it; the rest is its own.
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/draw_data_vectors.h"
#include "app/widgets/drop_down.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/heatmap_view.h"
#include "app/widgets/labelled_field.h"
#include "app/widgets/painter.h"
#include "app/widgets/palette.h"
#include "app/widgets/patch_picture.h"
#include "app/widgets/text_column.h"
#include "app/widgets/text_edit.h"
#include "app/widgets/text_field.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
