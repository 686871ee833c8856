"""The garbage collector, switched off during large imports."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def without_collections() -> Iterator[None]:
    """No garbage is collected meanwhile. All that an import makes stays: collections in its midst would find
    nothing, and take a fifth of its time; one that looks through a large library, several times as long as
    its rules.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            if not gc.get_freeze_count():  # what is there counts as old at once, without a look at it
                gc.freeze()
                gc.unfreeze()
            gc.enable()
