#!/usr/bin/env python3
"""Holds exported PDFs against poppler (pdftotext, pdffonts, pdfimages, pdftoppm) and qpdf, and against the SVG and PNG of the same
picture: they are valid, every font is embedded, the text can be extracted, and what they show is what the PNG shows.

    tests/peers/check_pictures.py build/release/headwise        needs the Debian packages poppler-utils and qpdf
"""
import html, os, re, subprocess, sys, tempfile, zlib

CASES = [  # the arguments of export, whether the cells are an image
    (["welcome", "--tensor", "attn_weights", "--head", "2"], False),
    (["welcome", "--tensor", "attn_weights", "--head", "all"], False),
    (["welcome", "--tensor", "masked_scores", "--set", "mask.is_causal=true", "--scale", "36"], False),
    (["welcome", "--tensor", "scores", "--scale", "7", "--theme", "dark"], False),
    (["random", "--tensor", "attn_weights", "--set", "inputs.query_length=128", "--scale", "6"], True),
    (["welcome", "--tensor", "attn_weights", "--title", "A (b) \\ <c> é—ᵀ√", "--bar-label", "−∞ … ½"], False),
    (["welcome", "--tensor", "attn_weights", "--title", "", "--no-bar", "--font-size", "20", "--dpi", "200"], False),
]


def run(*words):
    return subprocess.run(words, check=True, capture_output=True).stdout


def words_of(text):
    return sorted("".join(text.split()))


def pixels(ppm):
    """(width, height, bytes) of a binary PPM."""
    magic, width, height, most, rest = ppm.split(maxsplit=4)
    assert magic == b"P6" and most == b"255"
    return int(width), int(height), ppm[-3 * int(width) * int(height):]


def png_pixels(png):
    """The same of an 8-bit RGB PNG without filters, as Headwise writes it."""
    at, data = 8, b""
    while at < len(png):
        length, kind = int.from_bytes(png[at:at + 4], "big"), png[at + 4:at + 8]
        body = png[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height = int.from_bytes(body[:4], "big"), int.from_bytes(body[4:8], "big")
        if kind == b"IDAT":
            data += body
        at += 12 + length
    rows, line = zlib.decompress(data), 1 + 3 * width
    return width, height, b"".join(rows[y * line + 1:(y + 1) * line] for y in range(height))


def faults_of(program, folder, words, is_image):
    file = lambda ending: os.path.join(folder, "x." + ending)
    for ending in ("pdf", "svg", "png"):
        run(program, "export", *words, "-o", file(ending))
    pdf = open(file("pdf"), "rb").read()
    run(program, "export", *words, "-o", file("pdf"))
    if open(file("pdf"), "rb").read() != pdf:
        yield "the same request gave other bytes"
    if b"CreationDate" in pdf:
        yield "it has a date"
    run("qpdf", "--check", file("pdf"))
    for font in run("pdffonts", file("pdf")).decode().splitlines()[2:]:
        if font.split()[-5:-2] != ["yes", "yes", "yes"]:
            yield f"a font is not embedded as a subset with its characters: {font}"
    images = len(run("pdfimages", "-list", file("pdf")).decode().splitlines()) - 2
    if images != (1 if is_image else 0):
        yield f"{images} images"
    svg = open(file("svg"), encoding="utf-8").read()
    expected = words_of(html.unescape("".join(re.findall(r"<text [^>]*>([^<]*)</text>", svg))))
    if words_of(run("pdftotext", file("pdf"), "-").decode()) != expected:
        yield "its text is not that of the SVG"
    dpi = words[words.index("--dpi") + 1] if "--dpi" in words else "96"
    width, height, ours = png_pixels(open(file("png"), "rb").read())
    got_width, got_height, drawn = pixels(run("pdftoppm", "-r", dpi, file("pdf")))
    if (width, height) != (got_width, got_height):
        yield f"{got_width}×{got_height} pixels, the PNG has {width}×{height}"
    elif (apart := sum(abs(a - b) for a, b in zip(ours, drawn)) / len(ours)) > 4.0:
        yield f"its pixels differ from the PNG's by {apart:.1f} on average"


def main():
    program, bad = os.path.abspath(sys.argv[1]), 0
    with tempfile.TemporaryDirectory() as folder:
        for words, is_image in CASES:
            faults = list(faults_of(program, folder, words, is_image))
            bad += bool(faults)
            print(f"{'FAULT' if faults else 'ok   '} {' '.join(words)}" + "".join(f"\n      {f}" for f in faults))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
