package provider

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

func baseURLAttribute() schema.Attribute {
	return optionalString("Address of the service, such as `https://streams.example.com`. A trailing `/` or `/v2` makes no " +
		"difference; a path prefix is kept. The address of a stream is refused. Environment: `STREAM_BASE_URL`. Required, here or in the environment.")
}

func (s *settings) readBaseURL(v types.String) {
	at := path.Root("base_url")
	text, ok := s.text(at, v, "STREAM_BASE_URL")
	s.missingBaseURL = ok && text == ""
	if text != "" {
		if u := s.checkAddress(at, text, streams.ParseBaseURL); u != nil {
			s.deployment = streams.NormalURL(u)
		}
		s.client.BaseURL = text
	}
}

func deploymentAttribute() schema.Attribute {
	return optionalString("Name of the deployment in the state. Set it for a deployment that is reached at several addresses, so " +
		"that another address plans no change. Environment: `STREAM_DEPLOYMENT`. Default: `base_url`.")
}

// readDeployment comes after readBaseURL, whose address is the default.
func (s *settings) readDeployment(v types.String) {
	at := path.Root("deployment")
	name, ok := s.text(at, v, "STREAM_DEPLOYMENT")
	switch {
	case v.IsUnknown():
		s.deployment = ""
	case !ok, name == "":
	case strings.ContainsFunc(name, unicode.IsSpace), strings.ContainsFunc(name, unicode.IsControl), utf8.RuneCountInString(name) > longestDeployment:
		s.refuse(at, "must have at most %d characters, and no white space or control characters.", longestDeployment)
	default:
		s.deployment = name
	}
}

const longestDeployment = 200

// checkAddress refuses what parse refuses, and warns if requests can be read on their way.
func (s *settings) checkAddress(at path.Path, text string, parse func(string) (*url.URL, error)) *url.URL {
	u, err := parse(text)
	switch {
	case err != nil:
		s.refuse(at, "%s.", err)
	case streams.SentInClear(u):
		s.diags.Append(sentInClearWarning(at, s.variable(at)))
	}
	return u
}
