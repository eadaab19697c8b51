// config.json against the arrays: a model is made with the widths that it gives, and cannot hold others.
#include <fmt/format.h>

#include "core/model/layers/layer_attention.h"
#include "core/model/layers/layer_parameters.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/model/written_model.h"

using namespace headwise;
using namespace headwise::test;

namespace {

// E = 16 and H = 4, with `rows` rows of q, k and v each, and W_O of as many columns.
struct Family {
  const char *config, *prefix;
  std::vector<const char*> separate = {};  // q, k, v, output
  const char *packed = nullptr, *output = nullptr;
  bool transposed = false;
};

Sizes arrays_of(const Family& family, Index rows) {
  Sizes sizes;
  const std::string prefix = family.prefix;
  const auto add = [&](const std::string& stem, Index out, Index in) {
    sizes[prefix + stem + ".weight"] = family.transposed ? std::vector{in, out} : std::vector{out, in};
  };
  if (family.packed) {
    add(family.packed, 3 * rows, 16);
    add(family.output, 16, rows);
  } else {
    for (std::size_t i = 0; i < 3; ++i) add(family.separate[i], rows, 16);
    add(family.separate[3], 16, rows);
  }
  return sizes;
}

const std::vector<Family>& families() {
  static const std::vector<Family> all{
      {R"("model_type":"bert","hidden_size":16,"num_attention_heads":4)",
       "encoder.layer.0.attention.",
       {"self.query", "self.key", "self.value", "output.dense"}},
      {R"("model_type":"distilbert","dim":16,"n_heads":4)",
       "transformer.layer.0.attention.",
       {"q_lin", "k_lin", "v_lin", "out_lin"}},
      {R"("model_type":"vit","hidden_size":16,"num_attention_heads":4)",
       "vit.encoder.layer.0.attention.",
       {"attention.query", "attention.key", "attention.value", "output.dense"}},
      {R"("model_type":"bart","d_model":16,"encoder_attention_heads":4,"decoder_attention_heads":2)",
       "encoder.layers.0.self_attn.",
       {"q_proj", "k_proj", "v_proj", "out_proj"}},
      {R"("model_type":"opt","hidden_size":16,"num_attention_heads":4)",
       "decoder.layers.0.self_attn.",
       {"q_proj", "k_proj", "v_proj", "out_proj"}},
      {R"("model_type":"t5","d_model":16,"num_heads":4,"d_kv":4)",
       "encoder.block.0.layer.0.SelfAttention.",
       {"q", "k", "v", "o"}},
      {R"("model_type":"llama","hidden_size":16,"num_attention_heads":4)",
       "model.layers.0.self_attn.",
       {"q_proj", "k_proj", "v_proj", "o_proj"}},
      {R"("model_type":"qwen3","hidden_size":16,"num_attention_heads":4,"head_dim":4)",
       "model.layers.0.self_attn.",
       {"q_proj", "k_proj", "v_proj", "o_proj"}},
      {R"("model_type":"some-new-llama","hidden_size":99,"num_attention_heads":4,"head_dim":4)",
       "model.layers.0.self_attn.",
       {"q_proj", "k_proj", "v_proj", "o_proj"}},
      {R"("hidden_size":16,"num_attention_heads":4)", "blocks.0.", {}, "attn.qkv", "attn.proj"},
      {R"("model_type":"gpt2","n_embd":16,"n_head":4)", "h.0.attn.", {}, "c_attn", "c_proj", true},
      {R"("model_type":"gpt_neox","hidden_size":16,"num_attention_heads":4)",
       "gpt_neox.layers.0.attention.",
       {},
       "query_key_value",
       "dense"},
      {R"("model_type":"bloom","n_embed":16,"n_head":4)",
       "h.0.self_attention.",
       {},
       "query_key_value",
       "dense"},
      {R"("model_type":"phi3","hidden_size":16,"num_attention_heads":4)",
       "model.layers.0.self_attn.",
       {},
       "qkv_proj",
       "o_proj"}};
  return all;
}

AttentionLayer layer_of(const Sizes& sizes, const std::string& config) {
  const TemporaryFolder folder;
  write_model(folder, sizes, "{" + config + "}");
  const AttentionLayers found = find_attention_layers(ModelFiles(folder.file("")));
  REQUIRE(found.layers.size() == 1);
  return found.layers[0];
}

bool has_part(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool tells(const AttentionLayer& layer, const std::string& part) {
  for (const std::string& warning : layer_attention(layer).warnings)
    if (has_part(warning, part)) return true;
  return false;
}

}  // namespace

TEST_CASE("a layer with a base of its own is rotated by it, and not at all if that is 0") {
  const Family granite{R"("model_type":"granite_swa","hidden_size":16,"num_attention_heads":4)",
                       "model.layers.0.self_attn.",
                       {"q_proj", "k_proj", "v_proj", "o_proj"}};
  const auto with = [&](const std::string& bases) {
    return layer_of(arrays_of(granite, 16), std::string(granite.config) + R"(,"layer_rope_theta":)" + bases);
  };
  const LayerAttention rotated = layer_attention(with("[500.0, 0]"));
  REQUIRE(rotated.rotary);
  CHECK(rotated.rotary->base == 500.0);
  CHECK_FALSE(layer_attention(with("[0, 500.0]")).rotary);
  CHECK(layer_attention(with("null")).rotary->base == 10000.0);
  CHECK_THROWS_WITH_AS(layer_attention(with("[-1]")), doctest::Contains("layer_rope_theta"), Error);
  CHECK_THROWS_WITH_AS(layer_attention(with("5")), doctest::Contains("layer_rope_theta"), Error);
}

TEST_CASE("q of other than num_heads times head_dim rows is refused in every family, with both numbers") {
  for (const Family& family : families()) {
    CAPTURE(family.config);
    CHECK(layer_problem(layer_of(arrays_of(family, 16), family.config)) == "");
    for (const Index rows : {8, 12, 32}) {
      CAPTURE(rows);
      const std::string problem = layer_problem(layer_of(arrays_of(family, rows), family.config));
      const Index all = family.packed ? 3 : 1;
      CHECK_CONTAINS(
          problem, fmt::format("{} rows instead of {}: config.json gives 4 heads of 4", all * rows, all * 16));
    }
  }
}

TEST_CASE("pruned_heads of a layer leave the others with their width, in every family of as many key heads") {
  for (const Family& family : families()) {
    CAPTURE(family.config);
    const std::string pruned = family.config + std::string(R"(,"pruned_heads":{"0":[1],"3":[0,1]})");
    const AttentionLayer layer = layer_of(arrays_of(family, 12), pruned);
    CHECK(layer_problem(layer) == "");
    CHECK(layer.num_heads == 3);
    CHECK(layer.num_kv_heads == 3);
    CHECK_FALSE(tells(layer, "pruned_heads"));
    // Another number of heads than the rows, and heads that are all there.
    CHECK_CONTAINS(layer_problem(layer_of(arrays_of(family, 8), pruned)), "instead of");
    const AttentionLayer whole = layer_of(arrays_of(family, 16), pruned);
    CHECK(layer_problem(whole) == "");
    CHECK(whole.num_heads == 4);
    CHECK(tells(whole, "pruned_heads"));
  }
}

TEST_CASE("what is pruned has to be a list of heads that the layer has") {
  const Family& bert = families()[0];
  for (const char* pruned : {"[1]", R"({"0":1})", R"({"0":[4]})", R"({"0":[-1]})", R"({"0":["1"]})",
                             R"({"1":[1]})", R"({"0":[0,1,2,3]})", R"({"0":[1,2]})", "7"}) {
    CAPTURE(pruned);
    const std::string config = bert.config + std::string(R"(,"pruned_heads":)") + pruned;
    CHECK_CONTAINS(layer_problem(layer_of(arrays_of(bert, 12), config)), "pruned_heads");
  }
  CHECK(layer_problem(layer_of(arrays_of(bert, 12),
                               bert.config + std::string(R"(,"pruned_heads":{"0":[2,2]})"))) == "");
}

TEST_CASE("a head_dim that the model's type does not read is ignored, one that it reads is not") {
  const Family &bert = families()[0], &llama = families()[6];
  const auto problem = [&](const Family& family, Index rows, const std::string& more) {
    return layer_problem(layer_of(arrays_of(family, rows), family.config + more));
  };
  CHECK(problem(bert, 16, R"(,"head_dim":8)") == "");
  CHECK(problem(bert, 32, R"(,"head_dim":8)") != "");
  CHECK(problem(llama, 32, R"(,"head_dim":8)") == "");
  CHECK_CONTAINS(problem(llama, 16, R"(,"head_dim":8)"), "q has 16 rows instead of 32");
  CHECK(problem(llama, 16, R"(,"head_dim":null)") == "");
}

TEST_CASE("where config.json leaves head_dim out, the default of the model's type holds") {
  const Family& llama = families()[6];
  const std::string gemma = R"("model_type":"gemma","hidden_size":16,"num_attention_heads":4)";
  CHECK(layer_problem(layer_of(arrays_of(llama, 4 * 256), gemma)) == "");
  CHECK(
      has_part(layer_problem(layer_of(arrays_of(llama, 16), gemma)), "4 heads of 256, the default of gemma"));
  const Family& t5 = families()[5];
  const std::string without = R"("model_type":"t5","d_model":16,"num_heads":4)";
  CHECK(layer_problem(layer_of(arrays_of(t5, 4 * 64), without)) == "");
  CHECK_CONTAINS(layer_problem(layer_of(arrays_of(t5, 16), without)), "4 heads of 64, the default of t5");
}

TEST_CASE("queries made from another width than hidden_size are refused with both") {
  for (const Family& family : families()) {
    CAPTURE(family.config);
    if (std::string(family.config).find("99") != std::string::npos) continue;  // of a type that is not known
    const Sizes sizes = arrays_of(family, 16);
    CHECK(layer_problem(layer_of(sizes, family.config)) == "");
    std::string wider = family.config;
    const std::size_t at = wider.find(":16");
    wider.replace(at, 3, ":32");
    CHECK_CONTAINS(layer_problem(layer_of(sizes, wider)),
                   "16 columns, but config.json gives a hidden_size of 32");
  }
}

TEST_CASE("every array that a layer needs is checked before it is said to be computable") {
  const Family &bert = families()[0], &gpt2 = families()[10];
  Sizes sizes = arrays_of(bert, 16);
  sizes["encoder.layer.0.attention.self.key.bias"] = {8};
  CHECK(layer_problem(layer_of(sizes, bert.config)) ==
        "encoder.layer.0.attention.self.key.bias is (8) instead of (16)");
  sizes = arrays_of(bert, 16);
  sizes["encoder.layer.0.attention.output.dense.weight"] = {16, 8};
  CHECK(layer_problem(layer_of(sizes, bert.config)) ==
        "encoder.layer.0.attention.output.dense.weight is (16,8) instead of (16,16)");
  sizes = arrays_of(gpt2, 16);
  sizes["h.0.attn.c_attn.bias"] = {16};
  CHECK(layer_problem(layer_of(sizes, gpt2.config)) == "h.0.attn.c_attn.bias is (16) instead of (48)");
}

TEST_CASE("a layer of whole numbers is refused by their type, by whoever asks") {
  const TemporaryFolder folder;
  std::vector<NamedTensor> arrays = counted_arrays(arrays_of(families()[0], 16));
  arrays[2].tensor = std::make_shared<const Tensor>(Shape{{"a", 16}, {"b", 16}}, DType::i64);
  write_safetensors(folder.file("model.safetensors"), arrays);
  for (const std::string& config : {"{" + std::string(families()[0].config) + "}", std::string("{}")}) {
    folder.with_file("config.json", config);
    const ModelFiles files(folder.file(""));
    const AttentionLayer layer = find_attention_layers(files).layers.at(0);
    const std::string problem = layer_problem(layer);
    CHECK(problem == arrays[2].name + " has numbers of type i64, not f16, bf16, f32 or f64");
    CHECK_THROWS_WITH(read_layer_parameters(files, layer), doctest::Contains(problem.c_str()));
  }
}
