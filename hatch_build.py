"""What a wheel is given besides the package: the pages of the manual, as they are in `docs`."""

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LEFT_OUT = {"design", "extensions", "static", "notebooks", "_build"}
KINDS = {".md", ".png", ".svg"}


class ManualHook(BuildHookInterface):
    """Puts the pages and their pictures into `rulelab/manual`; an editable install reads `docs` itself."""

    def initialize(self, version, build_data):
        """Called by hatchling before it collects the files."""
        docs = Path(self.root) / "docs"
        if version == "editable" or not docs.is_dir():
            return
        pages = [page for page in docs.rglob("*") if page.suffix in KINDS]
        for page in pages:
            where = page.relative_to(docs)
            if not LEFT_OUT.intersection(where.parts):
                build_data["force_include"][str(page)] = f"rulelab/manual/{where.as_posix()}"
        included = Path(self.root) / "CHANGELOG.md"  # which a page of docs includes
        build_data["force_include"][str(included)] = f"rulelab/manual/_included/{included.name}"
