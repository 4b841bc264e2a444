package provider

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// redactingServer redacts known secrets in all diagnostics and messages about streams. The state is
// truthful, so a service that echoes a secret in a field of a stream can bring the secret into a text
// that was made from the state or from a response.
type redactingServer struct {
	fullServer
	session func() *session // the configured session, or nil
}

func withRedaction(server tfprotov6.ProviderServer, session func() *session) tfprotov6.ProviderServer {
	full, _ := server.(fullServer)
	return &redactingServer{full, session}
}

func (s *redactingServer) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	resp, err := s.fullServer.ReadResource(ctx, req)
	if resp != nil {
		s.redact(resp.Diagnostics)
	}
	return resp, err
}

func (s *redactingServer) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	resp, err := s.fullServer.PlanResourceChange(ctx, req)
	if resp != nil {
		s.redact(resp.Diagnostics)
	}
	return resp, err
}

func (s *redactingServer) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	resp, err := s.fullServer.ApplyResourceChange(ctx, req)
	if resp != nil {
		s.redact(resp.Diagnostics)
	}
	return resp, err
}

func (s *redactingServer) InvokeAction(ctx context.Context, req *tfprotov6.InvokeActionRequest) (*tfprotov6.InvokeActionServerStream, error) {
	stream, err := s.fullServer.InvokeAction(ctx, req)
	if err != nil {
		return nil, err
	}
	return &tfprotov6.InvokeActionServerStream{Events: func(push func(tfprotov6.InvokeActionEvent) bool) {
		stream.Events(func(event tfprotov6.InvokeActionEvent) bool {
			switch e := event.Type.(type) {
			case tfprotov6.ProgressInvokeActionEventType:
				e.Message = s.redactText(e.Message)
				event.Type = e
			case tfprotov6.CompletedInvokeActionEventType:
				s.redact(e.Diagnostics)
			}
			return push(event)
		})
	}}, nil
}

func (s *redactingServer) redact(diags []*tfprotov6.Diagnostic) {
	for _, d := range diags {
		d.Summary, d.Detail = s.redactText(d.Summary), s.redactText(d.Detail)
	}
}

// redactText redacts each paragraph by itself, because a long text is cut: the last paragraph says what
// is now true of the stream.
func (s *redactingServer) redactText(text string) string {
	session := s.session()
	if !session.configured() {
		return text
	}
	parts := strings.Split(text, "\n\n")
	for i := range parts {
		parts[i] = session.client.Redact(parts[i])
	}
	return strings.Join(parts, "\n\n")
}
