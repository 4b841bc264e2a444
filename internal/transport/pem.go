package transport

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrNoPEM is the error of a text without PEM, such as the path of a file.
var ErrNoPEM = errors.New("contains no PEM block")

// parseCertificates returns the certificates of a text in PEM. It skips blocks of types that end with one of the others.
func parseCertificates(text string, others ...string) (certificates []*x509.Certificate, err error) {
	blocks, err := parsePEM(text)
	if err != nil {
		return nil, err
	}
	for i, block := range blocks {
		if slices.ContainsFunc(others, func(other string) bool { return strings.HasSuffix(block.Type, other) }) {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		switch {
		case block.Type != "CERTIFICATE":
			return nil, fmt.Errorf("contains a %q instead of a certificate as PEM block %d", block.Type, i+1)
		case err != nil:
			return nil, fmt.Errorf("contains a certificate that cannot be read as PEM block %d: %w", i+1, err)
		}
		certificates = append(certificates, certificate)
	}
	if certificates == nil {
		return nil, errors.New("contains no certificate")
	}
	return certificates, nil
}

// checkKey returns an error if a text in PEM has no private key that can be used.
func checkKey(text string) error {
	blocks, err := parsePEM(text)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(blocks, func(block *pem.Block) bool { return strings.HasSuffix(block.Type, "PRIVATE KEY") })
	switch {
	case i < 0:
		return errors.New("contains no private key")
	case blocks[i].Type == "ENCRYPTED PRIVATE KEY", blocks[i].Headers["DEK-Info"] != "":
		return errors.New("is encrypted. Write the key without a passphrase, for example with openssl pkey")
	}
	return nil
}

// parsePEM returns all blocks of a text in PEM. Package pem skips what it cannot read, and sometimes its neighbors.
func parsePEM(text string) (blocks []*pem.Block, err error) {
	const begin, end = "-----BEGIN ", "-----END "
	parts := strings.Split(withoutMarks(text), begin) // the first one is no block
	damaged := func(n int) error {
		switch block, _, _ := strings.Cut(parts[min(n, len(parts)-1)], end); {
		case strings.Contains(text, `\n`):
			return errors.New(`contains \n in place of line breaks`)
		case strings.Contains(block, "\n"):
			return fmt.Errorf("contains a damaged PEM block, number %d", n)
		case strings.Contains(block, "\r"):
			return errors.New("contains carriage returns in place of line breaks")
		case strings.Contains(block, "----- "):
			return errors.New("contains spaces in place of line breaks")
		}
		return errors.New("contains no line breaks; PEM needs them")
	}
	switch {
	case strings.Contains(parts[0], end):
		return nil, damaged(1)
	case strings.HasPrefix(text, "LS0tLS1CRUdJTi"): // "-----BEGIN"
		return nil, errors.New("contains PEM in base64, which must be decoded")
	case len(parts) == 1:
		return nil, ErrNoPEM
	}
	for n := 1; n < len(parts); n++ {
		block, rest := pem.Decode([]byte(begin + parts[n]))
		switch before := parts[n-1]; {
		case before != "" && !strings.HasSuffix(before, "\n"):
			return nil, fmt.Errorf("contains a PEM block, number %d, that does not begin on a line of its own", n)
		case block == nil:
			return nil, damaged(n)
		case bytes.Contains(rest, []byte(end)):
			return nil, damaged(n + 1)
		}
		blocks = append(blocks, block)
	}
	return blocks, nil
}

// withoutMarks removes the byte order marks of the files that a text was made of.
func withoutMarks(text string) string { return strings.ReplaceAll(text, "\ufeff", "") }
