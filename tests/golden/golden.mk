# fragment of tests/golden
