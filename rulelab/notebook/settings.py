"""What a user can set: `%config RuleLab.…`, the environment, `[tool.rulelab]` in pyproject.toml.

The first of these that sets something decides: `%config` (and IPython's own configuration files), then the
environment, then the nearest pyproject.toml at or above the working directory, then the default.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from traitlets import Bool, Enum, HasTraits, Int, TraitError, observe
from traitlets.config import Config
from traitlets.config.loader import DeferredConfig

from ..compiler.calls.cache import DEFAULT as CACHE
from ..compiler.calls.cache import MODES, refresh
from ..nearest import did_you_mean

ENVIRONMENT = {"widgets": "RULELAB_WIDGETS"}
"""The settings that an environment variable can change, with its name."""

_SWITCH = {
    "0": False,
    "false": False,
    "no": False,
    "off": False,
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
}


class Settings(HasTraits):
    """The settings of the magics, shown and changed by `%config RuleLab`."""

    advice = Bool(True, help="show the suggestions of %rule_lint below a rule that %%rrule defines").tag(
        config=True
    )
    check = Enum(
        ["never", "quick"],
        default_value="never",
        help="quick: check each rule by numbers where a cell defines it, as its option --check does",
    ).tag(config=True)
    short_errors = Bool(True, help="show rulelab's own errors in their six lines, without the traceback").tag(
        config=True
    )
    widgets = Bool(True, help="show panels with widgets; without, as tables, text and pictures").tag(
        config=True
    )
    rounds = Int(60, min=1, help="rounds of a duel, unless --rounds is given").tag(config=True)
    refresh_mode = Enum(
        list(MODES),
        default_value="auto",
        help="auto: a new rule takes effect at once; manual: the old pass is used until %grad_refresh",
    ).tag(config=True)

    @observe("refresh_mode")
    def _refresh_mode_changed(self, change) -> None:
        if CACHE.mode != change["new"]:
            refresh(change["new"])

    def read_surroundings(
        self, folder: Path, environment: Mapping[str, str], decided: frozenset[str] = frozenset()
    ) -> list[str]:
        """Apply the settings of the project that `folder` is in, then those of the environment.

        Settings whose names are in `decided` are not changed. Returns a line for each that could not be
        applied, with the file and the key; the others are.
        """
        remarks, given = [], [*_of_project(folder), *_of_environment(environment)]
        for source, key, value in given:
            remark = self._set_or_remark(key, value, decided)
            if remark is not None:
                remarks.append(f"{source}: {remark}")
        return remarks

    def _set_or_remark(self, key: str | None, value: Any, decided: frozenset[str]) -> str | None:
        """Set one setting; returns what is wrong with it, if it cannot be set."""
        if key is None:
            return str(value)
        traits = Settings.class_traits(config=True)
        if key not in traits:
            return f"there is no setting {key}{did_you_mean(key, traits)}"
        if key in decided:
            return None
        try:
            if isinstance(value, bool) is not isinstance(traits[key], Bool):
                raise TraitError("traitlets takes True for 1, and 1 for True")
            setattr(self, key, value)
        except TraitError:
            return f"{key} must be {_wanted(traits[key])}, not {value!r}"
        return None


def without_bad_values(configuration: Config) -> list[str]:
    """Remove invalid values from IPython's configuration; returns a line for each.

    `%config` leaves a value there even when it refuses it, and then no magic could be created.
    """
    section, remarks = configuration.get("RuleLab", {}), []
    traits: dict[str, Any] = Settings.class_traits(config=True)
    for key, trait in traits.items():
        if key not in section:
            continue
        value = section[key]
        try:
            trait.validate(Settings(), value.get_value(trait) if isinstance(value, DeferredConfig) else value)
        except (TraitError, ValueError):
            remarks.append(f"%config RuleLab: {key} must be {_wanted(trait)}, not {value!r}")
            del section[key]
    return remarks


def _wanted(trait) -> str:
    if isinstance(trait, Enum):
        return " or ".join(map(repr, trait.values or ()))
    least = getattr(trait, "min", None)
    return trait.info() + (f" of at least {least}" if least is not None else "")


def _of_project(folder: Path) -> Iterator[tuple[str, str | None, Any]]:
    """(where, key, value) of each setting in the nearest pyproject.toml; the key is None for an error in the
    file.
    """
    file = next((f for at in (folder, *folder.parents) if (f := at / "pyproject.toml").is_file()), None)
    if file is None:
        return
    try:
        section = tomllib.loads(file.read_text(encoding="utf-8")).get("tool", {}).get("rulelab", {})
        settings = dict(section.items())
    except OSError as error:
        return (yield str(file), None, f"cannot be read: {error.strerror}")
    except AttributeError:
        return (yield str(file), None, "[tool.rulelab] must be a table")
    except ValueError as error:  # what tomllib and the decoding raise
        return (yield str(file), None, f"cannot be read: {' '.join(str(error).split())}")
    yield from ((f"{file}, [tool.rulelab]", key, value) for key, value in settings.items())


def _of_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, str | None, Any]]:
    for key, variable in ENVIRONMENT.items():
        word = environment.get(variable, "")
        if word:
            known = _SWITCH.get(word.strip().lower())
            yield variable, key, word if known is None else known


def surroundings() -> tuple[Path, Mapping[str, str]]:
    """The working directory and the environment of this process."""
    try:
        return Path.cwd(), os.environ
    except OSError:  # the working directory has been deleted
        return Path(os.sep), os.environ
