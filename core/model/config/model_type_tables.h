// The rows of model_types.h, in two tables.
#pragma once

#include <span>

#include "core/model/config/model_types.h"

namespace headwise {

// Encoders and vision models, and those of an encoder and a decoder.
std::span<const ModelType> encoder_types();

// Decoders alone.
std::span<const ModelType> decoder_types();

}  // namespace headwise
