package hold

import (
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"testing"
	"time"
)

// child is a process that ends when its input does.
func child(t *testing.T) (*exec.Cmd, io.Closer) {
	t.Helper()
	cat := exec.Command("cat")
	in, err := cat.StdinPipe()
	if err == nil {
		err = cat.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return cat, in
}

// The end of a process is noticed before its parent waits for it, with and without a pidfd.
func TestEnd(t *testing.T) {
	for name, poll := range map[string]bool{"pidfd": false, "polling": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cat, in := child(t)
			h, err := OpenProcess(cat.Process.Pid)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			switch {
			case poll && h.file != nil:
				h.file.Close()
				h.file = nil
				h.start, _ = startOf(cat.Process.Pid)
			case h.file == nil:
				t.Skip("the kernel has no pidfd")
			}
			if h.Over() {
				t.Error("it has ended already")
			}
			ended := make(chan bool)
			go func() { ended <- h.Wait() }()
			select {
			case <-ended:
				t.Fatal("an end too early")
			case <-time.After(20 * time.Millisecond):
			}
			in.Close()
			if !<-ended || !h.Over() {
				t.Error("it runs")
			}
			if _, err := OpenProcess(cat.Process.Pid); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a zombie: %v", err)
			}
			cat.Wait()
			if !h.Over() {
				t.Error("it runs after its end")
			}
		})
	}
}

// Another process with the same number is not the one that was meant.
func TestReusedNumber(t *testing.T) {
	cat, in := child(t)
	defer cat.Wait()
	defer in.Close()
	start, alive := startOf(cat.Process.Pid)
	if !alive {
		t.Fatal("it does not run")
	}
	h := &Handle{pid: cat.Process.Pid, start: start - 1, closed: make(chan struct{})}
	defer h.Close()
	if !h.Over() || !h.Wait() {
		t.Error("the later process is taken for the earlier one")
	}
}

func TestCloseEndsWait(t *testing.T) {
	cat, in := child(t)
	defer cat.Wait()
	defer in.Close()
	for range 2 {
		h, err := OpenProcess(cat.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan bool)
		go func() { ended <- h.Wait() }()
		h.Close()
		h.Close()
		if <-ended {
			t.Error("a closed handle reports an end")
		}
	}
}
