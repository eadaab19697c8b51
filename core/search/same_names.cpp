#include "core/search/synonyms.h"

#include <algorithm>
#include <array>
#include <map>

namespace headwise {
namespace {

struct Same {
  std::string_view said, name;
};

// Lower case, words separated by blanks. Hyphens and dots are blanks here: "multi-head", "Wo.weight".
constexpr auto same_names = std::to_array<Same>({
    // tensors and letters
    {"q", "query"},
    {"k", "key"},
    {"v", "value"},
    {"qs", "query"},
    {"ks", "key"},
    {"vs", "value"},
    {"qk", "query key"},
    {"kv", "key value"},
    {"qkv", "query key value"},
    {"q k v", "query key value"},
    {"wq", "query matrix"},
    {"wk", "key matrix"},
    {"wv", "value matrix"},
    {"w q", "query matrix"},
    {"w k", "key matrix"},
    {"w v", "value matrix"},
    {"wo", "output projection"},
    {"w o", "output projection"},
    {"w_o", "output projection"},
    {"o proj", "output projection"},
    {"c proj", "output projection"},
    {"out proj", "output projection"},
    {"output linear", "output projection"},
    {"dk", "head width"},
    {"d k", "head width"},
    {"dv", "head width"},
    {"head dim", "head width"},
    {"head dimension", "head width"},
    {"head size", "head width"},
    {"dmodel", "embed dim"},
    {"d model", "embed dim"},
    {"hidden size", "embed dim"},
    {"embedding dimension", "embed dim"},
    {"embedding dim", "embed dim"},
    {"embedding size", "embed dim"},
    {"model dimension", "embed dim"},
    {"n heads", "num heads"},
    {"number of heads", "num heads"},
    {"nhead", "num heads"},
    {"attn", "attention"},
    {"att", "attention"},
    {"attentions", "attention"},
    // masks
    {"look ahead", "causal"},
    {"lookahead", "causal"},
    {"autoregressive", "causal"},
    {"auto regressive", "causal"},
    {"unidirectional", "causal"},
    {"subsequent mask", "causal mask"},
    {"future mask", "causal mask"},
    {"pad", "padding"},
    {"pads", "padding"},
    {"padded", "padding"},
    {"kpm", "key padding mask"},
    {"inf", "infinity"},
    {"neginf", "infinity"},
    {"infinite", "infinity"},
    {"1e9", "infinity"},
    {"nans", "nan"},
    {"not a number", "nan"},
    {"bool", "boolean"},
    {"booleans", "boolean"},
    // kinds of attention
    {"mha", "multi head attention"},
    {"multihead", "multi head"},
    {"multiheaded", "multi head"},
    {"multi headed", "multi head"},
    {"multiheadattention", "multi head attention"},
    {"gqa", "grouped query"},
    {"group query", "grouped query"},
    {"mqa", "multi query"},
    {"multiquery", "multi query"},
    {"sdpa", "scaled dot product"},
    {"crossattention", "cross attention"},
    {"xattn", "cross attention"},
    {"encoder decoder attention", "cross attention"},
    {"selfattention", "self attention"},
    {"swa", "sliding window"},
    {"local attention", "sliding window"},
    {"flashattention", "flash attention"},
    // positions
    {"rope", "rotary"},
    {"rotaries", "rotary"},
    {"rotational", "rotary"},
    {"positional", "position"},
    {"pos", "position"},
    // words and pieces
    {"bos", "special token"},
    {"eos", "special token"},
    {"wordpiece", "subword"},
    {"bpe", "subword"},
    {"byte pair", "subword"},
    {"sentencepiece", "subword"},
    {"sub word", "subword"},
    {"vocab", "vocabulary"},
    {"tokenization", "tokenizer"},
    {"tokenisation", "tokenizer"},
    {"tokenizing", "tokenizer"},
    {"tokenize", "tokenizer"},
    {"tokenise", "tokenizer"},
    {"tokeniser", "tokenizer"},
    {"tokenized", "tokenizer"},
    {"out of vocabulary", "unk"},
    {"oov", "unk"},
    // how one asks
    {"e g", ""},
    {"i e", ""},
    {"difference between", ""},
    {"differences between", ""},
    {"comes first", "order"},
    {"came first", "order"},
    {"pytorch code", "program"},
    {"python code", "program"},
    {"source code", "program"},
    {"minus infinity", "infinity"},
    {"negative infinity", "infinity"},
    {"zero", "0"},
    {"zeros", "0"},
    {"two", "2"},
    {"three", "3"},
    {"four", "4"},
    {"eight", "8"},
    // what one does
    {"turn off", "mute"},
    {"switch off", "mute"},
    {"knock out", "mute"},
    {"leave out", "without"},
    {"backward pass", "gradient"},
    {"backwards pass", "gradient"},
    {"training mode", "training"},
    {"train mode", "training"},
    {"refer to", "referent"},
    {"refers to", "referent"},
    {"add up", "sum"},
    {"adds up", "sum"},
    {"one hot", "saturate"},
    {"batch first", "batchfirst"},
    {"heatmap", "map"},
    {"heatmaps", "map"},
    {"heat map", "map"},
    {"heat maps", "map"},
    {"hot keys", "shortcut"},
    {"attention matrix", "attention map"},
    {"attention matrices", "attention map"},
    {"pretrained", "trained"},
    {"pre trained", "trained"},
    {"builtin", "built"},
    {"trace back", "depend"},
    {"comes from", "depend"},
    {"come from", "depend"},
    {"stack", "concat"},
    {"stacking", "concat"},
    {"stacked", "concat"},
    {"next word", "prediction"},
    {"next token", "prediction"},
    {"next words", "prediction"},
    {"next tokens", "prediction"},
    {"predicted", "prediction"},
    {"predicts", "prediction"},
    {"predict", "prediction"},
    {"predictions", "prediction"},
    // other names for the same
    {"next to each", "side"},
    {"numeric values", "number"},
    {"numerical values", "number"},
    {"raw values", "number"},
    {"exact values", "number"},
    {"air gapped", "offline"},
    {"internet connection", "offline"},
    {"no internet", "offline"},
    {"without internet", "offline"},
    {"on premise", "offline"},
    {"head to head", "compare"},
    {"seq len", "sequence length"},
    {"seq length", "sequence length"},
    {"seqlen", "sequence length"},
    {"max len", "sequence length"},
    {"context length", "sequence length"},
    {"context window", "sequence length"},
    {"batch size", "batch"},
    {"out projection", "output projection"},
    {"final projection", "output projection"},
    {"last projection", "output projection"},
    {"past key values", "key value cache"},
    {"use cache", "key value cache"},
    {"image patches", "patch"},
    {"word vectors", "embedding"},
    {"word vector", "embedding"},
    {"position embedding", "position encoding"},
    {"position embeddings", "position encoding"},
    {"pos emb", "position encoding"},
    {"pos encoding", "position encoding"},
    {"positional embedding", "position encoding"},
    {"positional embeddings", "position encoding"},
    {"sinusoidal", "position sine"},
    {"sentence piece", "subword"},
    {"word piece", "subword"},
    {"self attn", "self attention"},
    {"cross attn", "cross attention"},
    {"flash attn", "flash attention"},
    {"flashattn", "flash attention"},
    {"tril", "causal triangle"},
    {"triu", "causal triangle"},
    {"ln", "layer norm"},
    {"rmsnorm", "rms norm"},
    {"qknorm", "qk norm"},
    {"vit", "vision transformer"},
    {"fullscreen", "full screen"},
    {"ctrl z", "undo"},
    // arithmetic
    {"square root", "sqrt"},
    {"sqrt", "sqrt"},
    {"root", "sqrt"},
    {"soft max", "softmax"},
    {"dot products", "dot product"},
    {"matmul", "product"},
    {"multiplication", "product"},
    {"stddev", "deviation"},
    {"variance", "deviation"},
    {"concatenation", "concat"},
    {"concatenate", "concat"},
    {"concatenated", "concat"},
    {"concatenating", "concat"},
    {"concats", "concat"},
    {"torch cat", "concat"},
    {"torch concat", "concat"},
    {"tf concat", "concat"},
    {"look up", "lookup"},
    {"looks up", "lookup"},
    {"grads", "gradient"},
    {"grad", "gradient"},
    {"backprop", "gradient backward"},
    {"backpropagation", "gradient backward"},
    {"dims", "dimension"},
    {"dim", "dimension"},
    {"params", "parameter"},
    {"param", "parameter"},
    {"coreference", "referent"},
    {"layernorm", "layer norm"},
    {"layer normalisation", "layer norm"},
    {"layer normalization", "layer norm"},
    {"skip connection", "residual"},
    {"shortcut connection", "residual"},
    {"ffn", "mlp"},
    {"feed forward", "mlp"},
    {"feedforward", "mlp"},
    {"color", "colour"},
    {"colors", "colour"},
    {"colored", "colour"},
    {"gpt2", "gpt"},
    {"llama2", "llama"},
    {"llama3", "llama"},
    {"pytorchs", "pytorch"},
    {"torch", "pytorch"},
    {"hf", "huggingface"},
    {"hugging face", "huggingface"},
});

const std::map<std::string_view, std::vector<const Same*>>& names_by_first_word() {
  static const auto by_first = [] {
    std::map<std::string_view, std::vector<const Same*>> names;
    for (const Same& same : same_names) names[same.said.substr(0, same.said.find(' '))].push_back(&same);
    return names;
  }();
  return by_first;
}

// Returns how many words `said` has if `words` begins with them, else 0.
std::size_t begins_with(std::span<const std::string_view> words, std::string_view said) {
  std::size_t count = 0;
  while (true) {
    const std::size_t end = std::min(said.find(' '), said.size());
    if (count == words.size() || words[count] != said.substr(0, end)) return 0;
    ++count;
    if (end == said.size()) return count;
    said.remove_prefix(end + 1);
  }
}

}  // namespace

SameName same_name(std::span<const std::string_view> words) {
  SameName found;
  std::string_view name;
  if (words.empty()) return found;
  const auto candidates = names_by_first_word().find(words.front());
  if (candidates == names_by_first_word().end()) return found;
  for (const Same* same : candidates->second) {
    const std::size_t count = begins_with(words, same->said);
    if (count > found.words) found.words = count, name = same->name;
  }
  while (!name.empty()) {
    const std::size_t end = std::min(name.find(' '), name.size());
    found.names.push_back(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return found;
}

}  // namespace headwise
