package release

import (
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

func TestCheckKey(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config  packet.Config
		change  func(t *testing.T, key *openpgp.Entity)
		problem string
	}{
		"RSA":       {packet.Config{Algorithm: packet.PubKeyAlgoRSA, RSABits: 2048}, nil, ""},
		"short RSA": {packet.Config{Algorithm: packet.PubKeyAlgoRSA, RSABits: 1024}, nil, "1024 bits"},
		"Ed25519":   {packet.Config{Algorithm: packet.PubKeyAlgoEdDSA}, nil, "neither RSA nor DSA"},
		"ECDSA":     {packet.Config{Algorithm: packet.PubKeyAlgoECDSA, Curve: packet.CurveNistP256}, nil, "neither RSA nor DSA"},
		"expired": {packet.Config{
			Algorithm: packet.PubKeyAlgoRSA, RSABits: 2048, KeyLifetimeSecs: 60,
			Time: func() time.Time { return time.Now().Add(-time.Hour) },
		}, nil, "has expired"},
		"Ed25519 subkey that signs": {
			packet.Config{Algorithm: packet.PubKeyAlgoRSA, RSABits: 2048},
			func(t *testing.T, key *openpgp.Entity) {
				if err := key.AddSigningSubkey(&packet.Config{Algorithm: packet.PubKeyAlgoEdDSA}); err != nil {
					t.Fatal(err)
				}
			},
			"neither RSA nor DSA",
		},
		"Ed25519 subkey that encrypts": {
			packet.Config{Algorithm: packet.PubKeyAlgoRSA, RSABits: 2048},
			func(t *testing.T, key *openpgp.Entity) {
				if err := key.AddEncryptionSubkey(&packet.Config{Algorithm: packet.PubKeyAlgoEdDSA}); err != nil {
					t.Fatal(err)
				}
			},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key, err := openpgp.NewEntity("Test", "", "", &test.config)
			if err != nil {
				t.Fatal(err)
			}
			if test.change != nil {
				test.change(t, key)
			}
			err = CheckKey(armored(t, key))
			if test.problem == "" && err != nil || test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)) {
				t.Errorf("got %v, want %q", err, test.problem)
			}
		})
	}
	for name, text := range map[string]string{"no key": "", "two keys": armored(t, newKey(t), newKey(t))} {
		if err := CheckKey(text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
