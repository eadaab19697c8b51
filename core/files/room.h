// What is read and written, byte by byte: .npy, .npz and .safetensors with their limits, JSON with places and
// bounds, pictures from PNG files, tables of words, and files that are written whole or not at all. Knows
// tensors, and nothing of attention.
#pragma once

// What other rooms use of it; the rest is its own.
#include "core/files/array_files.h"
#include "core/files/atomic_file.h"
#include "core/files/element_type.h"
#include "core/files/file_paths.h"
#include "core/files/input_file.h"
#include "core/files/json_text.h"
#include "core/files/json_value.h"
#include "core/files/png_file.h"
#include "core/files/word_rows.h"
