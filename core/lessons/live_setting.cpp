// Settings of a scenario by their paths, read through the schema.
#include <fmt/format.h>

#include <limits>

#include "core/lessons/live_value.h"
#include "core/model/config/rotary_scaling_json.h"
#include "core/scenario/scenario_schema.h"

namespace headwise {
namespace {

LiveValue setting_number(double number) {
  LiveValue value = live_number_value(number);
  if (std::isfinite(number)) value.text = fmt::format("{}{}", number < 0 ? "−" : "", std::abs(number));
  return value;
}

// Stores the value of the one requested key.
class SettingReader {
 public:
  explicit SettingReader(std::string_view path) : path_(path) {}

  template <class Member, class... Range>
  void field(std::string_view section, std::string_view key, const Member& member, const Range&...) {
    if (is(section, key)) value_ = of(member);
  }
  void valid_lens(std::string_view section, std::string_view key, const MaskSpec& mask) {
    if (is(section, key))
      value_ = mask.valid_lens ? live_count_value(static_cast<Index>(mask.valid_lens->size())) : null();
  }
  void field(std::string_view section, std::string_view key, const std::optional<double>& fill,
             const FillValue&) {
    if (is(section, key)) value_ = setting_number(fill.value_or(-std::numeric_limits<double>::infinity()));
  }

  // One number for every head; of several, how many.
  void field(std::string_view section, std::string_view key, const std::vector<double>& numbers,
             const NumberRange&) {
    if (is(section, key))
      value_ = numbers.empty() ? null() : numbers.size() == 1 ? of(numbers.front()) : of(numbers);
  }

  bool known() const { return known_; }
  const LiveValue& value() const { return value_; }

 private:
  bool is(std::string_view section, std::string_view key) {
    const bool same = section.empty()
                          ? path_ == key
                          : path_.size() == section.size() + 1 + key.size() && path_.starts_with(section) &&
                                path_[section.size()] == '.' && path_.ends_with(key);
    known_ = known_ || same;
    return same;
  }

  static LiveValue null() { return live_word_value("null"); }
  static LiveValue of(bool value) { return live_word_value(value ? "true" : "false"); }
  static LiveValue of(const std::string& value) { return live_word_value(value); }
  static LiveValue of(double value) { return setting_number(value); }
  static LiveValue of(std::int64_t value) { return setting_number(static_cast<double>(value)); }
  static LiveValue of(const RotaryScaling& scaling) {
    return of(rotary_scaling_json(scaling)["rope_type"].get<std::string>());
  }
  static LiveValue of(const RelativeBias& bias) { return of(bias.buckets); }
  static LiveValue of(const Indexer& indexer) { return of(indexer.k); }
  static LiveValue of(const FrozenHeads& frozen) { return of(frozen.heads); }
  template <class T>
  static LiveValue of(const std::vector<T>& list) {
    return live_count_value(std::ssize(list));
  }
  static LiveValue of(std::uint64_t value) {
    LiveValue result = live_number_value(static_cast<double>(value));
    result.text = fmt::format("{}", value);
    return result;
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  static LiveValue of(Enum value) { return live_word_value(std::string(choice_name(value))); }
  template <class T>
  static LiveValue of(const std::optional<T>& value) {
    return value ? of(*value) : null();
  }

  std::string_view path_;
  bool known_ = false;
  LiveValue value_{LiveValue::Kind::missing, 0.0, "–"};
};

}  // namespace

bool is_setting_path(std::string_view path) {
  static const Scenario any;
  SettingReader reader(path);
  visit_scenario(any, reader);
  return reader.known();
}

LiveValue setting_value(const Scenario& scenario, std::string_view path) {
  SettingReader reader(path);
  visit_scenario(scenario, reader);
  return reader.value();
}

}  // namespace headwise
