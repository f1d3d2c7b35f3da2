// Command lines of Flux, and what their output means.

package flux

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// HostPids returns the command whose output ReadHostPids reads. It waits for the start of the job.
func HostPids(id ID) []string { return []string{"flux", "job", "hostpids", id.String()} }

// waitHeld returns the command that waits until the ranks of a job are stopped in their exec.
func waitHeld(id ID) []string {
	return []string{"flux", "job", "wait-event", "-p", "exec", "-m", "sync=true", id.String(), "shell.start"}
}

// signal returns the command that sends a signal to all ranks of a job.
func signal(id ID, name string) []string {
	return []string{"flux", "job", "kill", "-s", name, id.String()}
}

// cancel returns the command that ends a job.
func cancel(id ID) []string { return []string{"flux", "cancel", id.String()} }

// WhyQueued returns the command that tells the state of a job and, as far as the release of Flux can, what it waits
// for.
func WhyQueued(id ID) []string {
	return []string{"flux", "jobs", "-n", "-o", "{state} {contextual_info}", id.String()}
}

// Exec returns the command that runs another one on each node of a job, with the environment and
// the directory of the caller. Its standard input goes to all of them. It ends when all have ended.
func Exec(id ID, command []string) []string {
	return append([]string{"flux", "exec", "--jobid=" + id.String()}, command...)
}

// ReadHostPids reads HOST:PID,HOST:PID… in the order of the ranks.
func ReadHostPids(text string) (protocol.Proctable, error) {
	var table protocol.Proctable
	for one := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		if len(table) > int(rank.MaxID) {
			return nil, fmt.Errorf("flux job hostpids lists more than %d ranks", len(table))
		}
		host, number, _ := strings.Cut(one, ":")
		pid, err := strconv.ParseInt(number, 10, 32)
		if err != nil || pid <= 0 || protocol.CheckHost(host) != nil {
			return nil, fmt.Errorf("flux job hostpids: %q is not HOST:PID", protocol.Clip(one))
		}
		table = append(table, protocol.Process{Rank: rank.ID(len(table)), Host: host, PID: int(pid)})
	}
	return table, nil
}

// JobOf returns the job of a process with this command line: flux run and flux submit --wait become
// flux-job attach OPTIONS ID (src/bindings/python/flux/cli/run.py).
func JobOf(argv []string) (ID, bool) {
	if len(argv) < 3 || filepath.Base(argv[0]) != "flux-job" || argv[1] != "attach" {
		return 0, false
	}
	id, err := ParseID(argv[len(argv)-1])
	return id, err == nil
}

// holdOption is the option of the job shell that stops ranks in their exec.
const holdOption = "stop-tasks-in-exec"

// Held returns a line of flux run with the option that holds the ranks.
func Held(argv []string) ([]string, error) {
	at := 1
	for at < len(argv) && strings.HasPrefix(argv[at], "-") { // options of flux: none has a value
		at++
	}
	switch {
	case at >= len(argv):
		return nil, errors.New("flux: which of its commands? (sdm run -- flux run -n 4 PROGRAM)")
	case argv[at] != "run":
		return nil, fmt.Errorf("flux %s: sdm takes control of a job of flux run; of a job that is submitted or runs: sdm attach flux:JOBID", argv[at])
	}
	return slices.Concat(argv[:at+1], []string{"-o", holdOption}, argv[at+1:]), nil
}
