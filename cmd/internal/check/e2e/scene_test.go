package e2e

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sdm/cmd/internal/check/programs"
)

// mark is the environment variable by which the processes of a test and their children are found.
// It does not begin with SDM_, because gdbs do not get such variables.
const mark = "TEST_OF_SDM"

// leftoverTime is how soon all processes of a test must have ended after those that the test has
// started itself.
const leftoverTime = 5 * time.Second

// scene is one test: its directory, its environment and its processes. None of these may be left
// when the test ends.
type scene struct {
	t         *testing.T
	dir       string
	env       []string
	processes []*process
	readers   sync.WaitGroup
}

func newScene(t *testing.T) *scene {
	t.Helper()
	dir, err := os.MkdirTemp("", "sdm-") // short: Open MPI puts sockets below it
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, dir: dir}
	s.env = []string{
		mark + "=" + filepath.Base(dir), "HOME=" + dir, "TMPDIR=" + dir, "LC_ALL=C.UTF-8", "TERM=dumb",
		"PATH=" + bench + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"GORACE=log_path=" + raceLogs() + " atexit_sleep_ms=20 exitcode=" + raceStatus,
		"SDM_NO_RC=true", "OMPI_MCA_btl_vader_single_copy_mechanism=emulated", // with none, windows of 4.1.4 fail at times
	}
	mpi, err := programs.Environment()
	if err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, mpi...)
	t.Cleanup(s.end)
	return s
}

// end checks that no process is left, kills those that are, and waits for the goroutines.
func (s *scene) end() {
	defer os.RemoveAll(s.dir)
	if s.t.Failed() {
		for _, p := range s.processes {
			if p.running() {
				s.t.Logf("%s was still running%s", p.name, p.said())
			}
		}
	} else {
		s.nothingIsLeft()
	}
	for _, p := range s.found() {
		if proc, err := os.FindProcess(p.pid); err == nil {
			proc.Kill()
		}
	}
	s.readers.Wait()
	for _, p := range s.processes {
		if strings.Contains(p.out.text()+p.err.text(), "a defect of sdm") {
			s.t.Errorf("%s tells of a panic that was caught%s", p.name, p.said())
		}
	}
}

// nothingIsLeft waits until no process of the scene lives.
func (s *scene) nothingIsLeft() {
	s.t.Helper()
	s.eventually(leftoverTime, func() string {
		if left := s.found(); len(left) > 0 {
			return fmt.Sprintf("processes are left: %v", left)
		}
		return ""
	})
}

// eventually repeats a check until it returns "" and no complaint. Most checks read /proc, which costs
// milliseconds: the intervals grow.
func (s *scene) eventually(bound time.Duration, check func() string) {
	s.t.Helper()
	late := time.After(bound)
	for interval := 5 * time.Millisecond; ; interval = min(2*interval, 50*time.Millisecond) {
		complaint := check()
		if complaint == "" {
			return
		}
		select {
		case <-time.After(interval):
		case <-late:
			s.t.Errorf("after %v: %s", bound, complaint)
			return
		}
	}
}

// find returns the path of a program: of sdm, or in PATH.
func (s *scene) find(name string) (string, error) {
	if strings.HasPrefix(name, "sdm") {
		return program(name), nil
	}
	return exec.LookPath(name)
}

// file makes a file in the directory of the scene.
func (s *scene) file(name, text string, mode os.FileMode) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// secret makes a file with a secret that repeats one digit.
func (s *scene) secret(name, digit string) string {
	s.t.Helper()
	return s.file(name, strings.Repeat(digit, 64)+"\n", 0o600)
}

// freePort returns a port without a listener, for addresses that must be known beforehand. It
// is below the ports that the kernel chooses (32768 upwards, see ip(7)), so that only a test that
// draws the same one can take it.
func (s *scene) freePort() int {
	s.t.Helper()
	for range 100 {
		port := 20000 + rand.IntN(12000)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			l.Close()
			return port
		}
	}
	s.t.Fatal("no port is free")
	return 0
}
