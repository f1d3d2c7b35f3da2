package gdb

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// watching returns a poller that watches the end of a pipe; say makes that readable.
func watching(t *testing.T) (p *poller, say func()) {
	t.Helper()
	p, err := newPoller()
	if err != nil {
		t.Fatal(err)
	}
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.close()
		unix.Close(fds[0])
		unix.Close(fds[1])
	})
	if err := p.add(fds[0], 7, streamOutput); err != nil {
		t.Fatal(err)
	}
	return p, func() { write(fds[1], []byte("x")) }
}

func waitFor(t *testing.T, p *poller, want int) {
	t.Helper()
	list, err := p.wait(nil)
	if err != nil || len(list) != want {
		t.Fatalf("%v, %v; want %d", list, err, want)
	}
	if want == 1 && (list[0] != ready{number: 7, stream: streamOutput}) {
		t.Fatalf("%+v", list[0])
	}
}

func TestPollerTellsWhatIsReady(t *testing.T) {
	p, say := watching(t)
	say()
	waitFor(t, p, 1)
}

// TestPollerWakes checks that wake ends one wait, whether before it or during it, and
// does not change the time of until.
func TestPollerWakes(t *testing.T) {
	p, _ := watching(t)
	p.wake()
	p.wake()
	waitFor(t, p, 0)
	if p.woken {
		t.Error("the second of two is left for another wait")
	}
	ended := make(chan error, 1)
	go func() {
		_, err := p.wait(nil)
		ended <- err
	}()
	p.wake()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	p.wake()
	p.until(time.Now().Add(time.Hour)) // it does not undo the wake
	waitFor(t, p, 0)
	p.until(time.Now().Add(-time.Hour))
	p.wake()
	waitFor(t, p, 0)
	waitFor(t, p, 0) // its time is over, as before the wake
}
