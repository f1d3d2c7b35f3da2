package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSessionsOfStrangers has another user connect to a session, bring its file along, and take the name of a socket:
// each is refused in one line, and the session goes on.
func TestSessionsOfStrangers(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("the test becomes another user")
	}
	s := newScene(t)
	c := s.begun()
	file := s.stateFiles()[0]
	state, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, name, _ := strings.Cut(string(state), `"socket":"@`)
	name, _, _ = strings.Cut(name, `"`)
	chmod(t, s.dir, 0o755)
	as := func(args ...string) *process {
		return s.start("setpriv", append([]string{"--reuid=65534", "--regid=65534", "--clear-groups"}, args...)...)
	}
	asks := as("/usr/bin/python3", "-c", "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect('\\0' + sys.argv[1])\n"+
		"m = b'{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"summary\"}'\n"+
		"try:\n    s.sendall(b'Content-Length: %d\\r\\n\\r\\n' % len(m) + m)\n    print('got', s.recv(100))\n"+
		"except ConnectionError:\n    print('got', b'')", name)
	asks.exits(0)
	asks.says("got b''\n")

	theirs := filepath.Join(s.dir, "theirs/sdm/sessions")
	if err := os.MkdirAll(theirs, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(theirs, "sdm-1.json"), state, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{theirs, filepath.Join(theirs, "sdm-1.json")} {
		if err := os.Chown(path, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	ours, err := os.ReadFile(program("sdm"))
	if err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(s.dir, "sdm") // where another user can read it
	if err := os.WriteFile(open, ours, 0o755); err != nil {
		t.Fatal(err)
	}
	joins := as("env", "XDG_STATE_HOME="+filepath.Join(s.dir, "theirs"), open, "join", "-b", "-e", "ranks", "sdm-1")
	joins.exits(3)
	joins.says(`is not the socket of a session`)

	taken := as("/usr/bin/python3", "-c", "import socket, sys, time\ns = socket.socket(socket.AF_UNIX)\ns.bind('\\0' + sys.argv[1])\n"+
		"s.listen()\nprint('bound', flush=True)\ntime.sleep(1000)", name+"0")
	taken.after(taken.out, "bound")
	if err := os.WriteFile(file, []byte(strings.Replace(string(state), name, name+"0", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	list := s.start("sdm", "sessions")
	list.exits(0)
	list.says("user 65534")
	joins = s.start("sdm", "join", "-b", "-e", "ranks")
	joins.exits(3)
	joins.says("user 65534")
	if text := joins.err.text(); strings.Count(text, "\n") != 1 {
		t.Errorf("it says\n%s", text)
	}
	taken.signal(syscall.SIGKILL)
	if err := os.WriteFile(file, state, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.joined("-e", "ranks", "-e", "leave"); !strings.Contains(got, "[0-3] running") {
		t.Errorf("the session\n%s", got)
	}
	c.enter("quit")
	c.until(leavePrompt)
	c.enter("y")
	c.exits(0)
}

// TestFullDisk has a session whose file cannot be written: that is said, and it works as a session of one.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can mount a file system")
	}
	s := newScene(t)
	small := filepath.Join(s.dir, "small")
	if err := os.Mkdir(small, 0o700); err != nil {
		t.Fatal(err)
	}
	p := s.start("unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=4k none "+small+" && echo full > "+small+"/full && "+
		"XDG_STATE_HOME="+small+" exec \"$@\"", "sh", program("sdm"), "run", "--keep", "1h", "-b", "-e", "print 6*7", "-e", "quit", "-n", "4", program("spin"))
	p.exits(0)
	p.says("[0-3] 6*7 = 42", "the session is in no list: its file in "+small+"/sdm/sessions cannot be written: no space left on device\n")
}
