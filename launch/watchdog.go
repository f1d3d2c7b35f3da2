// When PyTorch ends a job that stands by itself.

package launch

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"
)

// watchdogTime is how long a collective may last before the watchdog of torch's process groups over NCCL ends the job,
// unless init_process_group has another timeout: 10 minutes since torch 2.2. Source: torch/distributed/constants.py.
const watchdogTime = 10 * time.Minute

// Watchdog is what ends a job of PyTorch that stands.
type Watchdog struct{ on bool }

// WatchdogOf returns the watchdog of the job of a process of this host.
func WatchdogOf(pid int) Watchdog {
	maps, _ := os.ReadFile(procOf(pid, "maps")) // empty for processes of other users
	return watchdogOf(EnvironOf(pid), string(maps))
}

// ncclLibrary finds the libraries of PyTorch's process groups over NCCL among the mappings of a process.
var ncclLibrary = regexp.MustCompile(`/libtorch_cuda[^/\n]*\.so`)

// watchdogOf is WatchdogOf for an environment and mappings (proc(5), /proc/PID/maps).
func watchdogOf(env []string, maps string) Watchdog {
	vars := lookup(env)
	handling := vars["TORCH_NCCL_ASYNC_ERROR_HANDLING"]
	if handling == "" {
		handling = vars["NCCL_ASYNC_ERROR_HANDLING"]
	}
	return Watchdog{handling != "0" && strings.Contains(maps, "/libnccl") && ncclLibrary.MatchString(maps)}
}

// Left says when the watchdog ends a job that has stood for some time; "": it is not known that there is one.
func (w Watchdog) Left(stood time.Duration) string {
	const why = "10 min after a collective of NCCL has begun, unless init_process_group has another timeout"
	switch left := (watchdogTime - stood).Round(time.Minute); {
	case !w.on:
		return ""
	case left < time.Minute:
		return "torch's watchdog ends this job at any moment: " + why
	default:
		return fmt.Sprintf("torch's watchdog ends this job in about %d min: %s", left/time.Minute, why)
	}
}

// ComesFirst reports whether the watchdog ends a job before it has stood for a time.
func (w Watchdog) ComesFirst(stall time.Duration) bool { return w.on && stall >= watchdogTime }
