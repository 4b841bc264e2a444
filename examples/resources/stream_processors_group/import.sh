# The id is a list of stream ids in JSON.
STREAM_DETECT_DRIFT=true terraform import stream_processors_group.entrance '["cam-1","cam-2","cam-3"]'
