package local

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sdm/protocol"
)

// bothWays runs a test with the direct fork and with the shim.
func bothWays(t *testing.T, test func(t *testing.T, f *Forker)) {
	for _, way := range []struct {
		name string
		shim bool
	}{{"direct", false}, {"shim", true}} {
		t.Run(way.name, func(t *testing.T) {
			f := NewForker()
			f.viaShim = way.shim
			defer f.Close()
			test(t, f)
		})
	}
}

// status returns the named line of /proc/PID/status, "" if there is none.
func status(pid int, name string) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

func hold(t *testing.T, f *Forker, spec Spec) *Process {
	t.Helper()
	if spec.Env == nil {
		spec.Env = os.Environ()
	}
	p, err := f.Hold(spec)
	if err != nil {
		t.Fatalf("Hold: %v", err)
	}
	t.Cleanup(func() {
		for _, c := range []io.Closer{p.Stdin, p.Stdout, p.Stderr} {
			if c != nil {
				c.Close()
			}
		}
	})
	return p
}

// finish lets a rank run to its end and returns its output.
func finish(t *testing.T, p *Process) (stdout, stderr string, exit protocol.Exit) {
	t.Helper()
	syscall.Kill(p.PID, syscall.SIGCONT)
	out, err := io.ReadAll(p.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	errs, err := io.ReadAll(p.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return string(out), string(errs), p.Wait()
}

func TestHoldStandsBeforeFirstInstruction(t *testing.T) {
	bothWays(t, func(t *testing.T, f *Forker) {
		p := hold(t, f, Spec{Program: "/bin/echo", Args: []string{"hello"}})
		if got := status(p.PID, "State"); !strings.HasPrefix(got, "T (stopped)") {
			t.Errorf("state %q, want T (stopped)", got)
		}
		if got := status(p.PID, "TracerPid"); got != "0" {
			t.Errorf("traced by %s", got)
		}
		if pgid, err := syscall.Getpgid(p.PID); err != nil || pgid != p.PID {
			t.Errorf("process group %d, %v; want its own, %d", pgid, err, p.PID)
		}
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", p.PID))
		if err != nil || bytes.Contains(maps, []byte("libc.so")) {
			t.Errorf("the loader has run already (%v):\n%s", err, maps)
		}
		if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.PID)); !strings.HasSuffix(exe, "/echo") {
			t.Errorf("executes %s", exe)
		}
		if out, _, exit := finish(t, p); out != "hello\n" || exit != (protocol.Exit{}) {
			t.Errorf("output %q, exit %+v", out, exit)
		}
	})
}

func TestHoldHandsOnEveryByte(t *testing.T) {
	bothWays(t, func(t *testing.T, f *Forker) {
		dir := t.TempDir()
		p := hold(t, f, Spec{
			Program: "sh",
			Args:    []string{"-c", `printf '%s|' "$0" "$@"; pwd; env`, "zero", "", "two words", "q'\"\\", "\xff\x01\n"},
			Cwd:     dir,
			Env:     []string{"PATH=/usr/bin:/bin", "EMPTY=", "ODD=a=b\xfe c"},
		})
		out, errs, exit := finish(t, p)
		if exit.Code != 0 || errs != "" {
			t.Fatalf("exit %+v, stderr %q", exit, errs)
		}
		args, rest, _ := strings.Cut(out, "|/")
		if want := "zero||two words|q'\"\\|\xff\x01\n"; args != want {
			t.Errorf("arguments %q, want %q", args, want)
		}
		for _, want := range []string{dir[1:] + "\n", "EMPTY=\n", "ODD=a=b\xfe c\n"} {
			if !strings.Contains(rest, want) {
				t.Errorf("%q is not in %q", want, rest)
			}
		}
		if strings.Contains(rest, "HOME=") {
			t.Errorf("our own environment leaked: %q", rest)
		}
	})
}

// TestRanksHaveTheSameAddresses compares the stack addresses of two ranks.
func TestRanksHaveTheSameAddresses(t *testing.T) {
	if err := exec.Command("setarch", "-R", "true").Run(); err != nil {
		t.Logf("this kernel does not let us choose: %v", err)
		return
	}
	bothWays(t, func(t *testing.T, f *Forker) {
		var stacks [2]string
		for i := range stacks {
			p := hold(t, f, Spec{Program: "true"})
			maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", p.PID))
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(maps)) {
				if strings.HasSuffix(line, "[stack]\n") {
					stacks[i] = line
				}
			}
		}
		if stacks[0] == "" || stacks[0] != stacks[1] {
			t.Errorf("stacks are at\n%s%s", stacks[0], stacks[1])
		}
	})
}

func TestStdin(t *testing.T) {
	bothWays(t, func(t *testing.T, f *Forker) {
		fed := hold(t, f, Spec{Program: "cat", Stdin: true})
		if _, err := io.WriteString(fed.Stdin, "over the pipe"); err != nil {
			t.Fatal(err)
		}
		fed.Stdin.Close()
		if out, _, _ := finish(t, fed); out != "over the pipe" {
			t.Errorf("the fed rank read %q", out)
		}
		if out, _, exit := finish(t, hold(t, f, Spec{Program: "cat"})); out != "" || exit.Code != 0 {
			t.Errorf("the other rank read %q, %+v; want end of file", out, exit)
		}
	})
}

func TestExits(t *testing.T) {
	cases := []struct {
		name, script string
		want         protocol.Exit
		status       int
	}{
		{"zero", "exit 0", protocol.Exit{}, 0},
		{"code", "exit 211", protocol.Exit{Code: 211}, 211},
		{"signal", "kill -SEGV $$", protocol.Exit{Signal: "SIGSEGV", Meaning: "Segmentation fault"}, 139},
		{"real-time signal", "kill -40 $$", protocol.Exit{Signal: "SIG40", Meaning: "Real-time event 40"}, 168},
	}
	f := NewForker()
	defer f.Close()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := hold(t, f, Spec{Program: "sh", Args: []string{"-c", c.script}})
			if _, _, got := finish(t, p); got != c.want || p.Status() != c.status {
				t.Errorf("got %+v, status %d, want %+v, %d", got, p.Status(), c.want, c.status)
			}
		})
	}
}

func TestKillTakesTheGroup(t *testing.T) {
	f := NewForker()
	defer f.Close()
	p := hold(t, f, Spec{Program: "sh", Args: []string{"-c", "sleep 1000 & echo $!; wait"}})
	syscall.Kill(p.PID, syscall.SIGCONT)
	var child int
	if _, err := fmt.Fscan(p.Stdout, &child); err != nil {
		t.Fatal(err)
	}
	p.Kill()
	if got := p.Wait(); got.Signal != "SIGKILL" {
		t.Errorf("exit %+v, want SIGKILL", got)
	}
	waitGone(t, child)
}

// waitGone fails if a process does not end. It polls /proc with a deadline: not every caller has a
// pipe to the process.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		state := status(pid, "State")
		if state == "" || strings.HasPrefix(state, "Z") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d lives on, state %s", pid, state)
		}
		<-time.After(time.Millisecond)
	}
}

func TestCloseLeavesNoProcess(t *testing.T) {
	f := NewForker()
	held := hold(t, f, Spec{Program: "sleep", Args: []string{"1000"}})
	running := hold(t, f, Spec{Program: "sleep", Args: []string{"1000"}})
	syscall.Kill(running.PID, syscall.SIGCONT)
	parent := hold(t, f, Spec{Program: "sh", Args: []string{"-c", "sleep 1000 & echo $!"}})
	syscall.Kill(parent.PID, syscall.SIGCONT)
	var orphan int
	if _, err := fmt.Fscan(parent.Stdout, &orphan); err != nil {
		t.Fatal(err)
	}
	parent.Wait()
	f.Close()
	for _, pid := range []int{held.PID, running.PID, orphan} {
		waitGone(t, pid)
	}
	if _, err := f.Hold(Spec{Program: "true"}); !errors.Is(err, ErrClosed) {
		t.Errorf("Hold after Close: %v", err)
	}
}

func TestInheritedDescriptorsReachTheRankAndNoOthers(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for _, shim := range []bool{false, true} {
		f := NewForker(int(w.Fd()))
		f.viaShim = shim
		// Descriptor 3 is the directory that ls itself has open; -v sorts numerically.
		out, _, _ := finish(t, hold(t, f, Spec{Program: "ls", Args: []string{"-v", "/proc/self/fd"}}))
		if got, want := strings.Fields(out), []string{"0", "1", "2", "3", fmt.Sprint(w.Fd())}; !slices.Equal(got, want) {
			t.Errorf("shim %v: descriptors %v, want %v", shim, got, want)
		}
		// Not by the redirection >&10: dash takes one digit only.
		finish(t, hold(t, f, Spec{Program: "sh", Args: []string{"-c", fmt.Sprintf("echo pmi >/proc/self/fd/%d", w.Fd())}}))
		line := make([]byte, 4)
		r.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := io.ReadFull(r, line); err != nil || string(line) != "pmi\n" {
			t.Errorf("through the inherited descriptor came %q, %v", line, err)
		}
		f.Close()
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	arm := "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x02\x00\xb7\x00\x01\x00\x00\x00" + strings.Repeat("\x00", 40)
	cases := []struct {
		name string
		spec Spec
		want string
	}{
		{"nothing", Spec{}, "no program is given"},
		{"not in PATH", Spec{Program: "no-such-thing"}, "no-such-thing: no such program in PATH (give a path, or --env-prepend PATH=DIR)"},
		{"here, not in PATH", Spec{Program: "text", Cwd: dir}, "text: no such program in PATH (did you mean ./text?)"},
		{"no file", Spec{Program: "./nothing", Cwd: dir}, "./nothing: no such program"},
		{"a directory", Spec{Program: dir}, "is a directory"},
		{"not executable", Spec{Program: write("plain", "x", 0o644)}, "not executable (chmod +x"},
		{"no program at all", Spec{Program: write("text", "hello\n", 0o755)}, "neither a program of this system nor a script"},
		{"other machine", Spec{Program: write("arm", arm, 0o755)}, "another kind of machine (AARCH64; this one is"},
		{"interpreter missing", Spec{Program: write("script", "#!/no/such/shell -x\n", 0o755)}, "its interpreter /no/such/shell is missing"},
		{"cwd missing", Spec{Program: "true", Cwd: dir + "/gone"}, "gone: no such directory (make it"},
		{"cwd a file", Spec{Program: "true", Cwd: write("file", "", 0o600)}, "not a directory"},
		{"too long", Spec{Program: "true", Args: []string{strings.Repeat("x", 1<<18)}}, "too long"},
	}
	bothWays(t, func(t *testing.T, f *Forker) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				c.spec.Env = os.Environ()
				_, err := f.Hold(c.spec)
				var fault *protocol.Fault
				if !errors.As(err, &fault) || fault.Kind != protocol.FaultLaunch || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
			})
		}
	})
}

func BenchmarkHold64(b *testing.B) {
	for _, way := range []struct {
		name string
		shim bool
	}{{"direct", false}, {"shim", true}} {
		b.Run(way.name, func(b *testing.B) {
			for b.Loop() {
				f := NewForker()
				f.viaShim = way.shim
				for range 64 {
					p, err := f.Hold(Spec{Program: "/bin/sleep", Args: []string{"9"}})
					if err != nil {
						b.Fatal(err)
					}
					p.Stdout.Close()
					p.Stderr.Close()
				}
				b.StopTimer()
				f.Close()
				b.StartTimer()
			}
		})
	}
}
