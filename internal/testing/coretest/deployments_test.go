package coretest

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/stream-management/terraform-provider-stream/internal/provider"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// deployment is a name of a service, and what is known of the objects that the state has of the service's streams under
// this name.
type deployment struct {
	name    string // in the state
	address string
	service *streamstest.Service
	limited streamNames // states may be untrue: see limit
}

// deploymentsInMemory starts two services whose streams have the same ids, each at all ports of an address. A proxy of the
// environment does not apply to these addresses. The last deployment is another name of the first service.
func deploymentsInMemory(t interface{ Cleanup(f func()) }, opts streamstest.Options) ([]*deployment, provider.DialContext) {
	var deployments []*deployment
	listeners := map[string]*streamstest.Listener{}
	for _, host := range []string{"127.0.0.1", "127.0.0.2"} {
		d := &deployment{"http://" + host, "http://" + host, streamstest.New(opts), streamNames{}}
		d.seedMissing(d.service)
		listener := streamstest.Listen()
		server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: d.service}}
		server.Start()
		t.Cleanup(server.Close)
		deployments, listeners[host] = append(deployments, d), listener
	}
	first := *deployments[0]
	first.name, first.limited = "another-name", streamNames{}
	return append(deployments, &first), func(ctx context.Context, _, address string) (net.Conn, error) {
		host, _, _ := net.SplitHostPort(address)
		return listeners[host].DialContext(ctx)
	}
}

// attached returns the processors of a stream in the service, in the form of FromTerraform.
func (d *deployment) attached(id string) any {
	stream, ok := d.service.Stream(id)
	if !ok {
		return nil
	}
	slices.Sort(stream.ProcessorIDs)
	return stream.ProcessorIDs
}

// limit notes that the state of a stream may be untrue, and that no call of core could have recorded it. Each caller says
// why.
func (d *deployment) limit(id string) { d.limited.add(id) }

// limitOthers limits the states that have a stream under other names of the configured service. The provider takes them for
// states of another deployment. own is the object of the operation that has changed the stream; it must have a mark.
func (c *terraformCore) limitOthers(id string, own *stored) {
	for _, s := range c.objects() {
		d := c.deploymentOf(s)
		if _, has := s.sets()[id]; has && s != own && d != c.deployment && d.service == c.service {
			d.limit(id)
		}
	}
}

// configureFor configures the provider for a deployment, perhaps at another address of it.
func (c *terraformCore) configureFor(d *deployment, atAnotherAddress bool) {
	c.deployment = d
	c.provider["base_url"], c.provider["deployment"] = d.address, nil
	if atAnotherAddress {
		c.provider["base_url"] = d.address + ":8080"
	}
	if atAnotherAddress || d.name != d.address {
		c.provider["deployment"] = d.name
	}
}

// deploymentOf returns the deployment for which an object speaks.
func (c *terraformCore) deploymentOf(s *stored) *deployment {
	if s == nil || s.text("deployment") == "" { // "": imported while the address was not known
		return c.deployment
	}
	i := slices.IndexFunc(c.deployments, func(d *deployment) bool { return d.name == s.text("deployment") })
	return c.deployments[i]
}

// here returns an object of the configured deployment, and nil for that of another one.
func (c *terraformCore) here(s *stored) *stored {
	if c.deploymentOf(s) != c.deployment {
		return nil
	}
	return s
}

const (
	deploymentChanged  = "The Deployment Has Changed"
	deploymentNotKnown = "Deployment Not Known to the State"
)

// checkRefusal checks that a plan or a destroy fails if it would detach what another deployment has, and only then. A
// replaced object is forgotten in the run of its replacement.
func (c *terraformCore) checkRefusal(what string, s *stored, leaves bool, diags Diagnostics) {
	fails := func(summary string) bool {
		return slices.ContainsFunc(diags, func(d *tfprotov6.Diagnostic) bool {
			return d.Severity == tfprotov6.DiagnosticSeverityError && d.Summary == summary
		})
	}
	if fails("Set Not Known to the State") { // nothing is planned
		return
	}
	refused := fails(deploymentChanged)
	if want := c.here(s) == nil && !c.lateDeployment && leaves && len(s.streams()) > 0 && s.text("on_destroy") == "detach"; refused != want {
		c.t.Fatalf("%s: the state is that of deployment %s, %s is configured: refused %t, want %t: %s",
			what, s.text("deployment"), c.name, refused, want, diags)
	}
}

// checkNotRead fails if the refresh or the plan of an object of another deployment has sent anything.
func (c *terraformCore) checkNotRead(what string, s *stored) {
	if c.here(s) == nil && !c.lateDeployment && len(c.service.Requests()) > c.sent {
		c.t.Fatalf("%s: the state is that of deployment %s, and %s got %v", what, s.text("deployment"), c.name, c.service.Requests()[c.sent:])
	}
}

// checkOthersUntouched fails if a deployment got a request that is not configured.
func (c *terraformCore) checkOthersUntouched() {
	for _, d := range c.deployments {
		if d.service != c.service && len(d.service.Requests()) > 0 {
			c.t.Fatalf("%s is configured, and %s got %v", c.name, d.name, d.service.Requests())
		}
	}
}

// resolveRefusals removes from the state what another deployment has and a plan would detach, as removed blocks do.
func (c *terraformCore) resolveRefusals(cfg config) {
	elsewhere := 0
	for _, s := range c.objects() {
		if c.here(s) == nil {
			elsewhere++
			s.tainted = false // terraform untaint
		}
	}
	for elsewhere > 0 {
		elsewhere = 0
		c.plan(cfg, options{})
		for _, failure := range c.failures {
			if what, _, _ := strings.Cut(failure, ":"); strings.Contains(failure, deploymentChanged) {
				delete(c.state, what[strings.LastIndex(what, " ")+1:])
				elsewhere++
			}
		}
	}
}
