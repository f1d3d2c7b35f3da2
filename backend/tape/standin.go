// Processes that replace ranks.

package tape

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"sdm/protocol/rank"
)

// StandIn starts a process in place of a rank that was debugged when a tape was recorded. It runs
// until it is killed or the test is over.
func StandIn(t testing.TB, r rank.ID) (pid int) {
	t.Helper()
	cmd := exec.Command("cat")
	cmd.Env = append(os.Environ(), fmt.Sprintf("SDM_RANK=%d", r))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe() // never written to
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Process.Kill() // it may have ended already
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}
