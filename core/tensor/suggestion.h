// "Did you mean", for names that do not exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headwise {

// "did you mean \"NAME\"?"; empty without a name. did_you_mean takes the name that is nearest to `text`.
std::string suggestion(std::string_view name);
std::string did_you_mean(std::string_view text, const std::vector<std::string>& names);

}  // namespace headwise
