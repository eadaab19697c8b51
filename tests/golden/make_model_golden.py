#!/usr/bin/python3
"""Writes models/sentences.npz and models/copycat.npz: what torch computes with the models of assets/models for a few texts.

    /usr/bin/python3 make_model_golden.py      (Debian: python3-torch, 1.13; python3-numpy)

For each text T = 0, 1, … (L words with the special ones, E width, H heads, V words in the vocabulary):
  T.text         (bytes) uint8   the text as it is typed, UTF-8
  T.ids          (L) int64       numbers of its pieces: sentences with [CLS] and [SEP] around, copycat with <|endoftext|> in front
  T.hidden.0     (L,E) float32   the embeddings (sentences: after their LayerNorm; copycat: word + position)
  T.hidden.l     (L,E)           after layer l−1 (copycat: before ln_f)
  T.attention.l  (H,L,L)         the weights of layer l after softmax, row: from, column: to
  T.final        (L,E)           copycat only: the last hidden after ln_f
  T.logits       (L,V)           sentences: cls.predictions; copycat: final · wteᵀ
Arrays are not compressed. Computed in float32.
"""

import json
import os
import sys

sys.dont_write_bytecode = True  # leave no __pycache__ beside the values
import numpy
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "..", "assets", "models")
sys.path.insert(0, MODELS)
from bert_encoder import run_encoder
from english_words_pieces import pieces_of
from gpt2_decoder import run_decoder
from safetensors_file import read_safetensors

SENTENCES = ["the animal did not cross the street because it was too tired .",
             "the keys to the zeppelin [MASK] rusty ."]
COPYCAT = ["garden river lamp apple violin garden river lamp",
           "stone zeppelin owl stone"]


def model(name):
    folder = os.path.join(MODELS, name)
    tensors, _ = read_safetensors(os.path.join(folder, "model.safetensors"))
    with open(os.path.join(folder, "config.json")) as file:
        config = json.load(file)
    with open(os.path.join(folder, "vocab.txt")) as file:
        vocabulary = file.read().split("\n")[:-1]
    return tensors, config, {word: i for i, word in enumerate(vocabulary)}


def write(name, texts, before, after, run, pieces_of=lambda word: [word]):
    tensors, config, word_id = model(name)
    arrays = {}
    for number, text in enumerate(texts):
        pieces = [piece for word in text.split() for piece in pieces_of(word)]
        ids = [word_id.get(piece, word_id["[UNK]"]) for piece in before + pieces + after]
        with torch.no_grad():
            result = run(tensors, config, torch.tensor([ids]))
        arrays[f"{number}.text"] = numpy.frombuffer(text.encode(), numpy.uint8)
        arrays[f"{number}.ids"] = numpy.array(ids, numpy.int64)
        for what in ("hidden", "attention"):
            for layer, tensor in enumerate(getattr(result, what)):
                arrays[f"{number}.{what}.{layer}"] = tensor[0].numpy()
        for what in ("final", "logits"):
            if hasattr(result, what):
                arrays[f"{number}.{what}"] = getattr(result, what)[0].numpy()
    path = os.path.join(HERE, "models", name + ".npz")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    numpy.savez(path, **arrays)
    print(f"{len(texts)} texts, {len(arrays)} arrays, {os.path.getsize(path)} bytes in {path}")


torch.set_num_threads(1)
write("sentences", SENTENCES, ["[CLS]"], ["[SEP]"], run_encoder, lambda word: [word] if word == "[MASK]" else pieces_of(word))
write("copycat", COPYCAT, ["<|endoftext|>"], [], run_decoder)
