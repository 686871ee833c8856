"""The garbage collector, switched off during large imports."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def without_collections() -> Iterator[None]:
    """Switch the garbage collector off within the block. Objects that an import creates stay alive:
    collections meanwhile would find nothing and take a fifth of its time, and for a large library several
    times as long as loading its rules.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            if not gc.get_freeze_count():  # moves all objects to the oldest generation, without a collection
                gc.freeze()
                gc.unfreeze()
            gc.enable()
