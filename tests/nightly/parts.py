"""The parts: what is promised, and what attacks it."""

from functools import partial

from . import fuzz_answers, fuzz_model, fuzz_rtsp, hidden, kills, reads, soak, writes
from .piece import Part

PARTS = {
    "reads": Part("A reading call gives what is so, or an error with its cause, whatever happens",
                  reads.single, "calls", 2500),
    "reads-threads": Part("So does a call from one of many threads",
                          partial(reads.single, threads=8), "calls", 2500),
    "reads-sweep": Part("So does a row of a sweep", reads.sweeps, "sweeps", 20_000, 240),
    "writes-rooms": Part("A room is made, deleted or left once at most, and as it was reported",
                         partial(writes.changes, kind=writes.room_work), "changes", 500),
    "writes-devices": Part("A device is imported or removed once at most, and as it was reported",
                           partial(writes.changes, kind=writes.device_work), "changes", 400, 40),
    "kills-import": Part("An import that is killed and run again finishes its table",
                         kills.imported, "kills", 50, 6),
    "kills-recorder": Part("A recorder that is killed loses, doubles and tears no sweep it logged",
                           kills.recorders, "kills", 25, 2),
    "fuzz-model": Part("The service is what a dictionary says, after any steps in any order",
                       fuzz_model.model, "calls", 150, 5),
    "fuzz-rtsp": Part("What a camera sends is understood or refused; no torn picture is whole",
                      fuzz_rtsp.rtsp, "examples", 6000, 400),
    "fuzz-answers": Part("What a service answers is a record, or an error that quotes no secret",
                         fuzz_answers.answers, "examples", 5000),
    "soak": Part("Thousands of calls take no descriptor, thread or memory for good",
                 partial(soak.soak, load=soak.mixed), "rounds", 600, once=True),
    "secrets": Part("No function, panel or command shows a secret, in any world and order",
                    hidden.secrets, "drives", 400, 20),
}  # fmt: skip
