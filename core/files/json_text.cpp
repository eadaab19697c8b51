#include "core/files/json_text.h"

#include <nlohmann/json.hpp>

namespace headwise {
namespace {

template <class Json>
std::string text_of(const Json& value, const JsonStyle& style) {
  return value.dump(style.indent, ' ', style.ascii,
                    style.replaces_bytes ? Json::error_handler_t::replace : Json::error_handler_t::strict);
}

}  // namespace

std::string json_text(const nlohmann::json& value, const JsonStyle& style) {
  return text_of(value, style);
}

std::string json_text(const nlohmann::ordered_json& value, const JsonStyle& style) {
  return text_of(value, style);
}

nlohmann::json json_of(std::string_view text) {
  return nlohmann::json::parse(text.begin(), text.end());
}

nlohmann::ordered_json ordered_json_of(std::string_view text) {
  return nlohmann::ordered_json::parse(text.begin(), text.end());
}

}  // namespace headwise
