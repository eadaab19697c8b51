#!/usr/bin/env python3
"""Holds every attention layer that Headwise recognises in a model's files against transformers' own eager attention.

    python3 tests/peers/compare_with_transformers.py build/release/headwise [--family NAME]… [--json OUT] [--keep FOLDER | --again FOLDER]

For every model_type of the installed transformers, and for every setting of model_variants.py that changes attention, it makes a
small random model, writes it as transformers does, runs it, and gives `headwise run` what went into each attention layer. A
layer is

    EQUAL     attn_weights within 1e-5 and the output within 1e-4 of its largest magnitude, and nothing is warned of
    UNKNOWN   equal, with the one warning that this model_type is not known
    WARNED    equal, but with another warning
    TOLD      different, and a warning names a setting of config.json or a tensor
    VAGUE     different, and the warning names neither
    REFUSED   not computed, with a sentence
    SILENT    different without a word
    NO JUDGE  the model's own weights could not be seen

A family whose model could not be made or run is "skipped", one in which Headwise sees no layer although there is attention
"unrecognised". Exit status 1 where a layer is SILENT, VAGUE, WARNED or CRASHED, a family is skipped, or one is unrecognised of whose
attention `headwise info` says nothing, unless WITHOUT_JUDGE or WARNED_THOUGH_EQUAL excuses it; 77 where there is no transformers.
"""
import argparse, collections, json, multiprocessing, os, sys, tempfile, time, warnings

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "critical")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
try:
    import torch
    import transformers
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from layer_judge import as_row, judge_layer, layers_of, match
from model_variants import WARNED_THOUGH_EQUAL, WITHOUT_JUDGE, variants_of
from watched_model import SEEN, load_seen, make_seen, save_seen

FAILURES = ("SILENT", "VAGUE", "WARNED", "CRASHED")


def judge(program, seen):
    """What is told of one model: {"model", "status", "problem", "layers": [...]}"""
    told = {"model": seen.label, "model_type": seen.model_type, "variant": seen.variant, "status": "skipped", "problem": seen.problem,
            "seen": len(seen.attentions), "layers": []}
    if not seen.made:
        return told
    layers, notes, problem = layers_of(program, seen.folder)
    if layers is None:
        told["status"], told["problem"] = ("refused" if problem.startswith("exit 3") else "failed"), problem
        return told
    with tempfile.TemporaryDirectory(prefix="headwise-peers-") as work:
        for layer in layers:
            found = match(layer, seen.attentions, seen.files_of_path)
            told["layers"].append(as_row(judge_layer(program, seen.folder, work, layer, found, seen)))
    if layers:
        told["status"] = "judged"
    elif seen.attentions:
        told["status"], told["problem"] = "unrecognised", "" if notes else "and headwise info says nothing of it"
    elif not seen.problem:
        told["status"] = "no attention"
    return told


def examine(program, model_type, variant, changes, keep):
    """Makes one model and judges it; with `keep` its folder stays."""
    with tempfile.TemporaryDirectory(prefix="headwise-peers-") as work:
        name = (model_type + " " + variant).strip().replace("/", "_").replace(" ", "_")
        seen = make_seen(model_type, variant, changes, os.path.join(keep or work, name))
        if keep:
            save_seen(seen)
        return judge(program, seen)


def examine_family(task):
    """What is told of a family's small model and of its variants. Settings that many families share are left out where Headwise
    computes no layer of the plain model."""
    program, model_type, keep, variants_too = task
    told = [examine(program, model_type, "", {}, keep)]
    computed = any(layer["outcome"] != "REFUSED" for layer in told[0]["layers"])
    for variant, changes in (variants_of(model_type, computed) if variants_too else {}).items():
        told.append(examine(program, model_type, variant, changes, keep))
    return told


def fails(told, layer):
    return layer["outcome"] in FAILURES and not (layer["outcome"] == "WARNED" and told["model_type"] in WARNED_THOUGH_EQUAL)


def judge_kept(task):
    program, folder = task
    return [judge(program, load_seen(folder))]


def told_line(told):
    counts = collections.Counter(layer["outcome"] for layer in told["layers"])
    text = ", ".join(f"{n} {what}" for what, n in sorted(counts.items()))
    off = max((layer["weights_off"] or 0.0 for layer in told["layers"]), default=0.0)
    line = f"{told['model']:44} {told['status']:13} {text}"
    if counts["SILENT"] or counts["TOLD"] or counts["VAGUE"]:
        line += f"  largest difference {off:.2g}"
    return line + (f"  ({told['problem']})" if told["problem"] and told["status"] != "judged" else "")


def print_told(told, every_layer):
    print(told_line(told), flush=True)
    for layer in told["layers"]:
        if every_layer or fails(told, layer):
            print(f"    layer {layer['layer']:3} {layer['outcome']:8} {layer['name']} ({layer['family']}) weights {layer['weights_off']}"
                  f" output {layer['output_off']}  {' | '.join(layer['remark'].splitlines())[:300]}")


def excused(told):
    # A setting that transformers itself does not take is no gap.
    return told["model_type"] in WITHOUT_JUDGE or told["variant"] != ""


def summary(all_told):
    lines = [f"transformers {transformers.__version__}, torch {torch.__version__}: {len(all_told)} models"]
    lines.append("models: " + ", ".join(f"{n} {s}" for s, n in collections.Counter(t["status"] for t in all_told).most_common()))
    layers = [layer for told in all_told for layer in told["layers"]]
    lines.append(f"layers: {len(layers)}: " + ", ".join(f"{n} {o}" for o, n in collections.Counter(l["outcome"] for l in layers).most_common()))
    return lines


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program")
    arguments.add_argument("--family", action="append", default=[], help="a model_type; may be given several times")
    arguments.add_argument("--json", help="write everything that was found here")
    arguments.add_argument("--keep", default="", help="write the models' folders here and leave them")
    arguments.add_argument("--again", default="", help="judge the models that --keep left here, without making them anew")
    arguments.add_argument("--workers", type=int, default=2)
    arguments.add_argument("--no-variants", action="store_true")
    arguments.add_argument("--verbose", action="store_true", help="a line for every layer too")
    options = arguments.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    began = time.time()
    all_told = []
    program = os.path.abspath(options.program)
    families = [t for t in sorted(CONFIG_MAPPING_NAMES) if not options.family or t in options.family]
    if options.again:
        does, work = judge_kept, [(program, os.path.join(options.again, name)) for name in sorted(os.listdir(options.again))
                                  if os.path.exists(os.path.join(options.again, name, SEEN))]
    else:
        does, work = examine_family, [(program, t, options.keep, not options.no_variants) for t in families]
    with multiprocessing.get_context("fork").Pool(options.workers, maxtasksperchild=20) as pool:
        for of_family in pool.imap(does, work):
            all_told += of_family
            for told in of_family:
                print_told(told, options.verbose)
            if options.json:
                with open(options.json + ".part", "w") as file:
                    json.dump(all_told, file, indent=1)
                os.replace(options.json + ".part", options.json)
    print("\n".join(summary(all_told)) + f"\n{time.time() - began:.0f} s")
    failed = any(fails(told, layer) for told in all_told for layer in told["layers"])
    skipped = any((told["status"] in ("skipped", "failed") or told["status"] == "unrecognised" and told["problem"]) and not excused(told)
                  for told in all_told)
    sys.exit(1 if failed or skipped else 0)


if __name__ == "__main__":
    main()
