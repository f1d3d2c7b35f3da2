package proc

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestParseStatus(t *testing.T) {
	const s = "Name:\tx\nState:\tD (disk sleep)\nTgid:\t7\nTracerPid:\t9\nNSpid:\t8\t3\nVmSwap:\t      12 kB\nSigBlk:\t0000000000000200\nSigCgt:\tffff\nvoluntary_ctxt_switches:\t40\nnonvoluntary_ctxt_switches:\t2\nShort\n"
	want := Status{State: "D", Process: 7, Tracer: 9, Inner: 3, Namespaces: 2, Blocked: 0x200, Caught: 0xffff, Swapped: 12, Switches: 42}
	if got := parseStatus(s); got != want {
		t.Errorf("%+v", got)
	}
}

func TestLockHolder(t *testing.T) {
	const locks = "1: FLOCK  ADVISORY  WRITE 10 00:28:1 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 11 00:28:1 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 12 00:28:1 0 EOF\n" +
		"2: POSIX  ADVISORY  WRITE 20 00:28:2 0 EOF\n2: -> POSIX  ADVISORY  WRITE 21 00:28:2 0 EOF\n3: OFDLCK ADVISORY  WRITE -1 00:28:3 0 EOF\n3: -> OFDLCK ADVISORY WRITE 31 00:28:3 0 EOF\nbad\n"
	for pid, want := range map[int]int{11: 10, 12: 10, 21: 20, 31: 0, 10: 0, 99: 0} {
		if got := LockHolder(locks, pid); got != want {
			t.Errorf("%d waits for %d, not %d", pid, got, want)
		}
	}
}

func TestFileSystems(t *testing.T) {
	const mounts = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:40 / /home rw shared:1 - nfs4 server:/ex\\040port rw\n3 2 0:41 / /home/tmp rw - tmpfs tmpfs rw\n4 1 0:42 / /scratch rw - lustre m@tcp:/s rw\nbad\n"
	for path, want := range map[string]string{"/home/x/y": "nfs4 of server:/ex port", "/home": "nfs4 of server:/ex port", "/homes/x": "", "/home/tmp/x": "", "/scratch/f": "lustre of m@tcp:/s", "/etc": ""} {
		if got := fileSystem(mounts, path); got != want {
			t.Errorf("%s is on %q, not %q", path, got, want)
		}
	}
}

func TestSockets(t *testing.T) {
	const table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n" +
		"   0: 0100007F:1388 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 77 1\n" +
		"   1: 0100007F:1388 0200000A:0050 01 00000000:00000000 00:00000000 00000000     0        0 78 1\n" +
		"   2: 0000000000000000FFFF00000100007F:1389 0000000000000000FFFF00000200000A:0051 02 00000000:00000000 00:00000000 00000000     0        0 79 1\n" +
		"   3: zz:1 yy:2 01 0:0 0:0 0 0 0 80 1\n"
	for inode, want := range map[uint64]string{77: "port 5000", 78: "a connection to 10.0.0.2:80", 79: "a connection that is being made to 10.0.0.2:81", 80: "", 81: ""} {
		if got := socketIn(table, inode); got != want {
			t.Errorf("%d is %q, not %q", inode, got, want)
		}
	}
}

func TestEnds(t *testing.T) {
	fields := func(state string, code string) string {
		return "7 (a) b) " + state + strings.Repeat(" 0", 48) + " " + code
	}
	for stat, want := range map[string]unix.WaitStatus{fields("Z", "9"): 9, fields("Z", "768"): 768, fields("Z", "0"): 0, fields("Z", "19"): 0, fields("S", "9"): 0, "": 0, "7 (x) Z": 0} {
		got, ok := parseEnd(stat)
		if got != want || ok != (want != 0) {
			t.Errorf("%q: %v, %v", stat, got, ok)
		}
	}
	if got := KilledBy("SIGKILL", 2); got != "was killed by SIGKILL, and the kernel has killed 2 of its control group for lack of memory" {
		t.Error(got)
	}
	if got := KilledBy("SIGSEGV", 2); got != "was killed by SIGSEGV" {
		t.Error(got)
	}
	got := controlGroups("8:pids:/x\n4:memory:/a/b (deleted)\n0::/c\nbad\n")
	if want := []string{"/sys/fs/cgroup/memory/a/b", "/sys/fs/cgroup/c"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if n := parseKills("low 0\noom 3\noom_kill 2\noom_group_kill 0\n"); n != 2 {
		t.Errorf("%d", n)
	}
}

func TestParseWatched(t *testing.T) {
	if got := parseWatched("pos:\t0\ntfd:       19 events:       19 data: 1\ntfd: x\n"); !slices.Equal(got, []int{19}) {
		t.Errorf("%v", got)
	}
}

// TestChild asks the kernel about a process that was started with a pipe, and that is killed and not waited for.
func TestChild(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	pid := cmd.Process.Pid
	if Name(pid) != "cat" || !slices.Contains(Children(os.Getpid()), pid) || ProcessOf(pid) != pid || Directory(pid) == "" {
		t.Errorf("%q, %v, %d", Name(pid), Children(os.Getpid()), ProcessOf(pid))
	}
	var pipes Pipes
	pipe := File(pid, 0)
	writers, _ := pipes.Ends(pipe, true)
	readers, _ := pipes.Ends(pipe, false)
	if !strings.HasPrefix(pipe, "pipe:") || !slices.Contains(writers, os.Getpid()) || !slices.Equal(readers, []int{pid}) {
		t.Errorf("%s is written by %v and read by %v", pipe, writers, readers)
	}
	if _, err := unix.Openat2(unix.AT_FDCWD, fifo, &unix.OpenHow{Flags: unix.O_PATH, Resolve: resolveCached}); err != unix.EINVAL && err != unix.ENOSYS && !IsFIFO(pid, fifo) {
		t.Error("the FIFO is none")
	}
	if IsFIFO(pid, "/etc") || IsFIFO(pid, fifo+"none") {
		t.Error("something else is a FIFO")
	}
	if End(pid, ControlGroup{}) != "" {
		t.Errorf("it %s", End(pid, ControlGroup{}))
	}
	group := ControlGroupOf(pid)
	cmd.Process.Signal(syscall.SIGKILL)
	for StatusOf(pid, pid).State != "Z" {
	}
	if got := End(pid, ControlGroup{}); !strings.HasPrefix(got, "was killed by SIGKILL") || group.Kills() < 0 {
		t.Errorf("it %q", got)
	}
}

// TestPipes asks again who has a pipe: after nothing has happened, when the descriptors of the process that sleeps are not read again,
// and after it has closed its end.
func TestPipes(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cmd := exec.Command("sh", "-c", "echo; read x; exec 3>&-; echo; read x")
	cmd.ExtraFiles = []*os.File{out}
	commands, err1 := cmd.StdinPipe()
	answers, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer commands.Close()
	answered := func() {
		if _, err := answers.Read(make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
		for StatusOf(cmd.Process.Pid, cmd.Process.Pid).State != "S" {
		}
	}
	pid := cmd.Process.Pid
	var pipes Pipes
	writers := func() []int {
		pids, _ := pipes.Ends(File(os.Getpid(), int(in.Fd())), true)
		slices.Sort(pids)
		return pids
	}
	both := []int{os.Getpid(), pid}
	slices.Sort(both)
	answered()
	if got := writers(); !slices.Equal(got, both) {
		t.Fatalf("it is written by %v, not %v", got, both)
	}
	before := pipes.tables[pid]
	pipes.Renew()
	if got := writers(); !slices.Equal(got, both) || pipes.tables[pid] != before {
		t.Errorf("it is written by %v, not %v, and what sleeps was read again: %v", got, both, pipes.tables[pid] != before)
	}
	out.Close()
	pipes.Renew()
	if got := writers(); !slices.Equal(got, []int{pid}) {
		t.Errorf("it is written by %v, not %d", got, pid)
	}
	io.WriteString(commands, "\n")
	answered()
	pipes.Renew()
	if got := writers(); len(got) > 0 {
		t.Errorf("it is written by %v", got)
	}
	pipes.Renew()
	if pipes.Renew(); pipes.tables != nil {
		t.Error("what nobody asks for is kept")
	}
}

// TestOutOfMemory has the kernel kill a process for lack of memory, and then kills one of the same group itself.
func TestOutOfMemory(t *testing.T) {
	var group, limit string
	for _, dir := range controlGroups(Text("/proc/self/cgroup")) {
		group, limit = dir+"/sdm-test-"+strconv.Itoa(os.Getpid()), "memory.max"
		if strings.HasPrefix(dir, "/sys/fs/cgroup/memory/") {
			limit = "memory.limit_in_bytes"
		}
		if os.Mkdir(group, 0o755) == nil {
			if os.WriteFile(filepath.Join(group, limit), []byte("8000000"), 0o644) == nil {
				break
			}
			os.Remove(group)
		}
		group = ""
	}
	if group == "" {
		t.Skip("no control group for memory can be made here")
	}
	defer os.Remove(group)
	for i, kill := range []func(in io.Closer, p *os.Process){
		func(in io.Closer, _ *os.Process) { in.Close() },
		func(_ io.Closer, p *os.Process) { p.Kill() },
	} {
		cmd := exec.Command("sh", "-c", `echo $$ > "$1" && read x; exec tail /dev/zero`, "sh", filepath.Join(group, "cgroup.procs"))
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		pid := cmd.Process.Pid
		for !strings.Contains(Text("/proc/%d/cgroup", pid), filepath.Base(group)) {
			if StatusOf(pid, pid).State == "Z" {
				cmd.Wait()
				t.Skip("no process can be put into a control group here")
			}
		}
		before := ControlGroupOf(pid)
		kill(in, cmd.Process)
		for StatusOf(pid, pid).State != "Z" {
		}
		said := End(pid, before)
		cmd.Wait()
		if want := KilledBy("SIGKILL", 1-i); said != want {
			t.Errorf("it %q, not %q", said, want)
		}
	}
}

// FuzzParsers parses any text as each file of /proc.
func FuzzParsers(f *testing.F) {
	f.Add("1: -> FLOCK  ADVISORY  WRITE 11 00:28:1 0 EOF\n")
	f.Add("   1: 0100007F:1388 0200000A:0050 01 0:0 00:0 0     0        0 78 1\n")
	f.Add("2 1 0:40 / /home rw shared:1 - nfs4 server:/ex\\040port rw\n")
	f.Add("7 (a) Z 1 1\n")
	f.Fuzz(func(t *testing.T, s string) {
		parseStatus(s)
		LockHolder(s, 11)
		fileSystem(s, "/home/x")
		socketIn(s, 78)
		parseEnd(s)
		controlGroups(s)
		parseKills(s)
		parseWatched(s)
		parseAddress(s)
	})
}
