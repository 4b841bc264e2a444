package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
)

func TestMain(m *testing.M) { os.Exit(cli.RunTests(m)) }

// TestAccPicture draws the pictures again and compares them with the committed ones.
func TestAccPicture(t *testing.T) {
	t.Parallel()
	program, provider := cli.ForTest(t)
	if cli.IsTofu(program) {
		t.Skip("the picture shows Terraform")
	}
	files, err := draw(t.Context(), t.TempDir(), program, provider)
	if err != nil {
		t.Fatal(err)
	}
	for name, drawn := range files {
		committed, err := os.ReadFile(filepath.Join("..", "..", "..", ".github", name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.ReplaceAll(string(committed), "\r\n", "\n"), drawn); diff != "" {
			t.Errorf("%s: run make picture (-committed +drawn):\n%s", name, diff)
		}
	}
}

func TestSVG(t *testing.T) {
	t.Parallel()
	picture := svg([]panel{{
		title:    "A <title> & more",
		lines:    []string{"$ terraform plan", "  + \"a\"", "…"},
		requests: []string{`PATCH /v2/streams/cam-1 {"processor_ids":["` + strings.Repeat("p", 30) + `","q"]} → 200`},
	}}, light)
	var texts []string
	for decoder := xml.NewDecoder(strings.NewReader(picture)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, picture)
		}
		if characters, ok := token.(xml.CharData); ok && strings.TrimSpace(string(characters)) != "" {
			texts = append(texts, string(characters))
		}
	}
	want := []string{
		"A plan, an apply and a refused change, with the requests that the service receives",
		"A <title> & more", "$ terraform plan", "  + \"a\"", "…",
		"The service receives:", "PATCH /v2/streams/cam-1",
		`  {"processor_ids":["` + strings.Repeat("p", 30) + `",`, `    "q"]}`, "→ 200",
	}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	got := excerpt("before\n\nkept 1\nkept 2\n│ other\n│\n│ another\n│ kept 3\nafter\n", regexp.MustCompile("kept"))
	if diff := cmp.Diff([]string{"kept 1", "kept 2", "…", " kept 3"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
