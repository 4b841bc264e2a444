package provider

import (
	"net/url"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

func baseURLAttribute() schema.Attribute {
	return schema.StringAttribute{
		Optional: true,
		MarkdownDescription: "Address of the service, such as `https://streams.example.com`. A trailing `/` or `/v2` makes no " +
			"difference; a path prefix is kept. The address of a stream is refused. Environment: `STREAM_BASE_URL`. Required, here or in the environment.",
	}
}

func (s *settings) readBaseURL(v types.String) {
	at := path.Root("base_url")
	text, ok := s.text(at, v, "STREAM_BASE_URL")
	s.missingBaseURL = ok && text == ""
	if text != "" {
		s.checkAddress(at, text, streams.ParseBaseURL)
		s.client.BaseURL = text
	}
}

// checkAddress refuses what parse refuses, and warns if requests can be read on their way.
func (s *settings) checkAddress(at path.Path, text string, parse func(string) (*url.URL, error)) {
	u, err := parse(text)
	switch {
	case err != nil:
		s.refuse(at, "%s.", err)
	case streams.SentInClear(u):
		s.diags.Append(sentInClearWarning(at, s.variable(at)))
	}
}
