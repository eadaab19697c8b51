"""Wrong programs: each is right but for one thing, and says in `NAMED` (a regular expression) what `headwise compare` has to
call it, and in `case` on what it goes wrong. Where two mistakes compute the same numbers, both names are right."""
import math

import numpy as np

from numpy_attention import Attention, round_bf16

PLAIN, CROSS = {}, dict(self_attention=False, keys=8)
CAUSAL, PADDED, MASKED = dict(causal=True), dict(padding=True), dict(mask="bool")
ROTARY, GROUPED = dict(rotary=10000.0, head_dim=8), dict(heads=8, kv_heads=4)
PROGRAMS = []


def wrong(named, *cases):
    """Registers a class; `cases` are what Case is made with."""
    def register(program):
        program.NAMED, program.CASES = named, cases or (PLAIN,)
        PROGRAMS.append(program)
        return program
    return register


# Masks
@wrong("own position|leaves one key too few", CAUSAL, dict(causal=True, bottom_right=True, queries=4, keys=7, self_attention=False))
class CausalWithoutDiagonal(Attention):
    def causal(self):
        i, j = self.grid()
        return j >= i


@wrong("next position", CAUSAL, dict(mask="triangle"))
class CausalOneAhead(Attention):
    def causal(self):
        i, j = self.grid()
        return j > i + 1

    def attn_mask(self):
        return self.causal(), 0.0


@wrong("is transposed", CAUSAL)
class CausalTransposed(Attention):
    def causal(self):
        i, j = self.grid()
        return j < i


@wrong("is inverted|opposite meaning|inverted as a whole", CAUSAL, dict(mask="triangle"))
class CausalInverted(Attention):
    def causal(self):
        i, j = self.grid()
        return j <= i

    def attn_mask(self):
        return self.causal(), 0.0


@wrong("no causal mask|attn_mask is not applied", CAUSAL, dict(mask="triangle"))
class CausalForgotten(Attention):
    def causal(self):
        return np.zeros((self.c.queries, self.c.keys), bool)

    def attn_mask(self):
        return self.causal(), 0.0


@wrong("applied after the softmax", CAUSAL, PADDED)
class MaskAfterSoftmax(Attention):
    def masked(self, scaled):
        return scaled

    def weights(self, masked):
        return np.where(self.blocked()[0], 0.0, self.softmax(masked))


@wrong("applied to the queries", PADDED)
class PaddingOnQueries(Attention):
    def padding(self):
        return self.a["key_padding_mask"][:, None, :, None]


@wrong("also sets the (weights|output) of padded queries to 0|applied to the queries .*too", PADDED)
class PaddingOnBoth(Attention):
    def weights(self, masked):
        return np.where(self.a["key_padding_mask"][:, None, :, None], 0.0, self.softmax(masked))


@wrong("key_padding_mask have the opposite meaning|inverted as a whole", PADDED)
class PaddingInverted(Attention):
    def padding(self):
        return ~self.a["key_padding_mask"][:, None, None, :]


@wrong("key_padding_mask is not applied", PADDED)
class PaddingForgotten(Attention):
    def padding(self):
        return np.zeros((1, 1, 1, self.c.keys), bool)


@wrong("tiled over the heads", dict(padding=True, batch=3, heads=4))
class PaddingTiledOverHeads(Attention):
    def padding(self):
        c = self.c
        return np.tile(self.a["key_padding_mask"], (c.heads, 1)).reshape(c.batch, c.heads, 1, c.keys)


@wrong("opposite meaning|inverted as a whole", MASKED)
class MaskInverted(Attention):
    def attn_mask(self):
        return ~super().attn_mask()[0], 0.0


@wrong("attn_mask is transposed", MASKED)
class MaskTransposed(Attention):
    def attn_mask(self):
        return super().attn_mask()[0].T, 0.0


@wrong("filled with -20", CAUSAL, MASKED)
class MaskValueTooSmall(Attention):
    def masked(self, scaled):
        return np.where(self.blocked()[0], -20.0, scaled)


@wrong("filled with 1e-09|filled with 1e-9", CAUSAL)
class MaskValueOfLostSign(Attention):
    def masked(self, scaled):
        return np.where(self.blocked()[0], 1e-9, scaled)


@wrong("filled with 0|multiplied by the mask", CAUSAL)
class MaskMultiplied(Attention):
    def masked(self, scaled):
        return scaled * ~self.blocked()[0]


ROWS_BLOCKED = dict(causal=True, padding="left")
ALIBI, ALIBI_OF_SIX = dict(alibi=True, causal=True), dict(alibi=True, causal=True, heads=6)
BY_HEAD, MERGED = dict(mask="heads"), dict(mask="merged")


class MaskTwice(Attention):
    """Adds `number` for each mask that blocks, in f32 where `narrow`."""
    number, narrow = -1e9, False

    def masked(self, scaled):
        number = np.float32(self.number) if self.narrow else self.number
        masks = self.causal() * number + self.padding() * number
        return (scaled.astype(np.float32) + masks).astype(np.float64) if self.narrow else scaled + masks


@wrong("each mask adds a large negative number of its own", ROWS_BLOCKED)
class MasksAddTheirOwnNumber(MaskTwice):
    pass


@wrong("each mask adds a large negative number of its own", ROWS_BLOCKED)
class MasksAddTheLeastOfF16(MaskTwice):
    number = -65504.0


@wrong("left bound only: query i keeps every key from i − 2 on", dict(window=3), dict(window=3, causal=True))
class WindowWithoutRightBound(Attention):
    def blocked(self):
        i, j = self.grid()
        return np.broadcast_to(i - j >= self.c.window, (self.c.batch, self.c.heads, self.c.queries, self.c.keys)), 0.0


@wrong("right bound only: query i keeps every key up to i \\+ 2", dict(window=3), dict(window=3, causal=True))
class WindowWithoutLeftBound(Attention):
    def blocked(self):
        i, j = self.grid()
        return np.broadcast_to(j - i >= self.c.window, (self.c.batch, self.c.heads, self.c.queries, self.c.keys)), 0.0


@wrong("the window keeps the keys on both sides", dict(window=3, causal=True))
class WindowOnBothSides(Attention):
    def causal(self):
        i, j = self.grid()
        return np.abs(i - j) >= self.c.window


@wrong("2\\^\\(−8\\(h\\+1\\)/H\\) although H is no power of two", ALIBI_OF_SIX, dict(sdpa=True, **ALIBI_OF_SIX))
class AlibiNotInterleaved(Attention):
    def slopes(self):
        return 2.0 ** (-8 * (np.arange(self.c.heads) + 1) / self.c.heads)


@wrong("off by one: 2\\^\\(−8h/H\\)", ALIBI, ALIBI_OF_SIX)
class AlibiFromZero(Attention):
    def slopes(self):
        return 2.0 ** (-8 * np.arange(self.c.heads) / self.c.heads)


@wrong("slopes stand in the reverse order", ALIBI, ALIBI_OF_SIX)
class AlibiReversed(Attention):
    def slopes(self):
        return super().slopes()[::-1]


@wrong("slope is 0.125 in every head", ALIBI, ALIBI_OF_SIX)
class AlibiOfOneSlope(Attention):
    def slopes(self):
        return np.full(self.c.heads, 0.125)


@wrong("heads of attn_mask are taken in the order 3, 2, 1, 0", BY_HEAD, dict(sdpa=True, **BY_HEAD))
class MaskHeadsReversed(Attention):
    def attn_mask(self):
        return super().attn_mask()[0][:, ::-1], 0.0


@wrong("batches of attn_mask are taken in the reverse order", BY_HEAD, dict(sdpa=True, **BY_HEAD))
class MaskBatchesReversed(Attention):
    def attn_mask(self):
        return super().attn_mask()[0][::-1], 0.0


@wrong("first axis counts h·N \\+ n", BY_HEAD)
class MaskCountsHeadsFirst(Attention):
    def attn_mask(self):
        c, mask = self.c, self.a["attn_mask"]
        return mask.reshape(c.heads, c.batch, c.queries, c.keys).swapaxes(0, 1), 0.0


@wrong("the padding of attn_mask is applied, its causal part is not", MERGED, dict(sdpa=True, **MERGED))
class CausalPartDropped(Attention):
    def attn_mask(self):
        mask = super().attn_mask()[0]
        return np.broadcast_to(mask.all(-2, keepdims=True), mask.shape), 0.0


@wrong("the causal part of attn_mask is applied, its padding is not", MERGED, dict(sdpa=True, **MERGED))
class PaddingPartDropped(Attention):
    def attn_mask(self):
        return np.broadcast_to(self.causal(), super().attn_mask()[0].shape), 0.0


@wrong("no causal mask", dict(causal=True, padding=True))
class CausalDroppedForPadding(Attention):
    def causal(self):
        return np.zeros((self.c.queries, self.c.keys), bool)


@wrong("key_padding_mask is not applied", dict(causal=True, padding=True))
class PaddingDroppedForCausal(Attention):
    def padding(self):
        return np.zeros((1, 1, 1, self.c.keys), bool)


# Rotary positions
@wrong("sign of sin θ is opposite", ROTARY)
class RotarySign(Attention):
    def rotate(self, x, which):
        angle = self.positions(which, x.shape[2])[:, None] * self.frequencies()
        cos, sin = np.cos(angle), np.sin(angle)
        first, second = np.split(x, 2, axis=-1)
        return np.concatenate([first * cos + second * sin, second * cos - first * sin], axis=-1)


@wrong("q alone is rotated", ROTARY)
class RotaryOnQueriesOnly(Attention):
    def rotate(self, x, which):
        return super().rotate(x, which) if which == "q" else x


@wrong("counted from (1|-1), not from 0, in (q|k) alone", ROTARY)
class RotaryShifted(Attention):
    def positions(self, which, length):
        return super().positions(which, length) + (which == "q")


@wrong("v is rotated by its positions", ROTARY)
class RotaryOnValues(Attention):
    def weigh(self, weights, v):
        return weights @ self.rotate(v, "k")


@wrong("neighbouring columns", ROTARY)
class RotaryNeighbours(Attention):
    def rotate(self, x, which):
        angle = self.positions(which, x.shape[2])[:, None] * self.frequencies()
        turned = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * angle)
        return np.stack([turned.real, turned.imag], -1).reshape(x.shape)


# Heads
@wrong("heads of v alone are tiled", GROUPED, dict(sdpa=True, **GROUPED))
class ValuesTiled(Attention):
    def repeat(self, x, which):
        return np.tile(x, (1, self.c.heads // x.shape[1], 1, 1)) if which == "v" else super().repeat(x, which)


@wrong("key/value heads are tiled", GROUPED, dict(sdpa=True, **GROUPED))
class KeysAndValuesTiled(Attention):
    def repeat(self, x, which):
        return np.tile(x, (1, self.c.heads // x.shape[1], 1, 1))


@wrong("order 3, 2, 1, 0")
class HeadsReversed(Attention):
    def merge(self, heads):
        return super().merge(heads[:, ::-1])


@wrong("joined by a view of \\(N,H,L,Dv\\)|view or reshape", PLAIN, dict(batch=1, queries=5, keys=5))
class ViewForTranspose(Attention):
    def merge(self, heads):
        n, h, length, d = heads.shape
        return heads.reshape(n, length, h * d)


@wrong("split into heads by a view|view or reshape|transpose is missing", PLAIN)
class ViewInSplit(Attention):
    def split(self, x, heads):
        n, length, width = x.shape
        return x.reshape(n, heads, length, width // heads)


@wrong("q, k and v are split into heads by reading the numbers as \\(L,N,H,D\\)|view or reshape|transpose is missing", PLAIN)
class ReshapeForPermuteInSplit(Attention):
    def split(self, x, heads):
        n, length, width = x.shape
        return x.reshape(length, n * heads, width // heads).transpose(1, 0, 2).reshape(n, heads, length, width // heads)


@wrong("joined by reading the numbers as \\(L,N,H,Dv\\)|view or reshape", PLAIN)
class ReshapeForPermuteInMerge(Attention):
    def merge(self, heads):
        n, h, length, d = heads.shape
        return heads.reshape(length, n, h * d).transpose(1, 0, 2)


@wrong("kᵀ is k reshaped", PLAIN, dict(sdpa=True, keys=7))
class KeysReshapedNotTransposed(Attention):
    def scores(self, q, k):
        return q @ k.reshape(*k.shape[:2], k.shape[3], k.shape[2])


@wrong("every H-th column", PLAIN)
class HeadsInterleaved(Attention):
    def split(self, x, heads):
        n, length, width = x.shape
        return x.reshape(n, length, width // heads, heads).transpose(0, 3, 1, 2)


# Scores and softmax
@wrong("not scaled|scaled by 1 ", PLAIN, dict(sdpa=True))
class NotScaled(Attention):
    def scale(self):
        return 1.0


LATENTS = [dict(latent=layout, causal=True, rotary=rotary) for layout in ("expanded", "absorbed") for rotary in (None, 100.0)]


@wrong("1/√\\(C\\+R\\), the width of an absorbed key", *LATENTS)
class ScaledByAbsorbedWidth(Attention):
    def scale(self):
        return 1 / math.sqrt(self.c.rank + self.c.rope)


@wrong("1/√Dn, without the columns of k_rot", *LATENTS)
class ScaledWithoutRotatedColumns(Attention):
    def scale(self):
        return 1 / math.sqrt(self.c.nope)


@wrong("scaled by 0.37|times 0.74|0.74", PLAIN)
class ScaledOddly(Attention):
    def scale(self):
        return 0.37


@wrong("softcap|capped by", PLAIN)
class Softcapped(Attention):
    def scaled(self, scores):
        return 7.0 * np.tanh(super().scaled(scores) / 7.0)


@wrong("no softcap", dict(softcap=2.0))
class SoftcapForgotten(Attention):
    def scaled(self, scores):
        return scores * self.scale()


@wrong("over the queries", PLAIN, CROSS, dict(sdpa=True))
class SoftmaxOverQueries(Attention):
    def weights(self, masked):
        return self.softmax(masked.swapaxes(-1, -2)).swapaxes(-1, -2)


@wrong("1 is added to the sum", PLAIN, CROSS)
class SoftmaxPlusOne(Attention):
    def softmax(self, x):
        return np.exp(x) / (1 + np.exp(x).sum(-1, keepdims=True))


@wrong("each head has an attention sink of its own", PLAIN, dict(sdpa=True))
class SinkForEachHead(Attention):
    def softmax(self, x):
        sinks = np.linspace(-1, 1.5, self.c.heads)[:, None, None]
        return np.exp(x) / (np.exp(sinks) + np.exp(x).sum(-1, keepdims=True))


@wrong("weights are transposed", PLAIN)
class WeightsTransposed(Attention):
    def weigh(self, weights, v):
        return weights.swapaxes(-1, -2) @ v


# Values and projections
@wrong("k stands in the place of v", PLAIN, dict(sdpa=True, keys=8))
class KeysAsValues(Attention):
    def run(self):
        self.kept = None
        return super().run()

    def repeat(self, x, which):
        if which == "k":
            self.kept = x
        return super().repeat(self.kept if which == "v" else x, which)


@wrong("W_v is used as \\[in,out\\]|v_proj_weight is used as \\[in,out\\]", PLAIN, dict(separate=True))
class ValueWeightTransposed(Attention):
    def weight(self, which):
        return super().weight(which).T if which == "v" else super().weight(which)


@wrong("all projections are used as \\[in,out\\]", PLAIN, dict(separate=True))
class AllWeightsTransposed(Attention):
    def weight(self, which):
        return super().weight(which).T

    def project_out(self, concat):
        return concat @ self.a["out_proj.weight"] + self.a["out_proj.bias"]


@wrong("the order k, q, v|order k, q, v|exchanged|v, q, k|q, v, k", PLAIN)
class PackedInOtherOrder(Attention):
    def weight(self, which):
        return super().weight({"q": "q", "k": "v", "v": "k"}[which])

    def bias(self, which):
        return super().bias({"q": "q", "k": "v", "v": "k"}[which])


# Around the attention
@wrong("residual is in the output", PLAIN)
class ResidualLeftIn(Attention):
    def project_out(self, concat):
        return super().project_out(concat) + self.a["query"]


@wrong("residual is left out|equals our output", dict(residual=True))
class ResidualLeftOut(Attention):
    def add_residual(self, output):
        return output


@wrong("output projection is left out|equals our concat", PLAIN)
class NoOutputProjection(Attention):
    def project_out(self, concat):
        return concat


@wrong("scaled by 2 \\(√D\\)", PLAIN)
class ScaledTheOtherWay(Attention):
    def scale(self):
        return math.sqrt(self.c.head_dim)


@wrong("1/D", PLAIN, dict(sdpa=True))
class ScaledTwice(Attention):
    def scale(self):
        return 1 / self.c.head_dim


@wrong("q is scaled before its bias is added", PLAIN)
class QueryScaledBeforeItsBias(Attention):
    def project(self, which):
        x = self.source({"q": "query", "k": "key", "v": "value"}[which]) @ self.weight(which).T
        return (x / math.sqrt(self.c.head_dim) if which == "q" else x) + self.bias(which)

    def scale(self):
        return 1.0


@wrong("q is scaled as it is projected", PLAIN, ROTARY)
class QueryScaledInItsProjection(Attention):
    def project(self, which):
        x = super().project(which)
        return x / math.sqrt(self.c.head_dim) if which == "q" else x

    def scale(self):
        return 1.0


@wrong("the window is 4 wide", dict(window=3))
class WindowOneWider(Attention):
    def blocked(self):
        i, j = self.grid()
        return np.broadcast_to(np.abs(i - j) > self.c.window, (self.c.batch, self.c.heads, self.c.queries, self.c.keys)), 0.0


@wrong("the sign is opposite", dict(alibi=True, causal=True))
class AlibiRewardsDistance(Attention):
    def blocked(self):
        blocked, bias = super().blocked()
        return blocked, -bias


@wrong("head [37] is left out", PLAIN, GROUPED)
class LastHeadForgotten(Attention):
    def merge(self, heads):
        kept = heads.copy()
        kept[:, -1] = 0.0
        return super().merge(kept)


@wrong("values of the batches are taken in the reverse order", PLAIN)
class ValuesOfOtherBatch(Attention):
    def weigh(self, weights, v):
        return weights @ v[::-1]


@wrong("ReLU", PLAIN, CROSS)
class ReluForSoftmax(Attention):
    def softmax(self, x):
        x = np.maximum(x, 0.0)
        return x / (x.sum(-1, keepdims=True) + 1e-12)


@wrong("padding on the left is taken for padding on the right", PADDED)
class PaddingOnTheOtherSide(Attention):
    def padding(self):
        return self.a["key_padding_mask"][:, None, None, ::-1]


@wrong("multiplied by attn_mask", dict(mask="float"))
class FloatMaskMultiplied(Attention):
    def masked(self, scaled):
        return scaled * self.a["attn_mask"]


@wrong("q and k are not rotated", ROTARY)
class RotaryForgotten(Attention):
    def rotate(self, x, which):
        return x


@wrong("only the first 4 of 8 columns", ROTARY)
class RotaryOnHalfAHead(Attention):
    def rotate(self, x, which):
        width = x.shape[-1] // 2
        angle = self.positions(which, x.shape[2])[:, None] * self.c.rotary ** (-np.arange(0, width, 2) / width)
        first, second = np.split(x[..., :width], 2, axis=-1)
        cos, sin = np.cos(angle), np.sin(angle)
        return np.concatenate([first * cos - second * sin, second * cos + first * sin, x[..., width:]], axis=-1)


@wrong("k is projected with the matrix of q", PLAIN)
class QueryMatrixForKeys(Attention):
    def weight(self, which):
        return super().weight("q" if which == "k" else which)


@wrong("the bias of v is added to k|bias of k is not added", PLAIN)
class ValueBiasForKeys(Attention):
    def bias(self, which):
        return super().bias("v" if which == "k" else which)


@wrong("adds 0.01 to the variance", dict(layer_norm=True, residual=True))
class LayerNormWithLargeEpsilon(Attention):
    def normalise(self, x):
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-2)


@wrong("every number of theirs is a bf16 number", PLAIN, CAUSAL)
class RoundedToBf16(Attention):
    def run(self):
        return {n: round_bf16(x) for n, x in super().run().items()}


@wrong("every number of theirs is an f16 number", PLAIN, CROSS)
class RoundedToF16(Attention):
    def run(self):
        return {n: x.astype(np.float16).astype(np.float32) for n, x in super().run().items()}


# Fused matrices of q, k and v
class Fused(Attention):
    """The rows of in_proj_weight and in_proj_bias after `rows`, split flat."""

    def rows(self, x):
        raise NotImplementedError

    def weight(self, which):
        return np.split(self.rows(self.a["in_proj_weight"]), self.part_rows())["qkv".index(which)]

    def bias(self, which):
        return np.split(self.rows(self.a["in_proj_bias"]), self.part_rows())["qkv".index(which)]


@wrong(r"taken as \[H,3,D\]", PLAIN)
class FusedTakenByHeads(Fused):
    def rows(self, x):
        return np.concatenate(list(x.reshape(self.c.heads, 3, self.c.head_dim, -1).swapaxes(0, 1))).reshape(x.shape)


@wrong(r"stored as \[H,3,D\]", PLAIN, dict(heads=2, head_dim=6))
class FusedStoredByHeads(Fused):
    def rows(self, x):
        return x.reshape(3, self.c.heads, self.c.head_dim, -1).swapaxes(0, 1).reshape(x.shape)


@wrong(r"taken as \[H,D,3\]", PLAIN)
class FusedTakenByColumns(Fused):
    def rows(self, x):
        return np.moveaxis(x.reshape(self.c.heads * self.c.head_dim, 3, -1), 1, 0).reshape(x.shape)


@wrong(r"stored as \[H,D,3\]", PLAIN)
class FusedStoredByColumns(Fused):
    def rows(self, x):
        return np.moveaxis(x.reshape(3, self.c.heads * self.c.head_dim, -1), 0, 1).reshape(x.shape)


@wrong(r"stored as \[G,H/G\+2,D\]", GROUPED)
class FusedStoredByGroups(Fused):
    def rows(self, x):
        c = self.c
        q, k, v = (part.reshape(c.kv_heads, -1, c.head_dim, x.size // len(x)) for part in np.split(x, self.part_rows()))
        return np.concatenate([q, k, v], 1).reshape(x.shape)


@wrong(r"stored as \[H,3,D\]", dict(separate=True))
class SeparateFusedByHeads(Fused):
    """The three matrices are joined head by head, and split flat."""

    def weight(self, which):
        joined = np.concatenate([self.a[f"{n}_proj_weight"] for n in "qkv"])
        stored = joined.reshape(3, self.c.heads, self.c.head_dim, -1).swapaxes(0, 1).reshape(joined.shape)
        return np.split(stored, self.part_rows())["qkv".index(which)]

    def rows(self, x):
        return x.reshape(3, self.c.heads, self.c.head_dim).swapaxes(0, 1).reshape(-1)


# Rows of q and k in the other rotary order
class RowsReordered(Attention):
    WHO, TO_HALVES = "k", True

    def project(self, which):
        x = super().project(which)
        if which not in self.WHO:
            return x
        pairs = x.reshape(*x.shape[:2], -1, *((self.c.head_dim // 2, 2) if self.TO_HALVES else (2, self.c.head_dim // 2)))
        return pairs.swapaxes(-1, -2).reshape(x.shape)


@wrong("W_k alone are reordered from neighbouring columns", ROTARY, dict(rotary=100.0, **GROUPED))
class KeyRowsToHalves(RowsReordered):
    pass


@wrong("W_k alone are reordered from halves", ROTARY)
class KeyRowsToNeighbours(RowsReordered):
    TO_HALVES = False


@wrong("W_q alone are reordered from neighbouring columns", ROTARY)
class QueryRowsToHalves(RowsReordered):
    WHO = "q"


@wrong("W_q alone are reordered from halves", ROTARY)
class QueryRowsToNeighbours(RowsReordered):
    WHO, TO_HALVES = "q", False


@wrong("W_q and W_k are reordered from halves", ROTARY)
class RowsToNeighbours(RowsReordered):
    WHO, TO_HALVES = "qk", False


@wrong("rotates neighbouring columns", ROTARY)
class RowsToHalves(RowsReordered):
    WHO = "qk"


# Sums of heads
@wrong("summed, not concatenated: every head", PLAIN, dict(head_dim=8, heads=2))
class HeadsSummed(Attention):
    def merge(self, heads):
        return np.tile(heads.sum(1), self.c.heads)


@wrong("averaged, not concatenated: every head", PLAIN)
class HeadsAveraged(Attention):
    def merge(self, heads):
        return np.tile(heads.mean(1), self.c.heads)


@wrong("summed, not concatenated, and projected by the first Dv columns", PLAIN)
class HeadsSummedAndProjected(Attention):
    def project_out(self, concat):
        c = self.c
        total = concat.reshape(*concat.shape[:2], c.heads, c.head_dim).sum(2)
        return total @ self.a["out_proj.weight"][:, :c.head_dim].T + self.a["out_proj.bias"]


# Softmax in a 16-bit type
@wrong("softmax is computed in f16|every number of theirs is an f16", PLAIN, CAUSAL)
class SoftmaxInHalf(Attention):
    def softmax(self, x):
        x = x.astype(np.float16)
        e = np.exp(x - x.max(-1, keepdims=True))
        return (e / e.sum(-1, keepdims=True)).astype(np.float64)


@wrong("softmax is computed in f16|every number of theirs is an f16", PLAIN, CROSS)
class SoftmaxOfHalf(Attention):
    """As PyTorch computes it: rounded before and after, but not in between."""

    def softmax(self, x):
        return super().softmax(x.astype(np.float16).astype(np.float64)).astype(np.float16).astype(np.float64)


@wrong("softmax is computed in bf16|every number of theirs is a bf16", PLAIN, CAUSAL)
class SoftmaxOfBf16(Attention):
    def softmax(self, x):
        return round_bf16(super().softmax(round_bf16(x).astype(np.float64))).astype(np.float64)


# A bias added before the scale
@wrong("divided by √D along with the scores", dict(mask="float"), dict(alibi=True, causal=True),
       dict(mask="float", sdpa=True), dict(mask="float", scale=0.3), dict(mask="float", padding=True, rotary=100.0))
class BiasBeforeScale(Attention):
    def masked(self, scaled):
        blocked, bias = self.blocked()
        return np.where(blocked, -np.inf, (scaled / self.scale() + bias) * self.scale())
