#if never
# The program that a training is exported as (core/train/training_program.cpp). A line "#if NAME ..." keeps what follows, up to "#else" or
# "#end", only if one of the names is set, and _name_ stands for the value of a name; all the rest is Python.
#end
#!/usr/bin/env python3
"""Trains a small transformer with PyTorch on a task of Headwise, as `headwise train` does: it begins with the same numbers, is
#if dropout
given the same batches and the same masks of dropout, and has the same optimiser. Prints the loss of each step.
#else
given the same batches, and has the same optimiser. Prints the loss of each step.
#end

    python3 PROGRAM.py [STEPS]
"""
#if json
import json
#end
import math
#if file
import os
#end
import sys

import numpy as np
import torch
import torch.nn.functional as F

torch.set_default_dtype(torch._dtype_)
STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else _steps_
SEED, BATCH, LENGTH = _seed_, _batch_, _length_
LAYERS, WIDTH, HEADS, KV_HEADS, HEAD_WIDTH, HIDDEN = _layers_, _width_, _heads_, _kv_heads_, _head_width_, _hidden_
#if latents
LATENT, SHARED = _latent_, _shared_  # numbers of a latent, and columns that the keys of all heads share
#end


class CounterRandom:
    """Random numbers by seed, stream and index (Philox4x32-10, Salmon et al. 2011): the same wherever they are drawn."""

    def __init__(self, seed, stream):
        number = 0xCBF29CE484222325  # the FNV-1a hash of the stream's name
        for byte in stream.encode():
            number = (number ^ byte) * 0x100000001B3 % 2**64
        self.seed, self.stream = seed, number

    def block(self, index):
        index = np.asarray(index).astype(np.uint64)
        low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
        c0, c1 = index & low, index >> half
        c2, c3 = (np.full_like(index, word) for word in (self.stream & 0xFFFFFFFF, self.stream >> 32))
        key0, key1 = self.seed & 0xFFFFFFFF, self.seed >> 32
        for _ in range(10):
            product0, product1 = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
            c0, c1, c2, c3 = (product1 >> half) ^ c1 ^ np.uint64(key0), product1 & low, \
                (product0 >> half) ^ c3 ^ np.uint64(key1), product0 & low
            key0, key1 = (key0 + 0x9E3779B9) % 2**32, (key1 + 0xBB67AE85) % 2**32
        return c0 | c1 << half, c2 | c3 << half

    def bits(self, index):
        return self.block(index)[0]

    def uniform(self, index):
        return (self.bits(index) >> np.uint64(11)) * 2.0**-53

    def normal(self, index):
        first, second = ((bits >> np.uint64(11)) * 2.0**-53 for bits in self.block(index))
        return np.sqrt(-2.0 * np.log1p(-first)) * np.cos(2.0 * math.pi * second)


# _what_
TASK = _task_
#if file
DATA = _data_
#else
SYMBOLS = _symbols_
#end


class Draws:
    """The random numbers of one example, one after the other."""

    def __init__(self, split, number):
        index = (number << 20) + np.arange(2 * LENGTH + 8)
        self.bits = iter(CounterRandom(SEED, f"{TASK} {split}").bits(index).tolist())

    def below(self, bound):
        return next(self.bits) % bound

    def shuffle(self, pool, count):
        """Puts `count` entries of a random permutation to the front (Fisher and Yates)."""
        for i in range(count):
            j = i + self.below(len(pool) - i)
            pool[i], pool[j] = pool[j], pool[i]


#if task:reverse task:sort
def example(draws, split):
    """n tokens, a sign, and the first n - 1 answers, each asked for at the position before it."""
    count = LENGTH // 2
    first = [draws.below(SYMBOLS) for _ in range(count)]
#if task:reverse
    answers = first[::-1]
#else
    answers = sorted(first)
#end
    return first + [SYMBOLS] + answers[:-1], [-1] * count + answers
#end
#if task:induction
def example(draws, split):
    """A block of different tokens, repeated to the end: what comes next came after the same token before."""
    longest = min(SYMBOLS, LENGTH // 2)
    shortest = max(2, longest // 2)
    block = shortest + draws.below(longest - shortest + 1)
    pool = list(range(SYMBOLS))
    draws.shuffle(pool, block)
    tokens = [pool[i % block] for i in range(LENGTH + 1)]
    return tokens[:-1], [-1] * block + tokens[block + 1:]
#end
#if task:previous-token
def example(draws, split):
    """The token before."""
    tokens = [draws.below(SYMBOLS) for _ in range(LENGTH)]
    return tokens, [-1] + tokens[:-1]
#end
#if task:brackets
def example(draws, split):
    """Brackets that open (0) and close (1); asked for is how many are open."""
    tokens, targets, count = [], [], 0
    for _ in range(LENGTH):
        opens = count == 0 or (count < SYMBOLS - 1 and draws.below(2) == 0)
        count += 1 if opens else -1
        tokens.append(0 if opens else 1)
        targets.append(2 + count)
    return tokens, targets
#end
#if task:modular-addition
HELD_OUT = CounterRandom(0, "modular-addition pairs").uniform(np.arange(SYMBOLS * SYMBOLS)) < 0.3
PAIRS = {"training": np.flatnonzero(~HELD_OUT), "held out": np.flatnonzero(HELD_OUT)}


def example(draws, split):
    """a, b, =; asked for is (a + b) mod SYMBOLS."""
    pair = int(PAIRS[split][draws.below(len(PAIRS[split]))])
    a, b = divmod(pair, SYMBOLS)
    return [a, b, SYMBOLS], [-1, -1, (a + b) % SYMBOLS]
#end
#if task:majority
def example(draws, split):
    """Letters; asked for is the one seen most often so far, where one is ahead."""
    favourite = draws.below(SYMBOLS)
    favour = draws.below(3)
    counts, tokens, targets = [0] * SYMBOLS, [], []
    for _ in range(LENGTH):
        drawn = draws.below(SYMBOLS + favour)
        tokens.append(drawn if drawn < SYMBOLS else favourite)
        counts[tokens[-1]] += 1
        most = max(counts)
        targets.append(-1 if counts.count(most) > 1 else counts.index(most))
    return tokens, targets
#end
#if task:lookup
def example(draws, split):
    """Pairs of a key and a value, and then the same pairs in another order: each value is asked for at its key."""
    pairs = LENGTH // 4
    keys = list(range(SYMBOLS))
    draws.shuffle(keys, pairs)
    values = [SYMBOLS + draws.below(SYMBOLS) for _ in range(pairs)]
    order = list(range(pairs))
    draws.shuffle(order, pairs)
    tokens, targets = [], []
    for pair in list(range(pairs)) + order:
        tokens += [keys[pair], values[pair]]
        targets += [values[pair] if len(tokens) > 2 * pairs else -1, -1]
    return tokens, targets
#end
#if task:it-and-the-noun
# the, did, not, because, it, was, too, ".", what, "?" are tokens 0 to 9; then SYMBOLS animals, places, things and containers, 9 verbs and
# 20 adjectives. A kind of sentence: its subjects and objects, and the first and the number of its verbs and of the adjectives of each.
KINDS = [(0, 1, (0, 4), (0, 4), (4, 4)), (2, 3, (4, 1), (8, 4), (12, 4)), (0, 0, (5, 4), (0, 4), (16, 4))]


def noun_pairs(kind):
    """A fifth of the pairs of different nouns are held out."""
    draw = CounterRandom(kind, "it-and-the-noun pairs").uniform(np.arange(12 * 12))
    pairs = [(a, b) for a in range(SYMBOLS) for b in range(SYMBOLS) if a != b or KINDS[kind][0] != KINDS[kind][1]]
    return {"training": [p for p in pairs if draw[12 * p[0] + p[1]] >= 0.2],
            "held out": [p for p in pairs if draw[12 * p[0] + p[1]] < 0.2]}


PAIRS = [noun_pairs(kind) for kind in range(3)]


def example(draws, split):
    """the SUBJECT did not VERB the OBJECT because it was too ADJECTIVE . what ?"""
    kind = draws.below(3)
    subjects, objects, verbs, of_subject, of_object = KINDS[kind]
    pair = PAIRS[kind][split][draws.below(len(PAIRS[kind][split]))]
    speaks_of_subject = draws.below(2) == 0
    subject, object = 10 + subjects * SYMBOLS + pair[0], 10 + objects * SYMBOLS + pair[1]
    first_verb, first_adjective = 10 + 4 * SYMBOLS, 10 + 4 * SYMBOLS + 9
    verb = first_verb + verbs[0] + draws.below(verbs[1])
    adjectives = of_subject if speaks_of_subject else of_object
    adjective = first_adjective + adjectives[0] + draws.below(adjectives[1])
    tokens = [0, subject, 1, 2, verb, 0, object, 3, 4, 5, 6, adjective, 7, 8, 9]
    return tokens, [-1] * 14 + [subject if speaks_of_subject else object]
#end
#if text
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), DATA), encoding="utf-8", newline="") as file:
    TEXT = file.read()
CHARACTERS = {character: i for i, character in enumerate(sorted(set(TEXT)))}
TEXT = [CHARACTERS[character] for character in TEXT]
CUT = len(TEXT) - len(TEXT) // 10  # the last tenth is held out


def example(draws, split):
    """A part of the text; asked for is each next character."""
    part = TEXT[:CUT] if split == "training" else TEXT[CUT:]
    first = draws.below(len(part) - LENGTH)
    return part[first:first + LENGTH], part[first + 1:first + LENGTH + 1]
#end
#if json
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), DATA), encoding="utf-8") as file:
    WRITTEN = json.load(file)
NUMBERS = {}  # of words, as they are met


def number(word):
    return NUMBERS.setdefault(word, len(NUMBERS))


def numbered(written):
    tokens = [number(word) for word in written["tokens"]]
    if "targets" not in written:
        return tokens, tokens[1:] + [-1]
    return tokens, [-1 if word is None else number(word) for word in written["targets"]]


EXAMPLES = {"training": [numbered(e) for e in WRITTEN["examples"]]}
if "held_out" in WRITTEN:
    EXAMPLES["held out"] = [numbered(e) for e in WRITTEN["held_out"]]
else:
    EXAMPLES = {"training": [e for i, e in enumerate(EXAMPLES["training"]) if i % 5 != 4],
                "held out": [e for i, e in enumerate(EXAMPLES["training"]) if i % 5 == 4]}


def example(draws, split):
    """One of the examples, filled up with the token (end), where nothing is asked."""
    tokens, targets = EXAMPLES[split][draws.below(len(EXAMPLES[split]))]
    rest = LENGTH - len(tokens)
    return tokens + [number('(end)')] * rest if rest else tokens, targets + [-1] * rest
#end


def batch_of(split, first, count):
    """Examples first, first + 1, … as tokens and targets (count,LENGTH); -1: not asked."""
    examples = [example(Draws(split, number), split) for number in range(first, first + count)]
    return (torch.tensor(list(part)) for part in zip(*examples))


# --- The parameters as they begin, rounded to float32.

def uniform(name, bound, *shape):
    """Between -bound and bound."""
    drawn = bound * (2.0 * CounterRandom(SEED, name).uniform(np.arange(math.prod(shape))) - 1.0)
    return torch.tensor(drawn.astype(np.float32).reshape(shape)).to(torch.get_default_dtype())


def normal(name, deviation, *shape):
    drawn = deviation * CounterRandom(SEED, name).normal(np.arange(math.prod(shape)))
    return torch.tensor(drawn.astype(np.float32).reshape(shape)).to(torch.get_default_dtype())


P = {
    _parameters_
}
#if heads_begin_equal
for layer in range(LAYERS):  # every head begins as head 0
#if latents
    for own in (P[f"layers.{layer}.self_attn.{name}.weight"] for name in ("q_proj", "kv_b_proj")):
        own.copy_(own[:len(own) // HEADS].clone().repeat(HEADS, 1))
#else
    own = P[f"layers.{layer}.self_attn.in_proj_weight"]
    for heads in own.split([HEADS * HEAD_WIDTH, KV_HEADS * HEAD_WIDTH, KV_HEADS * HEAD_WIDTH]):
        heads.copy_(heads[:HEAD_WIDTH].clone().repeat(len(heads) // HEAD_WIDTH, 1))
#end
#if output_gate
    gate = P[f"layers.{layer}.self_attn.output_gate.weight"]
    gate.copy_(gate[:HEAD_WIDTH].clone().repeat(HEADS, 1))
#end
#if equal_out_projection
    out = P[f"layers.{layer}.self_attn.out_proj.weight"]
    out.copy_(out[:, :HEAD_WIDTH].clone().repeat(1, HEADS))
#end
#if relative_bias
table = P["layers.0.self_attn.relative_attention_bias.weight"]
table.copy_(table[:, :1].clone().repeat(1, HEADS))
#end
#end
for parameter in P.values():
    parameter.requires_grad_()
#if frozen

# What belongs to frozen heads.
FROZEN = {
    _frozen_
}
#end


# --- The model: (N,T) tokens to (N,T,V) logits.
#if sinusoidal rotary

#if rotary
ANGLES = torch.arange(LENGTH)[:, None] * 10000.0 ** (-torch.arange(0, _rotated_, 2, dtype=torch.float64) / _rotated_)
#else
ANGLES = torch.arange(LENGTH)[:, None] * 10000.0 ** (-torch.arange(0, WIDTH, 2, dtype=torch.float64) / WIDTH)
#end
ANGLES = ANGLES.to(torch.get_default_dtype())
#end
#if sinusoidal
SINUSOIDS = torch.stack([ANGLES.sin(), ANGLES.cos()], -1).reshape(LENGTH, WIDTH)
#end
#if alibi

SLOPES = torch.tensor([_slopes_])
AT = torch.arange(LENGTH)
ALIBI = -SLOPES[:, None, None] * (AT[:, None] - AT).abs()
#end
#if relative_bias

AHEAD = torch.arange(LENGTH) - torch.arange(LENGTH)[:, None]  # of each query (a row), how far ahead each key (a column) is


def bucket_of(ahead):
    """T5's buckets: near distances have one each, further ones share _buckets_ by the logarithm, up to _max_distance_."""
#if causal
    first, count, distance = 0, _buckets_, max(-ahead, 0)
#else
    first, count, distance = _buckets_ // 2 * (ahead > 0), _buckets_ // 2, abs(ahead)
#end
    exact = count // 2
    if distance < exact:
        return first + distance
    share = np.log(np.float32(distance) / np.float32(exact)) / np.float32(math.log(_max_distance_ / exact))
    return first + min(exact + int(share * np.float32(count - exact)), count - 1)


BUCKETS = torch.tensor([[bucket_of(ahead) for ahead in row] for row in AHEAD.tolist()])
#end
#if causal

FUTURE = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)
#end
#if window

AT = torch.arange(LENGTH)
FAR = (AT[:, None] - AT).abs() >= _sliding_window_
#end
#if rotary


def rotate(x):
    """Rotary positions, half-split: column j is rotated together with column j + _rotated_/2."""
    a, b = x.chunk(2, -1)
    return torch.cat([a * ANGLES.cos() - b * ANGLES.sin(), b * ANGLES.cos() + a * ANGLES.sin()], -1)
#end


def attention(x, name, factors):
#if latents
    q, made = F.linear(x, P[name + "q_proj.weight"]), F.linear(x, P[name + "kv_a_proj_with_mqa.weight"])
    latent, shared = made.split([LATENT, SHARED], -1)
    latent = latent * torch.rsqrt(latent.square().mean(-1, keepdim=True) + 1e-6) * P[name + "kv_a_layernorm.weight"]
    q, kv = (y.reshape(*y.shape[:2], HEADS, -1).transpose(1, 2) for y in (q, F.linear(latent, P[name + "kv_b_proj.weight"])))
    own, v = kv.split([HEAD_WIDTH - SHARED, HEAD_WIDTH], -1)  # a head's own part of its keys, and its values
    shared = shared[:, None]
#if rotary
    q = torch.cat([q[..., :-SHARED], rotate(q[..., -SHARED:])], -1)
    shared = rotate(shared)
#end
    k = torch.cat([own, shared.expand(-1, HEADS, -1, -1)], -1)
#else
    qkv = F.linear(x, P[name + "in_proj_weight"], P[name + "in_proj_bias"])
    q, k, v = qkv.split([HEADS * HEAD_WIDTH, KV_HEADS * HEAD_WIDTH, KV_HEADS * HEAD_WIDTH], -1)
    q, k, v = (y.reshape(*y.shape[:2], -1, HEAD_WIDTH).transpose(1, 2) for y in (q, k, v))
#if rotary
    q, k = rotate(q), rotate(k)
#end
#end
#if qk_norm
    q, k = (y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-6) for y in (q, k))
#end
#if grouped
    k, v = (y.repeat_interleave(HEADS // KV_HEADS, 1) for y in (k, v))
#end
#if scaled
    scores = q @ k.transpose(-1, -2) / math.sqrt(HEAD_WIDTH)
#else
    scores = q @ k.transpose(-1, -2)
#end
#if alibi
    scores = scores + ALIBI
#end
#if relative_bias
    scores = scores + P["layers.0.self_attn.relative_attention_bias.weight"][BUCKETS].permute(2, 0, 1)
#end
#if causal
    scores = scores.masked_fill(FUTURE, -math.inf)
#end
#if window
    scores = scores.masked_fill(FAR, -math.inf)
#end
#if sink
    sinks = P[name + "sinks"][:, None, None].expand(*scores.shape[:3], 1)
    weights = torch.cat([scores, sinks], -1).softmax(-1)[..., :-1]
#else
    weights = scores.softmax(-1)
#end
#if dropout
    if factors is not None:
        weights = weights * factors
#end
    out = (weights @ v).transpose(1, 2).flatten(2)
#if output_gate
    out = out * F.linear(x, P[name + "output_gate.weight"]).sigmoid()
#end
#if out_projection
    return F.linear(out, P[name + "out_proj.weight"], P[name + "out_proj.bias"])
#else
    return out
#end
#if norms


def norm(x, name):
    return F.layer_norm(x, (WIDTH,), P[name + ".weight"], P[name + ".bias"])
#end


def logits_of(tokens, factors=None):
#if learned
    x = F.embedding(tokens, P["embedding.weight"]) + P["positions.weight"][:LENGTH]
#else
#if sinusoidal
    x = F.embedding(tokens, P["embedding.weight"]) + SINUSOIDS
#else
    x = F.embedding(tokens, P["embedding.weight"])
#end
#end
    for layer in range(LAYERS):
        name = f"layers.{layer}."
#if norms
        x = x + attention(norm(x, name + "norm1"), name + "self_attn.", factors and factors[layer])
#else
        x = x + attention(x, name + "self_attn.", factors and factors[layer])
#end
#if feed_forward
#if norms
        y = F.linear(norm(x, name + "norm2"), P[name + "linear1.weight"], P[name + "linear1.bias"])
#else
        y = F.linear(x, P[name + "linear1.weight"], P[name + "linear1.bias"])
#end
#if relu
        y = F.relu(y)
#else
        y = F.gelu(y, approximate="tanh")
#end
        x = x + F.linear(y, P[name + "linear2.weight"], P[name + "linear2.bias"])
#end
#if norms
    return F.linear(norm(x, "norm"), P["_unembedding_"])
#else
    return F.linear(x, P["_unembedding_"])
#end
#if dropout


DROPOUT = _dropout_


def dropout_factors(step):
    """0 for a weight that is dropped, else 1/(1 - p): (N,H,T,T) for each layer."""
    seeds = CounterRandom(SEED, "dropout of steps").bits(4 * step + np.arange(LAYERS)).tolist()
    shape = (BATCH, HEADS, LENGTH, LENGTH)
    kept = [CounterRandom(seed, "dropout").uniform(np.arange(math.prod(shape))) >= DROPOUT for seed in seeds]
    return [torch.tensor(k.reshape(shape)).to(torch.get_default_dtype()) / (1.0 - DROPOUT) for k in kept]
#end


# --- The training.

def loss_of(tokens, targets, factors=None):
    """The mean cross-entropy where an answer is asked for."""
    logits = logits_of(tokens, factors)
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1), logits


def learning_rate(step):
#if warm_up
    if step < _warm_up_steps_:
        return _learning_rate_ * (step + 1) / _warm_up_steps_
#end
#if cosine
    part = (min(step, _cosine_steps_) - _warm_up_steps_) / _cosine_length_
    return _learning_rate_ * (_final_share_ + (1 - _final_share_) * (1 + math.cos(math.pi * part)) / 2)
#else
    return _learning_rate_
#end


#if sgd
optimiser = torch.optim.SGD(P.values(), _learning_rate_, momentum=_momentum_, weight_decay=_weight_decay_)
#else
optimiser = torch.optim._adam_(P.values(), _learning_rate_, betas=(_beta1_, _beta2_), eps=_epsilon_, weight_decay=_weight_decay_)
#end
#if frozen
begun = {name: P[name].detach()[place].clone() for name, place in FROZEN.items()}
#end

for step in range(STEPS):
    tokens, targets = batch_of("training", step * BATCH, BATCH)
    optimiser.param_groups[0]["lr"] = learning_rate(step)
    optimiser.zero_grad()
#if dropout
    loss, _ = loss_of(tokens, targets, dropout_factors(step))
#else
    loss, _ = loss_of(tokens, targets)
#end
    loss.backward()
#if frozen
    for name, place in FROZEN.items():
        P[name].grad[place] = 0.0
#end
#if clip_norm
    torch.nn.utils.clip_grad_norm_(P.values(), _clip_norm_)
#end
    optimiser.step()
#if frozen
    for name, place in FROZEN.items():
        P[name].data[place] = begun[name]  # weight decay stays away, too
#end
    print(step, repr(loss.item()), flush=True)

with torch.no_grad():
    tokens, targets = batch_of("held out", 0, 128)
    loss, logits = loss_of(tokens, targets)
    asked = targets >= 0
    right = (logits.argmax(-1) == targets)[asked].double().mean().item()
print(f"held-out examples: loss {loss.item():.4g}, accuracy {100 * right:.1f} %", file=sys.stderr)
