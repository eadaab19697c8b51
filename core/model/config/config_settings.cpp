#include "core/model/config/config_settings.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/files/strict_json.h"
#include "core/tensor/error.h"

namespace headwise {

using Json = nlohmann::json;

ConfigSettings::ConfigSettings(std::shared_ptr<const Json> object, std::string where, std::string problem,
                               std::string remedy)
    : object_(std::move(object)),
      where_(std::move(where)),
      problem_(std::move(problem)),
      remedy_(std::move(remedy)) {}

const Json& ConfigSettings::at(std::string_view key) const {
  static const Json none;
  const auto found = key.empty() ? object_->end() : object_->find(key);
  return found == object_->end() ? none : *found;
}

bool ConfigSettings::has(std::string_view key) const {
  return !at(key).is_null();
}

std::string ConfigSettings::text(std::string_view key, const std::string& otherwise) const {
  const Json& value = at(key);
  if (value.is_null()) return otherwise;
  if (!value.is_string()) refuse(key, value, "a text");
  return value.get<std::string>();
}

bool ConfigSettings::flag(std::string_view key, bool otherwise) const {
  const Json& value = at(key);
  if (value.is_null()) return otherwise;
  if (!value.is_boolean()) refuse(key, value, "true or false");
  return value.get<bool>();
}

double ConfigSettings::number(std::string_view key, double otherwise, double most) const {
  const Json& value = at(key);
  if (value.is_null()) return otherwise;
  if (!value.is_number() || !(value.get<double>() > 0.0) || value.get<double>() > most)
    refuse(key, value, fmt::format("a number above 0, at most {}", most));
  return value.get<double>();
}

Index ConfigSettings::whole(std::string_view key, Index otherwise, Index most) const {
  const Json& value = at(key);
  if (value.is_null()) return otherwise;
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
    refuse(key, value, fmt::format("a whole number from 0 to {}", most));
  return value.get<Index>();
}

void ConfigSettings::refuse(std::string_view key, const Json& got, const std::string& expected) const {
  throw Error(ExitStatus::input,
              {fmt::format("{}: {}", where_, key), problem_, json_as_written(got), expected, remedy_});
}

}  // namespace headwise
