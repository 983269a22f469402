# fragment of src/plugins/compat
