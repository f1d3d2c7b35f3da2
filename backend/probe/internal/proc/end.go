// How processes ended.

package proc

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// End returns how a process ended for which its parent has not waited yet: "was killed by SIGKILL", "has ended with
// status 3"; "": it has not ended, or it is not known. g is its control group, which was asked for before: a process
// that has ended may not be in it any more (cgroups version 1).
func End(pid int, g ControlGroup) string {
	status, ok := parseEnd(Text("/proc/%d/stat", pid))
	switch {
	case !ok:
		return ""
	case status.Signaled():
		return KilledBy(SignalName(status.Signal()), g.Kills())
	}
	return "has ended with status " + strconv.Itoa(status.ExitStatus())
}

// KilledBy describes a death by a signal. kills is the number of processes of its control group that were killed for
// lack of memory.
func KilledBy(signal string, kills int) string {
	text := "was killed by " + signal
	if signal == "SIGKILL" && kills > 0 {
		text += ", and the kernel has killed " + strconv.Itoa(kills) + " of its control group for lack of memory"
	}
	return text
}

// parseEnd returns the exit status of a process that has ended (proc(5), stat, fields 3 and 52). Fields are 0 if
// this process may not know them, so a status 0 is not known. If only the first thread has ended, the status may be the
// signal by which the others are stopped.
func parseEnd(stat string) (status unix.WaitStatus, ok bool) {
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) < 50 || !strings.Contains("ZX", f[0]) {
		return 0, false
	}
	n, err := strconv.ParseUint(f[49], 10, 32)
	switch status = unix.WaitStatus(n); status.Signal() {
	case unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
		return 0, false
	}
	return status, err == nil && n != 0
}

// ControlGroup is the control group of a process that bounds its memory. It can be asked when the process has ended.
type ControlGroup struct {
	dirs  []string
	kills int // those that are not counted
}

// ControlGroupOf returns the control group of a process. If the process has ended, earlier kills are counted, too.
func ControlGroupOf(pid int) ControlGroup {
	g := ControlGroup{dirs: controlGroups(Text("/proc/%d/cgroup", pid))}
	if !StatusOf(pid, pid).HasEnded() {
		g.kills = g.Kills()
	}
	return g
}

// Kills returns how many processes of the group the kernel has killed for lack of memory since ControlGroupOf; 0 if it
// is not known.
func (g ControlGroup) Kills() int {
	for _, dir := range g.dirs {
		for _, file := range []string{"memory.events", "memory.oom_control"} {
			if n := parseKills(Text("%s/%s", dir, file)); n > 0 {
				return n - g.kills
			}
		}
	}
	return 0
}

// controlGroups returns the directories of the control group for memory, in versions 2 and 1 (cgroups(7)).
func controlGroups(s string) (dirs []string) {
	for line := range strings.Lines(s) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) < 3 {
			continue
		}
		path := strings.TrimSuffix(f[2], " (deleted)")
		switch {
		case f[0] == "0" && f[1] == "":
			dirs = append(dirs, "/sys/fs/cgroup"+path)
		case f[1] == "memory":
			dirs = append(dirs, "/sys/fs/cgroup/memory"+path)
		}
	}
	return dirs
}

// parseKills returns the number in the line oom_kill of a control group.
func parseKills(s string) int {
	for line := range strings.Lines(s) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "oom_kill" {
			n, _ := strconv.Atoi(f[1])
			return n
		}
	}
	return 0
}
