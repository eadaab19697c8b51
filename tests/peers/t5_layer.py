"""A self-attention layer of T5 in numpy, written from its paper and model code: a bias for each head and distance, shared
buckets for far ones, no 1/√D, no biases in the projections, and heads whose widths together are not that of the model.

    python3 tests/peers/t5_layer.py build/release/headwise

Headwise is given the bias as a float mask, as a scenario can state it. The right layer has to agree, and compare has to call each
wrong one what it is, from all of its tensors and from its output alone. Needs numpy; exit status 1 where it does not, 77 without numpy.
"""
import math, re, sys

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from compare_programs import Compare

BUCKETS, FARTHEST = 32, 128


def bucket(distance, two_sided):
    """The bucket of key position − query position."""
    result, count = 0, BUCKETS
    if two_sided:
        count //= 2
        result += count * (distance > 0)
        distance = abs(distance)
    else:
        distance = max(0, -distance)
    exact = count // 2
    if distance < exact:
        return result + distance
    far = exact + int(math.log(distance / exact) / math.log(FARTHEST / exact) * (count - exact))
    return result + min(far, count - 1)


class Layer:
    """The layer; a wrong one overrides a step."""
    NAMED = None

    def __init__(self, rng, two_sided, batch=2, length=24, width=24, heads=4, head_dim=5):
        self.batch, self.length, self.width, self.heads, self.head_dim = batch, length, width, heads, head_dim
        self.two_sided, inner = two_sided, heads * head_dim
        self.x = rng.standard_normal((batch, length, width))
        self.q, self.k, self.v = (rng.standard_normal((inner, width)) * 0.3 for _ in range(3))
        self.o = rng.standard_normal((width, inner)) * 0.3
        self.table = rng.standard_normal((BUCKETS, heads))

    def bias(self):
        """(H,L,L)"""
        buckets = [[bucket(j - i, self.two_sided) for j in range(self.length)] for i in range(self.length)]
        return np.moveaxis(self.table[np.array(buckets)], -1, 0)

    def blocked(self):
        return np.zeros((self.length, self.length), bool) if self.two_sided else np.triu(
            np.ones((self.length, self.length), bool), 1)

    def split(self, x):
        return x.reshape(self.batch, self.length, self.heads, self.head_dim).transpose(0, 2, 1, 3)

    def biased(self, scores):
        return scores + self.bias()

    def join(self, heads):
        return heads.transpose(0, 2, 1, 3).reshape(self.batch, self.length, -1)

    def run(self):
        q, k, v = (self.split(self.x @ weight.T) for weight in (self.q, self.k, self.v))
        scores = np.where(self.blocked(), -np.inf, self.biased(q @ k.swapaxes(-1, -2)))
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        heads = weights @ v
        return {"q_heads": q, "k_heads": k, "v_heads": v, "masked_scores": scores, "attn_weights": weights,
                "head_output": heads, "concat": self.join(heads), "output": self.join(heads) @ self.o.T}

    def given(self):
        """A scenario and its arrays."""
        scenario = {"headwise": 1,
                    "attention": {"embed_dim": self.width, "num_heads": self.heads, "head_dim": self.head_dim,
                                  "v_head_dim": self.head_dim, "scale": 1.0, "bias": False},
                    "mask": {"is_causal": not self.two_sided}, "inputs": {"self_attention": True, "batch_first": True}}
        mask = np.tile(Layer.bias(self), (self.batch, 1, 1))
        return scenario, {"query": self.x, "q_proj_weight": self.q, "k_proj_weight": self.k, "v_proj_weight": self.v,
                          "out_proj.weight": self.o, "attn_mask": mask}


class BiasMissing(Layer):
    NAMED = "attn_mask is not applied"

    def biased(self, scores):
        return scores


class ScaleKept(Layer):
    NAMED = r"scaled by 0\.447214"

    def biased(self, scores):
        return scores / math.sqrt(self.head_dim) + self.bias()


class BiasBeforeScale(Layer):
    NAMED = r"scaled by 0\.447214 \(1/√D\) together with what a mask has added|ours times 0\.447214 = 1/√D|scaled by 0\.447214 .*the masks add is multiplied by 0\.447213"

    def biased(self, scores):
        return (scores + self.bias()) / math.sqrt(self.head_dim)


class HeadsReversed(Layer):
    NAMED = "joined in the order 3, 2, 1, 0"

    def join(self, heads):
        return super().join(heads[:, ::-1])


class BiasSubtracted(Layer):
    NAMED = "the sign is opposite"

    def biased(self, scores):
        return scores - self.bias()


class BiasTransposed(Layer):
    NAMED = "attn_mask is transposed"

    def bias(self):
        return super().bias().swapaxes(-1, -2)


def main():
    compare, bad, said = Compare(sys.argv[1]), 0, 0
    for two_sided in (True, False):
        for program in (Layer, BiasMissing, ScaleKept, BiasBeforeScale, HeadsReversed, BiasSubtracted, BiasTransposed):
            layer = program(np.random.default_rng(7), two_sided)
            scenario, arrays = layer.given()
            tensors = layer.run()
            for what, theirs in (("all", tensors), ("output", {"output": tensors["output"]})):
                status, report = compare(scenario, arrays, theirs)
                causes = [cause["cause"] for cause in report["likely_causes"]] if status == 1 else []
                right = status == 0 if program.NAMED is None else any(re.search(program.NAMED, c) for c in causes[:3])
                said += 1
                if not right:
                    bad += 1
                    print(f"{program.__name__}, {'two-sided' if two_sided else 'causal'}, {what}: status {status}; "
                          f"{causes if status == 1 else report}")
    print(f"{said} files of T5 layers, {bad} of them not called what they are; the slowest took {compare.slowest:.2f} s")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
