package hold

import (
	"io"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// How a process has ended is known before and after its parent has waited for it.
func TestStatus(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*exec.Cmd, io.Closer)
		want Status
	}{
		"code":                  {func(_ *exec.Cmd, in io.Closer) { in.Close() }, Status{}},
		"signal without a name": {func(c *exec.Cmd, _ io.Closer) { _ = c.Process.Signal(syscall.Signal(40)) }, Status{Signal: "SIG40", Meaning: "signal 40"}},
		"signal":                {func(c *exec.Cmd, _ io.Closer) { _ = c.Process.Signal(syscall.SIGSEGV) }, Status{Signal: "SIGSEGV", Meaning: "segmentation fault"}},
	} {
		t.Run(name, func(t *testing.T) {
			cat, in := child(t)
			h, err := OpenProcess(cat.Process.Pid)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			if s, ok := h.Status(0); ok {
				t.Errorf("it runs, and has ended by %+v", s)
			}
			c.end(cat, in)
			h.Wait()
			if s, ok := h.Status(0); !ok || s != c.want {
				t.Errorf("before its parent has waited for it: got %+v, %v, want %+v", s, ok, c.want)
			}
			_ = cat.Wait()
			in.Close()
			s, ok := h.Status(time.Second)
			if !ok && !tellsStatus() {
				t.Skip("this kernel does not tell how processes have ended (before Linux 6.15)")
			}
			if !ok || s != c.want {
				t.Errorf("got %+v, %v, want %+v", s, ok, c.want)
			}
		})
	}
}

// tellsStatus reports whether the kernel is Linux 6.15 or later.
func tellsStatus() bool {
	major, minor := kernelVersion()
	return major > 6 || major == 6 && minor >= 15
}

func kernelVersion() (major, minor int) {
	var u syscall.Utsname
	if syscall.Uname(&u) != nil {
		return 0, 0
	}
	numbers := [2]int{}
	for i, k := 0, 0; i < len(u.Release) && k < 2; i++ {
		switch c := byte(u.Release[i]); {
		case c >= '0' && c <= '9':
			numbers[k] = 10*numbers[k] + int(c-'0')
		default:
			k++
		}
	}
	return numbers[0], numbers[1]
}

func TestTransfer(t *testing.T) {
	cat, in := child(t)
	defer cat.Wait()
	before := TransferOf(cat.Process.Pid)
	if _, err := in.(io.Writer).Write(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	for limit := time.Now().Add(10 * time.Second); ; {
		if n := TransferOf(cat.Process.Pid).Since(before); n >= 1000 {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("%+v before, %+v after", before, TransferOf(cat.Process.Pid))
		}
	}
	in.Close()
	const absent = 1 << 22 // more than the kernel gives
	if got := TransferOf(absent); got != (Transfer{}) {
		t.Errorf("a process that is gone: %+v", got)
	}
}
