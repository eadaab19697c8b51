// The model and its training in Python: core/train/train_model.h, train_pass.h and train_optimiser.h, with PyTorch's functions.
#include <fmt/format.h>

#include "core/attention/attention_mask.h"
#include "core/tensor/join.h"
#include "core/train/training_program_parts.h"

namespace headwise {
namespace {

std::string shape_text(const TrainParameter& parameter) {
  if (parameter.shape.rank() < 2) return fmt::format("{}", parameter.columns());
  return fmt::format("{}, {}", parameter.rows(), parameter.columns());
}

// What a parameter begins with, as an expression.
std::string beginning_text(const TrainParameter& parameter, const TrainModelConfig& config) {
  const std::string name = "\"" + parameter.name + "\"", shape = shape_text(parameter);
  const auto uniform = [&](const std::string& bound) {
    return fmt::format("uniform({}, {}, {})", name, bound, shape);
  };
  switch (parameter.role) {
    case TrainRole::embedding:
    case TrainRole::positions:
      return fmt::format("normal({}, {}, {})", name, config.tied ? "1 / math.sqrt(WIDTH)" : "1.0", shape);
    case TrainRole::in_weight:
      return uniform(fmt::format("math.sqrt(6 / {})", parameter.rows() + parameter.columns()));
    case TrainRole::out_weight:
    case TrainRole::linear1_weight:
    case TrainRole::linear2_weight:
    case TrainRole::unembedding:
      return uniform(fmt::format("1 / math.sqrt({})", parameter.columns()));
    case TrainRole::linear1_bias:
      return uniform("1 / math.sqrt(WIDTH)");
    case TrainRole::linear2_bias:
      return uniform("1 / math.sqrt(HIDDEN)");
    case TrainRole::norm1_weight:
    case TrainRole::norm2_weight:
    case TrainRole::norm_weight:
      return fmt::format("torch.ones({})", shape);
    default:
      return fmt::format("torch.zeros({})", shape);
  }
}

std::string frozen_text(const TrainModelConfig& config, const std::vector<TrainParameter>& parameters) {
  const std::vector<std::uint8_t> frozen = frozen_values(config, parameters);
  if (frozen.empty()) return "";
  std::string text =
      "\n# What belongs to frozen heads: rows of W_Q, W_K, W_V and their biases, columns of W_O.\nFROZEN = "
      "{\n";
  for (const TrainParameter& parameter : parameters) {
    const bool in = parameter.role == TrainRole::in_weight || parameter.role == TrainRole::in_bias;
    if (!in && parameter.role != TrainRole::out_weight) continue;
    const Index step = parameter.role == TrainRole::in_weight ? parameter.columns() : 1;
    const Index count = parameter.role == TrainRole::in_weight ? parameter.rows() : parameter.columns();
    std::vector<std::string> places;
    for (Index i = 0; i < count; ++i)
      if (frozen[static_cast<std::size_t>(parameter.offset + i * step)])
        places.push_back(fmt::format("{}", i));
    if (places.empty()) continue;
    text += fmt::format("    \"{}\": {}[{}],\n", parameter.name, in ? "np.s_" : "np.s_",
                        in ? "[" + join(places, ", ") + "]" : ":, [" + join(places, ", ") + "]");
  }
  return text + "}\n";
}

}  // namespace

std::string parameters_part(const TrainModelConfig& config) {
  const std::vector<TrainParameter> parameters = train_parameters(config);
  std::string text = R"(

# --- The parameters as they begin, rounded to float32.

def uniform(name, bound, *shape):
    """Between -bound and bound."""
    drawn = bound * (2.0 * CounterRandom(SEED, name).uniform(np.arange(math.prod(shape))) - 1.0)
    return torch.tensor(drawn.astype(np.float32).reshape(shape)).to(torch.get_default_dtype())


def normal(name, deviation, *shape):
    drawn = deviation * CounterRandom(SEED, name).normal(np.arange(math.prod(shape)))
    return torch.tensor(drawn.astype(np.float32).reshape(shape)).to(torch.get_default_dtype())


P = {
)";
  for (const TrainParameter& parameter : parameters)
    text += fmt::format("    \"{}\": {},\n", parameter.name, beginning_text(parameter, config));
  text += "}\n";
  if (config.heads_begin_equal)
    text += R"(for layer in range(LAYERS):  # every head begins as head 0
    own = P[f"layers.{layer}.self_attn.in_proj_weight"]
    for heads in own.split([HEADS * HEAD_WIDTH, KV_HEADS * HEAD_WIDTH, KV_HEADS * HEAD_WIDTH]):
        heads.copy_(heads[:HEAD_WIDTH].clone().repeat(len(heads) // HEAD_WIDTH, 1))
)";
  if (config.heads_begin_equal && config.out_projection && config.equal_out_projection)
    text += R"(    out = P[f"layers.{layer}.self_attn.out_proj.weight"]
    out.copy_(out[:, :HEAD_WIDTH].clone().repeat(1, HEADS))
)";
  text += "for parameter in P.values():\n    parameter.requires_grad_()\n";
  return text + frozen_text(config, parameters);
}

std::string model_part(const TrainModelConfig& config) {
  const bool rotary = config.positions == TrainPositions::rotary;
  std::string text = "\n\n# --- The model: (N,T) tokens to (N,T,V) logits.\n";
  if (config.positions == TrainPositions::sinusoidal || rotary)
    text += fmt::format(R"(
ANGLES = torch.arange(LENGTH)[:, None] * 10000.0 ** (-torch.arange(0, {0}, 2, dtype=torch.float64) / {0})
ANGLES = ANGLES.to(torch.get_default_dtype())
)",
                        rotary ? "HEAD_WIDTH" : "WIDTH");
  if (config.positions == TrainPositions::sinusoidal)
    text += "SINUSOIDS = torch.stack([ANGLES.sin(), ANGLES.cos()], -1).reshape(LENGTH, WIDTH)\n";
  if (config.positions == TrainPositions::alibi) {
    std::vector<std::string> slopes;
    for (const double slope : alibi_slopes(config.heads)) slopes.push_back(fmt::format("{}", slope));
    text += fmt::format(R"(
SLOPES = torch.tensor([{}])
AT = torch.arange(LENGTH)
ALIBI = -SLOPES[:, None, None] * (AT[:, None] - AT).abs()
)",
                        join(slopes, ", "));
  }
  if (config.causal) text += "\nFUTURE = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)\n";
  if (rotary)
    text += R"(

def rotate(x):
    """Rotary positions, half-split: column j is rotated together with column j + D/2."""
    a, b = x.chunk(2, -1)
    return torch.cat([a * ANGLES.cos() - b * ANGLES.sin(), b * ANGLES.cos() + a * ANGLES.sin()], -1)
)";
  text += R"(

def attention(x, name, factors):
    qkv = F.linear(x, P[name + "in_proj_weight"], P[name + "in_proj_bias"])
    q, k, v = qkv.split([HEADS * HEAD_WIDTH, KV_HEADS * HEAD_WIDTH, KV_HEADS * HEAD_WIDTH], -1)
    q, k, v = (y.reshape(*y.shape[:2], -1, HEAD_WIDTH).transpose(1, 2) for y in (q, k, v))
)";
  if (rotary) text += "    q, k = rotate(q), rotate(k)\n";
  if (config.kv_heads < config.heads)
    text += "    k, v = (y.repeat_interleave(HEADS // KV_HEADS, 1) for y in (k, v))\n";
  text +=
      fmt::format("    scores = q @ k.transpose(-1, -2){}\n", config.scaled ? " / math.sqrt(HEAD_WIDTH)" : "");
  if (config.positions == TrainPositions::alibi) text += "    scores = scores + ALIBI\n";
  if (config.causal) text += "    scores = scores.masked_fill(FUTURE, -math.inf)\n";
  text += "    weights = scores.softmax(-1)\n";
  if (config.dropout > 0.0) text += "    if factors is not None:\n        weights = weights * factors\n";
  text += "    out = (weights @ v).transpose(1, 2).flatten(2)\n";
  text += config.out_projection
              ? "    return F.linear(out, P[name + \"out_proj.weight\"], P[name + \"out_proj.bias\"])\n"
              : "    return out\n";
  if (config.norms)
    text += R"(

def norm(x, name):
    return F.layer_norm(x, (WIDTH,), P[name + ".weight"], P[name + ".bias"])
)";
  const auto normed = [&](const char* name) { return config.norms ? fmt::format("norm(x, {})", name) : "x"; };
  text += "\n\ndef logits_of(tokens, factors=None):\n    x = F.embedding(tokens, P[\"embedding.weight\"])";
  if (config.positions == TrainPositions::learned) text += " + P[\"positions.weight\"][:LENGTH]";
  if (config.positions == TrainPositions::sinusoidal) text += " + SINUSOIDS";
  text += fmt::format(
      "\n    for layer in range(LAYERS):\n        name = f\"layers.{{layer}}.\"\n        x = x + "
      "attention({}, name + "
      "\"self_attn.\", factors and factors[layer])\n",
      normed("name + \"norm1\""));
  if (config.feed_forward)
    text += fmt::format(
        "        y = F.linear({}, P[name + \"linear1.weight\"], P[name + \"linear1.bias\"])\n        y = "
        "{}\n        x = x + "
        "F.linear(y, P[name + \"linear2.weight\"], P[name + \"linear2.bias\"])\n",
        normed("name + \"norm2\""),
        config.activation == TrainActivation::relu ? "F.relu(y)" : "F.gelu(y, approximate=\"tanh\")");
  text += fmt::format("    return F.linear({}, P[\"{}\"])\n", normed("\"norm\""),
                      config.tied ? "embedding.weight" : "unembedding.weight");
  if (config.dropout > 0.0)
    text += fmt::format(R"(

DROPOUT = {}


def dropout_factors(step):
    """0 for a weight that is dropped, else 1/(1 - p): (N,H,T,T) for each layer."""
    seeds = CounterRandom(SEED, "dropout of steps").bits(4 * step + np.arange(LAYERS)).tolist()
    shape = (BATCH, HEADS, LENGTH, LENGTH)
    kept = [CounterRandom(seed, "dropout").uniform(np.arange(math.prod(shape))) >= DROPOUT for seed in seeds]
    return [torch.tensor(k.reshape(shape)).to(torch.get_default_dtype()) / (1.0 - DROPOUT) for k in kept]
)",
                        config.dropout);
  return text;
}

std::string training_part(const TrainingSettings& settings) {
  const OptimiserConfig& config = settings.optimiser;
  const bool drops = settings.model.dropout > 0.0, freezes = !settings.model.frozen_heads.empty();
  std::string text = R"(

# --- The training.

def loss_of(tokens, targets, factors=None):
    """The mean cross-entropy where an answer is asked for."""
    logits = logits_of(tokens, factors)
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1), logits


def learning_rate(step):
)";
  const std::string rate = fmt::format("{}", config.learning_rate);
  if (config.warm_up_steps > 0)
    text +=
        fmt::format("    if step < {0}:\n        return {1} * (step + 1) / {0}\n", config.warm_up_steps, rate);
  if (config.cosine_steps)
    text += fmt::format(
        "    part = (min(step, {1}) - {0}) / {2}\n    return {3} * ({4} + (1 - {4}) * (1 + math.cos(math.pi "
        "* part)) / 2)\n",
        config.warm_up_steps, *config.cosine_steps, *config.cosine_steps - config.warm_up_steps, rate,
        config.final_share);
  else
    text += fmt::format("    return {}\n", rate);
  text += "\n\n";
  if (config.kind == OptimiserKind::sgd || config.kind == OptimiserKind::momentum)
    text += fmt::format("optimiser = torch.optim.SGD(P.values(), {}, momentum={}, weight_decay={})\n", rate,
                        config.kind == OptimiserKind::momentum ? config.momentum : 0.0, config.weight_decay);
  else
    text +=
        fmt::format("optimiser = torch.optim.{}(P.values(), {}, betas=({}, {}), eps={}, weight_decay={})\n",
                    config.kind == OptimiserKind::adam ? "Adam" : "AdamW", rate, config.beta1, config.beta2,
                    config.epsilon, config.weight_decay);
  if (freezes) text += "begun = {name: P[name].detach()[place].clone() for name, place in FROZEN.items()}\n";
  text += fmt::format(R"(
for step in range(STEPS):
    tokens, targets = batch_of("training", step * BATCH, BATCH)
    optimiser.param_groups[0]["lr"] = learning_rate(step)
    optimiser.zero_grad()
    loss, _ = loss_of(tokens, targets{})
    loss.backward()
)",
                      drops ? ", dropout_factors(step)" : "");
  if (freezes) text += "    for name, place in FROZEN.items():\n        P[name].grad[place] = 0.0\n";
  if (config.clip_norm)
    text += fmt::format("    torch.nn.utils.clip_grad_norm_(P.values(), {})\n", *config.clip_norm);
  text += "    optimiser.step()\n";
  if (freezes)
    text +=
        "    for name, place in FROZEN.items():\n        P[name].data[place] = begun[name]  # weight decay "
        "stays away, too\n";
  text += R"(    print(step, repr(loss.item()), flush=True)

with torch.no_grad():
    tokens, targets = batch_of("held out", 0, 128)
    loss, logits = loss_of(tokens, targets)
    asked = targets >= 0
    right = (logits.argmax(-1) == targets)[asked].double().mean().item()
print(f"held-out examples: loss {loss.item():.4g}, accuracy {100 * right:.1f} %", file=sys.stderr)
)";
  return text;
}

}  // namespace headwise
