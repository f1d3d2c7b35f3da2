package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fake is a machine made of scripts and files.
type fake struct {
	t    *testing.T
	root string
}

func (f fake) file(path, text string, mode os.FileMode) string {
	f.t.Helper()
	path = filepath.Join(f.root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		f.t.Fatal(err)
	}
	return path
}

func (f fake) script(name, text string) string { return f.file("bin/"+name, "#!/bin/sh\n"+text, 0o755) }

// login makes a process in a control group, and a logind that answers as the real one does.
func (f fake) login(group, kills, lingers string) {
	f.t.Helper()
	f.file("proc/self/cgroup", "0::"+group+"\n", 0o644)
	f.script("loginctl", `case $1 in
show-user) [ "$2" = `+fmt.Sprint(os.Geteuid())+` ] && printf 'Name=ann\nLinger=`+lingers+`\n';;
show-session) printf 'KillUserProcesses=`+kills+`\nKillOnlyUsers=ann bob\nKillExcludeUsers=root\n';;
esac`)
}

// machine finds only what the test has put there.
func (f fake) machine() Machine {
	f.t.Setenv("XDG_CONFIG_HOME", filepath.Join(f.root, "config"))
	return Machine{Root: f.root, Env: os.Environ(), Path: func(name string) (string, error) {
		if filepath.IsAbs(name) {
			return exec.LookPath(name)
		}
		return exec.LookPath(filepath.Join(f.root, "bin", name))
	}}
}

const goodGDB = `case "$*" in *--version*) echo "GNU gdb (Debian 13.1-3) 13.1";; *) echo "python 3.11";; esac`

func TestExamine(t *testing.T) {
	cases := []struct {
		name    string
		prepare func(f fake, m *Machine)
		want    []string // "check grade words"
	}{
		{"nothing is installed", func(fake, *Machine) {}, []string{
			"sdm-server bad not found", "gdb bad no gdb", "ptrace ok (no Yama)", "starters - none of mpirun", "Slurm - none", "PMIx - no library", "secret ok is made on first use",
		}},
		{"everything works", func(f fake, m *Machine) {
			f.script("gdb", goodGDB)
			m.Server = f.script("sdm-server", "echo sdm-server 1.2")
			m.Hold = func() error { return nil }
			f.script("scontrol", `case $1 in ping) echo "Slurmctld(primary) at n0 is UP";; *) echo "slurm 22.05.8";; esac`)
			m.Env = append(m.Env, "SLURM_JOB_ID=7")
			f.file("usr/lib/x/libpmix.so.2.6", "", 0o644)
		}, []string{
			"sdm-server ok sdm-server 1.2", "gdb ok version 13.1", "gdb's Python ok 3.11", "hold a program ok was started",
			"Slurm ok slurm 22.05.8; Slurmctld(primary) at n0 is UP; inside job 7", "PMIx ok libpmix.so.2.6",
		}},
		{"starters of others", func(f fake, m *Machine) {
			f.script("torchrun", "exit 0")
			f.script("horovodrun", "exit 0")
		}, []string{"torchrun ok in the slots of the workers", "horovodrun ok was never run with it"}},
		{"an old gdb without Python", func(f fake, m *Machine) {
			f.script("gdb", `case "$*" in *--version*) echo "GNU gdb (GDB) Red Hat 8.2";; *) echo "Python scripting is not supported"; exit 1;; esac`)
		}, []string{"gdb bad version 8.2 → sdm needs gdb 9 or later"}},
		{"gdb 9", func(f fake, m *Machine) { f.script("gdb", `echo "GNU gdb (Ubuntu 9.2-0ubuntu1) 9.2"`) }, []string{"gdb warn version 9.2 → sdm was not tried with gdb before 10", "gdb's Python warn none → pretty printers"}},
		{"gdb 10", func(f fake, m *Machine) { f.script("gdb", `echo "GNU gdb (GDB) Red Hat Enterprise Linux 10.2-10.el9"`) }, []string{"gdb warn version 10.2 → gdb 10 cannot read the libraries", "gdb's Python warn none → pretty printers"}},
		{"a gdb that cannot run", func(f fake, m *Machine) { f.script("gdb", "echo no libncurses >&2; exit 127") }, []string{"gdb bad does not tell its version: exit status 127 no libncurses → try it by hand"}},
		{"Red Hat 8 with a toolset", func(f fake, m *Machine) {
			f.file("etc/os-release", "NAME=\"Rocky Linux\"\nID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", 0o644)
			f.script("gdb", `echo "GNU gdb (GDB) Red Hat Enterprise Linux 8.2-20.el8"`)
			for version, text := range map[string]string{"9": "8.3", "12": "11.2", "14": "14.2"} {
				f.file("opt/rh/gcc-toolset-"+version+"/root/usr/bin/gdb", "#!/bin/sh\necho 'GNU gdb (GDB) Red Hat Enterprise Linux "+text+"-4.el8'", 0o755)
			}
		}, []string{"gdb bad version 8.2 → gcc-toolset-14 has gdb 14.2: --gdb /opt/rh/gcc-toolset-14/root/usr/bin/gdb (on the nodes, too)"}},
		{"Red Hat 8 without one", func(f fake, m *Machine) {
			f.file("etc/os-release", "ID=rhel\n", 0o644)
			f.script("gdb", `echo "GNU gdb (GDB) Red Hat Enterprise Linux 8.2-20.el8"`)
		}, []string{"gdb bad version 8.2 → sdm needs gdb 9 or later: give one with --gdb PATH, on the nodes, too; dnf install gcc-toolset-14-gdb"}},
		{"Fedora without gdb", func(f fake, m *Machine) { f.file("etc/os-release", "ID=fedora\n", 0o644) }, []string{"gdb bad no gdb → dnf install gdb"}},
		{"MPI in modules", func(f fake, m *Machine) {
			f.file("usr/lib64/openmpi/bin/mpirun", "", 0o755)
			f.file("usr/lib64/mpich/bin/mpiexec", "", 0o755)
			f.file("etc/modulefiles/mpi/openmpi-x86_64", "", 0o644)
		}, []string{
			"openmpi - /usr/lib64/openmpi/bin/mpirun is installed, but not on the PATH → module load mpi/openmpi-x86_64",
			"mpich - /usr/lib64/mpich/bin/mpiexec is installed, but not on the PATH → PATH=/usr/lib64/mpich/bin:$PATH",
		}},
		{"SELinux forbids", func(f fake, m *Machine) {
			f.file("sys/fs/selinux/enforce", "1", 0o644)
			f.file("sys/fs/selinux/booleans/deny_ptrace", "1 1", 0o644)
		}, []string{"SELinux bad deny_ptrace is on → ask the administrator: setsebool deny_ptrace off"}},
		{"SELinux permits", func(f fake, m *Machine) {
			f.file("sys/fs/selinux/enforce", "1", 0o644)
			f.file("sys/fs/selinux/booleans/deny_ptrace", "0 0", 0o644)
		}, []string{"SELinux ok enforcing; debugging is permitted"}},
		{"SELinux is permissive", func(f fake, m *Machine) {
			f.file("sys/fs/selinux/enforce", "0", 0o644)
			f.file("sys/fs/selinux/booleans/deny_ptrace", "1 1", 0o644)
		}, []string{"SELinux ok permissive"}},
		{"AMX", func(f fake, m *Machine) {
			f.script("gdb", goodGDB)
			f.file("proc/cpuinfo", "flags\t: fpu amx_tile avx\n", 0o644)
		}, []string{"gdb warn → on this processor (AMX) gdb before 14 cannot call functions"}},
		{"debug registers", func(f fake, m *Machine) {
			f.script("gdb", `case "$*" in *hbreak*) echo "Hardware assisted breakpoint 1 at 0x7"; echo "Breakpoint 1, 0x7 in _start ()";; *) echo "GNU gdb (GDB) 14.1";; esac`)
			f.script("true", "")
		}, []string{"debug registers ok has stopped a program"}},
		{"debug registers that do nothing", func(f fake, m *Machine) {
			f.script("gdb", `case "$*" in *hbreak*) echo "Hardware assisted breakpoint 1 at 0x7"; echo "[Inferior 1 (process 7) exited normally]";; *) echo "GNU gdb (GDB) 14.1";; esac`)
			f.script("true", "")
		}, []string{"debug registers warn never stop a program on this machine → gdb set can-use-hw-watchpoints 0"}},
		{"no debug registers", func(f fake, m *Machine) {
			f.script("gdb", `case "$*" in *hbreak*) echo "No hardware breakpoint support in the target."; echo "[Inferior 1 (process 7) exited normally]";; *) echo "GNU gdb (GDB) 14.1";; esac`)
			f.script("true", "")
		}, []string{"debug registers - not tried"}},
		{"Yama 1", func(f fake, m *Machine) { f.file("proc/sys/kernel/yama/ptrace_scope", "1\n", 0o644) }, []string{"ptrace warn Yama 1 → for sdm attach ask the administrator"}},
		{"Yama 3", func(f fake, m *Machine) { f.file("proc/sys/kernel/yama/ptrace_scope", "3\n", 0o644) }, []string{"ptrace bad forbidden (Yama 3) → ask the administrator"}},
		{"a container", func(f fake, m *Machine) { m.Hold = func() error { return errors.New("operation not permitted") } }, []string{"hold a program bad operation not permitted → in a container give it the capability SYS_PTRACE"}},
		{"no controller", func(f fake, m *Machine) {
			f.script("scontrol", "echo Slurmctld is DOWN; exit 1")
		}, []string{"Slurm warn the controller does not answer: Slurmctld is DOWN → on a machine of the cluster"}},
		{"Flux of the system, too old", func(f fake, m *Machine) {
			f.script("flux", `[ $1 = version ] && echo "commands: 0.83.0" || echo 1`)
		}, []string{"Flux warn release 0.83, the instance of the system; sdm was tried with 0.88 by hand, its tests use a stand-in → flux exec --jobid can from 0.84 on"}},
		{"Flux, an own instance", func(f fake, m *Machine) {
			f.script("flux", `[ $1 = version ] && echo "broker: 0.83.0" || id -u`)
		}, []string{"Flux ok release 0.83, an instance of your own"}},
		{"Flux without an instance", func(f fake, m *Machine) {
			f.script("flux", `[ $1 = version ] && echo "commands: 0.88.0" || { echo "flux_open: No such file"; exit 1; }`)
		}, []string{"Flux warn release 0.88; no instance answers: flux_open: No such file → sdm attach flux:JOBID works where flux jobs does"}},
		{"PALS without its other programs", func(f fake, m *Machine) {
			f.script("palstat", "echo palstat version 1.6.0")
			f.script("qstat", "true")
			m.Env = append(m.Env, "PBS_JOBID=12.pbs")
		}, []string{"PALS warn palstat version 1.6.0; inside job 12.pbs of PBS; sdm was tried with a stand-in → not in PATH: palscmd, palscp"}},
		{"a secret that others may read", func(f fake, m *Machine) {
			f.file("config/sdm/secret", strings.Repeat("a", 64)+"\n", 0o644)
		}, []string{"secret bad → chmod 600"}},
		{"a login that ends with its processes", func(f fake, m *Machine) {
			f.login("/user.slice/user-7.slice/session-3.scope", "yes", "no")
		}, []string{"logout warn kills sessions that this shell starts → loginctl enable-linger, once; then, for sessions that outlive it: systemd-run --user --scope"}},
		{"a login of one who lingers", func(f fake, m *Machine) {
			f.login("/user.slice/user-7.slice/session-3.scope", "yes", "yes")
		}, []string{"logout warn you linger → for sessions that outlive it: systemd-run --user --scope"}},
		{"a login that kills nothing", func(f fake, m *Machine) {
			f.login("/user.slice/user-7.slice/session-c3.scope", "no", "no")
		}, []string{"logout ok kills no process"}},
		{"a service manager", func(f fake, m *Machine) {
			f.login("/user.slice/user-7.slice/user@7.service/app.slice/x.scope", "no", "no")
		}, []string{"logout warn your last logout kills sessions → loginctl enable-linger, once"}},
		{"a service manager that stays", func(f fake, m *Machine) {
			f.login("/user.slice/user-7.slice/user@7.service/app.slice/x.scope", "yes", "yes")
		}, []string{"logout ok you linger"}},
		{"no login", func(f fake, m *Machine) {
			f.login("/system.slice/slurmd.service/job_7/session-3.scopes", "yes", "no")
		}, []string{"logout - in no login of systemd"}},
		{"a login without loginctl", func(f fake, m *Machine) {
			f.file("proc/self/cgroup", "1:name=systemd:/user.slice/user-7.slice/session-3.scope\n0::/\n", 0o644)
			f.file("etc/systemd/logind.conf", "[Login]\n#KillUserProcesses=yes\nKillExcludeUsers=\n", 0o644)
		}, []string{"logout warn kills sessions that this shell starts"}},
		{"drop-ins of logind", func(f fake, m *Machine) {
			f.file("proc/self/cgroup", "0::/user.slice/user-7.slice/session-3.scope\n", 0o644)
			f.script("loginctl", "echo no bus >&2; exit 1")
			f.file("usr/lib/systemd/logind.conf", "KillUserProcesses=no\n", 0o644)
			f.file("usr/lib/systemd/logind.conf.d/50-site.conf", "KillUserProcesses=yes\n", 0o644)
			f.file("etc/systemd/logind.conf.d/50-site.conf", "KillUserProcesses=no\n", 0o644)
			f.file("run/systemd/logind.conf.d/60-more.conf", "KillExcludeUsers=\nKillUserProcesses = true\nKillOnlyUsers=nobody\n", 0o644)
		}, []string{"logout ok kills no process"}},
		{"a login that tells nothing", func(f fake, m *Machine) {
			f.file("proc/self/cgroup", "0::/user.slice/user-7.slice/session-3.scope\n", 0o644)
		}, []string{"logout warn does not tell → loginctl enable-linger"}},
		{"starters", func(f fake, m *Machine) {
			f.script("mpirun", "exec true")
			os.Symlink("mpirun", filepath.Join(f.root, "bin/mpiexec"))
		}, []string{"mpirun ok a script, or unreadable", "mpiexec ok the same as mpirun"}},
		{"a host", func(f fake, m *Machine) {
			m.RemoteShell = f.script("rsh", `shift; PATH=`+f.root+`/bin:$PATH sh -c "$1"`)
			f.script("gdb", goodGDB)
			m.Hosts, m.Server = []string{"n1"}, "/nonexistent/it's here"
		}, []string{"n1: reach ok by rsh", "n1: gdb ok GNU gdb (Debian", "n1: sdm-server bad no /nonexistent/it's here → install it there"}},
		{"a host with a toolset, whose policy forbids", func(f fake, m *Machine) {
			m.RemoteShell = f.script("rsh", "echo system=Linux x86_64; echo gdb=; echo denied=1 1 1; echo toolset=/opt/rh/gcc-toolset-14/root/usr/bin/gdb")
			m.Hosts = []string{"n1"}
		}, []string{"n1: gdb bad no gdb in PATH → a toolset has one: --gdb /opt/rh/gcc-toolset-14/root/usr/bin/gdb", "n1: SELinux bad deny_ptrace is on → ask the administrator"}},
		{"a host that is not reached", func(f fake, m *Machine) {
			m.RemoteShell, m.Hosts = f.script("rsh", `echo "Permission denied" >&2; exit 255`), []string{"n1"}
		}, []string{"n1: reach bad not reached: Permission denied → try it by hand"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := fake{t, t.TempDir()}
			os.MkdirAll(filepath.Join(f.root, "config/sdm"), 0o700)
			m := f.machine()
			c.prepare(f, &m)
			var text strings.Builder
			all := m.Examine(context.Background())
			if err := Print(&text, all); err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !has(all, want) {
					t.Errorf("%q is not in\n%s", want, &text)
				}
			}
		})
	}
}

// has looks for a row by its check, its grade, and words in the finding and in the hint.
func has(all []Finding, want string) bool {
	words, hint, _ := strings.Cut(want, " → ")
	for _, f := range all {
		check := f.Check
		if f.Host != "" {
			check = f.Host + ": " + check
		}
		rest, ok := strings.CutPrefix(words, check+" "+string(f.Grade))
		if !ok {
			continue
		}
		found := true
		for _, w := range strings.Fields(rest) {
			found = found && strings.Contains(f.Found, w)
		}
		if found && strings.Contains(f.Hint, hint) {
			return true
		}
	}
	return false
}

func TestWorst(t *testing.T) {
	for want, grades := range map[Grade][]Grade{Good: {Good, Absent}, Warning: {Warning, Good}, Bad: {Bad, Warning}} {
		var all []Finding
		for _, g := range grades {
			all = append(all, Finding{Grade: g})
		}
		if got := Worst(all); got != want {
			t.Errorf("worst of %v is %s", grades, got)
		}
	}
}

// TestMPIR finds the symbols in a program and in a library that it links.
func TestMPIR(t *testing.T) {
	dir := t.TempDir()
	compile := func(out, source string, args ...string) string {
		t.Helper()
		path := filepath.Join(dir, out)
		cmd := exec.Command("gcc", append([]string{"-x", "c", "-", "-x", "none", "-o", path}, args...)...)
		cmd.Stdin = strings.NewReader(source)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("gcc: %v\n%s", err, text)
		}
		return path
	}
	lib := compile("libmyrte.so", "int MPIR_proctable; void MPIR_Breakpoint(void) {}", "-shared", "-fPIC", "-Wl,-soname,libmyrte.so")
	cases := map[string][]string{
		compile("with", "int main(void) { return 0; }", "-Wl,--no-as-needed", lib, "-Wl,-rpath,$ORIGIN"): {"MPIR_Breakpoint", "MPIR_proctable"},
		compile("own", "int MPIR_being_debugged; int main(void) { return 0; }"):                          {"MPIR_being_debugged"},
		compile("without", "int main(void) { return 0; }", "-s"):                                         {},
		lib:                               {"MPIR_Breakpoint", "MPIR_proctable"},
		fake{t, dir}.script("script", ""): nil,
	}
	for path, want := range cases {
		if got := MPIR(path); fmt.Sprint(got) != fmt.Sprint(want) || (got == nil) != (want == nil) {
			t.Errorf("%s: %q, want %q", filepath.Base(path), got, want)
		}
	}
}
