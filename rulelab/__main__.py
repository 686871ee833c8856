"""`python -m rulelab`: the command line without the script on PATH."""

from .notebook.cli import main

raise SystemExit(main())
