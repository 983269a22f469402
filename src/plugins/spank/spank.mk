# fragment of src/plugins/spank
