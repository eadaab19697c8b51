#!/usr/bin/env python3
"""Writes tokenizers/: small tokenizers, trained here on the text below, and what Hugging Face's `tokenizers` makes of texts.

    python3 -m venv VENV && VENV/bin/pip install tokenizers==0.23.3 && VENV/bin/python make_tokenizer_golden.py

texts.json.gz has the texts. One folder a tokenizer, as it lies beside a model (tokenizer.json, or vocab.txt, or vocab.json and
merges.txt), with a golden.json.gz: for each text {"ids": […], "ranges": [[begin, end], …] in bytes, "decoded": …, left out
where it is the text}. Ranges are there for WordPiece only: `tokenizers` counts characters, and a byte-level token may be less
than one.
"""

import gzip
import json
import os
import random
import shutil
import sys

sys.dont_write_bytecode = True
from character_map import character_map
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tokenizers")

CORPUS = """
Attention is a weighted mean of values. The weights come from queries and keys: every query asks, every key answers, and the
softmax turns the answers into shares that sum to one. Many heads look at the same words and see different things. Splitting
the width into heads doesn't cost more multiplications; it's the same projection, read in another shape. We've seen that
they'll learn where a verb finds its subject, and I'm sure you'd like to see it too. Don't trust a picture: count 12 heads of
64 numbers, 768 in all, or 3.14159 if you like. In 2017 it was new; 100000 papers later it isn't.
Crème brûlée, naïve café, Zürich, Ångström, smörgåsbord, señor, façade, déjà vu, coöperate.
Внимание это взвешенное среднее значений. Η προσοχή είναι ένας μέσος όρος. 注意力是加权平均值。アテンションは平均です。
def attention(query, key, value):
    scores = query @ key.T / sqrt(d)
    return softmax(scores) @ value  # weights times values
""".strip().split("\n")

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace("{1,3}", "")
BLOOM = r" ?[^(\s|[.,!?…。，、।۔،])]+"

# Assigned since long: not what Unicode added since version 10.
SIGNS = ("aZsStTdmlre09 ' -_.,!?\"#@$%^&*()[]{}<>|\\/~`+=:;\t\n\r\v\fé\u00e8\u0301\u0327ßİıſǅΣςйЖ中文字カひ한국𠀀ａ１½²Ⅷ٣௧"
         "“”’…—€™©\u00a0\u2003\u2028\u3000\u200b\u200d\ufeff\u00ad\ufffd😀👍🏽👩\u200d💻❤\ufe0f🇩🇪\u0000\u0001\u007f\u0085\ue000"
         "\u0915\u094d\u0937\u0e01\u0e33\u05d0\u05b0\u0644\u064e\ufb01\u212b\u1e9b\u0323\u1100\u1161\u11a8")
WORDS = ["attention", "The", "heads", "doesn't", "WE'LL", "you'D", "it's", "naïve", "CRÈME", "2017", "1234567", "[MASK]", "[SEP]",
         "[UNK]", "<|end|>", "<|start|>", "<mask>", "addedword", "AddedWord", "queries", "unseenxyz", "don't", " ", "  ", "\n", "\n\n",
         " \n ", "\t", "...", "##ing", "Ġthe", "e\u0301", "注意力", "👩\u200d💻", "'", "''s", "'S", "'ſ", "Zürich", "加"]


def texts():
    yield from ["", " ", "  ", "\n", " \n\n  x", "a", " a", "a ", "Hello, world!", "Don't you'd I'LL we've 'tis", "x  y   z    "]
    yield from ["tail spaces   ", "\n\n\nlines\r\n\r\nmore\r", " \t mixed \t\n white", "1 12 123 1234 12345 3.14159", "a1b22c333d4444"]
    yield from ["Crème brûlée NAÏVE Ångström", "e\u0301 a\u030a\u0323 \u0323\u0301x", "注意力是平均值。Attention注意", "한국어 각", "İstanbul ISPARTA ı"]
    yield from ["emoji 😀👍🏽 👩\u200d💻 ❤\ufe0f🇩🇪!", "x" * 100, "y" * 101, "é" * 100, "e\u0301" * 101, "attention" * 30, "👍" * 40]
    yield from ["[CLS] is [MASK] it [MASK]. [SEP]", "<|start|>text<|end|>", " <|end|> <mask> end", "say addedword, Addedword addedwords", "[mask] [Mask]"]
    yield from ["  [MASK]  x", "a<mask>b <mask>\n", "##ing ## ing", "Ġthe Ċ ġ", "it ' s , isn ' t . ok ?", "'s 'S 'ſ '’s ’s"]
    yield "".join(map(chr, range(1, 256)))
    yield "".join(map(chr, range(0x300, 0x370))) + "a" + "".join(map(chr, range(0x36F, 0x2FF, -1)))
    yield from CORPUS
    rng = random.Random(7)
    for _ in range(150):
        yield "".join(rng.choice(SIGNS) for _ in range(rng.randrange(1, 24)))
    for _ in range(150):
        yield "".join(rng.choice(WORDS) + rng.choice(["", " ", " ", rng.choice(SIGNS)]) for _ in range(rng.randrange(1, 9)))


def case_of(tokenizer, text, with_ranges):
    made = tokenizer.encode(text)
    decoded = tokenizer.decode(made.ids)
    case = {"ids": made.ids}
    if decoded != text:
        case["decoded"] = decoded
    if with_ranges:
        at = [0]
        for char in text:
            at.append(at[-1] + len(char.encode()))
        case["ranges"] = [[at[begin], at[end]] for begin, end in made.offsets]
    return case


def write_json(path, value):
    with open(path, "wb") as file:
        file.write(gzip.compress(json.dumps(value, separators=(",", ":")).encode(), 9, mtime=0))


def write(name, tokenizer, files, with_ranges=False, config=None):
    folder = os.path.join(HERE, name)
    os.makedirs(folder)
    if files == "tokenizer.json":
        tokenizer.save(os.path.join(folder, files), pretty=False)
    else:
        tokenizer.model.save(folder)
    if config is not None:
        with open(os.path.join(folder, "tokenizer_config.json"), "w") as file:
            json.dump(config, file, indent=1)
    write_json(os.path.join(folder, "golden.json.gz"), [case_of(tokenizer, text, with_ranges) for text in texts()])


def word_piece(vocabulary=None, size=400, limit=100, **normalizer):
    tokenizer = Tokenizer(models.WordPiece(vocabulary or {}, unk_token="[UNK]", max_input_chars_per_word=limit))
    tokenizer.normalizer = normalizers.BertNormalizer(**normalizer)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    if vocabulary is None:
        tokenizer.train_from_iterator(CORPUS, trainers.WordPieceTrainer(vocab_size=size, special_tokens=special, show_progress=False))
        tokenizer.add_special_tokens(special)
    else:
        tokenizer.add_special_tokens(["[UNK]"])
        return tokenizer
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(piece, tokenizer.token_to_id(piece)) for piece in ("[CLS]", "[SEP]")])
    return tokenizer


def byte_pairs(pre_tokenizer, special, size=420, normalizer=None, alphabet=True, **model):
    tokenizer = Tokenizer(models.BPE(**model))
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    letters = pre_tokenizers.ByteLevel.alphabet() if alphabet else []
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=size, special_tokens=special, initial_alphabet=letters,
                                                              show_progress=False))
    return tokenizer


def sentence_piece(normalizer, pre_tokenizer):
    """As Llama 2 has it: a piece for each byte behind <unk>, <s> and </s>, then characters, then what merges make."""
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    trained.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=300, show_progress=False))
    learned = json.loads(trained.to_str())["model"]
    pieces = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)] + list(learned["vocab"])
    merges = [tuple(pair) for pair in learned["merges"]]
    tokenizer = Tokenizer(models.BPE({piece: i for i, piece in enumerate(pieces)}, merges, unk_token="<unk>", fuse_unk=True,
                                     byte_fallback=True))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    tokenizer.add_special_tokens([AddedToken(piece, normalized=False) for piece in ("<unk>", "<s>", "</s>", "<|end|>")])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return tokenizer


# A few lines of what nmt_nfkc has: compatible forms, spaces of every kind, characters that are dropped, and composed accents.
CHARACTERS = {"\ufb01": "fi", "\uff41": "a", "\uff11": "1", "\u00bd": "1\u20442", "\u00b2": "2", "\u2167": "VIII", "\u2122": "TM",
              "\u212b": "\u00c5", "\u2026": "...", "\t": " ", "\n": " ", "\r": " ", "\u00a0": " ", "\u3000": " ", "\u2003": " ",
              "\u200b": " ", "\u00ad": "", "\ufeff": "", "\u0001": "", "e\u0301": "\u00e9", "a\u030a": "\u00e5", "\uff76": "\u30ab",
              "\u1e9b\u0323": "\u1e69", "\u1e9b": "\u1e61"}


def unigram(normalizer, pre_tokenizer, pieces=("<pad>", "</s>", "<unk>"), byte_fallback=False, unknown=2, decoder=None, **around):
    """As T5 has it: special pieces, then what the trainer finds in the corpus, then more of them."""
    trained = Tokenizer(models.Unigram())
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    trained.train_from_iterator(CORPUS, trainers.UnigramTrainer(vocab_size=330, show_progress=False))
    learned = [(piece, round(score, 4)) for piece, score in json.loads(trained.to_str())["model"]["vocab"]]
    bytes_of = [(f"<0x{byte:02X}>", 0.0) for byte in range(256)] if byte_fallback else []
    vocabulary = [(piece, 0.0) for piece in pieces] + bytes_of + [pair for pair in learned if pair[0] not in pieces]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unknown, byte_fallback))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoder or decoders.Metaspace()
    tokenizer.add_special_tokens([AddedToken(piece, normalized=False) for piece in pieces])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
    tokenizer.add_tokens([AddedToken("addedword", single_word=True), AddedToken("<|end|>", rstrip=True)])
    if around:
        tokenizer.post_processor = processors.TemplateProcessing(
            special_tokens=[(piece, tokenizer.token_to_id(piece)) for piece in ("<s>", "</s>") if piece in pieces], **around)
    return tokenizer


def word_level(pre_tokenizer, pieces, decoder=None):
    tokenizer = Tokenizer(models.WordLevel({piece: i for i, piece in enumerate(["[UNK]", *pieces])}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizer
    if decoder is not None:
        tokenizer.decoder = decoder
    return tokenizer


def split(regex):
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(regex), behavior="isolated"), byte_level])


def main():
    shutil.rmtree(HERE, ignore_errors=True)
    os.makedirs(HERE)
    write_json(os.path.join(HERE, "texts.json.gz"), list(texts()))

    uncased = word_piece()
    write("bert_uncased_json", uncased, "tokenizer.json", with_ranges=True)
    write("bert_uncased_vocab", uncased, "vocab.txt", with_ranges=True)

    cased = word_piece(lowercase=False)
    write("bert_cased_vocab", cased, "vocab.txt", with_ranges=True, config={"do_lower_case": False})

    # Accents kept in lower case, ideographs not parted, short words, and added tokens of every kind.
    odd = word_piece(strip_accents=False, handle_chinese_chars=False, clean_text=False, limit=7)
    odd.add_tokens([AddedToken("addedword", single_word=True), AddedToken("naïve", normalized=False)])
    odd.add_special_tokens([AddedToken("<mask>", lstrip=True), AddedToken("<|end|>", rstrip=True)])
    odd.post_processor = processors.BertProcessing(("[SEP]", odd.token_to_id("[SEP]")), ("[CLS]", odd.token_to_id("[CLS]")))
    write("bert_options_json", odd, "tokenizer.json", with_ranges=True)

    words = sorted({word for line in CORPUS[:5] for word in line.lower().replace(".", " ").replace(",", " ").split()})
    write("word_list", word_piece({piece: i for i, piece in enumerate(["[UNK]", *words, ".", ","])}), "vocab.txt", with_ranges=True)

    spaced = sorted({word for line in CORPUS for word in line.split()})
    write("word_level_json", word_level(pre_tokenizers.WhitespaceSplit(), spaced), "tokenizer.json", with_ranges=True)
    characters = sorted({character for line in CORPUS for character in line + "\n"})
    any_character = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    write("characters_json", word_level(any_character, characters, decoders.Fuse()), "tokenizer.json", with_ranges=True)

    gpt2 = byte_pairs(pre_tokenizers.ByteLevel(add_prefix_space=False), ["<|endoftext|>"])
    write("gpt2_merges", gpt2, "vocab.json")

    # Runs of spaces as tokens of their own, as GPT-NeoX and Pythia have them.
    neox = byte_pairs(pre_tokenizers.ByteLevel(add_prefix_space=False), ["<|endoftext|>", "<|padding|>"], normalizer=normalizers.NFC())
    neox.add_tokens([AddedToken(" " * spaces, normalized=True) for spaces in range(6, 1, -1)])
    neox.post_processor = processors.ByteLevel(trim_offsets=True)
    write("gpt_neox_json", neox, "tokenizer.json")

    # OPT's </s> before a text: said by tokenizer_config.json beside the vocabulary, or by the tokenizer.json made of it.
    opt = byte_pairs(pre_tokenizers.ByteLevel(add_prefix_space=False), ["<s>", "<pad>", "</s>", "<unk>"])
    opt = Tokenizer.from_str(json.dumps(json.loads(opt.to_str()) | {"added_tokens": []}))
    opt.add_special_tokens([AddedToken(piece, normalized=normalized) for piece, normalized in (("</s>", True), ("<pad>", False))])
    opt.post_processor = processors.TemplateProcessing(single="</s> $A", special_tokens=[("</s>", opt.token_to_id("</s>"))])
    write("opt_json", opt, "tokenizer.json")
    said = {key: {"__type": "AddedToken", "content": "</s>", "lstrip": False, "normalized": True, "rstrip": False, "single_word": False}
            for key in ("unk_token", "bos_token", "eos_token")}
    write("opt_merges", opt, "vocab.json", config={"errors": "replace", **said, "pad_token": "<pad>", "add_prefix_space": False,
                                                   "add_bos_token": True, "tokenizer_class": "GPT2Tokenizer"})

    roberta = byte_pairs(pre_tokenizers.ByteLevel(add_prefix_space=True), ["<s>", "</s>"])
    roberta.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    roberta.add_tokens([AddedToken("addedword", single_word=True), AddedToken("<|end|>", rstrip=True)])
    pair = [(piece, roberta.token_to_id(piece)) for piece in ("</s>", "<s>")]
    roberta.post_processor = processors.RobertaProcessing(*pair, trim_offsets=True, add_prefix_space=True)
    write("roberta_json", roberta, "tokenizer.json")

    llama3 = byte_pairs(split(LLAMA3), ["<|start|>", "<|end|>"], ignore_merges=True)
    start = processors.TemplateProcessing(single="<|start|> $A", special_tokens=[("<|start|>", llama3.token_to_id("<|start|>"))])
    llama3.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), start])
    made = json.loads(llama3.to_str())
    # Words that no merges make.
    made["model"]["vocab"].update({piece: 420 + i for i, piece in enumerate(["ĠunseenxyzX", "unseenxyz", "Zürich"])})
    write("llama3_json", Tokenizer.from_str(json.dumps(made)), "tokenizer.json")

    write("qwen2_json", byte_pairs(split(QWEN2), ["<|end|>"], normalizer=normalizers.NFC()), "tokenizer.json")

    write("bloom_json", byte_pairs(split(BLOOM), ["<unk>", "<s>", "</s>", "<pad>"]), "tokenizer.json")

    digits = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=True)])
    write("digits_json", byte_pairs(digits, ["<unk>"], alphabet=False, unk_token="<unk>", fuse_unk=True), "tokenizer.json")

    marks = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    write("llama2_json", sentence_piece(marks, None), "tokenizer.json")
    for scheme in ("first", "always"):
        metaspace = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=False)
        write(f"metaspace_{scheme}_json", sentence_piece(None, metaspace), "tokenizer.json")

    mapped, words = normalizers.Precompiled(character_map(CHARACTERS)), pre_tokenizers.WhitespaceSplit()
    write("t5_json", unigram(mapped, pre_tokenizers.Sequence([words, pre_tokenizers.Metaspace()]), single="$A </s>"), "tokenizer.json")
    # As newer files of T5 have it, and XLM-RoBERTa: one space for several, none at the end.
    spaces = normalizers.Sequence([mapped, normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), "\u2581")])
    write("xlm_roberta_json", unigram(spaces, pre_tokenizers.Metaspace(), ("<s>", "<pad>", "</s>", "<unk>"), unknown=3,
                                      single="<s> $A </s>"), "tokenizer.json")
    quotes = [normalizers.Replace("''", '"'), normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(), mapped]
    write("albert_json", unigram(normalizers.Sequence(quotes), pre_tokenizers.Sequence([words, pre_tokenizers.Metaspace()])),
          "tokenizer.json")
    # umT5 and Gemma's: bytes for what is not in the vocabulary; the first mark only, and words are not split.
    whole = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    write("unigram_bytes_json", unigram(normalizers.NFKC(), whole, byte_fallback=True, decoder=decoder), "tokenizer.json")

    size = sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(HERE) for name in names)
    print(f"{size / 1024:.0f} KiB in {HERE}", file=sys.stderr)


if __name__ == "__main__":
    main()
