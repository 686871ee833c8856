"""`python -m rulelab`: the command line without the script on PATH."""

from rulelab_command import main

raise SystemExit(main())
