// Trained models, ours and other people's: which layers a file has and what they mean, the configuration,
// tokenizers, pictures, whole transformers with their predictions, and what each head does.
#pragma once

// What other rooms use of it; the rest is its own.
#include "core/model/config/model_types.h"
#include "core/model/config/rotary_scaling_json.h"
#include "core/model/files/model_files.h"
#include "core/model/files/sentence_patterns.h"
#include "core/model/heads/head_scores.h"
#include "core/model/heads/head_survey.h"
#include "core/model/layers/attention_layers.h"
#include "core/model/layers/layer_attention.h"
#include "core/model/layers/layer_parameters.h"
#include "core/model/layers/layer_rows.h"
#include "core/model/layers/layer_tensors.h"
#include "core/model/tokenizer/unicode_text.h"
#include "core/model/tokenizer/word_knowledge.h"
#include "core/model/transformer/predictions.h"
#include "core/model/transformer/text_model.h"
#include "core/model/transformer/transformer_config.h"
