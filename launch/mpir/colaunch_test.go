package mpir

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestCoLaunch(t *testing.T) {
	starter := compile(t, "starter", starterSource)
	var prepared error
	r := begin(t, Spec{Argv: []string{starter}, Prepare: func(m Memory) {
		prepared = CoLaunch(m, "/bin/daemon", []string{"--a", "two words", "x"})
	}})
	r.held()
	if prepared != nil {
		t.Fatal(prepared)
	}
	r.l.Release()
	r.l.Status()
	if want := "path /bin/daemon args [--a] [two words] [x]\n"; !strings.Contains(r.text(), want) {
		t.Errorf("no %q in %q", want, r.text())
	}
}

// TestCoLaunchIntoARunningJob notifies a starter by its FIFO, and checks that the starter's
// variables are restored.
func TestCoLaunchIntoARunningJob(t *testing.T) {
	starter, fifo := compile(t, "starter", starterSource), filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.Command(starter, "fifo", fifo)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	a := found(ctx, t, cmd.Process.Pid)
	if _, err := a.Acquire(ctx, func(string) {}); err != nil {
		t.Fatal(err)
	}
	for { // the starter opens its FIFO some time after it has its table
		err := a.CoLaunch("/bin/daemon", []string{"--a", "b"})
		if err == nil {
			break
		}
		if sleep(ctx, time.Millisecond) != nil {
			t.Fatal(err)
		}
	}
	text := bufio.NewReader(out)
	var said []string
	for range 3 {
		line, err := text.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		said = append(said, line)
	}
	// The first line depends on whether the starter made its table before or after it was asked
	// to.
	if want := "attached 1 1\npath /bin/daemon args [--a] [b]\n"; strings.Join(said[1:], "") != want {
		t.Errorf("%q, want %q", said, want)
	}
	memory := a.starter
	at, _, _ := memory.Symbol(symPath)
	if err := a.CoLaunch("/bin/daemon", []string{""}); !errors.Is(err, ErrNoRoom) {
		t.Errorf("an empty argument: %v", err)
	}
	a.restore()
	left, err := readText(memory, at, 100)
	if debugged, _ := readInt(memory, symBeingDebugged); left != "" || err != nil || debugged != 0 {
		t.Errorf("left: %q, debugged %d, %v", left, debugged, err)
	}
	if err := a.End(ctx); err != nil {
		t.Error(err)
	}
	in.Close()
	cmd.Wait() // exit status 7
}

// TestCoLaunchWithoutAFIFO checks the error, and that nothing is changed.
func TestCoLaunchWithoutAFIFO(t *testing.T) {
	cmd, in := begun(t, exec.Command(compile(t, "starter", starterSource)))
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	a := found(ctx, t, cmd.Process.Pid)
	at, _, ok := a.starter.Symbol(symFIFO)
	path, _, _ := a.starter.Symbol(symPath)
	if !ok {
		t.Fatal("the starter has no FIFO variable")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	idle := filepath.Join(t.TempDir(), "idle")
	if err := syscall.Mkfifo(idle, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"": "no MPIR_attach_fifo", "/no/such": "no such file", file: "is none", idle: "does not listen at its attach FIFO"} {
		if err := a.starter.Write(at, append([]byte(name), 0)); err != nil {
			t.Fatal(err)
		}
		if err := a.CoLaunch("/bin/daemon", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if text, err := readText(a.starter, path, 100); text != "" || err != nil {
		t.Errorf("the path was set: %q, %v", text, err)
	}
	a.End(ctx)
	in.Close()
	cmd.Wait() // exit status 7
}

func TestCoLaunchRefuses(t *testing.T) {
	f := newFake(1, 5)
	if err := CoLaunch(f, "/d", nil); !errors.Is(err, ErrNoCoLaunch) {
		t.Errorf("%v", err)
	}
	f.symbols[symPath], f.symbols[symArguments] = symbol{base + 60, 8}, symbol{base + 70, 8}
	for _, c := range []struct {
		path string
		args []string
		want string
	}{
		{"/too/long", []string{"a"}, "no room"},
		{"/d", []string{"much longer"}, "no room"},
		{"/d", []string{""}, "no room for the command line of its daemons: \"\" cannot be"},
		{"/d", []string{"a\x00b"}, "cannot be an argument"},
	} {
		if err := CoLaunch(f, c.path, c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %q: %v", c.path, c.args, err)
		}
	}
	if err := CoLaunch(f, "/d", []string{"a", "b"}); err != nil || string(f.bytes[60:63]) != "/d\x00" || string(f.bytes[70:75]) != "a\x00b\x00\x00" {
		t.Errorf("%v, %q", err, f.bytes[60:80])
	}
}
