package launchtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestMissingRootsSayWhy(t *testing.T) {
	home := t.TempDir()
	if _, why := findRoot(home, "trixie"); why != "root trixie is not here: testdata/roots/fetch brings it" {
		t.Error(why)
	}
	if err := os.WriteFile(filepath.Join(home, "trixie.why"), []byte("apt knows no mirror of Debian\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, why := findRoot(home, "trixie"); why != "root trixie is not here: apt knows no mirror of Debian" {
		t.Error(why)
	}
}

// TestRoot checks that a command in a root sees the root's system and the given folders, and that
// its processes end with it.
func TestRoot(t *testing.T) {
	r := FindRoot(t, "trixie")
	dir := t.TempDir()
	argv := r.Argv(t, []string{dir}, "bash", "-c", `cd "$1" && hostname >name && tr '\0' ' ' </proc/1/cmdline >first && ! touch /usr/file && sleep 1000 & sleep 0.2; exit 7`, "bash", dir)
	cmd := exec.Command(argv[0], argv[1:]...)
	// CombinedOutput would wait for sleep if it still ran.
	if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 7 {
		t.Fatalf("%v: %s", err, out)
	}
	for file, want := range map[string]string{"name": "trixie\n", "first": "enter --inside trixie "} {
		if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s: %q, want %q; %v", file, got, want, err)
		}
	}
}
