package launchtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Root is a system of another release of Debian, with its own gdb and MPIs, that testdata/roots/fetch has brought.
type Root struct {
	name, folder string
}

// FindRoot gives the root of a name. If it is not there, the test is skipped and says why; it waits for a fetch that
// is under way.
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
	if lock := filepath.Join(home, "."+name+".lock"); exists(lock) {
		exec.Command("flock", "-w", "200", lock, "true").Run() // the time of a fetch is bounded, too
	}
	r := &Root{name: name, folder: filepath.Join(home, name)}
	if !exists(r.GDB()) {
		why, err := os.ReadFile(r.folder + ".why")
		if err != nil {
			why = []byte("testdata/roots/fetch brings it")
		}
		t.Skipf("root %s is not here: %s", name, strings.TrimSpace(string(why)))
	}
	return r
}

// GDB is the path of the root's gdb, to be run on this machine.
func (r *Root) GDB() string { return filepath.Join(r.folder, "gdb") }

// Argv is a command line that runs another one in the root, with our environment and standard streams. The command
// sees the folders at their own paths and may write into them. Where this machine does not permit it, the test
// is skipped and says why.
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
