// The transformer around attention: it gives any layer of a model its true input, and carries its output on
// to the tokens that the model predicts. BERT-like, GPT-2-like and Llama-like models, GPT-NeoX, OPT and BLOOM
// (Devlin et al. 2018; Radford et al. 2019; Touvron et al. 2023; Black et al. 2022; Zhang et al. 2022; Le
// Scao et al. 2022), as computed by Hugging Face's transformers without dropout, and the models that
// core/train trains; all in f32.
//
//   ids ─► embeddings ─► block 0 ─► … ─► block num_layers−1 ─► final norm ─► last_hidden ─► logits
//                         └ attention of layer 0: layer_inputs[0] ─► attn_weights[0], output
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/model/tokenizer/tokenizer_vocabulary.h"
#include "core/model/transformer/patch_embeddings.h"
#include "core/model/transformer/transformer_block.h"

namespace headwise {

// The input of the first block: the embedding of each token, of its position, of its part of the text.

class TokenEmbeddings {
 public:
  // Throws Error(input) for arrays that are missing or have the wrong shape. Reads nothing large.
  TokenEmbeddings(const TransformerConfig& config, std::shared_ptr<const ModelFiles> files,
                  const std::shared_ptr<WeightShare>& share);

  // (L,E): token + position + token type 0, then the norm if the family has one, then the projection if the
  // embeddings have a width of their own, W (config.word_width); OPT projects the tokens before it adds
  // positions. Sinusoidal positions alternate sin and cos, "Attention Is All You Need", 3.5. Ids must be in
  // the vocabulary, L at most max_positions.
  Rows rows(std::span<const TokenId> ids) const;
  // The token embeddings (V,W).
  const std::shared_ptr<const WeightRows>& words() const { return words_; }

 private:
  TransformerConfig config_;
  std::shared_ptr<const WeightRows> words_, positions_;  // positions: null if they are not learned
  TensorPtr token_type_;                                 // (1,W); null: none
  std::optional<Normalisation> norm_;
  std::optional<TransformerLinear> first_projection_, projection_;  // W → E
};

// From the last hidden states to a logit per token of the vocabulary.

class LmHead {
 public:
  // `words` (V,W) is the decoder if the model ties it to the embeddings: as given by tie_word_embeddings in
  // config.json, else its own decoder if the file has one, else the default of the family. Throws
  // Error(input) if the model has no head (a base model),
  // or an array of it is missing or has the wrong shape.
  static std::unique_ptr<const LmHead> open(const TransformerConfig& config,
                                            const std::shared_ptr<const ModelFiles>& files,
                                            const std::shared_ptr<WeightShare>& share,
                                            const std::shared_ptr<const WeightRows>& words);

  // (L,E) → (L,V), with a second decoder (2,E) → (1,V); a dense layer or OPT's projection before the decoder
  // maps to its width W.
  Rows logits(const Rows& last_hidden) const;

 private:
  Activation activation_ = Activation::gelu;
  std::optional<TransformerLinear> dense_;
  std::optional<Normalisation> norm_;  // nullopt: `dense_` is a projection, without activation
  Rows decoded(const Rows& x, const WeightRows& decoder, const TensorPtr& bias) const;

  std::shared_ptr<const WeightRows> decoder_, second_decoder_;  // the second is null in most models
  TensorPtr bias_, second_bias_;                                // (V); null: none
  double factor_ = 1.0, cap_ = 0.0;                             // of the logits; 0: no cap
};

// Immutable once created: its functions may be called by several threads at once. Weights that it does not
// keep are read again each time. All functions check the caller's cancellation (core/tensor/cancellation.h)
// between layers and within products, and report progress (core/tensor/progress.h). They throw
// Error(cancelled), Error(memory), and Error(input) if a file can no longer be read.
class Transformer {
 public:
  // Throws Error(input), one sentence: what in the arrays or in config.json is missing or not computed here;
  // if only later blocks or the head are incomplete, it opens as far as possible. Layers are those of
  // find_attention_layers: layer l of the transformer is layers.layers[first_layer() + l]. kept_bytes: how
  // many bytes of weights may be kept; nullopt: a quarter of the free memory.
  static std::shared_ptr<const Transformer> open(std::shared_ptr<const ModelFiles> files,
                                                 const AttentionLayers& layers,
                                                 std::optional<Index> kept_bytes = std::nullopt);

  // num_layers counts the available blocks: if an array of block 5 is missing, the five before it.
  const TransformerConfig& config() const { return config_; }
  // The place of block 0's layer among those of the files; not 0 if a decoder's come first (T5).
  Index first_layer() const { return first_layer_; }
  // Why the model predicts no tokens, a sentence: it has no head,
  // or an array of it or of a block is missing; empty if it does.
  const std::string& no_words() const { return no_words_; }

  struct Pass {  // of one text, L tokens; of a picture it has no ids
    std::vector<TokenId> ids;
    std::vector<TensorPtr> hidden_states;  // layers+1 of (1,L,E): [0] the embeddings, [l+1] after block l
    std::vector<TensorPtr> layer_inputs;   // layers of (1,L,E): the input of the attention of layer l
    std::vector<TensorPtr> attn_weights;   // layers of (1,H,L,S), S = L; empty if not requested
    TensorPtr last_hidden;                 // (1,L,E) after the final norm; null if layers are left out
  };
  struct RunOptions {
    bool keep_weights = false;
    Index layers = -1;  // number of blocks to run, from the first; −1: all
    // [layer][head]: factor of the head's output; empty: all 1
    std::vector<std::vector<double>> head_gains = {};
  };
  // Throws Error(input) for ids that are not in the vocabulary and for more than max_positions of them.
  Pass run(std::span<const TokenId> ids, const RunOptions& options) const;
  Pass run(std::span<const TokenId> ids) const { return run(ids, RunOptions{}); }
  // Of pixel_values (C,H,W); config() has patches. Throws Error(input) for a model of texts, or another size.
  Pass run(const Tensor& pixel_values, const RunOptions& options) const;

  // The input of the attention of `layer` for a given input of its block, hidden_states[layer]: (1,L,E)
  // → (1,L,E).
  TensorPtr layer_input(Index layer, const Tensor& hidden_state) const;

  // The maps of `layer` alone: its input (1,L,E) → attn_weights (1,H,L,S), S = L.
  TensorPtr attn_weights(Index layer, const Tensor& layer_input) const;

  // The attention of `layer` alone: (1,L,E) → (1,L,E), PyTorch's attn_output. head_gains: one per head,
  // or none.
  TensorPtr attention_output(Index layer, const Tensor& layer_input,
                             std::span<const double> head_gains = {}) const;

  // The rest of the model if the attention of `layer` had the output `attention_output` (1,L,E), f32 or f64,
  // instead of its own: last_hidden. hidden_state is hidden_states[layer]; a pass must hold it.
  TensorPtr continue_from(const Tensor& hidden_state, Index layer, const Tensor& attention_output) const;
  TensorPtr continue_from(const Pass& pass, Index layer, const Tensor& attention_output) const {
    return continue_from(*pass.hidden_states.at(static_cast<std::size_t>(layer)), layer, attention_output);
  }

  // How many rows of logits a text or picture of L tokens has: L; of a picture 1, its classes.
  Index logit_rows(Index tokens) const { return config_.patches ? std::min<Index>(tokens, 1) : tokens; }
  // Rows [first_row, first_row + rows) of last_hidden (1,L,E) → (rows,V), below logit_rows(L). Throws
  // Error(input) with no_words().
  TensorPtr logits(const Tensor& last_hidden, Index first_row, Index rows) const;

 private:
  Transformer(TransformerConfig config, std::shared_ptr<const ModelFiles> files,
              std::vector<AttentionLayer> layers, std::shared_ptr<WeightShare> share,
              const std::string& missing);
  std::shared_ptr<const TransformerBlock> block(Index layer) const;
  TensorPtr finished(const Rows& x) const;
  void check_ids(std::span<const TokenId> ids) const;
  Pass run_rows(Rows x, const RunOptions& options) const;
  Index layers_to_run(const RunOptions& options) const;
  void require_memory_for(Index length, Index layers, bool weights) const;

  TransformerConfig config_;
  std::shared_ptr<const ModelFiles> files_;
  std::vector<AttentionLayer> layers_;
  Index first_layer_ = 0;
  std::shared_ptr<WeightShare> share_;
  std::optional<TokenEmbeddings> embeddings_;  // one of these two
  std::optional<PatchEmbeddings> patches_;
  std::optional<Normalisation> final_norm_;
  std::string no_words_;
  std::unique_ptr<const LmHead> head_;  // null: no_words_ says why
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const TransformerBlock>> blocks_;  // null: not kept
};

}  // namespace headwise
