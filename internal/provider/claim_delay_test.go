package provider

// Unit tests plan one resource at a time, so a destroy has no claims to wait for.
func init() { claimDelay = 0 }
