"""The corpus is read by the tests that run over it; there is nothing in it to collect."""

collect_ignore_glob = ["*.py"]
