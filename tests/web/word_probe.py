"""Asks the program what live texts say and what keys are, and reads the traces that it computes."""
import ast
import base64
import json
import pathlib
import struct
import subprocess
import tempfile
import zipfile

TYPES = {"<f4": "f32", "<f8": "f64", "|b1": "bool", "<i8": "i64"}
ROWS = ["bias_k", "bias_v"]  # which files keep as (1,1,E), as PyTorch does
OPTIONS = 9  # of a choice, at most


class Refused(Exception):
    """The program refused, with its one line."""


def run(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused(done.stderr.strip())
    return done.stdout


def page_with(answer, page):
    return {**page, "ask": "?", "caption": "!", "answer": answer}


def told(program, pages, folder):
    """The answers of the pages, as `info` reports them."""
    path = pathlib.Path(folder) / "probe.json"
    path.write_text(json.dumps({"headwise_playlist": 1, "title": "probe", "pages": pages}))
    return [page["answer"] for page in json.loads(run(program, "info", str(path), "--json"))["pages"]]


def texts_told(program, texts_of_pages, folder):
    """What texts say: [(page, [text, …]), …] gives a list of what they say for each. Options are shown with the
    numbers of their page, so each text is one."""
    pages, sizes = [], []
    for page, texts in texts_of_pages:
        chunks = [texts[i:i + OPTIONS - 1] for i in range(0, len(texts), OPTIONS - 1)] or [[]]
        for i, chunk in enumerate(chunks):
            options = [{"text": "-", "is": "not (N < 0)"}] + [{"text": text, "is": "N < 0"} for text in chunk or ["-"]]
            pages.append(page_with({"kind": "choice", "options": options}, page if i == 0 else {}))
        sizes.append(len(chunks))
    answers = iter(told(program, pages, folder))
    said = []
    for (_, texts), size in zip(texts_of_pages, sizes):
        options = [option for _ in range(size) for option in next(answers)["options"][1:]]
        said.append(options[:len(texts)])
    return said


def read_npy(data):
    header_size = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + header_size].decode("latin1"))
    return header["descr"], list(header["shape"]), data[10 + header_size:]


def trace_of(program, page, folder, only=None):
    """A scenario with its tensors, as a page of a lesson has them."""
    path = pathlib.Path(folder) / "trace.npz"
    base = page.get("scenario", "hand_made")
    if isinstance(base, dict):
        (pathlib.Path(folder) / "base.json").write_text(json.dumps(base))
        base = str(pathlib.Path(folder) / "base.json")
    settings = [word for each in page.get("set", []) for word in ("--set", each)]
    run(program, "run", base, *settings, "-o", str(path))
    trace = {"tensors": {}, "labels": {}, "roles": []}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            kind, shape, data = read_npy(archive.read(name))
            name = name.removesuffix(".npy")
            if name == "__scenario__":
                trace["settings"] = json.loads(data)
            elif name == "__tokens__":
                trace["labels"] = {side: [words] for side, words in json.loads(data).items()}
            elif not name.startswith("__") and (only is None or name in only):
                trace["tensors"][name] = {"shape": shape[-1:] if name in ROWS else shape, "type": TYPES[kind],
                                          "data": base64.b64encode(data).decode()}
            if name == "attn_weights":
                all_keys = shape[-1]
    trace["sizes"] = json.loads(run(program, "info", base, *settings, "--json"))["sizes"]
    trace["sizes"]["S′"] = all_keys
    trace["sizes"].setdefault("P", 0)
    trace["sizes"].setdefault("E", trace["sizes"]["H"] * trace["sizes"]["Dv"])
    roles = texts_told(program, [(page, [f"{{role {head}}}" for head in range(trace["sizes"]["H"])])], folder)[0]
    trace["roles"] = [role for role in roles if role != "–"]
    return trace


def given(program, page, quantities, folder):
    """The values of quantities that a page in a browser does not compute."""
    texts = texts_told(program, [(page, ["{" + each + "}" for each in quantities])], folder)[0]
    values = {}
    for quantity, text in zip(quantities, texts):
        values[quantity] = {"kind": "missing", "number": None, "text": text}
        if text != "–":
            answer = {"kind": "number", "is": quantity, "why": "-"}
            key = told(program, [page_with(answer, page)], folder)[0]["key"]
            values[quantity] = {"kind": "number", "number": key, "text": text}
    return values


def key_told(program, page, answer, folder):
    """The key of an answer, or why there is none."""
    try:
        return {"key": told(program, [page_with(answer, page)], folder)[0].get("key")}
    except Refused as refusal:
        return {"refused": str(refusal).split(": page 1: ")[-1]}


def folder():
    return tempfile.TemporaryDirectory(prefix="headwise_words_")
