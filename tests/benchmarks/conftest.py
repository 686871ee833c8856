"""The benchmarks are a script (`python tests/benchmarks/run.py`); only their own tests are collected."""

collect_ignore_glob = ["bench_*.py", "run.py", "contest.py", "peers.py", "rows.py", "commits.py"]
