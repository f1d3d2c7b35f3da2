package local

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func startRole(t *testing.T, role string, n int) *Servers {
	t.Helper()
	s, err := StartServers(ServersSpec{
		N: n, Binary: os.Args[0], Args: []string{"--log", "x"},
		Env: append(os.Environ(), roleEnv+"="+role, "GORACE=atexit_sleep_ms=0"), Key: [32]byte{1, 2, 3},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s
}

// soon bounds actions that must be quick.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestOneServerHasTheSocketPairs(t *testing.T) {
	s := startRole(t, "linked", 1)
	line, err := bufio.NewReader(s.Link.In).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid := s.PIDs()[0]
	if want := fmt.Sprintf("[--server 0 --log x --link-fd 3] %d\n", pid); line != want {
		t.Errorf("the server says %q, want %q", line, want)
	}
	if sid, _, _ := syscall.Syscall(syscall.SYS_GETSID, uintptr(pid), 0, 0); int(sid) != pid {
		t.Errorf("session %d, want one of its own, %d", sid, pid)
	}
	if len(s.Routes) != 1 || len(s.Routes[0].Addrs) != 0 || s.Routes[0].Host == "" {
		t.Errorf("routes %+v, want one with a host and no address", s.Routes)
	}
	if err := s.Close(soon(t)); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestSeveralServersListenAndKnowTheKey(t *testing.T) {
	s := startRole(t, "listening", 3)
	for _, r := range s.Routes {
		conn, err := net.Dial("tcp", r.Addrs[0])
		if err != nil {
			t.Fatal(err)
		}
		key, err := io.ReadAll(io.LimitReader(conn, 32))
		conn.Close()
		if want := [32]byte{1, 2, 3}; err != nil || !bytes.Equal(key, want[:]) {
			t.Errorf("server %d has key %v, %v", r.Server, key, err)
		}
	}
	if err := s.Close(soon(t)); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestServerThatDiesSaysWhy(t *testing.T) {
	s := startRole(t, "dying", 1)
	<-s.running[0].done
	const want = "server 0: exit status 3: the disk is on fire"
	if got := s.Trouble(); !strings.HasPrefix(got, want) {
		t.Errorf("Trouble %q, want %q", got, want)
	}
	if err := s.Close(soon(t)); err == nil || !strings.Contains(err.Error(), "exit status 3: the disk is on fire") || errors.Is(err, ErrHung) {
		t.Errorf("Close: %v, want %q", err, want)
	}
}

func TestStubbornServerIsKilled(t *testing.T) {
	s := startRole(t, "stubborn", 2)
	if got := s.Trouble(); got != "" {
		t.Errorf("trouble: %s", got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Close(ctx); !errors.Is(err, ErrHung) || strings.Count(err.Error(), "killed") != 2 {
		t.Errorf("Close: %v", err)
	}
	for _, pid := range s.PIDs() {
		if got := status(pid, "State"); got != "" {
			t.Errorf("server %d is still there: %s", pid, got)
		}
	}
}

func TestStoppedServerIsLetRunOn(t *testing.T) {
	s := startRole(t, "linked", 1)
	pid := s.PIDs()[0]
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); !strings.HasPrefix(status(pid, "State"), "T"); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("the server is %s", status(pid, "State"))
		}
	}
	err := s.Close(soon(t))
	if !errors.Is(err, ErrHung) || !strings.HasPrefix(err.Error(), "server 0 (pid ") {
		t.Errorf("Close: %v", err)
	}
}

func TestServerThatStaysWithItsRanksIsLeftAlone(t *testing.T) {
	s := startRole(t, "leaving", 1)
	if err := s.Close(soon(t)); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := syscall.Kill(s.PIDs()[0], syscall.SIGKILL); err != nil {
		t.Errorf("it is not there any more: %v", err)
	}
	<-s.running[0].done
}

func TestStartServersRefuses(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	cases := []struct{ name, binary, want string }{
		{"nowhere", "", "sdm-server is neither beside "},
		{"missing", filepath.Join(t.TempDir(), "sdm-server"), "no such file"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := StartServers(ServersSpec{N: 2, Binary: c.binary}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var last tail
	for range tailSize {
		last.Write([]byte("early "))
	}
	last.Write([]byte("late"))
	if got := last.quoted(); len(got) != tailSize+2 || !strings.HasSuffix(got, "early late") {
		t.Errorf("%d bytes, ends with %q", len(got), got[len(got)-12:])
	}
}
