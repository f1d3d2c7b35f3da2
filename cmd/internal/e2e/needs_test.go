package e2e

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sdm/cmd/internal/programs"
)

// What the tests need that not every release of an MPI has.

// openMPIVersion is what mpirun says of itself: "mpirun.openmpi (OpenRTE) 4.1.4", "mpirun (Open MPI) 5.0.7".
var openMPIVersion = sync.OnceValue(func() string {
	text, err := exec.Command(openMPI.command, "--version").Output()
	if err != nil {
		return err.Error()
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
})

// offersMPIR tells whether mpirun offers debuggers MPIR: Open MPI up to 4 does.
func offersMPIR() bool { return isBefore5(openMPIVersion()) }

func isBefore5(line string) bool { release := releaseOf(line); return release > 0 && release < 5 }

// releaseOf is the first number of what mpirun says of itself; 0 if it is not understood.
func releaseOf(line string) int {
	_, version, _ := strings.Cut(line, ") ")
	major, _, _ := strings.Cut(version, ".")
	release, _ := strconv.Atoi(major)
	return release
}

// killsAtOnce tells whether a starter that is told to end (SIGTERM) kills its processes
// without a word: Open MPI 6.0.0rc2 does; 5 lets them have SIGTERM a quarter of a second before.
func killsAtOnce(m string) bool { return m == openMPI.command && releaseOf(openMPIVersion()) >= 6 }

// TestIsBefore5 has what mpirun says on three systems: what is not understood here is
// tested nowhere.
func TestIsBefore5(t *testing.T) {
	for line, want := range map[string]bool{
		"mpirun.openmpi (OpenRTE) 4.1.4":      true,
		"mpirun (Open MPI) 4.1.2":             true,
		"mpirun.openmpi (Open MPI) 5.0.7":     false,
		"mpirun.openmpi (Open MPI) 6.0.0rc2":  false,
		"exec: \"mpirun.openmpi\": not found": false,
		"mpirun.openmpi (Open MPI) 10.0.1":    false,
	} {
		if got := isBefore5(line); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

// needMPIR skips a test of what only MPIR gives.
func needMPIR(t *testing.T) {
	t.Helper()
	if !offersMPIR() {
		t.Skipf("%s offers no MPIR; its ranks are held in slots", openMPIVersion())
	}
}

// colonCrash says how mpirun ends that is given two programs; "" is well.
var colonCrash = sync.OnceValue(func() string {
	cmd := exec.Command(openMPI.command, "-n", "1", "true", ":", "-n", "1", "true")
	mpi, err := programs.Environment()
	if err != nil {
		return err.Error()
	}
	cmd.Env = append(os.Environ(), mpi...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return err.Error() + " " + strings.TrimSpace(string(out))
	}
	return ""
})

// needSeveralPrograms skips a test of lines with a colon where mpirun itself
// crashes on them (Debian 13's Open MPI 5.0.7).
func needSeveralPrograms(t *testing.T, m starter) {
	t.Helper()
	if m == openMPI && strings.HasPrefix(colonCrash(), "signal: ") {
		t.Skipf("%s crashes on several programs in a line: %s", openMPIVersion(), colonCrash())
	}
}
