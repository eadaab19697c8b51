// Rows of layers, "h.0", "h.1", "h.2": which numbers there are and which there ought to be.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/layers/attention_layers.h"

namespace headwise {

// A layer by its name, without the dot at its end, and the names of its arrays.
struct LayerName {
  std::string name;
  const ModelFamily* family;  // never null
};

// Layers that are not in `found` though their numbers say that they belong there: before, between and, where any array of their
// attention is there, behind those of their row. A row is what differs in one number, and more than one layer: of names with more that differ ("layers.2.blocks.1")
// nobody knows what to count.
std::vector<LayerName> absent_layers(const ModelFiles& files, const std::vector<LayerName>& found);

// Whether nothing of it is there: the numbers of its neighbours alone say that there is one.
bool is_absent(const AttentionLayer& layer);

// Of layers that are all one row: how many blocks that row has, with and without attention; else none.
std::optional<Index> blocks_in_row(const ModelFiles& files, const std::vector<AttentionLayer>& layers);

// Where config.json says another number of layers than the files have, one line; else empty. What is beyond the number that it says
// is no part of the model: the programs that such files are written for leave it out too.
std::string told_of_layer_count(const ModelFiles& files, const AttentionLayers& layers);

}  // namespace headwise
