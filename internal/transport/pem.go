package transport

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"regexp"
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
		if err != nil {
			return nil, fmt.Errorf("contains a %q that is no certificate as PEM block %d: %w", block.Type, i+1, err)
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
	for rest := []byte(withoutMarks(text)); pemLine.Match(rest); {
		block, after := pem.Decode(rest)
		if lines := pemLine.FindAll(rest[:len(rest)-len(after)], -1); len(lines) != 2 { // none if it finds no block
			return nil, fmt.Errorf("contains a damaged PEM block, number %d; it may have lost its line breaks", len(blocks)+1)
		}
		blocks, rest = append(blocks, block), after
	}
	if blocks == nil {
		return nil, ErrNoPEM
	}
	return blocks, nil
}

// pemLine matches the first line of a block, and the last one.
var pemLine = regexp.MustCompile(`-----(BEGIN|END) `)

// withoutMarks removes the byte order marks of the files that a text was made of.
func withoutMarks(text string) string { return strings.ReplaceAll(text, "\ufeff", "") }
