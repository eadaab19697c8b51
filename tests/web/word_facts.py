"""What check_words.js is held to: scenarios, texts and answers that the program is asked about, and facts that
no report of it tells: of texts that cannot be read, of changed pages, and of answers that were given."""

SMALL = ["attention.embed_dim=8", "attention.num_heads=2", "inputs.text=the cat sat on it"]
# Numbers in the middle between two of three digits, and others at the ends of a format
EDGES = [0.0625, 0.1875, 0.0015, 1234.5, 1235.5, 100.5, 101.5, 12.25, 12.75, 9.995, 9.999, 99.95, 99.99, 999.5,
         999.4, 999999.5, 1000000.0, 123456.0, 0.001, 0.00099, 0.999, 0.9996, 11250000.0, 11350000.0, 1.005,
         -0.0625, -2.5, -1125000.0, 3e38, 1e-30, 1.125, 1.375, 10.0, -1.0, 2.125e-7, 0.5, 0.0, 33554432.0, -0.03125, 7.0]

FROZEN = f"heads.frozen={{\"heads\":[1],\"attn_weights\":[[{[[0.2] * 5] * 5}]]}}"

# Each as a page of a playlist; `only`: the tensors that are kept.
SCENARIOS = {
    "small": {"scenario": "random", "set": [*SMALL, "mask.is_causal=true", "attention.temperature=1e-6",
                                            "attention.scale=-0.25", "inputs.seed=7"]},
    "cross": {"scenario": "cross_attention",
              "set": ["attention.embed_dim=8", "attention.num_heads=4", "attention.num_kv_heads=2",
                      "parameters.source=random", "inputs.text=three small words", "inputs.key_text=a b c d",
                      "attention.add_bias_kv=true", "attention.add_zero_attn=true", "attention.v_head_dim=3",
                      "attention.softcap=1e16", "mask.value=-12.5", "mask.preset=padding:1", "heads.gain=[1,0,1,1]"]},
    "sdpa": {"scenario": "random",
             "set": ["op=scaled_dot_product_attention", "attention.embed_dim=8", "attention.num_heads=2",
                     "inputs.source=random", "inputs.query_length=3", "inputs.key_length=5",
                     "inputs.self_attention=false", "mask.valid_lens=[4]"]},
    "turned": {"scenario": "random", "set": [*SMALL, "attention.rotary_base=10000", "attention.residual=true",
                                             "attention.average_attn_weights=false", FROZEN]},
    "part": {"scenario": "random", "only": ["attn_weights"], "set": [*SMALL, "mask.valid_lens=[[5,0,5,2,5]]"]},
    "edge": {"scenario": "random", "only": ["query", "attn_weights", "masked_scores", "q_heads", "k_heads"],
             "set": [*SMALL, "mask.preset=padding:5", "edits=["
                     + ",".join(f'{{"tensor":"query","index":[0,{i // 8},{i % 8}],"value":{value}}}'
                                for i, value in enumerate(EDGES)) + "]"]},
    "hand": {"scenario": "hand_made", "only": ["scores", "attn_weights"], "set": []},
    "masked": {"scenario": "hand_made", "only": ["mask_bias", "attn_weights", "scores"], "set": ["mask.is_causal=true"]},
}

GIVEN = {"small": ["layouts output", "wide output", "wide scores", "wide grad.in_proj_weight", "habit induction 1",
                   "habit previous_token 0", "habit first_token 1", "habit entropy 0", "max grad.q[0,0,:]"],
         "hand": ["layouts output", "wide output", "habit previous_token 0", "trained loss"]}

EVERY_BOX = ["sum", "mean", "max", "min", "deviation", "argmax", "finite", "distinct"]
TEXTS = {
    "small": [
        "{N} {L} {S} {S′} {E} {H} {G} {D} {Dv}", "{ E}{= H }{=  H+1  }{query}", "{scale}", "{parameters}", "{spread 1} {spread 2} {spread 4} {spread 5}",
        "{spread 0} {spread -1}", "{query 0} {query -1} {query 5} {query -6}", "{key 4} {key -5} {key 99}",
        "{key argmax attn_weights[0,1,3,:]}", "{key argmax  attn_weights[0,0,4,:]}", "{role 0} {frozen 0} {frozen 2} {frozen -1}",
        "{layouts output} {= 2 * layouts output + 1}", "{wide output} {wide scores} {wide grad.in_proj_weight}",
        "{wide grad.bias_k}", "{habit induction 1} {habit previous_token 0} {habit first_token 1} {habit entropy 0}",
        "{trained loss} {trained step} {trained accuracy}", "{max grad.q[0,0,:]} {max grad.k}",
        *[f"{{{word} scaled_scores[0,1,2,:]}} {{{word} q}} {{{word} mask_bias[0,0,1:,:]}}" for word in EVERY_BOX],
        "{sum attn_weights[0,0,1,:]} {max attn_weights[0,0,0,1:]} {argmax attn_weights[0,:,4,4]}",
        "{scores[0,0,1,2]} {scores[0,0,-1,-1]} {scores[-1,-2,0,0]} {scores[0,0,-6,0]} {scores[0,0,5,0]}",
        "{scores[0,0,1,:]} {scores} {scores[0,0,1,2:3]} {scores[0,0,1,2:]} {scores[0,0,1,-1:]} {scores[0,0,1,-1:0]}",
        "{sum q[0,0:2,:]} {sum q[0,0:-1,:]} {sum q[0,-2:,:]} {sum q[0,3:2,:]} {sum q[0,0:6,:]} {sum q[0,:2,0]}",
        "{difference q[0,0,:] k[0,0,:]} {difference q k} {difference q[0,0,:] k} {difference mask_bias mask_bias}",
        "{difference masked_scores[0,0,0,:] mask_bias[0,0,0,:]}", "{shape q} {shape in_proj_bias} {shape bias_k} {shape grad.q}",
        "{max mask_bias} {min mask_bias} {sum mask_bias} {mean mask_bias} {deviation mask_bias}",
        "{op} {attention.scale} {attention.temperature} {attention.softcap} {attention.bias} {attention.kdim}",
        "{inputs.source} {inputs.text} {inputs.seed} {inputs.key_text} {mask.value} {edits} {heads.gain} {heads.frozen}",
        "{mask.is_causal} {mask.causal_alignment} {parameters.layout} {mask.valid_lens} {mask.fully_masked_rows}",
        "{= 1 + 2 * 3} {= (1 + 2) * 3} {= 2 - 3 - 4} {= 12 / 4 / 3} {= -2 * -3} {= --2} {= √16} {= √√16} {= -√4} {= 1/8}",
        "{= 0.1 + 0.2} {= 1/3} {= 2/3} {= 1e8 * 10} {= 1e8 * 9} {= 1e300 * 1e300} {= 0/0} {= -1/0} {= √(0 - 1)} {= 0 * -1}",
        "{= .5} {= 5.} {= 1e3} {= 2.5E-3} {= 1e-9} {= inf} {= nan} {= -inf} {= 1234.5} {= 0.0625} {= 0.0015}",
        "{= true} {= 'word'} {= null} {= ''} {= 'a' + 1} {= 1 = 1} {= not 1} {= op} {= query 0} {= (H)}",
        "{= E/H} {= √D * scale} {= max attn_weights - min attn_weights} {= S′ - S} {= layouts output * 0 + D}",
        "{if H = 2: two | else: other}", "{if H = 3: three | else: other}", "{if H = 3: three | if H = 2: {H} | else: no}",
        "a {if H = 3: x} b", "a {if H = 3: x}. b", "a {if H = 3: x}, b", "a {if H = 3: x}; b", "({if H = 3: x} )",
        "a {if H = 3: x}: b", "a {if H = 3: x}b", "{if H = 3: x} b", "a {if H = 3: x}", "a{if H = 3: x} b", "a {if H = 3: x}b ", "a {if H = 3: x}{E}",
        "a {if H = 3: x} {if H = 3: y} b", "a {if H = 2: {if D = 5: x} y} b", "a {if H = 2: b {if D = 4: c | else: d} e | else: f}.",
        "{if H = 2: {if D = 5: x | else: y} {if L = 5: z} | else: w}", "{if H = 2: {if D = 5: x} y | else: w}",
        "{if H = 2: 1 {if H = 2: 2 {if H = 2: 3 {if H = 2: 4}}}}", "{if H=2:x|else:y}", "{if  H = 2 :  x  |  else:  y  }",
        "{if H = 2: a | b | else: c}", "{if H = 3: a | b | else: c |d}", "{if H = 2: |x|}", "{if H = 3: a | else:}!",
        "{if H = 2: {max grad.q} | else: none}", "{if max grad.k > 0: a | if not (max grad.k > 0): b | else: c}",
        "{if max grad.k > 0 or H = 2: a | else: b}", "{if max grad.k > 0 and H = 3: a | if not (max grad.k > 0 and H = 3): b}",
        "{if mask.is_causal: causal | else: not}", "{if attention.scale: a | else: b}", "{if attention.kdim: a | else: b}",
        "{if 0: a | else: b}", "{if max grad.k: a | else: b}", "{if 'false': a | else: b}", "{if true and not false: a | else: b}",
        "{if query 0 = 'the': a | else: b}", "{if query 0 ≠ 'the': a | else: b}", "{if query 0 < 'the': a | else: b}",
        "{if query 0 = 1: a | else: b}", "{if query 0 ≠ 1: a | else: b}", "{if query 0 ≈ 'the': a | else: b}",
        "{if not query 0 > 1: a | else: b}", "{if op = 'multi_head_attention' and parameters.source = 'random': a | else: b}",
        *[f"{{if {a} {sign} {b}: yes | else: no}}" for sign in ["=", "≠", "!=", "<", "≤", "<=", ">", "≥", ">=", "≈", "~"]
          for a, b in [("H", "2"), ("H", "3"), ("nan", "nan"), ("inf", "inf"), ("1", "1.0005"), ("1", "1.002")]],
        "{if -inf = mask_bias[0,0,0,1] and inf ≈ inf and not (inf ≈ 3): a | else: b}", "{if 1 < 2 or nan < 1 and 3 < 2: a | else: b}",
        "{if not H = 3 and L = 5: a | else: b}", "{if not (H = 3 or L = 5): a | else: b}", "{if not not H = 2: a | else: b}",
        "{if -2 * √D + 3 - 1 <= -2 and 1 / 4 >= 0.25 and H != 7 and D ~ 4.001: a | else: b}",
        "{if scores[0,0,1,:] = 1: a | else: a box is no number}", "{if sum attn_weights[0,0,4,:] ≈ 1: {= 100 * attn_weights[0,0,4,4]} % | else: b}",
        "{if attn_weights[0,0,0,0] = 1: “it” – √ × Δ ≤ ′ | else: b}", "Zeile\nzwei {E}\n{if H = 2: drei\nvier}",
    ],
    "cross": [
        "{N} {L} {S} {S′} {E} {H} {G} {D} {Dv}", "{scale} {parameters}", "{query 0} {query 2} {query 3} {key 0} {key 3} {key 4}",
        "{key argmax attn_weights[0,3,1,:]} {argmax attn_weights[0,3,1,:]}", "{shape attn_weights} {shape k} {shape v_heads} {shape bias_k}",
        "{spread 1} {spread 2} {deviation scores}", "{mask.value} {mask.preset} {heads.gain} {attention.softcap} {attention.v_head_dim}",
        "{if S′ = S: same | if S′ > S: {= S′ - S} more | else: fewer}", "{if mask.value = -12.5: finite | else: not}",
        "{concat[0,0,3]} {max output} {finite masked_scores}", "{sum heads.gain} {heads.gain[1]} {bias_v[0]} {key_padding_mask[0,3]}",
        "{sum attn_output_weights[0,1,:]} {inputs.self_attention}", "{difference k[0,4,:] bias_k}", "{max k[0,-1,:]} {out_proj.weight[0,0]}",
    ],
    "sdpa": [
        "{op} {N} {L} {S} {S′} {E} {H} {G} {D} {Dv}", "{scale} {parameters}", "{shape output} {shape query} {shape q_heads} {shape q}",
        "{query 0} {key 0}", "{spread 1} {spread 4} {deviation scores}", "{mask.valid_lens} {finite mask_bias[0,0,0,:]}",
        "{valid_lens[0]} {sum valid_lens}", "{if op = 'scaled_dot_product_attention': sdpa | else: mha}",
    ],
    "turned": [
        "{frozen 0} {frozen 1} {heads.frozen} {attn_weights[0,1,2,3]}", "{if frozen 1 and not frozen 0: head 1 | else: others}",
        "{spread 1} {spread 4} {deviation scores}", "{shape q_rotary} {max k_rotary} {difference q_heads q_rotary}",
        "{attention.rotary_base} {attention.residual} {max residual_output}", "{shape attn_output_weights}",
    ],
    "part": ["{max attn_weights} {min attn_weights} {argmax attn_weights} {finite attn_weights} {mask.valid_lens}",
             "{max attn_weights[0,0,2,:]} {argmax attn_weights[0,0,2,:]} {max attn_weights[0,0,1,:]}"],
    "edge": [
        *[" ".join(f"{{query[0,{row},{column}]}}" for column in range(8)) for row in range(5)],
        *[" ".join(f"{{= query[0,{row},{column}] * 1}}" for column in range(8)) for row in range(5)],
        "{attn_weights[0,0,0,0]} {max attn_weights} {argmax attn_weights[0,0,0,:]} {finite attn_weights} {key argmax attn_weights[0,0,0,:]}",
        "{masked_scores[0,0,0,0]} {max masked_scores[0,0,0,:]} {argmax masked_scores[0,0,0,:]} {min masked_scores[0,0,0,:]}",
        "{if attn_weights[0,0,0,0] = nan: none | else: some}", "{edits} {= edits + 1}",
        "{difference attn_weights attn_weights} {sum attn_weights} {mean attn_weights} {deviation attn_weights} {min attn_weights}",
    ],
    "hand": [
        "{role 0}; {role 7}; {role 8}; {role -1}", "{if role 4 = 'previous word': a | else: {role 4}}",
        "{attn_weights[0,0,8,7]} {= 100 * attn_weights[0,0,8,7]} {key argmax attn_weights[0,0,8,:]}",
        "{layouts output} {wide output} {habit previous_token 0} {trained loss}", "{if wide output > 1e-3: differs | else: same}",
        "{if habit previous_token 0 > 0.5: {role 0} | else: nothing}", "{attention.num_kv_heads} {inputs.source} {attention.dropout}",
    ],
    "masked": ["{finite mask_bias} {sum attn_weights[0,0,0,:]}", "{if mask_bias[0,0,0,1] = -inf: blocked | else: open}"],
}


def choice(*conditions):
    return {"kind": "choice", "options": [{"text": f"option {i}", "is": each} for i, each in enumerate(conditions)]}


def tensors(**conditions):
    return {"kind": "tensor", "options": [{"tensor": name, "is": each} for name, each in conditions.items()]}


def cell(tensor, **places):
    return {"kind": "cell", "tensor": tensor, **places}


def number(expression, **more):
    return {"kind": "number", "is": expression, **more}


def of(kind, expression, **more):
    return {"kind": kind, "is": expression, **more}


ROW = "attn_weights[0,0,8,:]"
KEYS = {
    "hand": [
        number("attn_weights[0,0,8,7]"), number("2 * E"), number("1 / (E - 128)"), number("scores[0,0,99,0]"), number("3", why="-"),
        number("wide output"), choice("E = 1", "E = 128"), choice("E = 1", "E = 2"), choice("E > 1", "E > 2"),
        choice("E = 128", "q[0,99,0] > 2"), of("shape", "shape attn_weights"), of("shape", "shape bias_k"), of("head", "H - 1"),
        of("head", "D"), of("head", "D / 5"), of("head", "0 - E"), of("head", "argmax attn_weights[0,:,8,7]"),
        cell("attn_weights", row="8", column=f"argmax {ROW}"), cell("scores", row="L - 1"), cell("scores", column="S - 2"),
        cell("scores", row="E"), cell("scores", column="E"), cell("q_rotary", row="E"), cell("scores", row="E / 5"),
        tensors(scores="difference scores scores > 0", attn_weights="E > 1"), of("weights", ROW),
        of("weights", "(attn_weights[0,0,8,:] + attn_weights[0,1,8,:]) / 2"), of("weights", "attn_weights[0,:,:,:]"),
        of("weights", "attn_weights[0,0,0:2,0:3]"), of("weights", "attn_weights[0,0,8,11:]"), of("weights", "attn_weights[0,0,99,:]"),
        of("weights", "scores[0,0,8,:]"), of("weights", "attn_weights[0,0,8,0:3]"), of("weights", ROW + " + attn_weights[0,0,8,0:3]"),
        of("weights", ROW, within=0.2), of("weights", "1.5 * attn_weights[0,0,8,7:9] - 0.25"), of("weights", "attn_weights[0,0,8,5:9] / sum attn_weights[0,0,8,5:9]"),
    ],
    "masked": [
        of("mask", "mask_bias[0,0,:,:] = -inf"), of("mask", "mask_bias[0,0,3,2:] = -inf"), of("mask", "not attn_weights[0,0,:,:] > 0"),
        of("mask", "mask_bias[0,:,3,:] = -inf"), of("mask", "attn_weights[0,0,:,:] > scores[0,0,1:,:]"), of("mask", "mask_bias[0,0,:,0] = -inf"),
    ],
    "edge": [of("weights", "attn_weights[0,0,0,:]"), of("mask", "attn_weights[0,0,:,:] = 0"), number("query[0,0,3]"), number("attn_weights[0,0,0,0]")],
    "small": [of("shape", "shape q"), number("max scores"), of("weights", "attn_weights[0,1,4,:]"), of("mask", "q = 0")],
    "cross": [of("weights", "attn_weights[0,3,1,:]"), cell("attn_weights", row="1", column="argmax attn_weights[0,3,1,:]")],
}

# Stays as it is written, whatever the trace.
UNREADABLE = [
    "{", "}", "{scores[0}", "{scores", "{scoers}", "{sum}", "{sum scoers}", "{X}", "{}", "{median q}", "{scores[--1,0,0,0]}",
    "{scores[a]}", "{scores[]}", "{scores[0,]}", "{scores[+1,0,0,0]}", "{scores[0,0,0, 1]}", "{scores[1:2:3,0,0,0]}",
    "{difference q}", "{difference q,k}", "{wide nothing}", "{layouts q}", "{layouts}", "{wide}", "{trained}", "{habit}",
    "{sum q[99999999999999999999]}", "{if H = 8 eight}", "{if H = 8: eight", "{if scoers > 1: a}", "{if H = : a}", "{if (H = 8: a}",
    "{if H = 'a: b}", "{if H = 8: a | else: b | if H = 9: c}", "{= H +}", "{= H 8}", "{=}", "{= }", "{E }",
    "{spread}", "{spread 1234567890}", "{spread x}", "{spread -}", "{habit induction}", "{habit foo 1}", "{trained colour}", "{query x}",
    "{key argmax}", "{key argmax foo}", "{if : a}", "{if attention.heads = 8: a}", "{constructor}", "{__proto__}",
    "{toString}", "{hasOwnProperty}", "{attention.constructor}", "{attention.__proto__}", "{constructor.name}", "{attention}", "{inputs}",
    "{headwise}", "{heads.frozen.heads}", "{= constructor}", "{if __proto__: a}", "{sum constructor}", "{habit constructor 1}",
    "{trained __proto__}", "{wide constructor}", "{1e999}", "{= 1e999}", "{= 1e-999}", "{= .}", "{= 1 2}", "{= 'a}", "{= )}", "{not a number}",
    "{= true≈1}", "{N L}", "{Q}", "{e}", "{shape}", "{shape foo}", "{max}", "{grad.}", "{grad.grad.q}", "{{1}}", "a | b {0, 1}",
]
DEEP = "(" * 60 + "H" + ")" * 60
DEEP_PARTS = "{if H = 2: " * 5 + "x" + "}" * 5

CHOSEN = {"kind": "choice", "options": [
    {"text": "at “because”", "is": f"argmax {ROW} = 7"},
    {"text": "at {key 0}", "is": f"argmax {ROW} = 0", "why": "It gives {attn_weights[0,0,8,8]}."}, {"text": "elsewhere", "is": f"argmax {ROW} = 3"}]}
NO_CHOICE = choice("E = 1", "E = 2")
CUT = {"kind": "tensor", "options": [{"tensor": "scores", "is": "max scores < 1", "why": "These go from {min scores[0,0,8,0:2]} on."},
                                     {"tensor": "attn_weights", "is": "max attn_weights ≤ 1"}]}
WIDE = choice("wide output > 1e-3", "wide output ≤ 1e-3")
WEIGHT = number("attn_weights[0,0,8,7]", unit="of 1")
FIXED = number("3", why="Three projections: {E} features each.")
CELL = cell("attn_weights", row="8", column=f"argmax {ROW}")
WEIGHTS = of("weights", ROW)
SOME_WEIGHTS = of("weights", "attn_weights[0,0,8,5:9] / sum attn_weights[0,0,8,5:9]")
MASK = of("mask", "mask_bias[0,0,0:3,:] = -inf")
SHAPE = of("shape", "shape attn_weights")
HEAD = of("head", "argmax attn_weights[0,:,8,7]")
ASKED_PAST = "As the page is now, "


def bars(**weights):
    return {"weights": [weights.get(f"at{i}", 0) for i in range(12)]}


def painted(blocked, rows=3):
    cells = [bool(blocked(i // 12, i % 12)) for i in range(12 * rows)]
    return {"mask": {"row": 0, "column": 0, "rows": rows, "columns": 12, "blocked": cells}}


FACTS = {
    # Those that cannot be read; make_word_cases.py adds those that the program was asked about.
    "texts": [["small", text, text] for text in UNREADABLE]
    + [["small", "f: {0, 1} → {E}", "f: {0, 1} → 8"], ["small", "} {E", "} {E"], ["small", "{{E}}", "{8}"],
       ["small", "", ""], ["small", "{if H = 2: a | if H = 3: b", "{if H = 2: a | if H = 3: b"],
       ["small", "{if H = 8: {E}", "{if H = 8: 8"], ["small", "{= " + DEEP + "}", "{= " + DEEP + "}"],
       ["small", DEEP_PARTS, "{if H = 2: " + "x" + "}"], ["small", "{if H = 2: {foo} {E}}", "{foo 8}"],
       ["small", "{if H = 2: " * 2000, "{if H = 2: " * 2000], ["small", "{= 1" + " + 1" * 900 + "}", "901"]],
    "numbers": [["small", number, text] for number, text in [
        ("0", "0"), ("-0", "0"), ("1", "1.00"), ("-12.345", "−12.3"), ("1234.5", "1,234"), ("0.08321", "0.083"), ("1.2207e-7", "1.22e−7"),
        ("-3.25e8", "−3.25e8"), ("-Infinity", "−∞"), ("Infinity", "∞"), ("NaN", "NaN"), ("0.0625", "0.062"), ("2.5e-4", "2.50e−4"),
        ("1235.5", "1,236"), ("11250000", "1.12e7"), ("11350000", "1.14e7"), ("1e-300", "1.00e−300"), ("1e300", "1.00e300")]],
    "pages": [["small", text, says, changed] for text, says, changed in [
        ("Plain.", "Plain.", False), ("{E} wide.", "8 wide.", False), ("{max grad.k} there.", "", True),
        ("Here. {if H = 4: four.} There.", "Here. There.", True), ("Here. {if H = 4: four. | else: other.}", "Here. other.", False),
        ("{layouts output} apart.", "", True), ("{if layouts output < 1: Alike. | else: Apart.}", "Apart.", False),
        ("{if layouts output < 1: Alike.} So.", "So.", True), ("{if H = 2: {max grad.k} | else: none}", "none", False),
        ("{if H = 2: {max grad.k}} so", "so", True), ("{max grad.k} {if H = 4: four}", "", True)]],
    "unchanged": [["small", text, says] for text, says in [
        ("{max grad.k} there.", "– there."), ("Here. {if H = 4: four.} There.", "Here. There."), ("{if layouts output < 1: Alike.}", "Alike.")]],
    "truths": [["small", condition, is_true] for condition, is_true in [
        ("H = 2", True), ("H = 3", False), ("max grad.k > 0", None), ("max grad.k > 0 or H = 2", True), ("max grad.k > 0 and H = 3", False),
        ("max grad.k > 0 or H = 3", None), ("not (max grad.k > 0)", None), ("query 0 < 'a'", None), ("mask.is_causal", True), ("'null'", False)]],
    "typed_numbers": [["small", typed, number] for typed, number in [
        ("0.5", 0.5), ("0,5", 0.5), (" 1/8", 0.125), ("1/8 ", 0.125), ("50 %", 0.5), ("50%", 0.5), ("-3", -3), ("−3", -3), ("√16", 4), (".25", 0.25),
        ("2 * 3", 6), ("1e-3", 0.001), ("(1 + 1) / 4", 0.5), ("− 3", -3), ("1,5,5", None), ("", None), (" ", None), ("half", None), ("1e", None),
        ("E", None), ("1/0", None), ("0.5 0.5", None), ("'a'", None), ("1 = 1", None), ("inf", None), ("max scores", None), ("%", None),
        ("mask.value", None), ("constructor", None), ("0.4 of it", None), ("nan", None), ("5 % %", None), ("true", None)]],
    "typed_sizes": [["hand", typed, [1, 8, 12, 16]] for typed in [
        "1, 8, 12, 16", "(1,8,12,16)", "1 8 12 16", "[N, H, S, D]", "N,H,L,E/H", "1x8x12x16", "1 x 8 x 12 x 16", "1×8×12×16",
        "1 · 8 · 12 · 16", "N×H×L×D", "1*8*12*16"]]
    + [["hand", typed, []] for typed in ["", "()", "1, eight", "1.5, 2", "-1, 8", "1, x", "__proto__", "1e16", "inf", "shape attn_weights"]],
    "typed": [["hand", WEIGHT, "0,9", {"number": 0.9}], ["hand", WEIGHT, "much", None], ["hand", SHAPE, "N H L S", {"sizes": [1, 8, 12, 12]}],
              ["hand", SHAPE, "wide", None]],
    "misplaced": [["hand", [1, 0], [0, 1], 1], ["hand", [0.5, 0.5], [0.25, 0.75], 0.25], ["hand", [0.5, 0.5], [0.5, 0.5], 0]],
    "right": [["hand", number("E", **within), key, given, is_right] for within, key, given, is_right in [
        ({}, 200, 209.9, True), ({}, 200, 211, False), ({}, -200, -190.1, True), ({}, 0, 0, True), ({}, 0, 0.01, False),
        ({"within": 0.02, "within_share": 0.05}, 0, 0.01, True), ({"within": 0.02, "within_share": 0.05}, 200, 209.9, True),
        ({"within": 1}, 200, 201.5, False), ({"within_share": 0.1}, 200, 219, True)]],
    "verdicts": [["hand", answer, given, says, right] for answer, given, says, right in [
        (WEIGHT, {"number": 0.4}, "You said 0.400; it is 0.901 of 1: 0.501 too low.", False),
        (WEIGHT, {"number": 0.9}, "You said 0.900: right, it is 0.901 of 1.", True),
        (WEIGHT, {"number": 2}, "You said 2; it is 0.901 of 1: 1.10 too high.", False),
        (WEIGHT, {"number": -1}, "You said −1; it is 0.901 of 1: 1.90 too low.", False),
        (number("E"), {"number": 128}, "You said 128: right.", True), (number("E"), {"number": 130}, "You said 130: right, it is 128.", True),
        (number("E"), {"number": 1e9}, "You said 1.00e9; it is 128: 999,999,872 too high.", False),
        (FIXED, {"number": 4}, "You said 4; it is 3.00: 1 too high. Three projections: 128 features each.", False),
        (FIXED, {"number": 3}, "You said 3: right. Three projections: 128 features each.", True),
        (number("1 / (E - 128)"), {"number": 3}, f"You said 3. {ASKED_PAST}there is no right number to compare it with.", None),
        (CHOSEN, {"option": 0}, "You chose 1, “at ‘because’”: right.", True),
        (CHOSEN, {"option": 1}, "You chose 2, “at The”: wrong. It gives 0.049. Answer: 1, “at ‘because’”.", False),
        (CHOSEN, {"option": 2}, "You chose 3, “elsewhere”; it is 1, “at ‘because’”.", False), (CHOSEN, {"option": 9}, "It is 1, “at ‘because’”.", None),
        (NO_CHOICE, {"option": 1}, f"You chose 2, “option 1”. {ASKED_PAST}no single option is right.", None),
        (CUT, {"option": 1}, "You chose 2, “attn_weights”: right.", True),
        (SHAPE, {"sizes": [1, 8, 12, 12]}, "You said (1,8,12,12): right.", True),
        (SHAPE, {"sizes": [1, 12, 8, 12]}, "You said (1,12,8,12); it is (1,8,12,12). The sizes are right, their order is not.", False),
        (SHAPE, {"sizes": [8, 12]}, "You said (8,12); it is (1,8,12,12).", False),
        (of("shape", "shape bias_k"), {"sizes": [8]}, f"You said (8). {ASKED_PAST}there is no such tensor.", None),
        (HEAD, {"head": 0}, "You chose head 0: right.", True), (HEAD, {"head": 3}, "You chose head 3; it is head 0.", False),
        (of("head", "E"), {"head": 3}, f"You chose head 3. {ASKED_PAST}there is no right one.", None),
        (CELL, {"cell": [0, 0, 8, 6]}, "You pointed at “it” (row 8), “street” (column 6); it is “it” (row 8), “because” (column 7).", False),
        (CELL, {"cell": [0, 0, 8, 7]}, "You pointed at “it” (row 8), “because” (column 7): right.", True),
        (cell("scores", row="L - 1"), {"cell": [0, 3, 11, 2]}, "You pointed at “tired” (row 11), “did” (column 2): right.", True),
        (cell("scores", column="S - 1"), {"cell": [0, 3, 11, 2]}, "You pointed at “tired” (row 11), “did” (column 2); it is “tired” (column 11).", False),
        (cell("scores", row="E"), {"cell": [0, 0, 1, 2]}, f"You pointed at “animal” (row 1), “did” (column 2). {ASKED_PAST}there is no right cell.", None),
        (WEIGHTS, bars(at6=0.05, at7=0.9, at8=0.05), "You drew a row of weights: right, to two digits.", True),
        (WEIGHTS, bars(at6=0.07, at7=0.86, at8=0.07), "You drew a row of weights: right, 0.04 of the weight lies at the wrong keys; the largest "
         "difference is at “because”: you drew 0.86, it is 0.90.", True),
        (WEIGHTS, bars(at0=0.8, at7=0.2), "You drew a row of weights; 0.80 of the weight lies at the wrong keys; the largest "
         "difference is at “The”: you drew 0.80, it is 0.00.", False),
        (SOME_WEIGHTS, {"weights": [1, 0, 0, 0]}, "You drew a row of weights; 1.00 of the weight lies at the wrong keys; the largest "
         "difference is at “the”: you drew 1.00, it is 0.00.", False),
        (WEIGHTS, {"weights": [0.5, 0.5]}, f"You drew a row of weights. {ASKED_PAST}there is none of this length to compare it with.", None)]]
    + [["masked", answer, given, says, right] for answer, given, says, right in [
        (MASK, painted(lambda q, k: k > q), "You blocked 30 of 36 pairs: right.", True),
        (MASK, painted(lambda q, k: (k > q and (q, k) != (2, 11)) or (q, k) == (2, 2)),
         "You blocked 30 of 36 pairs; 2 are wrong, outlined on the map: 1 blocked pair is missed, 1 open pair is blocked.", False),
        (MASK, painted(lambda q, k: False), "You blocked 0 of 36 pairs; 30 are wrong, outlined on the map: 30 blocked pairs are missed.", False),
        (MASK, painted(lambda q, k: k >= q), "You blocked 33 of 36 pairs; 3 are wrong, outlined on the map: 3 open pairs are blocked.", False),
        (MASK, painted(lambda q, k: k > q and (q, k) != (0, 1)), "You blocked 29 of 36 pairs; 1 is wrong, outlined on the map: 1 blocked pair is missed.", False),
        (MASK, painted(lambda q, k: k > q, 2), f"You painted a mask. {ASKED_PAST}there is no mask of that size to compare yours with.", None)]],
    "right_answers": [["hand", answer, says] for answer, says in [
        (WEIGHT, "It is 0.901 of 1."), (FIXED, "It is 3.00. Three projections: 128 features each."), (CHOSEN, "It is 1, “at ‘because’”."),
        (CUT, "It is 2, “attn_weights”."), (WIDE, "It is 1, “option 0”."), (SHAPE, "It is (1,8,12,12)."), (HEAD, "The right head is 0."),
        (CELL, "It is “it” (row 8), “because” (column 7)."), (cell("scores", column="S - 1"), "It is “tired” (column 11)."),
        (WEIGHTS, "The largest weight is 0.90, at “because”."), (SOME_WEIGHTS, "The largest weight is 0.90, at “because”."), (NO_CHOICE, ""), (number("1 / (E - 128)"), ""), (of("head", "E"), "")]]
    + [["masked", MASK, "30 of 36 pairs are blocked."]],
    # Where a page is changed, what is not computed in it is no longer given.
    "changed_verdicts": [["hand", answer, given, says] for answer, given, says in [
        (number("wide output"), {"number": 2}, "You said 2. The right number takes too long to be computed here."),
        (number("wide output", why="So."), {"number": 2}, "You said 2. The right number takes too long to be computed here. So."),
        (WIDE, {"option": 0}, "You chose 1, “option 0”. Its numbers take too long to be computed here."),
        (number("1 / (E - 128)"), {"number": 3}, f"You said 3. {ASKED_PAST}there is no right number to compare it with."),
        (WEIGHT, {"number": 0.4}, "You said 0.400; it is 0.901 of 1: 0.501 too low.")]],
    "changed_right_answers": [["hand", answer, says] for answer, says in [
        (number("wide output"), "What is right takes too long to be computed here."), (WIDE, "What is right takes too long to be computed here."),
        (NO_CHOICE, ""), (WEIGHT, "It is 0.901 of 1.")]],
}
