package sessions

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sdm/master/dial"
)

// TestMain lets this test binary act as the session process of another program: it registers, tells its ID, and ends
// when its standard input does.
func TestMain(m *testing.M) {
	if os.Getenv("SESSIONS_TEST_REGISTER") == "" {
		os.Exit(m.Run())
	}
	e, err := Register(State{Kind: Run, Program: "app"})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(e.State().ID)
	bufio.NewReader(os.Stdin).ReadString('\n')
}

var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// newRegistry returns an empty registry of this user in a directory of the test. Its processes are those of this host.
func newRegistry(t *testing.T) registry {
	t.Helper()
	at, err := here()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "state", "sdm", "sessions")
	return registry{path: path, uid: os.Geteuid(), at: at, start: startOf, now: time.Now}
}

func registered(t *testing.T, r registry, s State) *Entry {
	t.Helper()
	e, err := r.register(s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// example is a state that is valid for a user.
func example(uid int) State {
	return State{
		Version: version, ID: "sdm-1", Kind: Run, Host: "login1", Boot: "8d740388-b7ac-4914-931d-9c022734e004", Space: "pid:[4026531836]",
		PID: 4711, Start: 263646, Socket: socketPrefix(uid) + "sdm-1-0123456789abcdef0123456789abcdef",
		Program: "mpirun -n 4 ./app", Ranks: "0-3", Job: "slurm 12", Began: noon, Keep: 30 * time.Minute,
	}
}

// put writes a file into the directory of a registry, as another program could.
func put(t *testing.T, r registry, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(r.path, name)
	if err := errors.Join(os.MkdirAll(r.path, 0o700), os.WriteFile(path, b, 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// told returns the sessions and troubles as lines, without the directory.
func told(r registry) []string {
	var lines []string
	found, troubles := r.list()
	for _, f := range found {
		lines = append(lines, f.State.ID+" "+string(f.Liveness))
	}
	for _, t := range troubles {
		lines = append(lines, strings.ReplaceAll(t.Error(), r.path+"/", ""))
	}
	return lines
}

func expect(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%q\nwant\n%q", what, got, want)
	}
}

func TestASessionIsOnFile(t *testing.T) {
	r := newRegistry(t)
	e := registered(t, r, State{Kind: Attach, Program: ProgramText([]string{"/usr/bin/mpirun", "-n", "4", strings.Repeat("x", 1000)}), Ranks: "0-3"})
	s := e.State()
	if s.ID != "sdm-1" || s.PID != os.Getpid() || !strings.HasPrefix(s.Program, "mpirun -n 4 xxx") || len(s.Program) > maxText {
		t.Errorf("registered as %+v", s)
	}
	for path, want := range map[string]os.FileMode{r.path: 0o700 | os.ModeDir, filepath.Join(r.path, "sdm-1.json"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if err := e.Update(func(s *State) { s.Job, s.ID, s.PID, s.Socket = "slurm 7", "sdm-9", 1, "@x" }); err != nil {
		t.Error(err)
	}
	found, troubles := r.list()
	if len(found) != 1 || len(troubles) != 0 || found[0].Liveness != Live || found[0].State != e.State() || found[0].State.Job != "slurm 7" || found[0].State.PID != s.PID {
		t.Errorf("found %+v, %v; registered %+v", found, troubles, e.State())
	}
	if err := e.Remove(); err != nil {
		t.Error(err)
	}
	expect(t, "afterwards", told(r))
	if names, _ := os.ReadDir(r.path); len(names) != 0 {
		t.Errorf("left behind: %v", names)
	}
	if again := registered(t, r, State{Kind: Run}).State(); again.ID != "sdm-1" || again.Socket == s.Socket {
		t.Errorf("the next one is %+v", again)
	}
}

func TestNumbersAreTheSmallestThatAreFree(t *testing.T) {
	r := newRegistry(t)
	var all []*Entry
	for n := 1; n <= 12; n++ {
		all = append(all, registered(t, r, State{Kind: Run}))
	}
	all[1].Remove()
	all[4].Remove()
	for _, want := range []string{"sdm-2", "sdm-5", "sdm-13"} {
		if got := registered(t, r, State{Kind: Run}).State().ID; got != want {
			t.Errorf("%s is registered in place of %s", got, want)
		}
	}
	if got := told(r); got[1] != "sdm-2 live" || got[9] != "sdm-10 live" {
		t.Errorf("the order is %q", got)
	}
}

func TestSeveralRegisterAtOnce(t *testing.T) {
	r := newRegistry(t)
	put(t, r, "sdm-2.json", example(r.uid).print()[:20])
	const n = 50
	ids, sockets := make([]string, n), make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			e, err := r.register(State{Kind: Run})
			if err != nil {
				t.Error(err)
				return
			}
			ids[i], sockets[i] = e.State().ID, e.State().Socket
		})
	}
	wg.Wait()
	for _, texts := range [][]string{ids, sockets} {
		slices.Sort(texts)
		if len(slices.Compact(texts)) != n {
			t.Errorf("several got the same: %q", texts)
		}
	}
	if found, _ := r.list(); len(found) != n || number(found[n-1].State.ID) != n+1 {
		t.Errorf("found %d sessions, the last is %v", len(found), found[len(found)-1])
	}
}

// process is a process of this test binary that has registered.
type process struct {
	*exec.Cmd
	id string
}

func startProcess(t *testing.T, home string) process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SESSIONS_TEST_REGISTER=1", "HOME="+home, "XDG_STATE_HOME=")
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return process{cmd, strings.TrimSpace(line)}
}

func TestProcessesRegisterAtOnce(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", "")
	all := make([]process, 8)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() { all[i] = startProcess(t, home) })
	}
	wg.Wait()
	var got, ids []string
	for _, p := range all {
		ids = append(ids, p.id)
	}
	found, troubles := List(t.Context())
	for _, f := range found {
		got = append(got, f.State.ID)
	}
	if slices.Sort(ids); !slices.Equal(got, ids) || len(slices.Compact(ids)) != len(all) || len(troubles) > 0 {
		t.Errorf("registered %q, found %q, %v", ids, got, troubles)
	}
	all[3].Process.Kill() // a zombie until it is awaited: it has ended
	unix.Waitid(unix.P_PID, all[3].Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
	_, err := Find(t.Context(), all[3].id)
	if err == nil || !strings.HasPrefix(err.Error(), "session "+all[3].id+" has ended; there are 7:\n") {
		t.Error(err)
	}
	if p := startProcess(t, home); p.id != all[3].id {
		t.Errorf("%s is not used again, but %s", all[3].id, p.id)
	}
}

func TestWhichSessionsAreLive(t *testing.T) {
	at := place{"login1", "boot-1", "pid:[1]"}
	start := func(pid int) uint64 { return map[int]uint64{10: 500}[pid] }
	for _, c := range []struct {
		name   string
		change func(*State)
		want   Liveness
	}{
		{"its process runs", func(*State) {}, Live},
		{"the name with its domain", func(s *State) { s.Host = "login1.site.org" }, Live},
		{"its process has ended", func(s *State) { s.PID = 11 }, Gone},
		{"another process has its number", func(s *State) { s.Start = 499 }, Gone},
		{"the host was started anew", func(s *State) { s.Boot = "boot-0" }, Gone},
		{"another host", func(s *State) { s.Host, s.Boot = "login2", "boot-2" }, Elsewhere},
		{"another host of the same kernel", func(s *State) { s.Host = "login2" }, Elsewhere},
		{"a container", func(s *State) { s.Space = "pid:[2]" }, Elsewhere},
	} {
		s := State{Host: at.host, Boot: at.boot, Space: at.space, PID: 10, Start: 500}
		c.change(&s)
		if got := s.livenessAt(at, start); got != c.want {
			t.Errorf("%s: %s, not %s", c.name, got, c.want)
		}
	}
}

func TestStartOfProcesses(t *testing.T) {
	const rest = " 1 1 1 0 -1 4194304 97 0 0 0 0 0 0 0 20 0 1 0 263646 3133440"
	for stat, want := range map[string]uint64{
		"15 (cat) S" + rest: 263646, "15 (a) Z 1 ) R) R" + rest: 263646, "15 (cat) Z" + rest: 0, "15 (cat) X" + rest: 0,
		"15 (cat) S 1 1": 0, "": 0, "15 (cat": 0, "15 (cat) S" + strings.ReplaceAll(rest, "263646", "-1"): 0,
	} {
		if got := parseStart(stat); got != want {
			t.Errorf("%q: %d, not %d", stat, got, want)
		}
	}
	if startOf(os.Getpid()) == 0 || startOf(maxPID+1) != 0 {
		t.Error("this process has no start, or one that cannot be has one")
	}
}

func TestEndedSessionsAreToldOnceAndRemoved(t *testing.T) {
	r := newRegistry(t)
	live := registered(t, r, State{Kind: Run})
	s := live.State()
	long := time.Now().Add(-maxAge - time.Hour)
	for i, change := range []func(*State){
		func(s *State) { s.Start++ },
		func(s *State) { s.Boot = "another" },
		func(s *State) { s.Host = "other" },
		func(s *State) { s.Host = "other" }, // long ago
	} {
		s := s
		s.ID = id(i + 2)
		change(&s)
		path := put(t, r, s.ID+fileSuffix, s.print())
		if i == 3 {
			os.Chtimes(path, long, long)
		}
	}
	expect(t, "first", told(r), "sdm-1 live", "sdm-2 gone", "sdm-3 gone", "sdm-4 elsewhere", "sdm-5 gone")
	expect(t, "then", told(r), "sdm-1 live", "sdm-4 elsewhere")
}

func TestNumbersOfEndedSessionsAreUsedAgain(t *testing.T) {
	r := newRegistry(t)
	s := example(r.uid)
	s.Host = r.at.host
	put(t, r, "sdm-1.json", s.print())
	if got := registered(t, r, State{Kind: Run}).State().ID; got != "sdm-1" {
		t.Errorf("%s is registered", got)
	}
}

func TestWhoTidiesUpIsAlone(t *testing.T) {
	r := newRegistry(t)
	s := example(r.uid)
	s.Host = r.at.host
	path := put(t, r, "sdm-1.json", s.print())
	d, err := r.open(false)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	unlock, err := d.lock()
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "while another removes", told(r), "sdm-1 gone")
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	// A file that has changed since it was read stays.
	old := map[string]content{"sdm-1.json": {bytes: []byte("other")}, "sdm-7.json": {}}
	unlock()
	if err := r.tidy(old); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	expect(t, "then", told(r), "sdm-1 gone")
	expect(t, "at last", told(r))
}

func TestNumbersThatWereTakenAndNeverUsed(t *testing.T) {
	r := newRegistry(t)
	claimed, begun := put(t, r, "sdm-1.json", nil), put(t, r, temporary+"1", []byte("{"))
	expect(t, "while it begins", told(r))
	if got := registered(t, r, State{Kind: Run}).State().ID; got != "sdm-2" {
		t.Errorf("%s is registered", got)
	}
	old := time.Now().Add(-maxEmpty - time.Minute)
	for _, path := range []string{claimed, begun} {
		os.Chtimes(path, old, old)
	}
	expect(t, "an hour later", told(r), "sdm-2 live")
	if got := registered(t, r, State{Kind: Run}).State().ID; got != "sdm-1" {
		t.Errorf("%s is registered", got)
	}
	if _, err := os.Stat(begun); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file that was begun is there: %v", err)
	}
}

func TestBadFilesArePassedOver(t *testing.T) {
	r := newRegistry(t)
	registered(t, r, State{Kind: Run})
	s := example(r.uid)
	with := func(n int, change func(*State)) []byte {
		s := s
		s.ID = id(n)
		change(&s)
		return s.print()
	}
	long := strings.Repeat("x", maxText+1)
	for n, c := range map[int]struct {
		content []byte
		want    string
	}{
		10: {with(10, func(*State) {})[:100], "it is no session file: unexpected end of JSON input"},
		11: {[]byte("\x00\x1b[2J"), "it is no session file: invalid character '\\x00' looking for beginning of value"},
		12: {with(13, func(*State) {}), "it is that of session sdm-13"},
		13: {with(13, func(s *State) { s.Version = 2 }), "its format is version 2, this sdm reads version 1"},
		14: {with(14, func(s *State) { s.Host = "-oProxyCommand=x" }), `it is no session file: "-oProxyCommand=x" is not the name of a host: it begins with -`},
		15: {with(15, func(s *State) { s.PID = -1 }), "it is no session file: -1 is not the number of a process"},
		16: {with(16, func(s *State) { s.Socket = "/run/ssh-agent" }), `it is no session file: "/run/ssh-agent" is not the socket of a session`},
		17: {with(17, func(s *State) { s.Socket = socketPrefix(r.uid) + "a\x1b" }), fmt.Sprintf("it is no session file: \"@sdm/%d/a\\x1b\" is not the socket of a session", r.uid)},
		18: {with(18, func(s *State) { s.Program = long }), "it is no session file: a text is longer than 64 bytes"},
		19: {with(19, func(s *State) { s.Keep = -1 }), "it is no session file: -1ns is not a time to keep it"},
		20: {with(20, func(s *State) { s.Start = 0 }), "it is no session file: the start of its process is missing"},
		21: {with(21, func(s *State) { s.Kind = "\x1b" }), "it is no session file: its kind, boot or namespace is missing"},
		22: {with(22, func(s *State) { s.Began = time.Time{} }), "it is no session file: the time is missing"},
		23: {append(with(23, func(*State) {}), "{}"...), "it is no session file: invalid character '{' after top-level value"},
		24: {append(with(24, func(*State) {}), strings.Repeat(" ", maxFile)...), "it is longer than 65536 bytes"},
		25: {[]byte(`{"version":1,"id":"sdm-\u001b[2J"}`), "it is no session file: the name of a host is empty"},
		26: {[]byte(strings.Repeat("[", maxFile)), "it is no session file: invalid character '[' exceeded max depth"},
	} {
		name := id(n) + fileSuffix
		path := put(t, r, name, c.content)
		if got := told(r); len(got) != 2 || got[1] != name+": "+c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
		os.Remove(path)
	}
}

func TestWhatIsNoFileIsPassedOver(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make devices and files of other users")
	}
	r := newRegistry(t)
	live := registered(t, r, State{Kind: Run})
	file := func(name string) string { return filepath.Join(r.path, name) }
	s := example(r.uid)
	s.ID = "sdm-2"
	for what, c := range map[string]struct {
		make func(path string) error
		want string
	}{
		"sparse":    {func(p string) error { return errors.Join(os.WriteFile(p, nil, 0o600), os.Truncate(p, 1<<30)) }, "it is longer than 65536 bytes"},
		"pipe":      {func(p string) error { return syscall.Mkfifo(p, 0o600) }, "it is not a regular file"},
		"device":    {func(p string) error { return syscall.Mknod(p, syscall.S_IFCHR|0o600, 1<<8|5) }, "it is not a regular file"},
		"directory": {func(p string) error { return os.Mkdir(p, 0o700) }, "it is not a regular file"},
		"socket":    {func(p string) error { _, err := net.Listen("unix", p); return err }, "no such device or address"},
		"link":      {func(p string) error { return os.Symlink("sdm-1.json", p) }, "it is a symbolic link"},
		"no target": {func(p string) error { return os.Symlink("/nonexistent", p) }, "it is a symbolic link"},
		"foreign": {func(p string) error {
			return errors.Join(os.WriteFile(p, s.print(), 0o600), os.Chown(p, 65534, 65534))
		}, "it belongs to user 65534, not to 0"},
		"readable": {func(p string) error {
			return errors.Join(os.WriteFile(p, s.print(), 0o600), os.Chmod(p, 0o640))
		}, "others may read or write it, mode 0640"},
	} {
		if err := c.make(file("sdm-2.json")); err != nil {
			t.Fatal(what, err)
		}
		expect(t, what, told(r), "sdm-1 live", "sdm-2.json: "+c.want)
		if got := registered(t, r, State{Kind: Run}); got.State().ID != "sdm-3" {
			t.Errorf("%s: %s is registered", what, got.State().ID)
		} else if err := got.Remove(); err != nil {
			t.Error(err)
		}
		os.Remove(file("sdm-2.json"))
	}
	for _, name := range []string{"sdm-01.json", "sdm-0.json", "sdm--1.json", "sdm-99999.json", "sdm-1.json~", "\x1b[2J.json", "sdm-.json"} {
		put(t, r, name, []byte("anything"))
	}
	expect(t, "other names", told(r), "sdm-1 live")
	if err := live.Remove(); err != nil {
		t.Error(err)
	}
}

func TestUnknownFieldsArePassedOver(t *testing.T) {
	r := newRegistry(t)
	text := strings.Replace(string(example(r.uid).print()), `{"version"`, `{"colour":["red"],"version"`, 1)
	put(t, r, "sdm-1.json", []byte(text))
	expect(t, "found", told(r), "sdm-1 elsewhere")
}

func TestUnreadableFilesAreRemovedAfterAMonth(t *testing.T) {
	r := newRegistry(t)
	path := put(t, r, "sdm-1.json", []byte("{"))
	old := time.Now().Add(-maxAge - time.Hour)
	os.Chtimes(path, old, old)
	expect(t, "first", told(r), "sdm-1.json: it is no session file: unexpected end of JSON input")
	expect(t, "then", told(r))
}

func TestDirectoriesOfOthersAreRefused(t *testing.T) {
	r := newRegistry(t)
	put(t, r, "sdm-1.json", example(r.uid).print())
	os.Chmod(r.path, 0o777)
	expect(t, "writable", told(r), r.path+": others can write into the directory, mode 0777 (chmod 700 it)")
	if e := registered(t, r, State{Kind: Run}); e.State().ID != "sdm-2" {
		t.Errorf("%s is registered", e.State().ID)
	}
	if info, _ := os.Stat(r.path); info.Mode().Perm() != 0o700 {
		t.Errorf("the mode is now %v", info.Mode())
	}
	foreign := r
	foreign.uid++
	expect(t, "foreign", told(foreign), fmt.Sprintf("%s: the directory belongs to user %d, not to %d", r.path, r.uid, foreign.uid))
	if _, err := foreign.register(State{Kind: Run}); err == nil || !strings.Contains(err.Error(), "cannot be written: the directory belongs to user") {
		t.Error(err)
	}
	os.RemoveAll(r.path)
	os.WriteFile(r.path, nil, 0o600)
	expect(t, "a file", told(r), r.path+": not a directory")
}

// unlisted checks that a session goes on without a file.
func unlisted(t *testing.T, r registry, want string) *Entry {
	t.Helper()
	e, err := r.register(State{Kind: Run})
	var none *Unlisted
	if !errors.As(err, &none) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("%v; want %q", err, want)
	}
	s := e.State()
	if s.ID != "" || !strings.HasPrefix(s.Socket, fmt.Sprintf("@sdm/%d/%d-", r.uid, os.Getpid())) {
		t.Errorf("registered as %+v", s)
	}
	l, err := net.Listen(dial.Split(s.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := e.Update(func(s *State) { s.Job = "7" }); !errors.As(err, &none) || e.State().Job != "7" || e.State().Socket != s.Socket {
		t.Errorf("%v; now %+v", err, e.State())
	}
	return e
}

func TestAFullDisk(t *testing.T) {
	r := newRegistry(t)
	if err := errors.Join(os.MkdirAll(r.path, 0o700), unix.Mount("none", r.path, "tmpfs", 0, "size=16k,mode=0700")); err != nil {
		t.Skipf("no small file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(r.path, 0) })
	fill := filepath.Join(r.path, "fill")
	os.WriteFile(fill, make([]byte, 1<<20), 0o600) // fails when the disk is full
	e := unlisted(t, r, "its file in "+r.path+" cannot be written: no space left on device")
	if names, _ := os.ReadDir(r.path); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
	if err := e.Remove(); err != nil {
		t.Error(err)
	}
	os.Remove(fill)
	if err := e.Update(func(*State) {}); err != nil || e.State().ID != "sdm-1" {
		t.Errorf("with space again: %v, %+v", err, e.State())
	}
	expect(t, "then", told(r), "sdm-1 live")
	// A disk that fills up while a session runs leaves the file as it was.
	os.WriteFile(fill, make([]byte, 1<<20), 0o600)
	if err := e.Update(func(s *State) { s.Job = "8" }); err == nil {
		t.Error("no error")
	}
	expect(t, "when it is full again", told(r), "sdm-1 live")
	if found, _ := r.list(); found[0].State.Job != "7" {
		t.Errorf("on file is %+v", found[0].State)
	}
	// One that cannot be written at all still tells what has ended.
	s := example(r.uid)
	s.Host, s.ID = r.at.host, "sdm-2"
	os.Remove(fill)
	put(t, r, "sdm-2.json", s.print())
	if err := unix.Mount("none", r.path, "", unix.MS_REMOUNT|unix.MS_RDONLY, "size=16k"); err != nil {
		t.Fatal(err)
	}
	expect(t, "read only", told(r), "sdm-1 live", "sdm-2 gone", r.path+": files of sessions that have ended stay: read-only file system")
	unlisted(t, r, "cannot be written: read-only file system")
}

func TestWithoutAHome(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "relative")
	t.Setenv("HOME", "")
	unlisted(t, ofThisUser(), "the session is in no list: there is no home directory for it (set HOME, or XDG_STATE_HOME)")
	found, troubles := List(t.Context())
	if len(found) != 0 || len(troubles) != 1 || troubles[0].Error() != "the sessions are not read: there is no home directory for it (set HOME, or XDG_STATE_HOME)" {
		t.Errorf("%v, %v", found, troubles)
	}
	t.Setenv("HOME", "/home/ann")
	if path, err := userFolder(); path != "/home/ann/.local/state/sdm/sessions" || err != nil {
		t.Errorf("%s, %v", path, err)
	}
	t.Setenv("XDG_STATE_HOME", "/state")
	if path, err := userFolder(); path != "/state/sdm/sessions" || err != nil {
		t.Errorf("%s, %v", path, err)
	}
	t.Setenv("HOME", "/dev/null")
	t.Setenv("XDG_STATE_HOME", "")
	unlisted(t, ofThisUser(), "its file in /dev/null/.local/state/sdm/sessions cannot be written: not a directory")
}

func TestAFileThatSomebodyRemoves(t *testing.T) {
	r := newRegistry(t)
	e := registered(t, r, State{Kind: Run})
	os.RemoveAll(r.path)
	if err := e.Update(func(s *State) { s.Job = "7" }); err != nil {
		t.Error(err)
	}
	expect(t, "after an update", told(r), "sdm-1 live")
	os.Remove(filepath.Join(r.path, "sdm-1.json"))
	other := registered(t, r, State{Kind: Run, Program: "other"})
	if err := e.Update(func(*State) {}); err == nil || !strings.HasSuffix(err.Error(), ": sdm-1 is another session now") {
		t.Errorf("update: %v", err)
	}
	if err := e.Remove(); err == nil || err.Error() != "sdm-1 is another session now" {
		t.Errorf("remove: %v", err)
	}
	if found, _ := r.list(); len(found) != 1 || found[0].State != other.State() {
		t.Errorf("found %+v", found)
	}
	if err := other.Remove(); err != nil {
		t.Error(err)
	}
	if err := other.Remove(); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

func TestChoice(t *testing.T) {
	session := func(n int, l Liveness) Found {
		s := example(0)
		s.ID, s.Began = id(n), time.Date(2026, 11, 28, 12, n, 0, 0, time.Local)
		return Found{s, l}
	}
	line := func(n int) string {
		return fmt.Sprintf("\n  sdm-%d, on login1, mpirun -n 4 ./app, job slurm 12, since 2026-11-28 12:%02d", n, n)
	}
	odd := session(9, Live)
	odd.State.Program, odd.State.Job = "a\nsdm: b", ""
	for _, c := range []struct {
		name, id  string
		found     []Found
		want, err string
	}{
		{"none", "", nil, "", "there is no session (sdm run and sdm attach begin one)"},
		{"the only one", "", []Found{session(1, Live)}, "sdm-1", ""},
		{"the only live one", "", []Found{session(1, Elsewhere), session(2, Live), session(3, Gone)}, "sdm-2", ""},
		{"the only one elsewhere", "", []Found{session(1, Elsewhere), session(3, Gone)}, "sdm-1", ""},
		{"several", "", []Found{session(1, Live), session(2, Live), session(3, Gone), session(4, Elsewhere)}, "",
			"no session is named; there are 3:" + line(1) + line(2) + line(4)},
		{"several elsewhere", "", []Found{session(1, Elsewhere), session(2, Elsewhere)}, "", "no session is named; there are 2:" + line(1) + line(2)},
		{"named", "sdm-2", []Found{session(1, Live), session(2, Elsewhere)}, "sdm-2", ""},
		{"an unknown name", "sdm-\x1b", []Found{session(1, Live)}, "", `there is no session "sdm-\x1b"; there is:` + line(1)},
		{"a part of a name", "sdm-1", []Found{session(11, Live)}, "", `there is no session "sdm-1"; there is:` + line(11)},
		{"an ended one", "sdm-3", []Found{session(3, Gone)}, "", "session sdm-3 has ended (sdm run and sdm attach begin one)"},
		{"only ended ones", "", []Found{session(3, Gone)}, "", "there is no session (sdm run and sdm attach begin one)"},
		{"a hostile program", "x", []Found{odd}, "", `there is no session "x"; there is:` + "\n  sdm-9, on login1, a^Jsdm: b, since 2026-11-28 12:09"},
	} {
		f, err := choose(c.found, nil, c.id)
		if f.State.ID != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: %q, %v; want %q, %s", c.name, f.State.ID, err, c.want, c.err)
		}
	}
	_, err := choose(nil, []Trouble{{"/s/sdm-1.json", errors.New("it is torn")}}, "sdm-1")
	if want := "there is no session \"sdm-1\" (sdm run and sdm attach begin one)\n  passed over: /s/sdm-1.json: it is torn"; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func FuzzParse(f *testing.F) {
	good := example(1000).print()
	f.Add(good)
	f.Add(good[:100])
	f.Add([]byte(`{"version":1,"keep_ns":1e3}`))
	f.Add([]byte(strings.ReplaceAll(string(good), "slurm 12", "\xff\u202e")))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parse(b, 1000)
		if err != nil {
			return
		}
		for _, text := range []string{s.ID, s.Host, s.Boot, s.Space, s.Socket, string(s.Kind)} {
			if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Errorf("%q is accepted", text)
			}
		}
		again, err := parse(s.print(), 1000)
		if err != nil || !again.Began.Equal(s.Began) {
			t.Fatalf("%+v is read as %+v, %v", s, again, err)
		}
		if again.Began = s.Began; again != s {
			t.Errorf("%+v is read as %+v", s, again)
		}
	})
}
