package e2e

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sdm/cmd/internal/check/programs"
)

// Requirements of tests that not every release of an MPI meets.

// openMPIVersion returns the first line of mpirun --version: "mpirun.openmpi (OpenRTE) 4.1.4",
// "mpirun (Open MPI) 5.0.7".
var openMPIVersion = sync.OnceValue(func() string {
	text, err := exec.Command(openMPI.command, "--version").Output()
	if err != nil {
		return err.Error()
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
})

// offersMPIR reports whether mpirun offers MPIR: Open MPI up to release 4 does.
func offersMPIR() bool { return isBefore5(openMPIVersion()) }

func isBefore5(line string) bool { release := releaseOf(line); return release > 0 && release < 5 }

// releaseOf returns the major release in such a line; 0 if it is not understood.
func releaseOf(line string) int {
	_, version, _ := strings.Cut(line, ") ")
	major, _, _ := strings.Cut(version, ".")
	release, _ := strconv.Atoi(major)
	return release
}

// killsAtOnce reports whether a starter kills its processes at once when it is told to end
// (SIGTERM). Open MPI 6.0.0rc2 does; release 5 sends them SIGTERM a quarter of a second before.
func killsAtOnce(m string) bool { return m == openMPI.command && releaseOf(openMPIVersion()) >= 6 }

// TestIsBefore5 has the lines of mpirun on several systems. A version that is not understood would
// make tests skip silently.
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

// needMPIR skips a test that requires MPIR.
func needMPIR(t *testing.T) {
	t.Helper()
	if !offersMPIR() {
		t.Skipf("%s offers no MPIR; its ranks are held in slots", openMPIVersion())
	}
}

// colonCrash returns how mpirun fails with two programs in a line; "": it does not.
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

// needSeveralPrograms skips a test of lines with a colon if mpirun itself crashes on them (Debian
// 13's Open MPI 5.0.7).
func needSeveralPrograms(t *testing.T, m starter) {
	t.Helper()
	if m == openMPI && strings.HasPrefix(colonCrash(), "signal: ") {
		t.Skipf("%s crashes on several programs in a line: %s", openMPIVersion(), colonCrash())
	}
}
