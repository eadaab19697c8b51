// The words by which people ask for a page of a lesson, beside the "keywords" of the lesson itself.
#include <array>

#include "app/sheets/ask_words.h"

namespace headwise {
namespace {

constexpr auto of_lessons = std::to_array<AskWords>({
    {"Lessons: Lesson: One word through the layer",
     "tutorial walkthrough introduction start beginner first time basics step by step course"},
    {"Lessons: Lesson: Questions learners ask",
     "faq test yourself practice answers common misunderstandings"},
    {"Lessons: Lesson: Break it",
     "experiments failure modes ablations what goes wrong common mistakes debugging"},
    {"Lessons: Lesson: How heads come to differ",
     "training learning why do the heads do different things who tells a head what to do training data "
     "specialise specialisation emerge watch it learn"},
    // How heads come to differ
    {"How heads come to differ: Before the first step",
     "untrained random weights initial at the beginning step 0"},
    {"How heads come to differ: First the nouns",
     "early training first steps loss falls what is learned first"},
    {"How heads come to differ: Two nouns, no adjective",
     "plateau stuck at 50 percent accuracy guessing baseline"},
    {"How heads come to differ: The word that decides",
     "coreference it refers to adjective head changes its job during training"},
    {"How heads come to differ: Two jobs, four heads",
     "division of labour roles share specialise do two heads do the same redundant"},
    {"How heads come to differ: The same beginning, other data",
     "training data decides dataset cause same seed induction head"},
    {"How heads come to differ: The same task, other random numbers",
     "seed luck chance different run retrain order of heads head number meaning"},
    {"How heads come to differ: All heads begin equal",
     "symmetry same initialisation identical weights zeros stay equal why random initialisation"},
    {"How heads come to differ: Equal except for W_O",
     "symmetry breaking gradient through output projection"},
    {"How heads come to differ: One wide head instead",
     "single head versus multi-head trained learns slower accuracy one big head 1x512 8x64"},
    // One word through the layer
    {"One word through the layer: Words become rows",
     "embedding tokens to vectors text into numbers input matrix"},
    {"One word through the layer: Three projections",
     "query key value made linear layers w_q w_k w_v what are q k v"},
    {"One word through the layer: The split into heads",
     "cut divide reshape columns per head where do heads come from"},
    {"One word through the layer: Scores: every query meets every key",
     "dot product q k transpose matrix multiply similarity example"},
    {"One word through the layer: Scale by 1/√D", "sqrt divide dk scaling step"},
    {"One word through the layer: The mask", "masking step blocked causal"},
    {"One word through the layer: Softmax: scores become weights",
     "probabilities normalise exp row example calculation"},
    {"One word through the layer: The weighted sum of values",
     "weights times v average output of a head context vector"},
    {"One word through the layer: Other heads look elsewhere",
     "different heads different patterns specialise"},
    {"One word through the layer: Concat: side by side again", "concatenate merge heads order of heads"},
    {"One word through the layer: The output projection", "w_o final linear layer mix"},
    {"One word through the layer: Now you", "try experiment yourself play around"},
    // Questions learners ask
    {"Questions learners ask: Is the embedding cut into heads, or the projection?",
     "where do heads come from separated into heads before or after the linear projection does each head get "
     "part of the "
     "embedding d_model 512 64 features per head only sees see portion subspace pieces at what point token "
     "vector "
     "word vector chunk chunks input split"},
    {"Questions learners ask: Three linear layers, or 3·h small ones?",
     "how many linear layers nn.Linear dense keras fused qkv c_attn single projection separate layers one "
     "per head ModuleList "
     "loop over heads equivalent cheaper faster combined 24 36 big matrix versus small matrices "
     "implementation"},
    {"Questions learners ask: Why does in_proj_weight have 3·embed_dim rows?",
     "3 times 1536 512 2304 768 x 256 size of the weight matrix dimensions 3E 3*d_model first dimension rows "
     "of W_q W_k W_v "
     "chunk slice order q k v in c_attn qkv.weight combined state_dict"},
    {"Questions learners ask: Why a fourth linear layer, W_O?",
     "after concatenation final dense layer o_proj c_proj out_proj.weight extra matrix is it necessary "
     "redundant could it be "
     "dropped removed role end of attention block communicate between heads"},
    {"Questions learners ask: Is one head of 128 the same as 8 of 16?",
     "single head versus multi-head single huge head large enough more heads gain why not just one how many "
     "heads should "
     "fewer heads better capacity expressive parameter count same cost 1x512 8x64 1 8 number of heads change "
     "parameters"},
    {"Questions learners ask: Does view alone split the heads?",
     "transpose(1, 2) why needed after view einops rearrange permute(0, 2, 1, 3) batch time heads dim order "
     "of axes silently "
     "wrong shape right B T C H L N D is it correct straight directly"},
    {"Questions learners ask: Why .contiguous() before the last view?",
     "non-contiguous is not compatible with input tensor's size and stride use reshape instead really need "
     "copy memory layout "
     "at least one dimension spans across two contiguous subspaces"},
    {"Questions learners ask: Why concatenate the heads instead of adding them?",
     "torch.cat average heads averaged mean pooled summed why not sum equals sum of heads stacked does the "
     "order of heads "
     "matter permutation of heads"},
    {"Questions learners ask: Why divide by √d_k, and why use the head's width?",
     "scaling factor 1/sqrt(d_k) 8 reason normalise dot product scores get huge big grow dimension variance "
     "unit too large "
     "vanishing gradients sharp peaky forgot without scaling sqrt(64) sqrt(512) head_dim or d_model"},
    {"Questions learners ask: Softmax over rows, or over columns?",
     "softmax(dim=-1) F.softmax dim=1 dim=2 dim=3 wrong axis last dimension columns sum to one normalised "
     "over keys or "
     "queries per query per key"},
    {"Questions learners ask: Does True in a mask keep, or block?",
     "flipped inverted opposite everything hidden mask 0 1 which value means ignore masked attend polarity "
     "~mask mask == 0 "
     "attention_mask huggingface real tokens padding tokens logical_not"},
    {"Questions learners ask: True in F.scaled_dot_product_attention: the same mask",
     "sdpa attn_mask bool convention flipped opposite of MultiheadAttention which value means allowed torch "
     "2.0"},
    {"Questions learners ask: Padding, causal, attn_mask: which is which?",
     "src_key_padding_mask memory_mask memory_key_padding_mask tgt_key_padding_mask attention_mask shapes "
     "combine both "
     "together combined types of masks nn.Transformer which one do i pass arguments different masks "
     "confused"},
    {"Questions learners ask: Are padded queries masked too?",
     "rows of padding nonsense what does a pad token attend to outputs at padded positions zeroed zero "
     "should i remove do "
     "they influence pooling loss mask both rows and columns query padding"},
    {"Questions learners ask: Why −∞ before the softmax, and not 0?",
     "float('-inf') -1e9 -10000 torch.finfo min large negative number instead of 0 masked score why infinity "
     "hide a key "
     "exp(0) is 1 leak fill value"},
    {"Questions learners ask: Why not multiply by 0 after the softmax?",
     "masking after the softmax wrong zero out weights multiply by mask renormalise divide again afterwards "
     "apply mask after "
     "before or after softmax sum less than one set attention weights to zero added not multiplied"},
    {"Questions learners ask: What if every key of a row is blocked?",
     "NaN nans loss becomes nan output is nan fully masked everything masked all -inf empty sequence only "
     "padding entire row "
     "left padding nan_to_num safe softmax"},
    {"Questions learners ask: Must a row sum to 1?",
     "sum is not 1 does not sum to one more than one less than one larger 1.11 attention weights row total "
     "dropout during "
     "training model.train() model.eval() probabilities"},
    {"Questions learners ask: Are the returned weights per head?",
     "average_attn_weights=False need_weights=True returns averaged over heads shape (N, L, S) where are the "
     "heads missing head "
     "dimension visualise each head separately extract get single head attn_output_weights None second "
     "output"},
    {"Questions learners ask: What does batch_first change?",
     "sequence first seq_len first batch second dimension order (L, N, E) (N, L, E) transpose inputs wrong "
     "dimension swapped "
     "silently trains badly default False lstm style"},
    {"Questions learners ask: What does causal mean when L ≠ S?",
     "cached decoding differs from uncached use_cache one new query many cached keys single query token "
     "is_causal with "
     "different lengths non-square mask tril diagonal offset top-left bottom-right alignment kv cache wrong "
     "mask past keys "
     "incremental flash attention 2.1"},
    {"Questions learners ask: Why both W_Q and W_K?",
     "merge W_q and W_k into one matrix redundant combine same weights for queries and keys share tie "
     "symmetric scores "
     "difference between query and key bilinear low rank"},
    {"Questions learners ask: Does attention know the order of words?",
     "shuffled words same output swap two words permutation equivariant set bag of words why positional "
     "encoding needed "
     "without position embeddings dog bites man"},
    {"Questions learners ask: Is a bright cell an important one?",
     "attention is not explanation feature importance interpret heatmaps trust high weight cause why the "
     "model decided "
     "saliency decisive relevance brightest darkest cell most important token visualisation misleading"},
    {"Questions learners ask: Grouped heads: interleave, or tile?",
     "gqa repeat_kv expand torch.repeat_interleave how are query heads mapped to kv heads assignment which "
     "query heads share "
     "group order 8 query heads 2 kv heads 32 8 llama num_key_value_heads"},
    {"Questions learners ask: What is a soft look-up?",
     "intuition behind query key value in plain words analogy library search engine dictionary python dict "
     "hash map hard "
     "attention argmax versus softmax retrieval database fuzzy difference between query and key"},
    {"Questions learners ask: Must num_heads divide embed_dim?",
     "embed_dim must be divisible by num_heads AssertionError d_model % h == 0 hidden size is not a multiple "
     "of the number of "
     "attention heads remainder 7 heads 12 heads 770 fails invalid choose number of heads"},
    {"Questions learners ask: What do bias_k and add_zero_attn append?",
     "add_bias_kv extra column in the attention map one more key than tokens S+1 appended row of zeros "
     "learned sink softmax1 "
     "quiet attention attend to nothing"},
    {"Questions learners ask: Spot the bug: K used as V",
     "find the mistake error in an attention implementation code review swapped key and value variable wrong "
     "no exception "
     "runs without error silently wrong debugging exercise overwritten q"},
    // Break it
    {"Break it: As it should be", "baseline normal all heads correct"},
    {"Break it: Without the scale",
     "no scaling forgot to divide sqrt removed saturated softmax one-hot collapse"},
    {"Break it: Without positions", "no positional encoding bag of words order lost"},
    {"Break it: A mask that leaks",
     "finite fill value -1 zero instead of minus infinity masked key still gets weight future leakage"},
    {"Break it: Every key blocked", "nan fully masked row all padding"},
    {"Break it: One infinite value behind the mask",
     "inf nan overflow fp16 half precision masked position spreads 0 times infinity"},
    {"Break it: Too hot", "high temperature uniform attention all weights equal 1/n flat average everything"},
    {"Break it: Too cold", "low temperature argmax one-hot hard attention sharp gradients vanish"},
    {"Break it: One key head for all",
     "multi-query mqa kv cache size bytes gigabytes memory sharing cost quality"},
    {"Break it: All heads muted", "no heads output bias only residual connection nothing left skip"},
    {"Break it: A frozen head", "fixed pattern keeps weights locked"},
    {"Break it: What comes through the values", "frozen pattern new values edit the text content"},
    {"Break it: Nine of ten weights dropped", "dropout 0.9 high training noise"},
});

}  // namespace

std::span<const AskWords> ask_words_of_lessons() {
  return of_lessons;
}

}  // namespace headwise
