#include "core/model/model_types.h"

#include <algorithm>
#include <array>

namespace headwise {
namespace {

using enum Sees;
using enum InnerPositions;
using namespace reads;

constexpr unsigned llama = rope, windowed = rope | window, bert = reads::is_decoder | position_type;

constexpr std::array types{
    // Encoders, and vision models, that see every token.
    ModelType{.name = "align_text_model", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "altclip_text_model", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "altclip_vision_model", .sees = all_tokens},
    ModelType{.name = "audio-spectrogram-transformer", .sees = all_tokens},
    ModelType{.name = "beit", .sees = all_tokens},
    ModelType{.name = "bert", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "bert-generation", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "bridgetower_text_model", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "camembert", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "chinese_clip_text_model", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "chinese_clip_vision_model", .sees = all_tokens},
    ModelType{.name = "clap_text_model", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "clip_vision_model", .sees = all_tokens, .usual_heads = 12},
    ModelType{.name = "clipseg_vision_model", .sees = all_tokens},
    ModelType{.name = "data2vec-text", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "data2vec-vision", .sees = all_tokens},
    ModelType{.name = "deit", .sees = all_tokens},
    ModelType{.name = "dinov2", .sees = all_tokens},
    ModelType{.name = "dinov2_with_registers", .sees = all_tokens},
    ModelType{.name = "distilbert", .sees = all_tokens},
    ModelType{.name = "dpr", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "dpt", .sees = all_tokens},
    ModelType{.name = "electra", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "ernie", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "esm", .sees = past_if_is_decoder, .positions = as_position_type, .reads = bert | rope},
    ModelType{.name = "flava_image_model", .sees = all_tokens},
    ModelType{.name = "flava_multimodal_model", .sees = all_tokens},
    ModelType{.name = "flava_text_model", .sees = all_tokens},
    ModelType{.name = "git_vision_model", .sees = all_tokens},
    ModelType{.name = "idefics2_vision", .sees = all_tokens},
    ModelType{.name = "idefics3_vision", .sees = all_tokens},
    ModelType{.name = "ijepa", .sees = all_tokens},
    ModelType{.name = "kosmos_2_vision_model", .sees = all_tokens},
    ModelType{.name = "layoutlm", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "markuplm", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "megatron-bert", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "metaclip_2_vision_model", .sees = all_tokens},
    ModelType{.name = "owlv2_vision_model", .sees = all_tokens},
    ModelType{.name = "owlvit_vision_model", .sees = all_tokens},
    ModelType{.name = "pixio", .sees = all_tokens},
    ModelType{.name = "roberta", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "roberta-prelayernorm", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "siglip_text_model", .sees = all_tokens, .usual_heads = 12},
    ModelType{.name = "siglip_vision_model", .sees = all_tokens, .usual_heads = 12},
    ModelType{.name = "vit", .sees = all_tokens},
    ModelType{.name = "vit_mae", .sees = all_tokens},
    ModelType{.name = "vit_msn", .sees = all_tokens},
    ModelType{.name = "xlm-roberta", .sees = past_if_is_decoder, .reads = bert},
    ModelType{.name = "yolos", .sees = all_tokens},
    // An encoder and a decoder.
    ModelType{.name = "bart", .sees = past_in_decoder},
    ModelType{.name = "blenderbot", .sees = past_in_decoder},
    ModelType{.name = "blenderbot-small", .sees = past_in_decoder},
    ModelType{.name = "m2m_100", .sees = past_in_decoder},
    ModelType{.name = "marian", .sees = past_in_decoder},
    ModelType{.name = "mbart", .sees = past_in_decoder},
    ModelType{.name = "mt5", .sees = past_in_decoder, .positions = relative},
    ModelType{.name = "pegasus", .sees = past_in_decoder},
    ModelType{.name = "plbart", .sees = past_in_decoder},
    ModelType{.name = "speech_to_text", .sees = past_in_decoder},
    ModelType{.name = "t5", .sees = past_in_decoder, .positions = relative},
    ModelType{.name = "umt5", .sees = past_in_decoder, .positions = relative},
    ModelType{.name = "whisper", .sees = past_in_decoder},
    // Decoders without positions inside of attention.
    ModelType{.name = "biogpt"},
    ModelType{.name = "clip_text_model", .usual_heads = 8},
    ModelType{.name = "clipseg_text_model"},
    ModelType{.name = "gpt2", .reads = gpt2_scale},
    ModelType{.name = "gpt_bigcode", .reads = gpt2_scale | multi_query},
    ModelType{.name = "imagegpt", .reads = gpt2_scale},
    ModelType{.name = "metaclip_2_text_model"},
    ModelType{.name = "openai-gpt"},
    ModelType{.name = "opt"},
    ModelType{.name = "owlv2_text_model"},
    ModelType{.name = "owlvit_text_model"},
    ModelType{.name = "trocr"},
    ModelType{.name = "xglm"},
    // Decoders with positions inside of attention.
    ModelType{.name = "arcee", .positions = rotary, .reads = llama},
    ModelType{.name = "aria_text", .positions = rotary, .reads = llama},
    ModelType{.name = "bloom", .positions = alibi},
    ModelType{.name = "cohere", .positions = rotary_neighbours, .reads = llama},
    ModelType{.name = "cohere2", .positions = rotary_neighbours, .reads = windowed},
    ModelType{.name = "csm_depth_decoder_model", .positions = rotary, .reads = llama},
    ModelType{.name = "emu3_text_model", .positions = rotary, .reads = llama},
    ModelType{.name = "falcon", .positions = alibi_or_rotary, .reads = llama | reads::falcon},
    ModelType{.name = "gemma", .positions = rotary, .reads = llama, .usual_heads = 16, .usual_kv_heads = 16},
    ModelType{.name = "gemma2",
              .positions = rotary,
              .reads = windowed | window_by_default | query_scalar | softcap,
              .usual_heads = 8,
              .usual_kv_heads = 4},
    ModelType{.name = "gemma3_text", .positions = rotary, .reads = windowed | query_scalar | softcap},
    ModelType{.name = "glm", .positions = rotary_neighbours, .reads = llama | partial_rope},
    ModelType{.name = "glm4", .positions = rotary_neighbours, .reads = llama | partial_rope},
    ModelType{.name = "gpt_neox", .positions = rotary, .reads = llama | partial_rope},
    ModelType{.name = "gpt_oss", .positions = rotary, .reads = windowed},
    ModelType{.name = "granite", .positions = rotary, .reads = llama | multiplier},
    ModelType{.name = "granitemoe", .positions = rotary, .reads = llama | multiplier},
    ModelType{.name = "granitemoeshared", .positions = rotary, .reads = llama | multiplier},
    ModelType{.name = "helium", .positions = rotary_neighbours, .reads = llama},
    ModelType{.name = "hyperclovax", .positions = rotary, .reads = llama | multiplier},
    ModelType{.name = "internlm3", .positions = rotary, .reads = llama},
    ModelType{.name = "jais2", .positions = rotary, .reads = llama},
    ModelType{.name = "llama", .positions = rotary, .reads = llama, .usual_heads = 32},
    ModelType{.name = "ministral", .positions = rotary, .reads = windowed},
    ModelType{.name = "mistral",
              .positions = rotary,
              .reads = windowed | window_by_default,
              .usual_heads = 32,
              .usual_kv_heads = 8},
    ModelType{.name = "mixtral", .positions = rotary, .reads = windowed},
    ModelType{.name = "nemotron", .positions = rotary, .reads = llama | partial_rope},
    ModelType{.name = "olmo", .positions = rotary, .reads = llama | clip},
    ModelType{.name = "olmo2", .positions = rotary, .reads = llama},
    ModelType{.name = "olmoe", .positions = rotary, .reads = llama | clip},
    ModelType{.name = "phi3", .positions = rotary, .reads = windowed | partial_rope},
    ModelType{.name = "phimoe", .positions = rotary, .reads = windowed},
    ModelType{.name = "qwen2",
              .positions = rotary,
              .reads = windowed | window_switch | window_by_default,
              .usual_heads = 32,
              .usual_kv_heads = 32},
    ModelType{
        .name = "qwen2_moe", .positions = rotary, .reads = windowed | window_switch | window_by_default},
    ModelType{.name = "qwen3", .positions = rotary, .reads = windowed | window_switch | window_by_default},
    ModelType{
        .name = "qwen3_moe", .positions = rotary, .reads = windowed | window_switch | window_by_default},
    ModelType{.name = "seed_oss", .positions = rotary, .reads = llama},
    ModelType{.name = "smollm3", .positions = rotary, .reads = windowed | window_switch | no_rope},
    ModelType{.name = "stablelm", .positions = rotary, .reads = llama | partial_rope},
    ModelType{.name = "starcoder2", .positions = rotary, .reads = windowed},
};

constexpr std::array<std::string_view, 10> composites{
    "chinese_clip", "clip",   "encoder-decoder", "gemma3",   "llava",
    "llava_next",   "siglip", "video_llava",     "vipllava", "vision-encoder-decoder"};

}  // namespace

const ModelType* find_model_type(std::string_view name) {
  const auto at = std::ranges::find(types, name, &ModelType::name);
  return at == types.end() ? nullptr : &*at;
}

bool is_composite_type(std::string_view name) {
  return std::ranges::find(composites, name) != composites.end();
}

}  // namespace headwise
