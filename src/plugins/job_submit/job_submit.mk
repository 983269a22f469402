# fragment of src/plugins/job_submit
