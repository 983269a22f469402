# fragment of tests/fuzz
