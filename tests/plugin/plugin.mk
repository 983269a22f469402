# fragment of tests/plugin
