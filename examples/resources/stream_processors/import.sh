# cam-1 is the id of the stream.
terraform import stream_processors.entrance cam-1
