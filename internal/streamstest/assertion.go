package streamstest

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"
)

// Assertions issues and checks client assertions (RFC 7523, section 3): JSON Web Tokens with the signature of a key
// that it alone knows. It stands for an identity provider, such as that of a CI system.
type Assertions struct {
	// Audience is what an assertion must be issued for.
	Audience string

	key ed25519.PrivateKey
}

// NewAssertions makes an issuer for an audience.
func NewAssertions(t TB, audience string) *Assertions {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatalf("making a key: %v", err)
	}
	return &Assertions{audience, key}
}

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

// claims are the claims of an assertion that matter here.
type claims struct {
	Subject  string `json:"sub"`
	Audience string `json:"aud"`
	Expiry   int64  `json:"exp"` // Unix time
	ID       string `json:"jti"` // makes each assertion different
}

// Issue returns an assertion for a client that is valid for a while.
func (a *Assertions) Issue(clientID string, validity time.Duration) string {
	return a.issue(claims{clientID, a.Audience, time.Now().Add(validity).Unix(), rand.Text()})
}

func (a *Assertions) issue(c claims) string {
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"alg":"EdDSA","typ":"JWT"}`)) + "." + encode(mustMarshal(c))
	return signed + "." + encode(ed25519.Sign(a.key, []byte(signed)))
}

// check returns an error unless a form has a valid assertion of a client.
func (a *Assertions) check(form url.Values, clientID string) error {
	if form.Get("client_assertion_type") != assertionType {
		return errors.New("the client_assertion_type must be " + assertionType)
	}
	if form.Has("client_secret") {
		return errors.New("the client authenticates twice")
	}
	assertion := form.Get("client_assertion")
	end := max(0, strings.LastIndex(assertion, "."))
	signature, _ := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(assertion[end:], "."))
	public, ok := a.key.Public().(ed25519.PublicKey)
	if !ok || !ed25519.Verify(public, []byte(assertion[:end]), signature) {
		return errors.New("the signature of the assertion is wrong")
	}
	var c claims
	_, payload, _ := strings.Cut(assertion[:end], ".")
	decoded, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil || json.Unmarshal(decoded, &c) != nil {
		return errors.New("the assertion has no claims")
	}
	switch {
	case c.Subject != clientID:
		return errors.New("the assertion is for another client")
	case c.Audience != a.Audience:
		return errors.New("the assertion is for another audience")
	case time.Now().Unix() >= c.Expiry:
		return errors.New("the assertion has expired")
	}
	return nil
}
