// Typed access to the settings of a config.json, and the part of it that a layer belongs to.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/tensor/shape.h"

namespace headwise {

// One object of settings. An absent or null key has the value given by the caller. A value of the wrong type or out of range
// throws Error(input) with the file, the key, the value and what was expected.
class ConfigSettings {
 public:
  // `where` begins error messages: the file, and the part of it. `remedy` ends them.
  ConfigSettings(std::shared_ptr<const nlohmann::json> object, std::string where, std::string problem,
                 std::string remedy = {});

  const std::string& where() const { return where_; }
  const nlohmann::json& json() const { return *object_; }
  // Null if it is absent, or the key is empty.
  const nlohmann::json& at(std::string_view key) const;
  bool has(std::string_view key) const;  // and is not null

  std::string text(std::string_view key, const std::string& otherwise) const;
  bool flag(std::string_view key, bool otherwise) const;
  // Above 0 and at most `most`.
  double number(std::string_view key, double otherwise, double most) const;
  // From 0 to `most`.
  Index whole(std::string_view key, Index otherwise, Index most) const;

  [[noreturn]] void refuse(std::string_view key, const nlohmann::json& got, const std::string& expected) const;

 private:
  std::shared_ptr<const nlohmann::json> object_;
  std::string where_, problem_, remedy_;
};

}  // namespace headwise
