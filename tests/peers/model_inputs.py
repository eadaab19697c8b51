"""Random inputs for a model whose family is not known: what its forward method asks for, in shapes that its configuration tells."""
import inspect

import torch

LENGTH, SECOND_LENGTH = 9, 7


def number(config, *names, otherwise=None):
    def of(part, name):
        try:
            return getattr(part, name, None)
        except Exception:  # a value that varies from layer to layer
            return None
    for part in (config, *(of(config, name) for name in ("vision_config", "audio_config", "text_config", "backbone_config"))):
        for name in names:
            value = of(part, name)
            if isinstance(value, (list, tuple)) and value and isinstance(value[0], int):
                value = value[0]
            if isinstance(value, int) and not isinstance(value, bool):
                return value
    return otherwise


def guesses(model):
    """Sets of arguments to try, one after the other, until one goes through."""
    config, generator = model.config, torch.Generator().manual_seed(7)
    asked = set(inspect.signature(model.forward).parameters)
    words = lambda length: torch.randint(8, 70, (1, length), generator=generator)
    normal = lambda *sizes: torch.randn(sizes, generator=generator)
    side, channels = number(config, "image_size", "img_size", otherwise=32), number(config, "num_channels", "in_channels", "in_chans", otherwise=3)
    text = {}
    if "input_ids" in asked:
        text["input_ids"] = words(LENGTH)
    if "decoder_input_ids" in asked and (getattr(config, "is_encoder_decoder", False) or "encoder_outputs" in asked):
        text["decoder_input_ids"] = words(SECOND_LENGTH)
    if text and getattr(config, "model_type", "") == "paligemma":  # a prompt, which is seen both ways, and an answer
        text["token_type_ids"] = torch.tensor([[0] * 5 + [1] * (LENGTH - 5)])
    if "entity_position_ids" in asked and text:  # two entities of two words
        spans = torch.full((1, 2, number(config, "max_mention_length", otherwise=30)), -1)
        spans[0, :, :2] = torch.tensor([[1, 2], [4, 5]])
        text |= {"entity_ids": torch.tensor([[1, 2]]), "entity_position_ids": spans}
    mels = number(config, "num_mel_bins", "input_feat_per_channel", "num_mels", "n_mels", "feature_size", otherwise=16)
    frames = 2 * number(config, "max_source_positions", otherwise=32)
    sets = []
    if getattr(config, "add_cross_attention", False) and "encoder_hidden_states" in asked and text:
        width = number(config, "cross_attention_hidden_size", "hidden_size", "d_model", "n_embd", otherwise=64)
        sets.append({**text, "encoder_hidden_states": normal(1, SECOND_LENGTH, width)})
    if text.get("input_ids") is not None:
        sets.append(dict(text))
    decoder = {k: v for k, v in text.items() if k.startswith("decoder")}
    if "hidden_states" in asked and "pixel_values" not in asked and "input_ids" not in asked:
        patch = number(config, "patch_size", otherwise=8)
        time = number(config, "temporal_patch_size", otherwise=2)
        for width in (channels * time * patch * patch, channels * patch * patch, number(config, "hidden_size", otherwise=64)):
            pixels = {"hidden_states": normal(16, width)}
            if "grid_thw" in asked:
                pixels["grid_thw"] = torch.tensor([[1, 4, 4]])
            sets.append(pixels)
        sets.append({"hidden_states": normal(1, LENGTH, number(config, "hidden_size", otherwise=64))})
    if "inputs_embeds" in asked:
        width = number(config, "hidden_size", "d_model", otherwise=64)
        sets.append({"inputs_embeds": normal(1, LENGTH, width)})
        sets.append({"inputs_embeds": normal(1, LENGTH, width), "input_ids": None})
    grid = next((n for n in ("grid_thw", "image_grid_thw") if n in asked), None)
    for name in ("pixel_values", "pixel_values_videos", "hidden_states", "images", "image"):
        if name not in asked:
            continue
        if grid:
            patch, time = number(config, "patch_size", otherwise=8), number(config, "temporal_patch_size", otherwise=2)
            for pixels in (normal(16, channels * time * patch * patch), normal(16, channels * patch * patch),
                           normal(16, channels, patch, patch), normal(1, 16, channels, patch, patch)):
                sets.append({name: pixels, grid: torch.tensor([[1, 4, 4]])})
        for size in dict.fromkeys((side, 32, 64, 224)):
            sets.append({name: normal(1, channels, size, size), **text})
            if text:
                sets.append({name: normal(1, channels, size, size)})
        frames_of_video = number(config, "num_frames", otherwise=2)
        sets.append({name: normal(1, frames_of_video, channels, side, side), **text})
    for name in ("input_features", "audio_features", "input_values"):
        if name not in asked:
            continue
        sets += [{name: x, **decoder} for x in (normal(1, mels, frames), normal(1, frames, mels), normal(1, 4000),
                                                normal(1, 1, 4000), normal(1, 1, frames, mels), normal(1, 1, 64, mels))]
    context = number(config, "context_length", "prediction_length", otherwise=None)
    if "past_values" in asked and context:
        length = context + max(getattr(config, "lags_sequence", None) or [0])
        targets = number(config, "input_size", "num_input_channels", otherwise=1)
        shape = (1, length) if targets == 1 else (1, length, targets)
        extra = {"past_time_features": normal(1, length, number(config, "num_time_features", otherwise=0) or 0),
                 "past_observed_mask": torch.ones(shape)} if "past_time_features" in asked else {}
        sets.append({"past_values": normal(*shape), **extra})
    if "encoder_hidden_states" in asked and text:
        sets.append({**text, "encoder_hidden_states": normal(1, SECOND_LENGTH, number(config, "cross_attention_hidden_size", "hidden_size", "d_model", otherwise=64))})
    extra = {"bbox": torch.zeros(1, LENGTH, 4, dtype=torch.long), "visual_feats": normal(1, 5, number(config, "visual_feat_dim", otherwise=64)),
             "visual_pos": torch.rand(1, 5, 4), "flattened_patches": normal(1, 9, 2 + 3 * 256)}
    for name in extra:
        if name in asked:
            sets = [{**s, name: extra[name]} for s in sets] + sets + [{name: extra[name], **text}]
    if not sets:
        sets = [{}]
    return [with_required({k: v for k, v in s.items() if k in asked and v is not None}, model.forward, config, normal) for s in sets]


def with_required(given, forward, config, normal):
    """`given` with a guess for every argument that has no default."""
    width = number(config, "hidden_size", "d_model", "embed_dim", otherwise=64)
    shapes = {"aspect_ratio_ids": torch.tensor([[1]]), "aspect_ratio_mask": torch.ones(1, 1, 4, dtype=torch.long),
              "spatial_shapes": torch.tensor([[4, 4]]), "merge_sizes": torch.tensor([1]), "freq": torch.zeros(1, dtype=torch.long)}
    for name, parameter in inspect.signature(forward).parameters.items():
        if name in given or parameter.default is not parameter.empty or parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            continue
        if name in shapes:
            given[name] = shapes[name]
        elif name.endswith("mask"):
            beside = next((x for x in given.values() if torch.is_tensor(x) and x.dim() >= 2), torch.zeros(1, LENGTH))
            given[name] = torch.ones(beside.shape[0], beside.shape[-1] if "features" in name else beside.shape[1], dtype=torch.long)
        elif "embed" in name or "features" in name or "states" in name or name in ("context", "inputs", "hidden", "src", "memory"):
            given[name] = normal(1, LENGTH, width)
        elif name.startswith("num_"):
            given[name] = 16
    return given
