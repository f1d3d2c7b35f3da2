// A Slurm cluster on simulated hosts, for tests.

package launchtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Slurm is a real Slurm cluster on fake hosts: host 0 is the login node with the controller, the
// others are the nodes, with 4 processors each.
type Slurm struct {
	*Hosts
	Conf string // its commands need SLURM_CONF=Conf
}

// UpSlurm makes a cluster. If the machine does not permit fake hosts the test is skipped with the
// reason; if it does, Slurm must be installed.
func UpSlurm(t testing.TB, nodes int) *Slurm {
	t.Helper()
	dir, err := os.MkdirTemp("", "slurm-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) }) // runs after the hosts, and so the daemons, have ended
	h := Up(t, nodes+1)
	s := &Slurm{Hosts: h, Conf: filepath.Join(dir, "slurm.conf")}
	up := filepath.Join(Scripts(), "../slurm/up")
	if text, err := exec.Command(up, h.name, dir).CombinedOutput(); err != nil {
		for _, log := range []string{"slurmctld.log", "start.log"} {
			more, _ := os.ReadFile(filepath.Join(dir, log))
			t.Logf("%s:\n%s", log, more)
		}
		t.Fatalf("slurm: %v\n%s", err, text)
	}
	return s
}

// Env returns the variable that the commands of the cluster need.
func (s *Slurm) Env() string { return "SLURM_CONF=" + s.Conf }
