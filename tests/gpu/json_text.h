// JSON for the bench: it is built where no JSON library is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/shape.h"

namespace headwise::gpu_bench {

// An object, its members in the order in which they are added.
class JsonObject {
 public:
  JsonObject& text(std::string_view name, std::string_view value);
  JsonObject& number(std::string_view name, double value);  // null if it is not finite
  JsonObject& count(std::string_view name, Index value);
  JsonObject& flag(std::string_view name, bool value);
  JsonObject& json(std::string_view name, std::string_view value);  // as it is
  std::string written() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

std::string json_array(const std::vector<std::string>& items);
std::string json_string(std::string_view text);

}  // namespace headwise::gpu_bench
