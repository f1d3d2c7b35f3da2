// Systems of other releases of Debian, for tests.

package launchtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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
	if why := cannotEnter(r.system()); why != "" {
		t.Skipf("root %s cannot be entered: %s", r.name, why)
	}
	argv := []string{enterScript()}
	for _, f := range folders {
		argv = append(argv, "--rw", f)
	}
	return append(append(argv, r.system(), "--"), command...)
}

func enterScript() string { return filepath.Join(Scripts(), "../roots/enter") }

var (
	entered   = map[string]string{} // by root: what cannotEnter returned
	enteredMu sync.Mutex
)

// cannotEnter says why a root cannot be entered; "": it can. Each root is entered once.
func cannotEnter(root string) string {
	enteredMu.Lock()
	defer enteredMu.Unlock()
	why, known := entered[root]
	if known {
		return why
	}
	if out, err := exec.Command(enterScript(), root, "--", "true").CombinedOutput(); err != nil {
		why = fmt.Sprintf("%v: %s", err, strings.TrimSpace(string(out)))
	}
	entered[root] = why
	return why
}

// ForPRRTE is what PRRTE and Open MPI need in the environment in a root. They start for this user,
// and MPI_Init tries the transports that can work between processes and hosts of a root only: with all
// of them MPI_Init of Open MPI 6.0.0 sleeps for a second and takes twice the processor time.
func ForPRRTE() []string {
	return []string{
		"PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
		"OMPI_MCA_pml=ob1", "OMPI_MCA_btl=self,sm,tcp",
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (r *Root) system() string { return filepath.Join(r.folder, "root") }
