"""Makes a small model of a family, runs it, writes it as transformers does, and keeps what its attention modules computed."""
import contextlib, io, json, os, pickle, signal
from dataclasses import dataclass, field

import torch
import transformers

from attention_capture import Watch
from layer_judge import matrices_by_path, settings_in
from model_inputs import guesses
from model_variants import LEFT_OUT
from small_models import make_model

SECONDS_PER_MODEL = 60  # of the processor
SEEN = "seen.pickle"


class TookTooLong(Exception):
    pass


@dataclass
class Seen:
    """What was watched in one model; `folder` has its files."""
    model_type: str
    variant: str
    folder: str = ""
    attentions: list = field(default_factory=list)
    files_of_path: dict = field(default_factory=dict)  # of each module, the names of its arrays in the file
    arrays: set = field(default_factory=set)
    settings: set = field(default_factory=set)  # the keys of config.json
    problem: str = ""  # why the model could not be made or run to its end
    made: bool = False

    @property
    def label(self):
        return self.model_type + (f" [{self.variant}]" if self.variant else "")


def one_line(error):
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def watched(model):
    """The attentions of a forward pass by path, those of parts that the pass left out from passes of their own; what went wrong."""
    attentions, problem = {}, ""
    parts = [(path, part) for path, part in model.named_modules() if isinstance(part, transformers.PreTrainedModel)]
    for path, part in parts:
        if path and any(seen.startswith(path + ".") for seen in attentions):
            continue
        part_problem = ""
        for given in guesses(part):
            watch = Watch(model)
            try:
                with watch, torch.no_grad():
                    part(**given)
                part_problem = ""
            except TookTooLong:
                raise
            except Exception as error:
                part_problem = part_problem or one_line(error)
            for found in watch.attentions():
                attentions.setdefault(found.path, found)
            if not part_problem:
                break
        if not path:
            problem = part_problem
    return attentions, problem


def leave_out(path, names):
    """Writes the settings of a model again without those, wherever they stand in it."""
    def kept(value):
        return {key: kept(inner) for key, inner in value.items() if key not in names} if isinstance(value, dict) else value

    with open(path) as file:
        settings = json.load(file)
    with open(path, "w") as file:
        json.dump(kept(settings), file)


def make_seen(model_type, variant, changes, folder):
    """Makes and watches the model, and writes it into the folder. What goes wrong stands in `problem`."""
    seen = Seen(model_type, variant, folder)

    def stop(*_):
        raise TookTooLong(f"took longer than {SECONDS_PER_MODEL} s")

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS_PER_MODEL)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            model, _ = make_model(model_type, changes)
            attentions, seen.problem = watched(model)
            seen.attentions = list(attentions.values())
            os.makedirs(folder, exist_ok=True)
            model.save_pretrained(folder)
            if variant == LEFT_OUT:
                leave_out(os.path.join(folder, "config.json"), changes)
        seen.files_of_path, seen.arrays = matrices_by_path(model, folder)
        with open(os.path.join(folder, "config.json")) as file:
            seen.settings = settings_in(json.load(file)) | (set(changes) if variant == LEFT_OUT else set())
        seen.made = True
    except Exception as error:
        seen.problem = one_line(error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return seen


def save_seen(seen):
    os.makedirs(seen.folder, exist_ok=True)
    with open(os.path.join(seen.folder, SEEN), "wb") as file:
        pickle.dump(seen, file)


def load_seen(folder):
    with open(os.path.join(folder, SEEN), "rb") as file:
        seen = pickle.load(file)
    seen.folder = folder
    return seen
