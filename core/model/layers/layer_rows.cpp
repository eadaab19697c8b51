#include "core/model/layers/layer_rows.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr std::size_t most_digits = 9;  // a longer number is a checksum, not a count

bool is_count(const std::string& part) {
  return !part.empty() && part.size() <= most_digits && (part.size() == 1 || part[0] != '0') &&
         part.find_first_not_of("0123456789") == std::string::npos;
}

constexpr Index most_layers = 4096;  // a higher number counts something else

struct LayerRow {
  const ModelFamily* family;
  NumberedName name;  // of its first layer
  std::size_t axis;   // the index of the number that varies
  std::set<Index> numbers;

  std::string before() const {  // "encoder.layer."
    std::string text = name.between[0];
    for (std::size_t i = 0; i < axis; ++i) text += std::to_string(name.numbers[i]) + name.between[i + 1];
    return text;
  }
};

// Rows with a varying number, and whether they cover all layers.
std::pair<std::vector<LayerRow>, bool> rows_of(const std::vector<LayerName>& found) {
  std::map<std::pair<const ModelFamily*, std::vector<std::string>>, std::vector<NumberedName>> alike;
  for (const LayerName& layer : found) {
    NumberedName name = numbered_name(layer.name);
    alike[{layer.family, name.between}].push_back(std::move(name));
  }
  std::vector<LayerRow> rows;
  for (const auto& [key, names] : alike) {
    std::vector<std::set<Index>> numbers(names[0].numbers.size());
    for (const NumberedName& name : names)
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i].insert(name.numbers[i]);
    std::vector<std::size_t> differing;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (numbers[i].size() > 1) differing.push_back(i);
    if (numbers.size() == 1) differing = {0};
    if (differing.size() == 1 && *numbers[differing[0]].rbegin() < most_layers)
      rows.push_back({key.first, names[0], differing[0], numbers[differing[0]]});
  }
  const bool all = rows.size() == alike.size();
  return {std::move(rows), all};
}

// The number that follows `before` in a name.
std::optional<Index> number_behind(const std::string& name, const std::string& before) {
  const NumberedName behind = numbered_name(name.substr(before.size()));
  if (behind.numbers.empty() || !behind.between[0].empty() || behind.numbers[0] >= most_layers)
    return std::nullopt;
  return behind.numbers[0];
}

// Calls `found` with the name of every array of a row and its number.
template <class Found>
void for_arrays_of(const ModelFiles& files, const std::string& before, Found found) {
  const auto& arrays = files.arrays();
  for (auto at = arrays.lower_bound(before); at != arrays.end() && at->first.starts_with(before); ++at)
    if (const std::optional<Index> number = number_behind(at->first, before)) found(at->first, *number);
}

bool is_of_attention(const std::string& array, const std::string& layer, const ModelFamily& family) {
  const std::array stems{family.q, family.k, family.v, family.kv, family.qkv, family.output};
  return std::ranges::any_of(stems, [&](std::string_view stem) {
    return !stem.empty() && array == layer + "." + std::string(stem) + "weight";
  });
}

}  // namespace

NumberedName numbered_name(const std::string& name) {
  NumberedName result{{""}, {}};
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    if (begin > 0) result.between.back() += '.';
    if (is_count(part)) {
      result.numbers.push_back(std::stoll(part));
      result.between.emplace_back();
    } else {
      result.between.back() += part;
    }
    begin = end + 1;
  }
  return result;
}

bool counts_before(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      std::size_t end_a = i, end_b = j;
      while (end_a < a.size() && digit(a[end_a])) ++end_a;
      while (end_b < b.size() && digit(b[end_b])) ++end_b;
      while (i + 1 < end_a && a[i] == '0') ++i;
      while (j + 1 < end_b && b[j] == '0') ++j;
      if (end_a - i != end_b - j) return end_a - i < end_b - j;
      if (const int order = a.compare(i, end_a - i, b, j, end_b - j); order != 0) return order < 0;
      i = end_a;
      j = end_b;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

std::string with_number(const NumberedName& name, std::size_t axis, Index number) {
  std::string text = name.between[0];
  for (std::size_t i = 0; i < name.numbers.size(); ++i)
    text += std::to_string(i == axis ? number : name.numbers[i]) + name.between[i + 1];
  return text;
}

std::vector<LayerName> absent_layers(const ModelFiles& files, const std::vector<LayerName>& found) {
  // Families with the same first array must not have a layer of the same name.
  std::set<std::pair<std::string, std::string_view>> taken;
  for (const LayerName& layer : found) taken.emplace(layer.name, layer.family->first_stem());
  std::vector<LayerName> absent;
  for (const LayerRow& row : rows_of(found).first) {
    const auto name_of = [&](Index number) { return with_number(row.name, row.axis, number); };
    Index last = *row.numbers.rbegin();
    bool is_row = row.numbers.size() > 1;
    for_arrays_of(files, row.before(), [&](const std::string& array, Index number) {
      if (row.numbers.contains(number) || !is_of_attention(array, name_of(number), *row.family)) return;
      is_row = true;
      last = std::max(last, number);
    });
    if (!is_row) continue;
    for (Index number = 0; number <= last; ++number)
      if (taken.emplace(name_of(number), row.family->first_stem()).second)
        absent.push_back({name_of(number), row.family});
  }
  return absent;
}

bool is_absent(const AttentionLayer& layer) {
  // q, k, v, or k and v in one, or all in one, plus the output.
  const std::size_t arrays = !layer.family->qkv.empty() ? 2 : !layer.family->kv.empty() ? 3 : 4;
  return layer.missing.size() == arrays - (layer.has_output ? 0 : 1);
}

std::optional<Index> blocks_in_row(const ModelFiles& files, const std::vector<AttentionLayer>& layers) {
  std::vector<LayerName> names;
  for (const AttentionLayer& layer : layers) names.push_back({layer.name, layer.family});
  const auto [rows, all] = rows_of(names);
  if (!all || rows.empty()) return std::nullopt;
  const std::string before = rows[0].before();
  Index blocks = 0;
  for (const LayerRow& row : rows) {
    if (row.before() != before) return std::nullopt;
    blocks = std::max(blocks, *row.numbers.rbegin() + 1);
  }
  for_arrays_of(files, before,
                [&](const std::string&, Index number) { blocks = std::max(blocks, number + 1); });
  return blocks;
}

std::string layer_count_note(const ModelFiles& files, const AttentionLayers& layers) {
  if (!layers.config || !layers.config->num_layers) return "";
  const std::optional<Index> blocks = blocks_in_row(files, layers.layers);
  if (!blocks || *blocks == *layers.config->num_layers) return "";
  const Index there = *blocks, said = *layers.config->num_layers;
  const Index first = std::min(there, said), last = std::max(there, said) - 1;
  const std::string which =
      first == last ? fmt::format("layer {} is", first) : fmt::format("layers {} to {} are", first, last);
  return fmt::format("config.json gives {}, but the files have {}: {} {}", counted(said, "layer"), there,
                     which, there < said ? "missing" : "extra");
}

}  // namespace headwise
