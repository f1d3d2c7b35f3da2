package launchtest

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain also runs as the programs that the tests start on the hosts: an echo server, and a
// client that sends it one request.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "echo-server" {
		serve(os.Args[2])
	}
	if len(os.Args) == 3 && os.Args[1] == "echo-ask" {
		ask(os.Args[2])
	}
	os.Exit(m.Run())
}

func serve(address string) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	for {
		c, err := l.Accept()
		if err != nil {
			os.Exit(1)
		}
		line, _ := bufio.NewReader(c).ReadString('\n')
		fmt.Fprint(c, line)
		c.Close()
	}
}

func ask(address string) {
	c, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		os.Exit(1)
	}
	c.SetDeadline(time.Now().Add(20 * time.Second))
	fmt.Fprintln(c, "hello")
	if line, _ := bufio.NewReader(c).ReadString('\n'); line != "hello\n" {
		os.Exit(1)
	}
	os.Exit(0)
}

func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestHosts checks that each fake host has a name, a network and scratch space of its own, that
// links can be cut, and that nothing is left behind.
func TestHosts(t *testing.T) {
	h := Up(t, 3)
	if got := output(t, h.On(1, "hostname")); got != h.Host(1) {
		t.Errorf("hostname of host 1: %q, want %q", got, h.Host(1))
	}
	output(t, h.On(1, "touch", "/tmp/node/mine"))
	if got := output(t, h.On(2, "ls", "/tmp/node")); got != "" {
		t.Errorf("host 2 sees %q in its own /tmp/node", got)
	}

	server := h.On(1, os.Args[0], "echo-server", ":7000")
	said, _ := server.StdoutPipe()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	if line, _ := bufio.NewReader(said).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the server on host 1 said %q", line)
	}
	reaches := func(want bool, when string) {
		t.Helper()
		for range 10 { // a healed link needs a moment; a cut one never works
			err := h.On(2, os.Args[0], "echo-ask", h.Host(1)+":7000").Run()
			if (err == nil) == want {
				return
			}
		}
		t.Errorf("%s: host 2 reaches host 1: %v, want %v", when, !want, want)
	}
	reaches(true, "at first")
	h.Partition(1)
	reaches(false, "partitioned")
	h.Heal(1)
	reaches(true, "healed")
	h.Cut(1)
	reaches(false, "cut")
	h.Heal(1)
	h.Slow(1, "64kbit")
	reaches(true, "slow")
	h.Heal(1)

	h.run("down", h.name)
	if err := server.Wait(); err == nil {
		t.Error("the server on host 1 has ended well; down should have killed it")
	}
	if names := output(t, exec.Command("ip", "netns", "list")); strings.Contains(names, h.name) {
		t.Errorf("left behind: %s", names)
	}
	output(t, exec.Command(filepath.Join(h.dir, "up"), h.name, "1")) // for the cleanup
}

// TestRemsh checks that remsh does what launchers need of ssh.
func TestRemsh(t *testing.T) {
	h := Up(t, 1)
	remsh := func(args ...string) *exec.Cmd { return exec.Command(filepath.Join(h.dir, "remsh"), args...) }
	cmd := remsh("-x", "-o", "BatchMode=yes", "somebody@"+h.Host(0), "read", "word;", `echo "$word"`, "at", "$(hostname)", "${SECRET-unset}")
	cmd.Stdin = strings.NewReader("hello\n")
	cmd.Env = append(os.Environ(), "SECRET=1")
	if got, want := output(t, cmd), "hello at "+h.Host(0)+" unset"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for status, cmd := range map[int]*exec.Cmd{3: remsh(h.Host(0), "exit 3"), 255: remsh("nowhere0", "true")} {
		cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != status {
			t.Errorf("%v ended with %d, want %d", cmd.Args, got, status)
		}
	}
}

// TestOwnerGone checks that hosts whose owner was killed are removed when the next ones are made.
func TestOwnerGone(t *testing.T) {
	h := Up(t, 1)
	owner := exec.Command("sleep", "600")
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	orphan := fmt.Sprintf("t%d-oh", os.Getpid())
	up := exec.Command(filepath.Join(h.dir, "up"), orphan, "1")
	up.Env = append(os.Environ(), fmt.Sprintf("SDM_HOSTS_OWNER=%d", owner.Process.Pid))
	output(t, up)
	owner.Process.Kill()
	owner.Wait()
	Up(t, 1)
	names := output(t, exec.Command("ip", "netns", "list"))
	if strings.Contains(names, orphan) || !strings.Contains(names, h.Host(0)) {
		t.Errorf("after the next set: %q; want %s gone and %s there", names, orphan, h.Host(0))
	}
}
