"""Makes small, randomly initialised models of any family that transformers has.

Sizes come from the names of a configuration's fields: what is called hidden_size, d_model or embed_dim becomes WIDTH, and so on.
Families whose fields say something else bring their own values in SPECIAL. All numbers are drawn from a seed.
"""
import dataclasses, hashlib, importlib, inspect, math, os, re, sys

import torch

WIDTH, HEADS, KV_HEADS, HEAD_DIM, INNER, VOCABULARY, WINDOW = 64, 4, 2, 16, 64, 99, 5
LAYERS, LAYERS_OF_SEVERAL_KINDS = 2, 4

# The first pattern that matches a field's whole name gives its value, where the default is a plain whole number.
WHOLE_NUMBERS = [
    (r"(vocab_size|.*_vocab_size|vocab_size_.*|vocabulary_size|n_vocab|num_embeddings|entity_vocab_size)", VOCABULARY),
    (r"(qk_rope_head_dim|rotary_dim|rope_head_dim)", 8),
    (r"(head_dim|d_kv|.*_head_dim|attention_key_size|d_head|dim_head|head_size|v_head_dim|qk_nope_head_dim|kv_channels)", HEAD_DIM),
    (r"(kv_lora_rank)", 24), (r"(q_lora_rank)", 32), (r"(.*lora_rank|o_lora_rank|.*_lora_dim|lora_.*)", 8),
    (r"(num_key_value_heads|.*_key_value_heads|num_kv_heads|n_kv_heads|kv_n_heads|num_query_groups|num_key_value_groups)", KV_HEADS),
    (r"(num_attention_heads|.*_attention_heads|n_heads?|num_heads|.*_num_heads|nhead|n_attn_heads|num_attn_heads|.*_attn_heads|.*attn_num_heads)", HEADS),
    (r"(num_hidden_layers|.*_layers|n_layers?|num_layers|depth|.*_depth|num_blocks|num_hidden_groups|.*_hidden_layers|n_blocks?)", LAYERS),
    (r"(num_inner_groups|num_stages|first_k_dense_replace|num_dense_layers)", 1),
    (r"(num_experts_per_tok|num_experts_per_token|moe_top_?k|top_k_experts|experts_per_token|moe_topk|num_selected_experts|top_k)", 2),
    (r"(n_group|topk_group|num_expert_group|n_shared_experts|num_shared_experts|moe_num_shared_experts)", 1),
    (r"(num_experts|.*_num_experts|num_local_experts|n_routed_experts|moe_num_experts|.*_experts)", 4),
    (r"(moe_intermediate_size|.*moe.*intermediate_size|shared_expert_intermediate_size|expert_dim)", 32),
    (r"(.*intermediate_size|.*intermediate_dim|ffn_dim|.*_ffn_dim|d_ff|n_inner|inner_dim|.*ffn_hidden_size|ff_dim|hidden_dim|dim_feedforward|.*mlp_dim|.*feed_forward.*size|.*_inner_dim|.*feedforward_dim|.*mlp_hidden_size)", INNER),
    (r"(hidden_size|.*_hidden_size|d_model|n_embd|dim|embed_dim|.*_embed_dim|width|hidden_dim|embedding_size|.*_embedding_size|emb_dim|embedding_dim|projection_dim|.*_projection_dim|.*_dim|word_embed_proj_dim|projection_size|output_dim|.*hidden_dim|.*_width|.*hidden_channels|output_hidden_size|out_hidden_size|d_embed|.*_embd)", WIDTH),
    (r"(max_position_embeddings|n_positions|max_.*_positions|n_ctx|max_seq_len|max_sequence_length|seq_length|seq_len)", 64),
    (r"(image_size|.*_image_size|img_size|input_size)", 32), (r"(patch_size|.*_patch_size)", 8),
    (r"(num_mel_bins|num_mels|n_mels|feature_size|input_feat_per_channel|.*_mel_bins)", 16),
    (r"(conv_dim|codebook_dim|codebook_size)", 16),
    (r"(num_queries|num_query_tokens|.*num_queries)", 8),
    (r"index_topk", 3),
]
SPECIAL_TOKENS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2, "sep_token_id": 3,
                  "cls_token_id": 1, "unk_token_id": 4}
KINDS_OF_LAYERS = ("layer_types", "no_rope_layers", "no_rope_layer_interval", "layers_block_type", "full_attn_idxs",
                   "attention_types", "sliding_window_pattern", "max_window_layers", "global_attn_every_n_layers", "block_types")


def fields_of(config_class):
    """{name: default value} of what the configuration takes."""
    try:
        default = config_class()
    except Exception:
        default = None
    if dataclasses.is_dataclass(config_class) and dataclasses.fields(config_class):
        names = [f.name for f in dataclasses.fields(config_class)]
        plain = {f.name: f.default for f in dataclasses.fields(config_class) if f.default is not dataclasses.MISSING}
    else:
        parameters = inspect.signature(config_class.__init__).parameters
        names = [n for n, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD and n != "self"]
        plain = {n: parameters[n].default for n in names}
    base = {"return_dict", "output_hidden_states", "dtype", "torch_dtype", "chunk_size_feed_forward", "is_encoder_decoder",
            "architectures", "id2label", "label2id", "problem_type", "transformers_version", "_attn_implementation"}
    # What a default instance computes from other fields stays unsaid, so that it is computed from the small ones.
    return {n: plain[n] if n in plain else attribute(default, n) for n in names if n not in base}, default


def attribute(config, name):
    """None too for what a configuration says of each layer apart."""
    try:
        return getattr(config, name, None)
    except Exception:
        return None


def small_number(name, value):
    for pattern, small in WHOLE_NUMBERS:
        if re.fullmatch(pattern, name):
            return small if small in (VOCABULARY, WIDTH, HEAD_DIM) or value > small else value
    return None


def kinds_in_turn(kinds, count):
    """The first kinds of layers that occur, one after the other, so that a few layers have them all."""
    unique = list(dict.fromkeys(kinds))
    return [unique[i % len(unique)] for i in range(count)]


def small_values(config_class, depth=0):
    """What to give the configuration's class so that its model is small."""
    fields, default = fields_of(config_class)
    values = {}
    several = any(name in fields for name in KINDS_OF_LAYERS)
    other_tokens = 80
    for name, value in fields.items():
        if isinstance(value, bool):
            continue
        if name in SPECIAL_TOKENS:
            if value is not None:
                values[name] = SPECIAL_TOKENS[name]
        elif re.fullmatch(r".*_token(_id|_index)?|.*_token_ids", name) and isinstance(value, int):
            values[name] = other_tokens
            other_tokens += 1
        elif name == "sliding_window" and isinstance(value, int):
            values[name] = WINDOW
        elif isinstance(value, int):
            small = small_number(name, value)
            if small is not None:
                values[name] = LAYERS_OF_SEVERAL_KINDS if several and small == LAYERS and "layer" in name else small
        elif isinstance(value, (list, tuple)) and value and all(isinstance(v, int) and not isinstance(v, bool) for v in value):
            if re.fullmatch(r"depths|num_blocks|layers|.*_depths|num_layers", name):
                values[name] = [1] * len(value)
            elif name == "mrope_section":
                values[name] = [2, 3, 3]
            elif re.fullmatch(r"image_size|img_size", name):
                values[name] = [32] * len(value)
    heads = next((fields[n] for n in ("num_heads", "num_attention_heads") if isinstance(fields.get(n), (list, tuple))), None)
    if heads is not None:  # stages with a width each
        for name in ("hidden_sizes", "embed_dims", "embed_dim", "hidden_size"):
            if isinstance(fields.get(name), (list, tuple)) and len(fields[name]) == len(heads):
                values[name] = [8 * h for h in heads]
            elif name in ("embed_dim", "hidden_size") and isinstance(fields.get(name), int):
                values[name] = 8 * heads[0]
    if "qk_rope_head_dim" in fields:  # there head_dim is made from it
        values.pop("head_dim", None)
        if "head_dim" in fields:
            values["head_dim"] = values.get("qk_rope_head_dim", 8)
    if "kv_lora_rank" in fields and "num_key_value_heads" in fields:  # latent keys and values have no groups
        values["num_key_value_heads"] = HEADS
    kinds = attribute(default, "layer_types") if "layer_types" in fields else None
    if isinstance(kinds, (list, tuple)) and kinds:
        values["layer_types"] = kinds_in_turn(kinds, values.get("num_hidden_layers", LAYERS_OF_SEVERAL_KINDS))
    rope = attribute(default, "rope_parameters")
    if isinstance(rope, dict) and "mrope_section" in rope:
        values["rope_parameters"] = {**rope, "mrope_section": [2, 3, 3]}
    for name, sub_class in (getattr(config_class, "sub_configs", None) or {}).items():
        sub = attribute(default, name)
        if sub is not None and hasattr(sub, "model_type"):
            sub_class = type(sub)
        if not hasattr(sub_class, "to_dict") or sub_class.__name__ == "AutoConfig" or depth > 3:
            continue
        values[name] = {**small_config_values(sub_class, depth + 1)}
        if getattr(sub_class, "model_type", ""):
            values[name]["model_type"] = sub_class.model_type
    return values


def small_config_values(config_class, depth=0):
    from model_specials import SPECIAL
    values = small_values(config_class, depth)
    special = SPECIAL.get(getattr(config_class, "model_type", ""), {})
    return merged(values, special)


def merged(values, changes):
    """`changes` over `values`, dictionaries within into each other; None under a key of REMOVE takes it away."""
    result = dict(values)
    for key, value in changes.items():
        if value is REMOVE:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict) and "rope_type" not in value:
            result[key] = merged(result[key], value)
        else:
            result[key] = value
    return result


REMOVE = object()


MASKED_LM = ("MODEL_FOR_MASKED_LM_MAPPING", "ForMaskedLM")


def model_classes(config, preferred=()):
    """Classes that can be made from the configuration, those that files are usually of first."""
    from transformers.models.auto import modeling_auto as auto
    found = []
    for mapping, usual in (*preferred, ("MODEL_FOR_CAUSAL_LM_MAPPING", "ForCausalLM"),
                           ("MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING", "ForConditionalGeneration"), ("MODEL_MAPPING", "")):
        table = getattr(auto, mapping, {})
        try:
            entry = table[type(config)]
        except (KeyError, ImportError, AttributeError, ValueError):
            continue
        for cls in entry if isinstance(entry, (list, tuple)) else [entry]:
            half = usual == "ForCausalLM" and attribute(config, "is_encoder_decoder")  # its decoder alone
            if cls.__name__.endswith(usual) and cls not in found and not half:
                found.append(cls)
    return found or sorted(classes_beside(type(config)), key=lambda c: not c.__name__.endswith("Model"))


def classes_beside(config_class):
    """Models in the files beside the configuration's that take it, where no mapping names one."""
    from transformers import PreTrainedModel
    package, found = config_class.__module__.rsplit(".", 1)[0], []
    for file in sorted(os.listdir(os.path.dirname(sys.modules[config_class.__module__].__file__))):
        if not re.fullmatch(r"modeling_\w+\.py", file) or file.startswith(("modeling_tf_", "modeling_flax_")):
            continue
        module = importlib.import_module(f"{package}.{file[:-3]}")
        for cls in vars(module).values():
            if inspect.isclass(cls) and issubclass(cls, PreTrainedModel) and cls.__module__ == module.__name__ and \
                    getattr(cls, "config_class", None) is config_class and not cls.__name__.endswith("PreTrainedModel"):
                found.append(cls)
    return found


KEPT = re.compile(r"(A_log|dt_bias|\.D$|conv1d|inv_freq|freqs|running_|num_batches|e_score_correction|codebook|parametrizations)")
QUERY_OR_KEY = re.compile(r"(query|key|q_proj|k_proj|c_attn|qkv|Wqkv|in_proj|q_lin|k_lin|\.q\.|\.k\.|wq|wk|q_b|q_a)")


def draw_parameters(model, seed):
    """Numbers under which no tensor can be left out unnoticed: norms away from 1, biases, sinks and tables away from 0, scores
    that spread."""
    with torch.no_grad():
        for index, (name, parameter) in enumerate(model.named_parameters()):
            if KEPT.search(name) or not parameter.is_floating_point():
                continue
            own = int.from_bytes(hashlib.sha256(f"{seed} {name}".encode()).digest()[:6], "big")
            drawn = torch.randn(parameter.shape, generator=torch.Generator().manual_seed(own))
            if parameter.dim() >= 2 and "relative" not in name and "bias" not in name and "embed" not in name.lower():
                fan_in = math.prod(parameter.shape[1:]) if parameter.dim() != 3 else parameter.shape[-2]
                drawn *= (1.4 if QUERY_OR_KEY.search(name) else 0.8) / math.sqrt(max(fan_in, 1))
            elif "norm" in name.lower() and name.endswith("weight") and parameter.dim() == 1:
                drawn = 1 + 0.3 * drawn
            elif parameter.dim() <= 1 and not name.endswith(("sinks", "attention_sink_bias")):
                drawn *= 0.3
            parameter.copy_(drawn)


def trusted_path(config):
    """Which of transformers' implementations is right: Falcon's eager one adds its ALiBi twice."""
    return "sdpa" if config.model_type == "falcon" and config.alibi else "eager"


def make_model(model_type, changes=None, seed=0, preferred=()):
    """A model in eval mode with eager attention, and its configuration, of a class of the preferred mappings if there is one. Raises
    what transformers raises."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING
    config_class = CONFIG_MAPPING[model_type]
    config = config_class(**merged(small_config_values(config_class), changes or {}))
    classes = model_classes(config, preferred)
    if not classes:
        raise LookupError("no model class takes this configuration")
    for_errors = None
    for cls in classes:
        try:
            torch.manual_seed(seed)
            model = cls._from_config(config, attn_implementation=trusted_path(config))
        except Exception as error:
            for_errors = for_errors or error
            continue
        size = sum(p.numel() for p in model.parameters())
        if size > 100_000_000:
            raise ValueError(f"not small: {size:,} parameters")
        draw_parameters(model.float(), seed)
        return model.eval(), config
    raise for_errors
