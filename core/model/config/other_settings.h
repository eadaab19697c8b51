// The settings of config.json that do not change attention: those of other parts of a model, of training, of generation, and of the
// program that wrote the file. Based on the configurations of Hugging Face's transformers 4.49 and 5.23.
#pragma once

#include <string_view>

namespace headwise {

bool is_setting_of_other_parts(std::string_view key);

}  // namespace headwise
