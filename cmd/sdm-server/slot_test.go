package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sdm/launch/local"
	"sdm/launch/routefile"
	"sdm/launch/secret"
	"sdm/master/registration"
	"sdm/protocol"
	"sdm/tree/overlay"
	"sdm/tree/overlay/overlaytest"
)

func startListening(t *testing.T, n int) *local.Servers {
	t.Helper()
	servers, err := local.StartServers(local.ServersSpec{N: n, Binary: os.Args[0], Env: serverEnv()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(servers.Kill)
	return servers
}

// secretFile makes a secret and returns its path and the key of a session.
func secretFile(t *testing.T, session string) (string, overlay.Secret) {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	key, err := secret.User()
	if err != nil {
		t.Fatal(err)
	}
	path, err := secret.UserPath()
	if err != nil {
		t.Fatal(err)
	}
	return path, overlay.Secret(key).ForSession(session)
}

// slot is an sdm-server that a starter has started for rank i of n.
type slot struct {
	*exec.Cmd
	stdout, stderr *bufio.Reader
}

func startSlot(t *testing.T, i, n int, args ...string) *slot {
	t.Helper()
	s := &slot{Cmd: exec.Command(os.Args[0], args...)}
	s.Env = serverEnv(fmt.Sprintf("PMI_RANK=%d", i), fmt.Sprintf("PMI_SIZE=%d", n))
	stdout, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := s.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.stdout, s.stderr = bufio.NewReader(stdout), bufio.NewReader(stderr)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Process.Kill(); s.Wait() })
	return s
}

// status waits for the end of the slot.
func (s *slot) status(t *testing.T) int {
	t.Helper()
	out, _ := io.ReadAll(s.stdout)
	text, _ := io.ReadAll(s.stderr)
	err := s.Wait()
	if len(text) > 0 {
		t.Logf("slot %v: %s%s", s.Args, out, text)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return s.ProcessState.ExitCode()
}

// end waits for slots and checks their exit statuses.
func end(t *testing.T, slots []*slot, want ...int) {
	t.Helper()
	for i, s := range slots {
		if got := s.status(t); got != want[i] {
			t.Errorf("slot %d ended with %d, want %d", i, got, want[i])
		}
	}
}

// outlive checks that each rank i has written line i. The slots must live until the session ends,
// and exit as their ranks did, with status i.
func outlive(t *testing.T, d *debugging, slots []*slot, lines ...string) {
	t.Helper()
	statuses := make([]int, len(slots))
	for i, line := range lines {
		if !strings.Contains(d.output(), line) {
			t.Errorf("%q is not in %q", line, d.output())
		}
		if !alive(slots[i].Process.Pid) {
			t.Errorf("slot %d has ended before the session", i)
		}
		statuses[i] = i
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
	end(t, slots, statuses...)
}

// rendezvous starts n slots with a program each and builds the tree of those that register.
func rendezvous(t *testing.T, n int, program func(i int) []string) ([]*slot, *debugging) {
	t.Helper()
	path, key := secretFile(t, "s")
	door, err := overlaytest.Rendezvous(key)
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	var slots []*slot
	for i := range n {
		args := append([]string{"--rendezvous", door.Addr(), "--session", "s", "--secret-file", path}, program(i)...)
		slots = append(slots, startSlot(t, i, n, args...))
	}
	table, err := registration.Slots{}.Collect(soon(t), door)
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Routes) != n {
		t.Fatalf("routes %+v", table.Routes)
	}
	return slots, newDebugging(t, dialer(key, overlay.Identity{Session: "s"}), table.Routes, 1)
}

func TestSlotsOutliveTheirRanksAndEndAsTheyDid(t *testing.T) {
	slots, d := rendezvous(t, 3, func(i int) []string {
		return []string{"--", "sh", "-c", fmt.Sprintf("echo rank $SDM_RANK $PMI_RANK; exit %d", i)}
	})
	d.do("launch", protocol.Args{Job: &protocol.Job{}, Limit: -1})
	d.do("continue", protocol.Args{})
	d.ended(3)
	outlive(t, d, slots, "rank 0 0\n", "rank 1 1\n", "rank 2 2\n")
}

func TestSlotTellsThatTheStarterEndsTheJob(t *testing.T) {
	slots, d := rendezvous(t, 1, func(int) []string { return []string{"--", "sleep", "1000"} })
	d.do("launch", protocol.Args{Job: &protocol.Job{}})
	slots[0].Process.Signal(syscall.SIGTERM)
	d.ended(1)
	if !strings.Contains(d.String(), "the starter is ending the job (SIGTERM)") {
		t.Errorf("no note:\n%s", d)
	}
	if got := slots[0].status(t); got != 128+int(syscall.SIGKILL) {
		t.Errorf("status %d", got)
	}
	gone(t, d.pids()...)
}

// A server that waits for the master, or for its answer to the registration, handles a signal by
// which the starter ends the job.
func TestStarterEndsTheJobBeforeThereIsAParent(t *testing.T) {
	path, key := secretFile(t, "s")
	door, err := overlaytest.Rendezvous(key)
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name, meets string
		of          []string
		registers   bool
	}{
		{"registered and not answered", "listening", []string{"--rendezvous", door.Addr()}, true},
		{"nothing listens at the rendezvous", "listening", []string{"--rendezvous", fmt.Sprintf("127.0.0.1:%d", freePort(t))}, false},
		{"there is no routing file", "waiting for the routing file", []string{"--routing-file", filepath.Join(t.TempDir(), "none")}, false},
		{"nobody writes the routing file", "waiting for the routing file", []string{"--routing-file", pipe}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := startSlot(t, 0, 1, append(c.of, "--session", "s", "--secret-file", path, "--log-level", "info")...)
			if c.registers {
				if _, _, err := door.Accept(soon(t)); err != nil {
					t.Fatal(err)
				}
			} else if text, err := s.stderr.ReadString('\n'); !strings.Contains(text, c.meets) {
				t.Fatalf("stderr %q, %v", text, err)
			}
			began := time.Now()
			s.Process.Signal(syscall.SIGTERM)
			if got := s.status(t); got != exitNoTree {
				t.Errorf("status %d, want %d", got, exitNoTree)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestOutputThatBelongsToTheStarter(t *testing.T) {
	slots, d := rendezvous(t, 1, func(int) []string {
		return []string{"--output", "starter", "--", "sh", "-c", "echo straight; echo to the starter >&2"}
	})
	d.do("launch", protocol.Args{Job: &protocol.Job{}})
	d.do("continue", protocol.Args{})
	out, _ := slots[0].stdout.ReadString('\n')
	text, _ := slots[0].stderr.ReadString('\n')
	if out != "straight\n" || text != "to the starter\n" {
		t.Errorf("the starter got %q and %q", out, text)
	}
	d.ended(1)
	if got := d.output(); got != "" {
		t.Errorf("the console got %q", got)
	}
}

func TestRankOfASlotGetsTheDescriptorsOfTheStarter(t *testing.T) {
	path, key := secretFile(t, "s")
	door, err := overlaytest.Rendezvous(key)
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command(os.Args[0], "--rendezvous", door.Addr(), "--session", "s", "--secret-file", path, "--", "sh", "-c", "echo over $PMI_FD >&$PMI_FD")
	cmd.Env = serverEnv("PMI_RANK=0", "PMI_SIZE=1", "PMI_FD=3")
	cmd.ExtraFiles = []*os.File{w}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	table, err := registration.Slots{}.Collect(soon(t), door)
	if err != nil {
		t.Fatal(err)
	}
	d := newDebugging(t, dialer(key, overlay.Identity{Session: "s"}), table.Routes, 1)
	d.do("launch", protocol.Args{Job: &protocol.Job{}})
	d.do("continue", protocol.Args{})
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil || line != "over 3\n" {
		t.Errorf("through PMI_FD came %q, %v", line, err)
	}
}

func TestMasterRefusesASlot(t *testing.T) {
	path, key := secretFile(t, "s")
	door, err := overlaytest.Rendezvous(key)
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	s := startSlot(t, 0, 1, "--rendezvous", door.Addr(), "--session", "s", "--secret-file", path)
	_, answer, err := door.Accept(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	answer(overlay.Decision{Refusal: "server 0 is there already"})
	text, _ := s.stderr.ReadString('\n')
	if !strings.HasPrefix(text, "sdm-server: ") || !strings.Contains(text, "server 0 is there already") {
		t.Errorf("stderr %q", text)
	}
	if got := s.status(t); got != exitNoTree {
		t.Errorf("status %d, want %d", got, exitNoTree)
	}
}

func TestRoutingFile(t *testing.T) {
	path, key := secretFile(t, "s")
	base := freePort(t)
	var file strings.Builder
	fmt.Fprintln(&file, 2)
	for i := range 2 { // on one host: the second server takes the next port
		startSlot(t, i, 2, "--port", fmt.Sprint(base), "--session", "s", "--secret-file", path)
		fmt.Fprintf(&file, "%d localhost %d\n", i, base)
	}
	table, err := routefile.Parse(strings.NewReader(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	d := newDebugging(t, dialer(key, overlay.Identity{Session: "s"}), table.Routes, 1)
	d.do("launch", protocol.Args{Job: &protocol.Job{Program: "echo", Args: []string{"routed"}}})
	d.do("continue", protocol.Args{})
	d.ended(2)
	if got := d.output(); got != "routed\nrouted\n" {
		t.Errorf("output %q", got)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func TestConnectWait(t *testing.T) {
	path, _ := secretFile(t, "s")
	cases := []struct {
		name string
		args []string
		want string
	}{
		{"no dialer", []string{"--port", fmt.Sprint(freePort(t)), "--connect-wait", "50ms"}, "no master or parent server has come in 50ms (start the master first, "},
		{"no rendezvous", []string{"--rendezvous", fmt.Sprintf("127.0.0.1:%d", freePort(t)), "--connect-wait", "50ms"}, "(no answer in 50ms: start the master first, or give a longer --connect-wait)"},
		{"no secret", []string{"--port", "2000", "--secret-file", filepath.Join(t.TempDir(), "none")}, "no such file"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := startSlot(t, 0, 1, append([]string{"--secret-file", path}, c.args...)...)
			text, _ := s.stderr.ReadString('\n')
			if !strings.Contains(text, c.want) {
				t.Errorf("stderr %q, want %q", text, c.want)
			}
			if got := s.status(t); got != exitNoTree {
				t.Errorf("status %d", got)
			}
		})
	}
}
