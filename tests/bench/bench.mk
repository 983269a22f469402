# fragment of tests/bench
