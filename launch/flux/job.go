// Running jobs of Flux and their ranks.

package flux

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"sdm/launch"
	"sdm/protocol"
)

// Ranks returns the ranks of a job. It waits until the job has started them, or until ctx ends.
func Ranks(ctx context.Context, env []string, id ID) (protocol.Proctable, error) {
	text, err := launch.Ask(ctx, env, HostPids(id))
	if err != nil {
		return nil, tooOld(ctx, env, err)
	}
	return ReadHostPids(text)
}

// tooOld replaces the error of a command that the release of Flux does not have.
func tooOld(ctx context.Context, env []string, err error) error {
	text, unknown := launch.Ask(ctx, env, []string{"flux", "version"})
	if unknown != nil {
		return err
	}
	if v, unknown := ReadVersion(text); unknown == nil && v.before(hasHostPids) {
		return fmt.Errorf("release %v of Flux does not tell where the ranks of a job are (flux job hostpids does from %v on; hostfile:FILE names them: RANK HOST PID lines)", v, hasHostPids)
	}
	return err
}

// Of returns the job that a process of this host waits for, if the process is flux run.
func Of(pid int) (ID, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return 0, false
	}
	return JobOf(strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"))
}
