package release

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlatforms(t *testing.T) {
	t.Parallel()
	r, err := New(t.Context(), root, t.TempDir(), "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range r.Platforms {
		names = append(names, filepath.Base(r.Zip(p)))
	}
	var want []string
	for _, platform := range []string{
		"linux_amd64", "linux_arm64", "linux_386", "linux_arm",
		"darwin_amd64", "darwin_arm64",
		"windows_amd64", "windows_arm64", "windows_386",
		"freebsd_amd64", "freebsd_arm64", "freebsd_386", "freebsd_arm",
	} {
		want = append(want, "terraform-provider-stream_1.2.3_"+platform+".zip")
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("archives (-want +got):\n%s", diff)
	}
	for tag, right := range map[string]bool{"v1.2.3": true, "v1.2.3-rc.1": false, "1.2.3": false, "": false} {
		if err := r.CheckTag(tag); (err == nil) != right {
			t.Errorf("CheckTag(%q) = %v", tag, err)
		}
	}
	if got := r.programName(Platform{"windows", "386"}); got != "terraform-provider-stream_v1.2.3.exe" {
		t.Errorf("the program for Windows is %s", got)
	}
}
