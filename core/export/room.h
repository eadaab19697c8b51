// What leaves the program: pictures of heatmaps in pixels and in vectors, with their colours, numbers and
// letters, and the same computation as Python code: PyTorch, einsum, NumPy, d2l or flex_attention.
#pragma once

// What other rooms use of it; the rest is its own.
#include "core/export/code_lines.h"
#include "core/export/code_style.h"
#include "core/export/color_map.h"
#include "core/export/font.h"
#include "core/export/heatmap.h"
#include "core/export/image.h"
#include "core/export/label_text.h"
#include "core/export/number_text.h"
#include "core/export/pdf_document.h"
#include "core/export/picture.h"
#include "core/export/picture_builder.h"
#include "core/export/plane_rule.h"
#include "core/export/program.h"
#include "core/export/table.h"
#include "core/export/vector_canvas.h"
