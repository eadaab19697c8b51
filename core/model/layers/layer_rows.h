// Rows of layers, "h.0", "h.1", "h.2": which numbers there are and which there should be.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/layers/attention_layers.h"
#include "core/tensor/shape.h"

namespace headwise {

// Names of arrays and layers with their numbers separated,
// so that "h.0.attn" and "h.1.attn" are recognised as one row.

// Numbers are whole components between dots, in plain decimal: neither "conv1" nor "01".
struct NumberedName {
  std::vector<std::string> between;  // "h." and ".attn": one more than numbers
  std::vector<Index> numbers;        // 0
};

NumberedName numbered_name(const std::string& name);

// Natural sort order of names: runs of digits are numbers.
bool counts_before(const std::string& a, const std::string& b);

// The same name with number `axis` replaced.
std::string with_number(const NumberedName& name, std::size_t axis, Index number);

// A layer by its name, without the trailing dot, and the names of its arrays.
struct LayerName {
  std::string name;
  const ModelFamily* family;  // never null
};

// Layers that are not in `found` although their numbers say that they belong there: before, between and, if
// any array of their attention exists, after those of their row. A row is two or more layers that differ in
// one number only; for names in which more numbers differ ("layers.2.blocks.1") it is unclear what to count.
std::vector<LayerName> absent_layers(const ModelFiles& files, const std::vector<LayerName>& found);

// Whether none of its arrays exist: it is only inferred from the numbers of its neighbours.
bool is_absent(const AttentionLayer& layer);

// If all layers form one row: the number of blocks in that row, with and without attention; else nullopt.
std::optional<Index> blocks_in_row(const ModelFiles& files, const std::vector<AttentionLayer>& layers);

// One line if config.json gives a different number of layers than the files have; else empty. Layers beyond
// the number it gives are not part of the model:
// the programs that such files are written for ignore them too.
std::string layer_count_note(const ModelFiles& files, const AttentionLayers& layers);

}  // namespace headwise
