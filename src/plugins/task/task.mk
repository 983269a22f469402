# fragment of src/plugins/task
