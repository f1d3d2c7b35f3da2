// Checks of this machine: gdb, Python, tracing, limits, the secret, the network.

package doctor

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"sdm/backend/gdb/gdbtext"
	"sdm/cmd/internal/listen"
	"sdm/launch/secret"
)

// server checks sdm-server.
func (m Machine) server(ctx context.Context) []Finding {
	f := Finding{Check: "sdm-server", Grade: Bad, Found: "not found", Hint: "install it beside sdm, or in PATH"}
	if m.Server == "" {
		return []Finding{f}
	}
	version, err := m.ask(ctx, m.Server, "--version")
	if err != nil {
		f.Found, f.Hint = fmt.Sprintf("%s does not run: %v", m.Server, err), "is it made for this machine? install it anew"
		return []Finding{f}
	}
	return []Finding{{Check: "sdm-server", Grade: Good, Found: m.Server + " (" + firstLine(version) + ")"}}
}

// The oldest major version of gdb that backend/gdb supports, and the oldest that it was tested with
// (docs/gdb-notes.md).
const (
	oldestGDB = 9
	triedGDB  = 10
)

// gdb checks gdb, its Python, and what the processor gives it.
func (m Machine) gdb(ctx context.Context) []Finding {
	f, path := m.gdbProgram(ctx)
	if path == "" {
		return []Finding{f}
	}
	return append([]Finding{f, m.python(ctx, path)}, m.debugRegisters(ctx, path)...)
}

// gdbProgram checks the program. path is "" if it cannot be used.
func (m Machine) gdbProgram(ctx context.Context) (f Finding, path string) {
	name := m.GDB
	if name == "" {
		name = "gdb"
	}
	path, err := m.find(name)
	if err != nil {
		none := Finding{Check: "gdb", Grade: Bad, Found: "no " + name, Hint: "install gdb, load its module, or give --gdb PATH; on the nodes, too"}
		return m.orToolset(ctx, none, 0), ""
	}
	text, err := m.ask(ctx, path, "-nx", "--version")
	major, minor, ok := gdbtext.Version(text)
	if err != nil || !ok {
		return Finding{Check: "gdb", Grade: Bad, Found: fmt.Sprintf("%s does not tell its version: %v %s", path, err, firstLine(text)), Hint: "try it by hand: " + path + " --version"}, ""
	}
	f = Finding{Check: "gdb", Grade: Good, Found: fmt.Sprintf("%s, version %d.%d", path, major, minor)}
	var limits []string
	switch {
	case major < oldestGDB:
		f.Grade, f.Hint = Bad, fmt.Sprintf("sdm needs gdb %d or later: give one with --gdb PATH, on the nodes, too", oldestGDB)
		return m.orToolset(ctx, f, major), ""
	case major < triedGDB:
		limits = append(limits, fmt.Sprintf("sdm was not tried with gdb before %d", triedGDB))
	case major == 10:
		limits = append(limits, "gdb 10 cannot read the libraries of a C library as new as 2.36, nor thread-local variables with one of 2.34 on")
	}
	if major < 14 && strings.Contains(m.read("/proc/cpuinfo"), " amx_tile") {
		limits = append(limits, "on this processor (AMX) gdb before 14 cannot call functions of the program (print f(3))")
	}
	if len(limits) > 0 {
		f.Grade, f.Hint = Warning, strings.Join(limits, "; ")+"; a newer one can be given with --gdb PATH"
	}
	return m.orToolset(ctx, f, major), path
}

// python checks gdb's Python, which pretty printers need.
func (m Machine) python(ctx context.Context, gdb string) Finding {
	text, err := m.ask(ctx, gdb, "-nx", "-batch", "-ex", `python import sys; print("python %d.%d" % sys.version_info[:2])`)
	if err == nil && strings.HasPrefix(text, "python ") {
		return Finding{Check: "gdb's Python", Grade: Good, Found: strings.TrimPrefix(firstLine(text), "python ")}
	}
	return Finding{Check: "gdb's Python", Grade: Warning, Found: "none", Hint: "pretty printers (of std::vector and the like) need a gdb with Python"}
}

// debugRegisters checks whether hardware breakpoints stop a program. Some virtual machines accept them, and nothing
// ever stops there.
func (m Machine) debugRegisters(ctx context.Context, gdb string) []Finding {
	program, err := m.find("true")
	if err != nil {
		return nil
	}
	// The program is started twice: the place of its fourth instruction is the same then.
	text, _ := m.ask(ctx, gdb, "-nx", "-batch", "-ex", "starti", "-ex", "stepi 3", "-ex", "hbreak *$pc", "-ex", "starti", "-ex", "continue", program)
	f := Finding{Check: "debug registers", Grade: Absent, Found: "not tried: gdb cannot set a hardware breakpoint here"}
	switch {
	case strings.Contains(text, "Breakpoint 1, "):
		f.Grade, f.Found = Good, "a hardware breakpoint has stopped a program"
	case strings.Contains(text, "Error disabling address space"), !strings.Contains(text, "Hardware assisted breakpoint 1"):
	case strings.Contains(text, "exited normally"):
		f.Grade, f.Found = Warning, "hardware breakpoints and watchpoints never stop a program on this machine"
		f.Hint = "a virtual machine may hide them: gdb set can-use-hw-watchpoints 0 makes gdb watch by single steps"
	}
	return []Finding{f}
}

// tracing checks whether processes may be traced here.
func (m Machine) tracing(context.Context) []Finding {
	scope := m.read("/proc/sys/kernel/yama/ptrace_scope")
	f := Finding{Check: "ptrace", Grade: Good, Found: "permitted for processes of the same user"}
	switch scope {
	case "":
		f.Found += " (no Yama)"
	case "0":
		f.Found += " (Yama 0)"
	case "1":
		f.Grade, f.Found = Warning, "Yama 1: only of processes that we start (sdm run)"
		f.Hint = "for sdm attach ask the administrator: sysctl kernel.yama.ptrace_scope=0, on the nodes"
	default:
		f.Grade, f.Found = Bad, "forbidden (Yama "+scope+")"
		f.Hint = "ask the administrator: sysctl kernel.yama.ptrace_scope=0, on the nodes"
		if os.Geteuid() == 0 && scope == "2" {
			f.Grade, f.Found, f.Hint = Good, "permitted to root alone (Yama 2)", ""
		}
	}
	all := []Finding{f}
	if m.Hold == nil {
		return all
	}
	if err := m.Hold(); err != nil {
		hint := "in a container give it the capability SYS_PTRACE, or --security-opt seccomp=unconfined"
		all = append(all, Finding{Check: "hold a program", Grade: Bad, Found: err.Error(), Hint: hint})
	} else {
		all = append(all, Finding{Check: "hold a program", Grade: Good, Found: "a program was started and held before its first instruction"})
	}
	return all
}

// limits checks the limits of ulimit that sdm depends on.
func (m Machine) limits(context.Context) []Finding {
	var all []Finding
	for _, l := range []struct {
		name, letter, hint string
		resource           int
		enough             uint64
	}{
		{"open files", "n", "a server needs some 8 for each rank; raise it: ulimit -n 4096", unix.RLIMIT_NOFILE, 1024},
		{"processes", "u", "each rank brings a gdb; raise it: ulimit -u", unix.RLIMIT_NPROC, 512},
	} {
		var r syscall.Rlimit
		if err := syscall.Getrlimit(l.resource, &r); err != nil {
			continue
		}
		f := Finding{Check: "ulimit -" + l.letter, Grade: Good, Found: fmt.Sprintf("%d %s", r.Cur, l.name)}
		if r.Cur == unix.RLIM_INFINITY {
			f.Found = "unlimited " + l.name
		} else if r.Cur < l.enough {
			f.Grade, f.Hint = Warning, l.hint
		}
		all = append(all, f)
	}
	return all
}

// secret checks the secret with which servers on other hosts authenticate.
func (m Machine) secret(context.Context) []Finding {
	path, err := secret.UserPath()
	if err != nil {
		return []Finding{{Check: "secret", Grade: Warning, Found: err.Error(), Hint: "set HOME; jobs of a starter need a place for the secret"}}
	}
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return []Finding{{Check: "secret", Grade: Good, Found: path + " is made on first use"}}
	}
	if _, err := secret.File(path); err != nil {
		return []Finding{{Check: "secret", Grade: Bad, Found: err.Error(), Hint: "chmod 600 it, or remove it: a new one is made"}}
	}
	return []Finding{{Check: "secret", Grade: Good, Found: path}}
}

// network checks the addresses at which servers on other hosts would register.
func (m Machine) network(context.Context) []Finding {
	hosts := listen.Reachable()
	f := Finding{Check: "addresses", Grade: Good, Found: strings.Join(hosts, ", ")}
	if len(hosts) == 1 && hosts[0] == "127.0.0.1" {
		f.Grade, f.Found = Warning, "the loopback alone"
		f.Hint = "servers on other hosts cannot register here"
	}
	return []Finding{f}
}
