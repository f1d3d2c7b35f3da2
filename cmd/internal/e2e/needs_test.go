package e2e

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"sdm/cmd/internal/programs"
)

// What the tests need that not every release of an MPI has.

// openMPIVersion is what mpirun says of itself: "mpirun (Open MPI) 4.1.4".
var openMPIVersion = sync.OnceValue(func() string {
	text, err := exec.Command(openMPI.command, "--version").Output()
	if err != nil {
		return err.Error()
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
})

// offersMPIR tells whether mpirun offers debuggers MPIR: Open MPI up to 4 does.
func offersMPIR() bool {
	_, version, ok := strings.Cut(openMPIVersion(), "(Open MPI) ")
	return ok && len(version) > 1 && version[0] <= '4' && version[1] == '.'
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
