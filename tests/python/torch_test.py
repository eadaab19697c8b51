"""torch's attention over the Python module, where torch is installed: as module_test.py."""
import sys
import unittest
import warnings

import numpy as np

try:
    import torch
    import torch.nn as nn
    import torch.nn.functional as F
except ImportError:
    print("torch is not installed: nothing is tested")
    sys.exit(77)

import headwise


def close(ours, theirs, most=1e-5):
    np.testing.assert_allclose(np.asarray(ours, np.float64), theirs.detach().double().numpy(), rtol=0, atol=most)


class Modules(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)

    def test_every_kind_of_module_and_mask(self):
        for batch_first in (True, False):
            for options in ({}, {"kdim": 6, "vdim": 10}, {"bias": False}, {"add_bias_kv": True}, {"add_zero_attn": True}):
                for masked in (False, True):
                    with self.subTest(batch_first=batch_first, masked=masked, **options):
                        self.check_module(batch_first, masked, options)

    def check_module(self, batch_first, masked, options):
        module = nn.MultiheadAttention(8, 2, batch_first=batch_first, **options).eval()
        lay = (lambda x: x) if batch_first else (lambda x: x.transpose(0, 1))
        query = lay(torch.randn(3, 4, 8))
        key, value = lay(torch.randn(3, 5, options.get("kdim", 8))), lay(torch.randn(3, 5, options.get("vdim", 8)))
        masks = {}
        if masked:
            masks["attn_mask"] = torch.rand(4, 5) < 0.3
            masks["attn_mask"][:, 0] = False
            masks["key_padding_mask"] = torch.arange(5)[None, :] > torch.tensor([[4], [3], [2]])
        output, weights = module(query, key, value, **masks)
        trace = headwise.trace(module, query, key, value, **masks)
        close(trace["output"], lay(output))
        close(trace["attn_output_weights"], weights)
        per_head = module(query, key, value, average_attn_weights=False, **masks)[1]
        close(trace["attn_weights"], per_head)
        headwise.assert_attention_close(module, query, key, value, **masks)
        headwise.assert_attention_close(module, query, key, value, average_attn_weights=False, **masks)

    def test_without_batch_and_in_other_precisions(self):
        for dtype, most in ((torch.float64, 1e-12), (torch.bfloat16, 0.1), (torch.float16, 1e-2)):
            module = nn.MultiheadAttention(8, 2, dtype=dtype).eval()
            x = torch.randn(4, 8, dtype=dtype)
            trace = headwise.trace(module, x, x, x)
            close(trace["output"][0], module(x, x, x)[0], most)
            self.assertEqual(trace["output"].dtype, np.float64 if dtype == torch.float64 else np.float32)

    def test_the_module_is_left_as_it_was(self):
        module = nn.MultiheadAttention(8, 2, batch_first=True, dropout=0.5).train()
        called = []
        module.register_forward_hook(lambda *_: called.append(1))
        before = {name: value.clone() for name, value in module.state_dict().items()}
        x = torch.randn(1, 4, 8, requires_grad=True)
        with self.assertWarnsRegex(headwise.HeadwiseWarning, "training mode with dropout 0.5"):
            headwise.trace(module, x, x, x)
        self.assertTrue(module.training)
        self.assertFalse(called)
        self.assertIsNone(x.grad)
        for name, value in module.state_dict().items():
            self.assertTrue(torch.equal(value, before[name]))
        with self.assertRaisesRegex(headwise.UsageError, "module.eval"):
            headwise.assert_attention_close(module, x)

    def test_a_forward_of_ones_own_and_hooks_are_told(self):
        class Rolled(nn.MultiheadAttention):
            def forward(self, q, k, v, **keywords):
                return super().forward(q.roll(1, -1) * 3, k, v, **keywords)

        x = torch.randn(1, 4, 8)
        with self.assertWarnsRegex(headwise.HeadwiseWarning, "a forward of its own"):
            headwise.trace(Rolled(8, 2, batch_first=True).eval(), x, x, x)
        module = nn.MultiheadAttention(8, 2, batch_first=True).eval()
        module.register_forward_pre_hook(lambda module, given: (3 * given[0], *given[1:]))
        with self.assertWarnsRegex(headwise.HeadwiseWarning, "hooks before its forward"):
            headwise.trace(module, x, x, x)
        with self.assertRaisesRegex(AssertionError, "differs"):
            headwise.assert_attention_close(Rolled(8, 2, batch_first=True).eval(), x)

    def test_parameters_that_are_computed_from_others(self):
        module = nn.utils.parametrizations.weight_norm(nn.MultiheadAttention(8, 2, batch_first=True), "in_proj_weight").eval()
        x = torch.randn(1, 4, 8)
        close(headwise.trace(module, x, x, x)["output"], module(x, x, x)[0])

    def test_half_precision_agrees_with_itself(self):
        for dtype in (torch.float16, torch.bfloat16):
            module, x = nn.MultiheadAttention(32, 4, batch_first=True, dtype=dtype).eval(), torch.randn(2, 7, 32, dtype=dtype)
            headwise.assert_attention_close(module, x)

    def test_calls_that_torch_would_refuse(self):
        module = nn.MultiheadAttention(8, 2, batch_first=True).eval()
        x = torch.randn(1, 4, 8)
        for arguments, keywords, words in (
            ((x,), {}, "missing a required argument: 'key'"),
            ((x, x, x), {"mask": None}, "unexpected keyword argument 'mask'"),
            ((x, x, x), {"is_causal": True}, "attn_mask"),
        ):
            with self.assertRaisesRegex(headwise.UsageError, words):
                headwise.trace(module, *arguments, **keywords)
        with self.assertRaises(headwise.HeadwiseError):
            headwise.trace(module, torch.randn(1, 4, 9), x, x)
        with self.assertRaisesRegex(headwise.UsageError, "is not known"):
            headwise.trace(nn.Linear(3, 3), torch.randn(1, 3))


class Functions(unittest.TestCase):
    def test_scaled_dot_product_attention(self):
        torch.manual_seed(0)
        q, k, v = torch.randn(2, 4, 5, 6), torch.randn(2, 4, 7, 6), torch.randn(2, 4, 7, 3)
        grouped = torch.randn(2, 2, 7, 6)
        cases = (
            ((q, k, v), {}),
            ((q, k, v), {"is_causal": True}),
            ((q, k, v), {"scale": 0.3}),
            ((q, k, v), {"attn_mask": torch.rand(5, 7) > 0.3}),
            ((q, k, v), {"attn_mask": torch.randn(2, 1, 5, 7)}),
            ((q, grouped, grouped), {"enable_gqa": True}),
            ((q[0], k[0], v[0]), {"is_causal": True}),
            ((q[0], k[0], v[0]), {"attn_mask": torch.rand(4, 5, 7) > 0.3}),
            ((q.double(), k.double(), v.double()), {}),
        )
        for arguments, keywords in cases:
            with self.subTest(keywords):
                trace = headwise.trace(F.scaled_dot_product_attention, *arguments, **keywords)
                theirs = F.scaled_dot_product_attention(*arguments, **keywords)
                ours = trace["output"] if theirs.dim() == 4 else trace["output"][:, 0]
                close(ours, theirs, 1e-12 if theirs.dtype == torch.float64 else 1e-5)

    def test_calls_that_are_refused(self):
        q = torch.randn(2, 4, 5, 6)
        for arguments, keywords, words in (
            ((q, q[:, :2], q[:, :2]), {}, "enable_gqa"),
            ((q[0, 0], q[0, 0], q[0, 0]), {}, "reshape"),
            ((q, q), {}, "value"),
            ((q, q, q), {"causal": True}, "causal"),
            ((q, q, q), {"is_causal": True, "attn_mask": torch.ones(5, 5, dtype=torch.bool)}, "leave one out"),
            ((1, 2, 3), {}, "torch.Tensor was expected"),
        ):
            with self.assertRaisesRegex(headwise.UsageError, words):
                headwise.trace(F.scaled_dot_product_attention, *arguments, **keywords)
        with self.assertWarnsRegex(headwise.HeadwiseWarning, "without dropout"):
            headwise.trace(F.scaled_dot_product_attention, q, q, q, dropout_p=0.1)


class WrongScale(nn.Module):
    """Attention of one's own, with a bug: √E in place of √D."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.qkv, self.out, self.num_heads = nn.Linear(embed_dim, 3 * embed_dim), nn.Linear(embed_dim, embed_dim), num_heads
        self.scale = embed_dim**-0.5

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        weights = (self.scale * q @ k.transpose(-1, -2)).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2)), weights


class Nothing(nn.Module):
    def forward(self, x):
        return None


class Assertions(unittest.TestCase):
    PARAMETERS = {
        "in_proj_weight": "qkv.weight",
        "in_proj_bias": "qkv.bias",
        "out_proj.weight": "out.weight",
        "out_proj.bias": "out.bias",
    }

    def test_a_planted_bug_is_named_and_a_right_module_passes(self):
        torch.manual_seed(0)
        module, like, x = WrongScale(16, 4).eval(), nn.MultiheadAttention(16, 4, batch_first=True).eval(), torch.randn(2, 5, 16)
        with self.assertRaises(AssertionError) as failed:
            headwise.assert_attention_close(module, x, like=like, parameters=self.PARAMETERS)
        told = str(failed.exception)
        self.assertIn("The first tensor that differs is attn_weights", told)
        self.assertIn("the scores are scaled by 0.25", told)
        module.scale = 0.5
        headwise.assert_attention_close(module, x, like=like, parameters=self.PARAMETERS)

    def test_separate_projections(self):
        class Separate(nn.Module):
            def __init__(self):
                super().__init__()
                self.q, self.k, self.v, self.o = (nn.Linear(16, 16) for _ in range(4))

            def forward(self, x):
                q, k, v = (layer(x).unflatten(-1, (4, 4)).transpose(1, 2) for layer in (self.q, self.k, self.v))
                return self.o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))

        torch.manual_seed(0)
        like, x = nn.MultiheadAttention(16, 4, batch_first=True).eval(), torch.randn(2, 5, 16)
        rest = {"in_proj_bias": ["q.bias", "k.bias", "v.bias"], "out_proj.weight": "o.weight", "out_proj.bias": "o.bias"}
        for weights in (
            {"in_proj_weight": ["q.weight", "k.weight", "v.weight"]},
            {"q_proj_weight": "q.weight", "k_proj_weight": "k.weight", "v_proj_weight": "v.weight"},
        ):
            headwise.assert_attention_close(Separate(), x, like=like, parameters={**weights, **rest})

    def test_grouped_heads_with_positions_are_compared_with_a_scenario(self):
        class Grouped(nn.Module):
            """4 heads of width 4 that share 2 of keys and values, rotated by their positions, causal."""

            def __init__(self, tiles=False):
                super().__init__()
                self.q, self.k, self.v, self.o = (nn.Linear(16, width, bias=False) for width in (16, 8, 8, 16))
                self.tiles = tiles

            def forward(self, x):
                q, k, v = (layer(x).unflatten(-1, (-1, 4)).transpose(1, 2) for layer in (self.q, self.k, self.v))
                angle = torch.arange(x.shape[1])[:, None] * 10000.0 ** (-torch.arange(0, 4, 2) / 4)
                cosine, sine = angle.cos().repeat(1, 2), angle.sin().repeat(1, 2)
                q, k = (y * cosine + torch.cat([-y[..., 2:], y[..., :2]], -1) * sine for y in (q, k))
                share = (lambda y: y.repeat(1, 2, 1, 1)) if self.tiles else (lambda y: y.repeat_interleave(2, 1))
                return self.o(F.scaled_dot_product_attention(q, share(k), share(v), is_causal=True).transpose(1, 2).flatten(2))

        torch.manual_seed(0)
        x = torch.randn(2, 5, 16)
        like = {"attention": {"embed_dim": 16, "num_heads": 4, "num_kv_heads": 2, "rotary_base": 10000, "bias": False}, "mask": {"is_causal": True}}
        places = {"q_proj_weight": "q.weight", "k_proj_weight": "k.weight", "v_proj_weight": "v.weight", "out_proj.weight": "o.weight"}
        headwise.assert_attention_close(Grouped(), x, like=like, parameters=places)
        with self.assertRaisesRegex(AssertionError, "key"):
            headwise.assert_attention_close(Grouped(tiles=True), x, like=like, parameters=places)
        with self.assertRaisesRegex(headwise.InputError, "out_proj.weight"):
            headwise.assert_attention_close(Grouped(), x, like=like, parameters={"in_proj_weight": ["q.weight", "k.weight", "v.weight"]})

    def test_what_cannot_be_compared_is_refused(self):
        module, like, x = WrongScale(16, 4).eval(), nn.MultiheadAttention(16, 4, batch_first=True).eval(), torch.randn(2, 5, 16)
        with self.assertRaisesRegex(headwise.UsageError, "like="):
            headwise.assert_attention_close(module, x)
        with self.assertRaisesRegex(headwise.UsageError, "no parameter"):
            headwise.assert_attention_close(module, x, like=like, parameters={"weight": "qkv.weight"})
        with self.assertRaisesRegex(headwise.UsageError, "torch.nn.Module was expected"):
            headwise.assert_attention_close(lambda x: x, x, like=like)
        with self.assertRaisesRegex(headwise.UsageError, "returned NoneType"):
            headwise.assert_attention_close(Nothing(), x, like=like)
        with self.assertRaisesRegex(headwise.UsageError, "has no wq"):
            headwise.assert_attention_close(module, x, like=like, parameters={"in_proj_weight": "wq"})


class Recordings(unittest.TestCase):
    def test_every_attention_of_a_model_is_recorded(self):
        torch.manual_seed(0)
        model = nn.Transformer(16, 4, 1, 2, 32, batch_first=True).eval()
        source, target = torch.randn(2, 5, 16), torch.randn(2, 3, 16)
        without = model(source, target)
        with headwise.record(model) as recorded:
            inside = model(source, target)
        self.assertTrue(torch.allclose(without, inside, atol=1e-5))
        names = [name for name, module in model.named_modules() if isinstance(module, nn.MultiheadAttention)]
        self.assertEqual(sorted(recorded), sorted(names))
        self.assertEqual(recorded["decoder.layers.1.multihead_attn"]["attn_weights"].shape, (2, 4, 3, 5))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for trace in recorded.values():
                self.assertAlmostEqual(float(trace["attn_weights"].sum(-1).max()), 1.0, places=5)
        self.assertFalse(any(module._forward_hooks for module in model.modules()))

    def test_hooks_are_gone_after_an_error_and_another_result_is_told(self):
        model = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, batch_first=True), 1).eval()
        with self.assertRaises((AssertionError, RuntimeError)):
            with headwise.record(model):
                model(torch.randn(1, 5, 17))
        self.assertFalse(any(module._forward_hooks for module in model.modules()))
        attention = model.layers[0].self_attn
        attention.register_forward_hook(lambda module, given, output: (2 * output[0], output[1]))
        with headwise.record(model) as recorded:
            model(torch.randn(1, 5, 16))
        with self.assertWarnsRegex(headwise.HeadwiseWarning, "differs from what the module returned"):
            recorded["layers.0.self_attn"]
        with self.assertRaisesRegex(KeyError, "recorded were layers.0.self_attn"):
            recorded["layers.1.self_attn"]

    def test_a_model_goes_on_where_a_call_cannot_be_traced(self):
        model = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), 1).eval()
        padding = torch.arange(5)[None].repeat(2, 1) > 3
        with warnings.catch_warnings(), torch.no_grad(), headwise.record(model) as recorded:
            warnings.simplefilter("ignore")  # torch's, of nested tensors
            model(torch.randn(2, 5, 16), src_key_padding_mask=padding)
        with self.assertRaisesRegex(headwise.UsageError, "enable_nested_tensor=False"):
            recorded["layers.0.self_attn"]

    def transformers_model(self, name, **more):
        try:
            import transformers
        except ImportError:
            self.skipTest("transformers is not installed")
        torch.manual_seed(0)
        sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 37, "vocab_size": 99}
        config = getattr(transformers, f"{name}Config")(**sizes, **more, attn_implementation="eager")
        return getattr(transformers, f"{name}Model")(config).eval()

    def test_models_within_others_windows_padding_and_names_that_have_changed(self):
        tokens = torch.arange(18).reshape(2, 9) + 3

        class Two(nn.Module):
            def __init__(self, a, b):
                super().__init__()
                self.a, self.b = a, b

            def forward(self, tokens):
                return self.a(tokens), self.b(tokens)

        bert, mistral = self.transformers_model("Bert"), self.transformers_model("Mistral", num_key_value_heads=2, sliding_window=4)
        with warnings.catch_warnings():
            warnings.simplefilter("error", headwise.HeadwiseWarning)
            with headwise.record(Two(bert, mistral)) as recorded:
                Two(bert, mistral)(tokens)
            for trace, model in ((recorded["a.encoder.layer.1.attention.self"], bert), (recorded["b.layers.1.self_attn"], mistral)):
                theirs = model(tokens, output_attentions=True).attentions[1]
                close(trace["attn_weights"], theirs)
            vit = self.transformers_model("ViT", image_size=8, patch_size=4)
            with headwise.record(vit) as recorded:
                theirs = vit(torch.randn(1, 3, 8, 8), output_attentions=True).attentions
            self.assertEqual(len(recorded), 2)
            for trace, weights in zip(recorded.values(), theirs):
                close(trace["attn_weights"], weights)
        # Before the first word of a text that is padded on the left there is nothing to look at.
        left = torch.ones_like(tokens)
        left[1, :3] = 0
        with headwise.record(mistral) as recorded:
            theirs = mistral(tokens, attention_mask=left, output_attentions=True).attentions
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always", headwise.HeadwiseWarning)
            close(recorded["layers.0.self_attn"]["attn_weights"][1, :, 3:], theirs[0][1, :, 3:])
        self.assertRegex(" ".join(str(one.message) for one in seen), "every key is blocked")
        self.assertNotRegex(" ".join(str(one.message) for one in seen), "differs")

    def test_what_is_not_of_this_call_is_refused_or_told(self):
        llama = self.transformers_model("Llama", num_key_value_heads=2)
        tokens = torch.arange(9)[None] + 3
        with headwise.record(llama) as recorded:
            llama(tokens, position_ids=torch.tensor([[0, 1, 2, 3, 0, 1, 2, 3, 4]]))
        with self.assertWarnsRegex(headwise.HeadwiseWarning, "position ids"):
            recorded["layers.0.self_attn"]
        cache = llama(tokens, use_cache=True).past_key_values
        with headwise.record(llama) as recorded:
            llama(tokens[:, :1], past_key_values=cache)
        with self.assertRaisesRegex(headwise.UsageError, "cache"):
            recorded["layers.0.self_attn"]

    def test_layers_of_transformers_models(self):
        try:
            import transformers
        except ImportError:
            self.skipTest("transformers is not installed")
        torch.manual_seed(0)
        small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 37, "vocab_size": 99}
        tokens = torch.arange(14).reshape(2, 7) + 3
        for name, sizes in (
            ("Bert", small),
            ("GPT2", {"n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 99, "bos_token_id": 1, "eos_token_id": 2}),
            ("Llama", {**small, "num_key_value_heads": 2}),
            ("Qwen2", {**small, "num_key_value_heads": 2}),
        ):
            config = getattr(transformers, f"{name}Config")(**sizes, attn_implementation="eager")
            model = getattr(transformers, f"{name}Model")(config).eval()
            for padded in (False, True):
                with self.subTest(name, padded=padded), warnings.catch_warnings():
                    warnings.simplefilter("error", headwise.HeadwiseWarning)
                    mask = torch.ones(2, 7, dtype=torch.long)
                    mask[1, 5:] = 0 if padded else 1
                    with headwise.record(model) as recorded:
                        theirs = model(tokens, attention_mask=mask, output_attentions=True).attentions
                    self.assertEqual(len(recorded), 2)
                    for trace, weights in zip(recorded.values(), theirs):
                        close(trace["attn_weights"], weights)

    def test_both_attentions_of_a_decoder_s_block_are_told_apart(self):
        try:
            import transformers
        except ImportError:
            self.skipTest("transformers is not installed")
        torch.manual_seed(0)
        sides = {f"{side}_{what}": size for side in ("encoder", "decoder") for what, size in (("layers", 2), ("attention_heads", 4), ("ffn_dim", 16))}
        config = transformers.BartConfig(d_model=32, vocab_size=99, max_position_embeddings=64, attn_implementation="eager", **sides)
        model, tokens = transformers.BartModel(config).eval(), torch.arange(14).reshape(2, 7) + 3
        with headwise.record(model) as recorded, torch.no_grad():
            theirs = model(input_ids=tokens, decoder_input_ids=tokens[:, :5], output_attentions=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error", headwise.HeadwiseWarning)
            for layer in (0, 1):
                for name, weights in (
                    (f"encoder.layers.{layer}.self_attn", theirs.encoder_attentions),
                    (f"decoder.layers.{layer}.self_attn", theirs.decoder_attentions),
                    (f"decoder.layers.{layer}.encoder_attn", theirs.cross_attentions),
                ):
                    close(recorded[name]["attn_weights"], weights[layer])

    def test_a_layer_of_transformers_is_traced_without_its_model(self):
        try:
            import transformers
        except ImportError:
            self.skipTest("transformers is not installed")
        torch.manual_seed(0)
        small = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 37, "vocab_size": 99}
        for name, sizes, layer in (
            ("Bert", small, "encoder.layer.1.attention.self"),
            ("GPT2", {"n_embd": 32, "n_layer": 3, "n_head": 4, "vocab_size": 99, "bos_token_id": 1, "eos_token_id": 2}, "h.1.attn"),
            ("Llama", {**small, "num_key_value_heads": 2}, "layers.1.self_attn"),
            ("Mistral", {**small, "num_key_value_heads": 2, "sliding_window": 3}, "layers.1.self_attn"),
        ):
            config = getattr(transformers, f"{name}Config")(**sizes, attn_implementation="eager")
            model = getattr(transformers, f"{name}Model")(config).eval()
            module, call = model.get_submodule(layer), {}
            module.register_forward_hook(lambda module, inputs, keywords, output: call.update(inputs=inputs, keywords=keywords, output=output), with_kwargs=True)
            weights = model(torch.arange(14).reshape(2, 7) + 3, output_attentions=True).attentions[1]
            state = {key: value.clone() for key, value in module.state_dict().items()}
            with self.subTest(name):
                random = torch.random.get_rng_state()
                trace = headwise.trace(module, *call["inputs"], **call["keywords"])
                close(trace["attn_weights"], weights)
                close(trace["concat" if name == "Bert" else "output"], call["output"][0])
                self.assertTrue(all(torch.equal(value, state[key]) for key, value in module.state_dict().items()))
                self.assertTrue(torch.equal(torch.random.get_rng_state(), random))
        with self.assertRaisesRegex(headwise.UsageError, "record"):
            headwise.trace(transformers.models.llama.modeling_llama.LlamaMLP(transformers.LlamaConfig(**small)), torch.randn(1, 3, 32))

    def test_a_model_without_attention_is_refused(self):
        for model in (nn.Linear(3, 3), 7):
            with self.assertRaises(headwise.UsageError):
                with headwise.record(model):
                    pass


if __name__ == "__main__":
    unittest.main()
