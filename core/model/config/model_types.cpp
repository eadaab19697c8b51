#include "core/model/config/model_types.h"

#include <algorithm>
#include <array>

#include "core/model/config/model_type_tables.h"

namespace headwise {
namespace {

constexpr std::array<std::string_view, 59> composites{"aimv2",
                                                      "align",
                                                      "altclip",
                                                      "aria",
                                                      "audioflamingo3",
                                                      "aya_vision",
                                                      "blip-2",
                                                      "chinese_clip",
                                                      "clap",
                                                      "clip",
                                                      "deepseek_vl",
                                                      "encoder-decoder",
                                                      "fast_vlm",
                                                      "flava",
                                                      "florence2",
                                                      "gemma3",
                                                      "glm4v_moe",
                                                      "got_ocr2",
                                                      "idefics2",
                                                      "idefics3",
                                                      "instructblip",
                                                      "instructblipvideo",
                                                      "internvl",
                                                      "janus",
                                                      "kosmos-2",
                                                      "kosmos-2.5",
                                                      "lighton_ocr",
                                                      "llava",
                                                      "llava_next",
                                                      "llava_next_video",
                                                      "llava_onevision",
                                                      "metaclip_2",
                                                      "mistral3",
                                                      "mllama",
                                                      "modernvbert",
                                                      "musicgen",
                                                      "musicgen_melody",
                                                      "ovis2",
                                                      "owlv2",
                                                      "owlvit",
                                                      "paddleocr_vl",
                                                      "perception_lm",
                                                      "phi4_multimodal",
                                                      "qwen2_5_omni_thinker",
                                                      "qwen2_5_vl",
                                                      "qwen2_audio",
                                                      "qwen2_vl",
                                                      "shieldgemma2",
                                                      "siglip",
                                                      "siglip2",
                                                      "smolvlm",
                                                      "speech-encoder-decoder",
                                                      "tipsv2",
                                                      "video_llama_3",
                                                      "video_llava",
                                                      "vipllava",
                                                      "vision-encoder-decoder",
                                                      "vision-text-dual-encoder",
                                                      "voxtral"};

}  // namespace

const ModelType* find_model_type(std::string_view name) {
  for (const std::span<const ModelType> types : {encoder_types(), decoder_types()})
    if (const auto at = std::ranges::find(types, name, &ModelType::name); at != types.end()) return &*at;
  return nullptr;
}

bool is_composite_type(std::string_view name) {
  return std::ranges::find(composites, name) != composites.end();
}

}  // namespace headwise
