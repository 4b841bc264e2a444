package process

import (
	"io"
	"log"
)

// DropLibraryLogs drops the lines that libraries write to the standard logger, which Terraform would put into its log. Package
// http quotes bytes of responses there, and headers of requests if GODEBUG says so. They may have secrets, and no redactor
// sees them. The provider's own lines go to package tflog.
func DropLibraryLogs() { log.SetOutput(io.Discard) }
