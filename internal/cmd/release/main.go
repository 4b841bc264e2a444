// Command release has the checks of a release, one subcommand for each. Run it without arguments for a list.
// The release workflow runs the subcommands around goreleaser.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/release"
)

// options are the flags of all subcommands.
type options struct {
	tag, repository, fingerprint string
	dir, program, out, platform  string
}

// commands are the subcommands by their names. Each returns what it has found to be right.
var commands = []struct {
	name, does string
	run        func(ctx context.Context, o options) (string, error)
}{
	{"check-source", "refuse a commit that must not be published: -tag, -repository", checkSource},
	{"check-key", "refuse a key that registries refuse: -fingerprint", checkKey},
	{"check-unpublished", "refuse a tag that has a public release: -tag, -repository, GITHUB_TOKEN", checkUnpublished},
	{"notes", "write the version's section of CHANGELOG.md: -tag, -out", writeNotes},
	{"notices", "write the licences of the modules in a program: -program, -out", writeNotices},
	{"check", "check the files: -dist, and for a release to be published -tag, -fingerprint", check},
	{"rebuild", "build the programs in the archives again and compare them: -dist, -platform", rebuild},
	{"publish", "make the draft public: -tag, -repository, -dist, GITHUB_TOKEN", publish},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		log.SetFlags(0)
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 {
		for _, command := range commands {
			if command.name != args[0] {
				continue
			}
			o, err := parse(args)
			if err != nil {
				return err
			}
			found, err := command.run(ctx, o)
			if err != nil {
				return fmt.Errorf("release %s: %w", command.name, err)
			}
			fmt.Fprintln(out, found)
			return nil
		}
	}
	for _, command := range commands {
		fmt.Fprintf(out, "release %-18s %s\n", command.name, command.does)
	}
	return errors.New("release needs one of these subcommands")
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.StringVar(&o.tag, "tag", "", "the `tag` of the release")
	flags.StringVar(&o.repository, "repository", "", "the `owner/name` of the repository on GitHub")
	flags.StringVar(&o.fingerprint, "fingerprint", "", "the `fingerprint` of the signing key, which gpg has")
	flags.StringVar(&o.dir, "dist", "dist", "the `folder` of the release")
	flags.StringVar(&o.platform, "platform", "", "the only `platform` to build, such as linux_amd64")
	flags.StringVar(&o.program, "program", "", "the `path` of a program")
	flags.StringVar(&o.out, "out", "", "the `file` to write")
	err := flags.Parse(args[1:])
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return o, err
}

func checkSource(ctx context.Context, o options) (string, error) {
	return "The commit of " + o.tag + " may be published as a release of " + o.repository + ".",
		release.CheckSource(ctx, ".", o.repository, o.tag)
}

func checkKey(ctx context.Context, o options) (string, error) {
	key, err := exportKey(ctx, o.fingerprint)
	if err != nil {
		return "", err
	}
	return "Registries accept the key " + o.fingerprint + ".", release.CheckKey(key)
}

// exportKey returns the armored public key with a fingerprint.
func exportKey(ctx context.Context, fingerprint string) (string, error) {
	if fingerprint == "" {
		return "", errors.New("-fingerprint is empty")
	}
	export := exec.CommandContext(ctx, "gpg", "--batch", "--armor", "--export", fingerprint)
	export.Stderr = os.Stderr
	key, err := export.Output()
	if err == nil && len(key) == 0 {
		err = errors.New("no such key")
	}
	if err != nil {
		return "", fmt.Errorf("exporting the key %s: %w", fingerprint, err)
	}
	return string(key), nil
}

func checkUnpublished(ctx context.Context, o options) (string, error) {
	return o.tag + " has no public release yet.", gitHub(o).CheckUnpublished(ctx, o.tag)
}

func gitHub(o options) *release.GitHub {
	api := os.Getenv("GITHUB_API_URL")
	if api == "" {
		api = "https://api.github.com"
	}
	return &release.GitHub{API: api, Repository: o.repository, Token: os.Getenv("GITHUB_TOKEN")}
}

func writeNotes(_ context.Context, o options) (string, error) {
	notes, err := release.Notes(".", o.tag)
	if err != nil {
		return "", err
	}
	return o.out + " has the notes of " + o.tag + ".", os.WriteFile(o.out, []byte(notes), 0o644)
}

func writeNotices(ctx context.Context, o options) (string, error) {
	return o.out + " has the licences.", release.WriteNotices(ctx, ".", o.program, o.out)
}

func check(ctx context.Context, o options) (string, error) {
	r, err := release.Find(ctx, ".", o.dir)
	if err != nil {
		return "", err
	}
	var key string
	if o.tag != "" {
		if err := r.CheckTag(o.tag); err != nil {
			return "", err
		}
		if key, err = exportKey(ctx, o.fingerprint); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s has version %s for %d platforms, as registries require.", o.dir, r.Version, len(r.Platforms)), r.Check(ctx, key)
}

func rebuild(ctx context.Context, o options) (string, error) {
	r, err := release.Find(ctx, ".", o.dir)
	if err != nil {
		return "", err
	}
	platforms := slices.DeleteFunc(slices.Clone(r.Platforms), func(p release.Platform) bool {
		return o.platform != "" && p.String() != o.platform
	})
	if len(platforms) == 0 {
		return "", fmt.Errorf("a release has no platform %q", o.platform)
	}
	return fmt.Sprintf("A build in another folder and with an empty cache has the same program for %v.", platforms), r.Rebuild(ctx, platforms)
}

func publish(ctx context.Context, o options) (string, error) {
	r, err := release.Find(ctx, ".", o.dir)
	if err != nil {
		return "", err
	}
	if err := r.CheckTag(o.tag); err != nil {
		return "", err
	}
	return o.tag + " is public.", gitHub(o).Publish(ctx, r)
}
