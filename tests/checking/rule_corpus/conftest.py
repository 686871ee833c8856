"""The corpus is read by its test and its campaign; there is nothing in it to collect."""

collect_ignore_glob = ["*.py"]
