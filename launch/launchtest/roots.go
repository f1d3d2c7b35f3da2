package launchtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Root is a system of another release of Debian, with its own gdb and MPIs, that
// testdata/roots/fetch has downloaded.
type Root struct {
	name, folder string
}

// FindRoot returns the root of a name. If it is not there, the test is skipped with the reason. It
// waits for a running fetch.
func FindRoot(t testing.TB, name string) *Root {
	t.Helper()
	home := os.Getenv("SDM_ROOTS")
	if home == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Skipf("root %s: there is no place for it: %v", name, err)
		}
		home = filepath.Join(cache, "sdm-roots")
	}
	r, why := findRoot(home, name)
	if why != "" {
		t.Skip(why)
	}
	return r
}

// findRoot looks for a root in a directory; why says why it is not there.
func findRoot(home, name string) (r *Root, why string) {
	r = &Root{name: name, folder: filepath.Join(home, name)}
	if lock := filepath.Join(home, "."+name+".lock"); exists(lock) {
		if err := exec.Command("flock", "-w", fetchTime, lock, "true").Run(); err != nil {
			return nil, fmt.Sprintf("root %s is still being fetched after %s s", name, fetchTime)
		}
	}
	if exists(r.GDB()) {
		return r, ""
	}
	text, err := os.ReadFile(r.folder + ".why")
	if err != nil {
		text = []byte("testdata/roots/fetch brings it")
	}
	return nil, fmt.Sprintf("root %s is not here: %s", name, strings.TrimSpace(string(text)))
}

// fetchTime bounds the wait for a fetch, in seconds; the download of a fetch may take 150 s.
const fetchTime = "200"

// GDB returns the path of the root's gdb, which runs on this machine.
func (r *Root) GDB() string { return filepath.Join(r.folder, "gdb") }

// Argv returns a command line that runs another one in the root, with the environment and standard
// streams of this process. The command sees the folders at their own paths and may write into
// them. If this machine does not permit it, the test is skipped with the reason.
func (r *Root) Argv(t testing.TB, folders []string, command ...string) []string {
	t.Helper()
	enter := filepath.Join(Scripts(), "../roots/enter")
	if out, err := exec.Command(enter, r.system(), "--", "true").CombinedOutput(); err != nil {
		t.Skipf("root %s cannot be entered: %v: %s", r.name, err, strings.TrimSpace(string(out)))
	}
	argv := []string{enter}
	for _, f := range folders {
		argv = append(argv, "--rw", f)
	}
	return append(append(argv, r.system(), "--"), command...)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (r *Root) system() string { return filepath.Join(r.folder, "root") }
