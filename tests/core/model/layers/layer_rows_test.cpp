// Layers are counted by the numbers in their names, those that are damaged too.
#include "core/model/layers/layer_rows.h"

#include <doctest/doctest.h>

#include "core/scenario/layer_scenario.h"
#include "core/tensor/error.h"
#include "tests/core/model/written_model.h"

using namespace headwise;
using namespace headwise::test;

namespace {

Sizes layers(const std::string& row, std::initializer_list<int> numbers) {
  Sizes sizes;
  for (const int number : numbers) add_layer(sizes, row + std::to_string(number));
  return sizes;
}

struct Found : AttentionLayers {
  std::optional<Index> num_blocks;
  std::string told;
};

Found found_in(const Sizes& sizes, const std::string& config = "") {
  const TemporaryFolder folder;
  write_model(folder, sizes, config);
  const ModelFiles files(folder.file(""));
  const AttentionLayers layers = find_attention_layers(files);
  return {layers, blocks_in_row(files, layers.layers), layer_count_note(files, layers)};
}

// "h.0", "-h.1" of one that is absent, "!h.2" of one that cannot be computed.
std::vector<std::string> names_of(const AttentionLayers& found) {
  std::vector<std::string> names;
  for (const AttentionLayer& layer : found.layers) {
    const bool sound = layer_problem(with_heads(layer, 2, 2)).empty();
    names.push_back((is_absent(layer) ? "-" : sound ? "" : "!") + layer.name);
  }
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a number of a name is a whole part of it, and can be changed") {
  const NumberedName name = numbered_name("a.3.layer.10.w1.007");
  CHECK(name.numbers == std::vector<Index>{3, 10});
  CHECK(with_number(name, 0, 5) == "a.5.layer.10.w1.007");
  CHECK(with_number(name, 1, 0) == "a.3.layer.0.w1.007");
  CHECK(numbered_name("").numbers.empty());
  CHECK(numbered_name("12345678901.x").numbers.empty());
}

TEST_CASE("a layer without its first array keeps its number, and so do those behind it") {
  Sizes sizes = layers("h.", {0, 1, 2, 3});
  sizes.erase("h.1.attention.q_lin.weight");
  const AttentionLayers found = found_in(sizes, R"({"n_heads":2})");
  CHECK(names_of(found) == Names{"h.0", "!h.1", "h.2", "h.3"});
  CHECK(layer_problem(found.layers[1]) == "h.1.attention.q_lin.weight is missing");
  sizes.erase("h.1.attention.k_lin.weight");
  CHECK(layer_problem(found_in(sizes).layers[1]) ==
        "h.1.attention.q_lin.weight, h.1.attention.k_lin.weight are missing");

  sizes = layers("h.", {0, 1, 2});
  sizes["h.1.attention.q_lin.weight"] = {144};
  CHECK(names_of(found_in(sizes)) == Names{"h.0", "!h.1", "h.2"});
  CHECK(layer_problem(found_in(sizes).layers[1]) ==
        "h.1.attention.q_lin.weight as a matrix, not as (144), is missing");
  sizes.erase("h.2.attention.q_lin.weight");  // the last one too, of which something is left
  CHECK(names_of(found_in(sizes)) == Names{"h.0", "!h.1", "!h.2"});
}

TEST_CASE("a layer of which nothing is left keeps its number, at the beginning too") {
  const AttentionLayers found = found_in(layers("h.", {1, 3}), R"({"n_heads":2})");
  CHECK(names_of(found) == Names{"-h.0", "h.1", "-h.2", "h.3"});
  CHECK(layer_problem(found.layers[2]) == "none of its attention arrays is there");
  CHECK(first_usable_layer(found) == 1);
  CHECK(first_usable_layer(found_in(layers("h.", {1, 3}))) == 1);
  CHECK(layer_scenario("m", found, 3).parameters.layer == 3);
  CHECK_THROWS_WITH_AS(layer_scenario("m", found, 2), doctest::Contains("none of its attention arrays"), Error);
}

TEST_CASE("blocks without attention count as well") {
  Sizes sizes = layers("h.", {1, 3});
  for (const char* name : {"h.0.conv.weight", "h.2.conv.weight", "h.4.conv.weight"}) sizes[name] = {3};
  const Found found = found_in(sizes);
  CHECK(names_of(found) == Names{"-h.0", "h.1", "-h.2", "h.3"});
  CHECK(found.num_blocks == 5);
}

TEST_CASE("names without numbers, and numbers that count nothing, leave layers in their order") {
  const auto torch = [](const Names& modules) {
    Sizes sizes;
    for (const std::string& module : modules) {
      sizes[module + ".in_proj_weight"] = {36, 12};
      sizes[module + ".out_proj.weight"] = {12, 12};
    }
    return sizes;
  };
  CHECK(names_of(found_in(torch({"cross", "self"}))) == Names{"cross", "self"});
  CHECK(names_of(found_in({{"in_proj_weight", {36, 12}}, {"out_proj.weight", {12, 12}}})) == Names{""});
  CHECK(names_of(found_in(torch({"attn1", "attn3"}))) == Names{"attn1", "attn3"});
  CHECK(names_of(found_in(torch({"net.2"}))) == Names{"net.2"});  // nothing is counted with one
  CHECK(names_of(found_in(torch({"net.1", "net.3"}))) == Names{"-net.0", "net.1", "-net.2", "net.3"});
  // Two numbers that differ: which of them counts?
  CHECK(names_of(found_in(torch({"s.0.b.0", "s.1.b.0", "s.1.b.2"}))) ==
        Names{"s.0.b.0", "s.1.b.0", "s.1.b.2"});
  CHECK(names_of(found_in(torch({"net.0", "net.900000000"}))) == Names{"net.0", "net.900000000"});
  CHECK_FALSE(found_in(torch({"cross", "self"})).num_blocks.has_value());
}

TEST_CASE("an encoder and a decoder are rows of their own") {
  Sizes sizes;
  const auto add = [&](const std::string& layer, const char* module) {
    for (const char* stem : {"q", "k", "v", "o"})
      sizes[layer + "." + module + "." + stem + ".weight"] = {12, 12};
  };
  for (const char* block : {"0", "2"}) {
    add(std::string("decoder.block.") + block + ".layer.0", "SelfAttention");
    add(std::string("decoder.block.") + block + ".layer.1", "EncDecAttention");
  }
  add("decoder.block.1.layer.1", "EncDecAttention");
  add("encoder.block.0.layer.0", "SelfAttention");
  const Found found = found_in(sizes);
  CHECK(names_of(found) == Names{"decoder.block.0.layer.0", "decoder.block.0.layer.1",
                                 "-decoder.block.1.layer.0", "decoder.block.1.layer.1",
                                 "decoder.block.2.layer.0", "decoder.block.2.layer.1",
                                 "encoder.block.0.layer.0"});
  CHECK_FALSE(found.num_blocks.has_value());
}

TEST_CASE("a layer that another family of the same names takes is not absent") {
  Sizes sizes;
  for (const char* layer : {"h.0", "h.1", "h.2"}) {
    sizes[std::string(layer) + ".attn.c_attn.weight"] = {12, 36};
    sizes[std::string(layer) + ".attn.c_proj.weight"] = {12, 12};
  }
  sizes["h.1.attn.c_attn.weight"] = {12, 35};
  CHECK(found_in(sizes).layers.size() == 3);
}

TEST_CASE("another number of layers in config.json than in the files is told") {
  const auto told = [](std::initializer_list<int> numbers, const std::string& config) {
    return found_in(layers("h.", numbers), config).told;
  };
  CHECK(told({0, 1, 2}, R"({"n_heads":2,"n_layers":3})").empty());
  CHECK(told({0, 1, 2}, R"({"n_heads":2})").empty());
  CHECK(told({0, 1, 2}, "").empty());
  CHECK(told({0, 1, 2}, R"({"n_layers":4})") ==
        "config.json gives 4 layers, but the files have 3: layer 3 is missing");
  CHECK(told({0, 1, 2}, R"({"n_layers":1000000000})") ==
        "config.json gives 1000000000 layers, but the files have 3: layers 3 to 999999999 are "
        "missing");
  CHECK(told({0, 1, 2}, R"({"n_layers":1})") ==
        "config.json gives 1 layer, but the files have 3: layers 1 to 2 are extra");
}
