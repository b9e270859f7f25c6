"""Measure what pages show as recorded, and the website on a slow phone.

    python3 course.py bench                     # every section
    python3 course.py bench --section layers    # one of them
    python3 course.py bench --record            # also renew this device's rows in d2lmini/assets/*.csv

Computes on one thread of the CPU, and on a GPU where there is one. It never fails for a time: the reader's
machine is what it is.
"""

import argparse

import torch

from book import build
from tools import bench_site
from tools.record import (
    classroom,
    device_name,
    induction,
    lengths,
    neighbor,
    norms,
    recall,
    show,
    since,
    subwords,
    timings,
    translation,
    writing,
)


def measure_site(devices: list[torch.device], record: bool) -> None:
    for table in bench_site.tables(build.build()):
        show(*table)


SECTIONS = {
    "classroom": classroom.run,
    "layers": timings.run,
    "induction": induction.run,
    "lengths": lengths.run,
    "neighbor": neighbor.run,
    "norms": norms.run,
    "recall": recall.run,
    "since": since.run,
    "site": measure_site,
    "subwords": subwords.run,
    "translation": translation.run,
    "writing": writing.run,
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python3 course.py bench", description=__doc__.split("\n")[0])
    parser.add_argument("--section", action="append", choices=SECTIONS, help="only this one (repeatable)")
    parser.add_argument("--record", action="store_true", help="renew this device's recorded rows")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="only this kind of device")
    options = parser.parse_args(arguments)
    # work handed from core to core waits for whatever else runs there: steps in every curve
    torch.set_num_threads(1)
    devices = [torch.device("cpu"), *([torch.device("cuda")] if torch.cuda.is_available() else [])]
    devices = [device for device in devices if options.device in (None, device.type)]
    for device in devices:
        print(f"{device.type}: {device_name(device)}, torch {torch.__version__}")
    for section in options.section or SECTIONS:
        SECTIONS[section](devices, options.record)


if __name__ == "__main__":
    main()
