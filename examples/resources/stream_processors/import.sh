# cam-1 is the id of the stream. The import itself sends no request.
terraform import stream_processors.entrance cam-1
