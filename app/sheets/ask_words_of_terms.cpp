// The words by which people ask for a term of the glossary.
#include <array>

#include "app/sheets/ask_words.h"

namespace headwise {
namespace {

constexpr auto of_terms = std::to_array<AskWords>({
    {"Glossary: Glossary", "definitions terms vocabulary words meaning jargon abbreviations"},
    {"Glossary: ALiBi", "linear biases slope distance penalty position bloom mpt falcon"},
    {"Glossary: Attention",
     "what is attention definition basics mechanism explained simply weighted average context"},
    {"Glossary: Attention sink",
     "first token gets so much attention bos streaming llm garbage head does nothing no-op null attends to "
     "separator "
     "start column bright"},
    {"Glossary: Attention weights",
     "probabilities attention map matrix heatmap pattern alpha coefficients scores after softmax"},
    {"Glossary: Batch", "batch size several sentences at once minibatch first dimension"},
    {"Glossary: Bias", "offset intercept bias false term b_q additive"},
    {"Glossary: Causal mask",
     "look ahead autoregressive subsequent triangular tril future later tokens gpt cannot see decoder mask "
     "unidirectional "
     "left to right cheat"},
    {"Glossary: CLS", "classification token first sentence embedding pooling summary"},
    {"Glossary: Concatenation", "torch.cat join merge side by side stack heads order of heads"},
    {"Glossary: Cross-attention",
     "encoder decoder attention two sequences translation image text memory key from other sequence seq2seq "
     "multimodal"},
    {"Glossary: Decoder",
     "gpt llama causal language model autoregressive generate text generation next token chatgpt"},
    {"Glossary: Dot product", "similarity inner product cosine multiply two vectors compare"},
    {"Glossary: Dropout", "training eval mode p random zero regularisation rows do not sum to one"},
    {"Glossary: Embedding", "word vector lookup table representation nn.Embedding row of numbers word2vec"},
    {"Glossary: Encoder", "bert bidirectional both directions no causal mask unmasked"},
    {"Glossary: Entropy",
     "how spread focused diffuse sharp peaked uniform concentrated measure bits nats evenly"},
    {"Glossary: Feed-forward layer",
     "mlp ffn dense gelu relu swiglu hidden layer after attention position-wise"},
    {"Glossary: Flash attention",
     "fused kernel sdpa memory efficient no attention weights returned tiling online softmax xformers "
     "output_attentions "
     "cudnn"},
    {"Glossary: Gradient", "backprop backward derivative chain rule descent learning vanishing"},
    {"Glossary: Grouped-query attention (GQA)",
     "gqa num_key_value_heads shared keys values llama mistral fewer kv heads"},
    {"Glossary: Head", "what is an attention head single head of attention parallel why several"},
    {"Glossary: Head width", "d_k dk head_dim head size head dimension columns per head 64 512/8"},
    {"Glossary: Hidden state",
     "activations layer output representation contextual embedding last_hidden_state"},
    {"Glossary: Induction head",
     "copy repeat pattern in-context learning previous token head circuit emerge"},
    {"Glossary: Key", "what is a key k vector"},
    {"Glossary: KV cache",
     "past_key_values use_cache generation inference decoding incremental cached uncached reuse earlier "
     "tokens why keys "
     "and values not queries memory size gigabytes autoregressive speed up prefill"},
    {"Glossary: Layer", "block stack depth number of layers transformer layer"},
    {"Glossary: Layer norm", "layernorm rmsnorm normalisation pre-norm post-norm batch norm"},
    {"Glossary: Logits", "unnormalised scores vocabulary before softmax prediction next token lm_head"},
    {"Glossary: Loss", "cross entropy error training objective how wrong"},
    {"Glossary: Mask", "masking what is a mask attn_mask block hide minus infinity"},
    {"Glossary: Masked language model", "mlm mask token bert pretraining fill in the blank cloze"},
    {"Glossary: Multi-head attention (MHA)",
     "several heads parallel nn.MultiheadAttention why more than one head"},
    {"Glossary: Multi-query attention (MQA)", "mqa one key value head shared all falcon palm"},
    {"Glossary: Output projection (W_O)",
     "out_proj o_proj c_proj final last linear dense layer after concat mix combine heads fourth matrix"},
    {"Glossary: PAD and padding",
     "padding token different lengths batch fill up valid length attention_mask collate"},
    {"Glossary: Parameters", "learned weights trainable number of parameters count"},
    {"Glossary: Patch",
     "image patches as tokens picture pixels vit vision transformer qwen-vl multimodal 16x16"},
    {"Glossary: Perplexity", "language model quality uncertainty exp cross entropy ppl"},
    {"Glossary: Positional encoding",
     "position embedding sinusoidal sine cosine learned order of words where is token absolute relative"},
    {"Glossary: Projection", "linear layer matrix multiply nn.Linear map dense"},
    {"Glossary: QK norm",
     "q_norm k_norm qk-norm query key normalisation rmsnorm before or after rope qwen3 gemma3 olmo2"},
    {"Glossary: Query", "what is a query q vector looks for"},
    {"Glossary: Query, key and value",
     "qkv difference analogy library search engine intuition what do they stand for"},
    {"Glossary: Residual connection", "skip connection shortcut add residual stream x plus"},
    {"Glossary: RoPE (rotary positions)",
     "rotary position embedding rotate half interleaved neighbours pairs relative llama rope_theta "
     "apply_rotary_pos_emb"},
    {"Glossary: Scale", "scaling factor sqrt d_k divide temperature"},
    {"Glossary: Scaled dot-product attention (SDPA)",
     "sdpa formula equation softmax(QK^T/sqrt(d_k))V attention formula definition without projections"},
    {"Glossary: Score", "raw attention qk similarity energy logits before softmax"},
    {"Glossary: Self-attention", "same sequence attends to itself intra"},
    {"Glossary: SEP", "separator token end of sentence two sentences"},
    {"Glossary: Sequence length",
     "context length window max number of tokens long quadratic complexity cost L S seq_len max_len"},
    {"Glossary: Sliding window",
     "local attention window size w longformer mistral gemma includes itself nearest tokens sparse"},
    {"Glossary: Softcap", "logit soft cap capping tanh gemma limit scores"},
    {"Glossary: Softmax", "exp normalise probabilities sum to one formula overflow distribution"},
    {"Glossary: Special tokens", "bos eos start end of text endoftext mask cls sep control token"},
    {"Glossary: Subword",
     "bpe wordpiece sentencepiece unigram word split into pieces fragments ## hash Ġ rare long word token "
     "tokeniser"},
    {"Glossary: Temperature", "sharp flat peaked even randomness softmax temperature sampling"},
    {"Glossary: Tensor", "array vector matrix ndarray dimensions axes shape rank"},
    {"Glossary: Token", "tokeniser tokenisation word piece unit image patch split text input_ids encoding"},
    {"Glossary: Transformer", "attention is all you need paper 2017 vaswani architecture block"},
    {"Glossary: UNK", "unknown word missing from vocabulary out of vocabulary"},
    {"Glossary: Value", "what is a value v vector passes on content information"},
    {"Glossary: Vocabulary", "number of words known list of tokens vocab size dictionary"},
    {"Glossary: Weight matrix", "learned matrix parameter w_q nn.Linear weight versus attention weights"},
});

}  // namespace

std::span<const AskWords> ask_words_of_terms() {
  return of_terms;
}

}  // namespace headwise
