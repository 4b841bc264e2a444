package release

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// minKeyBits is the smallest size of a key. Smaller keys are no longer considered safe.
const minKeyBits = 2048

// CheckKey returns an error unless registries accept signatures by the armored public key: it must be one key
// of kind RSA or DSA that can sign and has not expired. The same holds for its subkeys that can sign.
func CheckKey(armored string) error {
	keys, err := openpgp.ReadArmoredKeyRing(strings.NewReader(armored))
	if err != nil {
		return fmt.Errorf("reading the public key: %w", err)
	}
	if len(keys) != 1 {
		return fmt.Errorf("%d keys, want one", len(keys))
	}
	key := keys[0]
	if _, ok := key.SigningKey(time.Now()); !ok {
		return fmt.Errorf("the key %s cannot sign, or has expired or been revoked", key.PrimaryKey.KeyIdString())
	}
	problems := []error{checkAlgorithm(key.PrimaryKey)}
	for _, subkey := range key.Subkeys {
		if subkey.Sig.FlagSign {
			problems = append(problems, checkAlgorithm(subkey.PublicKey))
		}
	}
	return errors.Join(problems...)
}

func checkAlgorithm(key *packet.PublicKey) error {
	switch key.PubKeyAlgo {
	case packet.PubKeyAlgoRSA, packet.PubKeyAlgoRSASignOnly, packet.PubKeyAlgoDSA:
	default:
		return fmt.Errorf("the key %s is neither RSA nor DSA, and the Terraform registry refuses it", key.KeyIdString())
	}
	bits, err := key.BitLength()
	if err != nil {
		return fmt.Errorf("the key %s: %w", key.KeyIdString(), err)
	}
	if bits < minKeyBits {
		return fmt.Errorf("the key %s has %d bits, want %d or more", key.KeyIdString(), bits, minKeyBits)
	}
	return nil
}
