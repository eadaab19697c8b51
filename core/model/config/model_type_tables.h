// The rows of model_types.h, in two tables.
#pragma once

#include <span>

#include "core/model/config/model_types.h"

namespace headwise {

// Encoders, vision models, and encoder-decoder models.
std::span<const ModelType> encoder_types();

// Decoder-only models.
std::span<const ModelType> decoder_types();

}  // namespace headwise
