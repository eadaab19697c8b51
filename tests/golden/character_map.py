"""Writes a character map as SentencePiece keeps it in precompiled_charsmap: a double array (Aoe 1989) as darts-clone packs it."""
import struct

IS_VALUE, HAS_LEAF = 1 << 31, 1 << 8


def trie_of(keys):
    """{byte: subtrie, 0: value}"""
    root = {}
    for key, value in keys.items():
        node = root
        for byte in key:
            node = node.setdefault(byte, {})
        node[0] = value
    return root


def double_array(keys):
    """Units for {bytes: value}: a child of label c stands at base ^ c, its parent's base; label 0 holds the value of a key."""
    units, bases = {0: 0}, set()

    def place(position, node):
        base = next(base for base in range(1, 1 << 21) if base not in bases and all(base ^ label not in units for label in node))
        bases.add(base)
        units[position] |= (position ^ base) << 10 | (HAS_LEAF if 0 in node else 0)
        for label, child in node.items():
            units[base ^ label] = IS_VALUE | child if label == 0 else label
        for label, child in node.items():
            if label != 0:
                place(base ^ label, child)

    place(0, trie_of(keys))
    return [units.get(position, 0) for position in range((max(units) // 256 + 1) * 256)]


def character_map(replacements):
    """From {what is replaced: by what}."""
    texts, keys = b"", {}
    for before, after in replacements.items():
        keys[before.encode()] = len(texts)
        texts += after.encode() + b"\0"
    units = double_array(keys)
    return struct.pack(f"<I{len(units)}I", 4 * len(units), *units) + texts
