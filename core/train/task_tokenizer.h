// The texts of a task's tokens for the files of its checkpoints,
// so that a text becomes the same tokens again.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/train/train_task.h"

namespace headwise {

// A tokenizer.json of Hugging Face's `tokenizers`, model WordLevel: token i has id i, and no token stands for
// unknown words, unless the task has one that is called "[UNK]". `by_character`, as for text_task: each
// character is a token, white space too. Else tokens are words between white space, and white space inside
// one is written "␣". Empty if two tokens would be written alike.
std::string task_tokenizer_json(const TrainTask& task, bool by_character);

// The text that this tokenizer turns into `tokens`.
std::string task_text(const TrainTask& task, bool by_character, std::span<const std::int32_t> tokens);

}  // namespace headwise
