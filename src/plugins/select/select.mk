# fragment of src/plugins/select
