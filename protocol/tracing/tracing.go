// Package tracing tells why the kernel does not let a process be traced: the one place for what /proc shows about
// that.
package tracing

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// WhyNot returns why a process of this host cannot be traced, with what to do, as the kernel shows it now. It is for
// a process whose tracing has failed already.
func WhyNot(pid int) string {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return "it has ended"
	}
	f := facts{status: string(status), leaderEnded: LeaderEnded(pid), user: os.Geteuid(), files: -1}
	if info, err := os.Stat(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
		f.files = int(info.Sys().(*syscall.Stat_t).Uid)
	}
	scope, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	own, _ := os.ReadFile("/proc/self/status")
	f.scope, f.own = strings.TrimSpace(string(scope)), string(own)
	return f.why()
}

// LeaderEnded reports whether the first thread of a process has ended while others live (proc(5), /proc/PID/stat:
// state Z).
func LeaderEnded(pid int) bool {
	if state(fmt.Sprintf("/proc/%d/stat", pid)) != 'Z' {
		return false
	}
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, t := range threads {
		if s := state(fmt.Sprintf("/proc/%d/task/%s/stat", pid, t.Name())); s != 0 && s != 'Z' && s != 'X' {
			return true
		}
	}
	return false
}

// state returns the state letter of a stat file; 0: it cannot be read. The name before it may contain any character.
func state(file string) byte {
	b, _ := os.ReadFile(file)
	i := bytes.LastIndexByte(b, ')')
	if i < 0 || len(b) < i+3 {
		return 0
	}
	return b[i+2]
}

// facts are what decides whether a process may be traced (ptrace(2), Ptrace access mode checking; Yama is described
// in Linux Documentation/admin-guide/LSM/Yama.rst).
type facts struct {
	status      string // /proc/PID/status
	own         string // /proc/self/status
	leaderEnded bool   // only the first thread has ended
	// files is the user that owns the files of /proc/PID: root, if the process is not dumpable (proc(5)); -1: not known.
	files int
	user  int    // the effective user of this process
	scope string // ptrace_scope; "": the kernel has no Yama
}

func (f facts) why() string {
	tracer := field(f.status, "TracerPid")
	owner, _, _ := strings.Cut(field(f.status, "Uid"), "\t")
	may := capabilities(f.own, "CapEff")&capSysPtrace != 0
	const yama = "/proc/sys/kernel/yama/ptrace_scope is "
	switch {
	case f.leaderEnded:
		return "its first thread has ended, and gdb cannot attach without that: sdm stacks shows the others"
	case strings.HasPrefix(field(f.status, "State"), "Z"):
		return "it has ended, and its parent has not waited for it"
	case tracer != "" && tracer != "0":
		return "process " + tracer + " debugs it: end that first"
	case f.scope == "3":
		return yama + "3: tracing is disabled until this machine is started again without"
	case may && owner == nobody:
		return "it is a user's outside of this container, and sdm outside of that may trace it"
	case may:
		return "a security module forbids it, such as SELinux with deny_ptrace, or a seccomp filter" + f.within()
	case f.user == 0:
		return "this container lacks CAP_SYS_PTRACE: docker run --cap-add SYS_PTRACE"
	case f.user != 0 && owner != strconv.Itoa(f.user):
		return "it is another user's (" + owner + "): that needs root" + f.within()
	case f.scope == "2" || f.scope == "1":
		return yama + f.scope + ": ask the administrator to set it to 0"
	case f.files == 0 && owner != "0":
		return "it protects itself: it is not dumpable, by PR_SET_DUMPABLE, or since its program changes its user or may not be read" + f.within()
	case capabilities(f.status, "CapPrm")&^capabilities(f.own, "CapPrm") != 0:
		return "it has capabilities that this process lacks: that needs root" + f.within()
	}
	return "it changes its user, or a security module forbids it, such as SELinux with deny_ptrace, or a seccomp filter" + f.within()
}

// within says that a process is in a container, with its number there (proc(5), NSpid).
func (f facts) within() string {
	ids, own := strings.Fields(field(f.status, "NSpid")), strings.Fields(field(f.own, "NSpid"))
	if len(ids) < 2 || len(ids) <= len(own) {
		return ""
	}
	return "; it is process " + ids[len(ids)-1] + " of a container: sdm inside of that may trace it"
}

// capSysPtrace is the bit of CAP_SYS_PTRACE (capabilities(7), linux/capability.h).
const capSysPtrace = 1 << 19

// nobody is what the kernel shows for a user that a user namespace does not have (user_namespaces(7)).
const nobody = "65534"

// capabilities returns a set of capabilities in a status file.
func capabilities(status, name string) uint64 {
	set, _ := strconv.ParseUint(field(status, name), 16, 64)
	return set
}

// field returns a field of a status file, "" if it has none of that name.
func field(status, name string) string {
	for line := range strings.Lines(status) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
