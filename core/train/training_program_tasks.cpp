// The rules of tasks in Python: those of core/train/named_tasks.cpp, sentence_task.cpp, text_task.cpp and json_task.cpp, draw by draw.
#include <fmt/format.h>

#include <algorithm>

#include "core/tensor/error.h"
#include "core/train/training_program_parts.h"

namespace headwise {
namespace {

struct TaskRule {
  std::string_view name;
  const char* python;
};

constexpr const char* arranged = R"(
def example(draws, split):
    """n tokens, a sign, and the first n - 1 answers, each asked for at the position before it."""
    count = LENGTH // 2
    first = [draws.below(SYMBOLS) for _ in range(count)]
    answers = {}
    return first + [SYMBOLS] + answers[:-1], [-1] * count + answers
)";

constexpr TaskRule rules[] = {{"induction", R"(
def example(draws, split):
    """A block of different tokens, repeated to the end: what comes next came after the same token before."""
    longest = min(SYMBOLS, LENGTH // 2)
    shortest = max(2, longest // 2)
    block = shortest + draws.below(longest - shortest + 1)
    pool = list(range(SYMBOLS))
    draws.shuffle(pool, block)
    tokens = [pool[i % block] for i in range(LENGTH + 1)]
    return tokens[:-1], [-1] * block + tokens[block + 1:]
)"},
                              {"previous-token", R"(
def example(draws, split):
    """The token before."""
    tokens = [draws.below(SYMBOLS) for _ in range(LENGTH)]
    return tokens, [-1] + tokens[:-1]
)"},
                              {"brackets", R"(
def example(draws, split):
    """Brackets that open (0) and close (1); asked for is how many are open."""
    tokens, targets, count = [], [], 0
    for _ in range(LENGTH):
        opens = count == 0 or (count < SYMBOLS - 1 and draws.below(2) == 0)
        count += 1 if opens else -1
        tokens.append(0 if opens else 1)
        targets.append(2 + count)
    return tokens, targets
)"},
                              {"modular-addition", R"(
HELD_OUT = CounterRandom(0, "modular-addition pairs").uniform(np.arange(SYMBOLS * SYMBOLS)) < 0.3
PAIRS = {"training": np.flatnonzero(~HELD_OUT), "held out": np.flatnonzero(HELD_OUT)}


def example(draws, split):
    """a, b, =; asked for is (a + b) mod SYMBOLS."""
    pair = int(PAIRS[split][draws.below(len(PAIRS[split]))])
    a, b = divmod(pair, SYMBOLS)
    return [a, b, SYMBOLS], [-1, -1, (a + b) % SYMBOLS]
)"},
                              {"majority", R"(
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
)"},
                              {"lookup", R"(
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
)"},
                              {"it-and-the-noun", R"(
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
)"}};

constexpr const char* text_rule = R"(
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
)";

constexpr const char* json_rule = R"(
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
)";

constexpr const char* draws_class = R"(

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

)";

constexpr const char* batch_function = R"(

def batch_of(split, first, count):
    """Examples first, first + 1, … as tokens and targets (count,LENGTH); -1: not asked."""
    examples = [example(Draws(split, number), split) for number in range(first, first + count)]
    return (torch.tensor(list(part)) for part in zip(*examples))
)";

// A text as a string of Python.
std::string python_string(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') quoted += '\\';
    if (byte < 0x20 || byte == 0x7f)
      quoted += fmt::format("\\x{:02x}", byte);
    else
      quoted += c;
  }
  return quoted + "\"";
}

std::string rule_of(const TaskSource& source) {
  if (!source.file.empty()) return source.file.ends_with(".json") ? json_rule : text_rule;
  if (source.name == "reverse") return fmt::format(arranged, "first[::-1]");
  if (source.name == "sort") return fmt::format(arranged, "sorted(first)");
  const auto rule = std::ranges::find(rules, source.name, &TaskRule::name);
  if (rule == std::end(rules))
    throw Error(ExitStatus::usage, {"task", "there is no Python program of this task", source.name, "", ""});
  return rule->python;
}

// The number of symbols that the task has: what is left of its vocabulary without the tokens of its own.
Index symbols_of(const TaskSource& source, const TrainTask& task) {
  if (source.name == "reverse" || source.name == "sort" || source.name == "modular-addition")
    return task.vocabulary - 1;
  if (source.name == "brackets") return task.vocabulary - 2;
  if (source.name == "lookup") return task.vocabulary / 2;
  if (source.name == "it-and-the-noun") return (task.vocabulary - 10 - 9 - 20) / 4;
  return task.vocabulary;
}

}  // namespace

std::string task_part(const TaskSource& source, const TrainTask& task, const std::string& data_file) {
  std::string text = fmt::format("\n\n# {}\nTASK = {}\n", one_line(task.what), python_string(task.name));
  if (source.file.empty())
    text += fmt::format("SYMBOLS = {}\n", symbols_of(source, task));
  else
    text += fmt::format("DATA = {}\n", python_string(data_file));
  return text + draws_class + rule_of(source) + batch_function;
}

}  // namespace headwise
