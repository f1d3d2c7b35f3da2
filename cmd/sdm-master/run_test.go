package main

import (
	"context"
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

	"sdm/launch/secret"
	"sdm/master/frontend/rpc"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

func TestUsage(t *testing.T) {
	file := secretFile(t)
	for _, tt := range []struct {
		name string
		args []string
		env  []string
		want string
	}{
		{"nothing", nil, nil, "where is the front end?"},
		{"a word", []string{"--connect", "stdio", "./a"}, nil, `"./a" is no flag`},
		{"an unknown flag", []string{"--conect", "x"}, nil, "unknown flag: --conect"},
		{"no port", []string{"--connect", "login"}, nil, "write HOST:PORT, unix:PATH or stdio"},
		{"no host", []string{"--connect", ":5000"}, nil, "which host"},
		{"both ways", []string{"--connect", "stdio", "--listen", "0"}, nil, "give one of them"},
		{"nowhere to listen", []string{"--listen", "a:b:c"}, nil, "--listen a:b:c: write [HOST:]PORT, or unix:PATH"},
		{"two sources", []string{"--connect", "stdio", "--routing-file", "a", "--rendezvous", "b:1"}, nil, "exclude one another"},
		{"all networks unasked", []string{"--connect", "stdio", "--rendezvous", ":5000"}, nil, "0.0.0.0:PORT is all networks"},
		{"hosts without a port", []string{"--connect", "stdio", "--generate-routes", "a,b"}, nil, "--port BASE"},
		{"a strange tree", []string{"--connect", "stdio", "--tree", "oak"}, nil, "--tree: "},
		{"a strange level", []string{"--connect", "stdio", "--log-level", "loud"}, nil, "--log-level"},
		{"a twin that is wrong", []string{"--connect", "stdio"}, []string{"SDM_SERVERS=many"}, "SDM_SERVERS: "},
		{"no secret file", []string{"--connect", "stdio", "--secret-file", file + "x"}, nil, "secret"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := start(t, tt.env, tt.args...)
			m.exit(exitUsage)
			if text := m.stderr.text(); !strings.Contains(text, tt.want) || strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "sdm-master: ") {
				t.Errorf("said: %s", text)
			}
		})
	}
}

func TestHelpAndVersion(t *testing.T) {
	for flag, want := range map[string]string{"--help": "--connect-wait", "--version": "protocol 1"} {
		m := start(t, nil, flag)
		m.exit(0)
		if !strings.Contains(m.stderr.text(), want) {
			t.Errorf("%s: %s", flag, m.stderr.text())
		}
	}
}

func TestNoFrontEnd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	m := start(t, nil, "--connect", addr, "--secret-file", secretFile(t), "--connect-wait", "300ms")
	m.exit(exitNoTree)
	if text := m.stderr.text(); !strings.Contains(text, "front end at "+addr) || !strings.Contains(text, "connection refused") {
		t.Errorf("said: %s", text)
	}
}

func TestNoFrontEndComes(t *testing.T) {
	m := start(t, nil, "--listen", "0", "--secret-file", secretFile(t), "--connect-wait", "100ms")
	m.exit(exitNoTree)
	if text := m.stderr.text(); !strings.Contains(text, "no front end came to 127.0.0.1:") || !strings.Contains(text, "nobody in 100ms") {
		t.Errorf("said: %s", text)
	}
}

// An IDE's author begins with the script: it must come all the way.
func TestPythonFrontEnd(t *testing.T) {
	for _, way := range []string{"listens", "dials"} {
		t.Run(way, func(t *testing.T) { drive(t, way == "dials") })
	}
}

// drive runs the script over three simulated servers.
func drive(t *testing.T, dials bool) {
	file := secretFile(t)
	out := newWatched()
	var m *running
	begin := func(where string) *exec.Cmd {
		ide := exec.Command("python3", "../../testdata/frontend/drive.py", file, where, "./work", "work.c:31", "n")
		ide.Stdout, ide.Stderr = out, out
		if err := ide.Start(); err != nil {
			t.Fatal(err)
		}
		return ide
	}
	flags := []string{"--secret-file", file, "--rendezvous", "127.0.0.1:0", "--servers", "3"}
	var ide *exec.Cmd
	if dials {
		m = start(t, nil, append(flags, "--listen", "0")...)
		ide = begin("dial:" + m.stderr.after(t, "a front end is awaited at "))
	} else {
		ide = begin("127.0.0.1:0")
		m = start(t, nil, append(flags, "--connect", "127.0.0.1:"+out.after(t, "listening on port "))...)
	}
	c := newCrew(t, file)
	c.register(m.rendezvous(), 3, 2, 0, 1)
	if err := ide.Wait(); err != nil {
		t.Errorf("the script: %v\n%s", err, out.text())
	}
	m.exit(0)
	for _, want := range []string{
		`initialize {"version": 1, "build": `, `"servers": 3, "ranks": "0-2"}`,
		`"text": "3 of 3 ranks have a server"`,
		`"reason": "entry"`,
		`"reason": "breakpoint-hit", "breakpoint": 1}`,
		`"ranks": "0-2", "n": 3, "result": {"expr": "n"}, "columns": {"value": {"distinct": 3,`,
		`quit {"id": 6, "answers": [], "done": {"event": "done", "id": 6, "command": "quit", "asked": 3, "answered": 3,`,
	} {
		if !strings.Contains(out.text(), want) {
			t.Errorf("the script never printed %s:\n%s", want, out.text())
		}
	}
	c.group.Wait()
	if c.ended != 3 || len(c.errors) != 0 {
		t.Errorf("%d servers ended well, errors %q", c.ended, c.errors)
	}
}

// frontEnd is a listening front end in Go, as sdm listen is.
func frontEnd(t *testing.T, file string) (addr string, accept func() *rpc.Client) {
	t.Helper()
	key, err := secret.File(file)
	if err != nil {
		t.Fatal(err)
	}
	l, err := rpc.Listen("127.0.0.1:0", rpc.Options{Secret: key[:]})
	if err != nil {
		t.Fatal(err)
	}
	return l.Addr().String(), func() *rpc.Client {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		c, err := l.Accept(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
}

func TestRoutingFile(t *testing.T) {
	file := secretFile(t)
	c := newCrew(t, file)
	text := "2\n"
	for i := range 2 {
		l, self := c.listen(i)
		_, port, err := net.SplitHostPort(l.Addr())
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf("%d 127.0.0.1 %s\n", i, port)
		c.serve(i, l, self, nil)
	}
	routes := filepath.Join(t.TempDir(), "routes")
	if err := os.WriteFile(routes, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	addr, accept := frontEnd(t, file)
	m := start(t, nil, "--connect", addr, "--secret-file", file)
	client := accept()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := client.Initialize(ctx, rpc.Setup{}); err == nil || !strings.Contains(err.Error(), "where are the servers?") {
		t.Errorf("without a source: %v", err)
	}
	report, err := client.Initialize(ctx, rpc.Setup{RoutingFile: routes, Tree: "flat"})
	if err != nil || report.Servers != 2 || report.Ranks.String() != "0-1" {
		t.Fatalf("report %+v, error %v", report, err)
	}
	if err := client.Close(ctx); err != nil {
		t.Error(err)
	}
	m.exit(0)
	c.group.Wait()
	if c.ended != 2 {
		t.Errorf("%d servers ended well", c.ended)
	}
}

func TestFrontEndThatVanishes(t *testing.T) {
	file := secretFile(t)
	addr, accept := frontEnd(t, file)
	m := start(t, nil, "--connect", addr, "--secret-file", file, "--rendezvous", "127.0.0.1:0")
	c := newCrew(t, file)
	c.register(m.rendezvous(), 2, 0, 1)
	client := accept()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := client.Initialize(ctx, rpc.Setup{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(ctx, session.Call{Command: "launch", Args: protocol.Args{Job: &protocol.Job{Program: "./a"}}}); err != nil {
		t.Fatal(err)
	}
	client.Cut()
	m.exit(exitLost)
	if text := m.stderr.text(); !strings.Contains(text, "the front end is gone") {
		t.Errorf("said: %s", text)
	}
	c.group.Wait()
	if c.ended != 2 {
		t.Errorf("%d servers ended well", c.ended)
	}
}

func TestFrontEndThatVanishesWhileServersRegister(t *testing.T) {
	file := secretFile(t)
	addr, accept := frontEnd(t, file)
	m := start(t, nil, "--connect", addr, "--secret-file", file, "--rendezvous", "127.0.0.1:0", "--servers", "2")
	c := newCrew(t, file)
	c.register(m.rendezvous(), 2, 1)
	client := accept()
	initialized := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_, err := client.Initialize(ctx, rpc.Setup{})
		initialized <- err
	}()
	for e := range client.Events() {
		if e.Name == protocol.KindNote.String() { // 1 of 2 ranks have a server
			break
		}
	}
	client.Cut()
	m.exit(exitLost)
	if text := m.stderr.text(); !strings.Contains(text, "the front end is gone") {
		t.Errorf("said: %s", text)
	}
	if err := <-initialized; err == nil {
		t.Error("initialized without a master")
	}
	c.group.Wait()
}

func TestTreeThatCannotBeBuilt(t *testing.T) {
	file := secretFile(t)
	addr, accept := frontEnd(t, file)
	m := start(t, nil, "--connect", addr, "--secret-file", file, "--rendezvous", "127.0.0.1:0", "--servers", "3", "--connect-wait", "2s")
	c := newCrew(t, file)
	c.register(m.rendezvous(), 3, 1)
	client := accept()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := client.Initialize(ctx, rpc.Setup{})
	if err == nil || !strings.Contains(err.Error(), "servers 0,2 of 3 never registered") {
		t.Errorf("error: %v", err)
	}
	if err := client.Close(ctx); err != nil {
		t.Error(err)
	}
	m.exit(exitNoTree)
	if text := m.stderr.text(); !strings.Contains(text, "servers 0,2 of 3 never registered") {
		t.Errorf("said: %s", text)
	}
}

// With partial a session begins with the servers that have come: the ranks of the
// others are lost before anything else happens, and the rest can be used.
func TestPartialTree(t *testing.T) {
	file := secretFile(t)
	addr, accept := frontEnd(t, file)
	m := start(t, nil, "--connect", addr, "--secret-file", file, "--rendezvous", "127.0.0.1:0", "--servers", "4", "--connect-wait", "1m")
	c := newCrew(t, file)
	c.register(m.rendezvous(), 4, 1, 3)
	client := accept()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for { // until both have come
		_, err := client.Initialize(ctx, rpc.Setup{Wait: rpc.Wait(10 * time.Millisecond)})
		if err == nil || ctx.Err() != nil {
			t.Fatalf("initialized without two of four: %v", err)
		}
		if strings.Contains(err.Error(), "servers 0,2 of 4 never registered: none came in 10ms") {
			break
		}
	}
	report, err := client.Initialize(ctx, rpc.Setup{Wait: rpc.Wait(10 * time.Millisecond), Partial: true})
	if err != nil || !report.Partial || report.Servers != 4 || report.Lost().String() != "0,2" || len(report.Absent) != 1 ||
		report.Absent[0].Cause != "it never registered" {
		t.Fatalf("%+v, %v", report, err)
	}
	if _, err := client.Do(ctx, session.Call{Command: "print", Args: protocol.Args{Expr: "x"}}); err != nil {
		t.Fatal(err)
	}
	var lost, answered rank.Set
	for e := range client.Events() {
		switch {
		case e.Done != nil:
			if e.Done.Asked != 4 || e.Done.Answered != 2 || e.Done.Lost.String() != "0,2" || lost.String() != "0,2" || answered.String() != "1,3" {
				t.Errorf("%+v, lost %v, answered %v", e.Done, lost, answered)
			}
			if err := client.Close(ctx); err != nil {
				t.Error(err)
			}
		case e.Group.Kind == protocol.KindLost && e.ID == 0:
			lost = lost.Union(e.Group.Ranks)
		case e.Group.Kind == protocol.KindResult:
			answered = answered.Union(e.Group.Ranks)
		}
	}
	m.exit(0)
	c.group.Wait()
}

// The master stands in one line with the servers of an MPI program: MPI_Init
// would wait for it for ever, so it must be refused before anything hangs.
func TestMPIInOneLine(t *testing.T) {
	program := mpiProgram(t)
	file := secretFile(t)
	addr, accept := frontEnd(t, file)
	line := []string{"OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=3"}
	m := start(t, line, "--connect", addr, "--secret-file", file, "--rendezvous", "127.0.0.1:0")
	c := newCrew(t, file)
	c.slot = program
	c.register(m.rendezvous(), 3, 0)
	client := accept()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := client.Initialize(ctx, rpc.Setup{})
	for _, want := range []string{"is an MPI program", "MPI_Init would wait", "mpirun -n 2 sdm-server"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error without %q: %v", want, err)
		}
	}
	if err := client.Close(ctx); err != nil {
		t.Error(err)
	}
	m.exit(exitNoTree)
	c.group.Wait()
	if len(c.errors) != 1 || !strings.Contains(c.errors[0], "MPI_Init") {
		t.Errorf("the server was told %q", c.errors)
	}
}

// Without MPI the same line is fine, as the original SDM was started.
func TestOneLineWithoutMPI(t *testing.T) {
	file := secretFile(t)
	addr, accept := frontEnd(t, file)
	line := []string{"OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=3"}
	m := start(t, line, "--connect", addr, "--secret-file", file, "--rendezvous", "127.0.0.1:0")
	c := newCrew(t, file)
	c.slot = "/bin/sh"
	c.register(m.rendezvous(), 3, 0, 1)
	client := accept()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	report, err := client.Initialize(ctx, rpc.Setup{})
	if err != nil || report.Servers != 2 {
		t.Fatalf("report %+v, error %v", report, err)
	}
	mpi := session.Call{Command: "launch", Args: protocol.Args{Job: &protocol.Job{Program: mpiProgram(t)}}}
	_, err = client.Do(ctx, mpi)
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Kind != protocol.FaultLaunch || !strings.Contains(fault.Message, "MPI_Init") {
		t.Errorf("launch of an MPI program: %v", err)
	}
	if err := client.Close(ctx); err != nil {
		t.Error(err)
	}
	m.exit(0)
}

// mpiProgram builds a program that is linked with an MPI library in name.
func mpiProgram(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	gcc := func(source, out string, args ...string) {
		t.Helper()
		cmd := exec.Command("gcc", append([]string{"-x", "c", "-", "-o", filepath.Join(dir, out)}, args...)...)
		cmd.Stdin = strings.NewReader(source)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("gcc: %v\n%s", err, text)
		}
	}
	gcc("int MPI_Init(void) { return 0; }", "libmpi.so.40", "-shared", "-fPIC", "-Wl,-soname,libmpi.so.40")
	gcc("int MPI_Init(void); int main(void) { return MPI_Init(); }", "program", "-x", "none", filepath.Join(dir, "libmpi.so.40"))
	return filepath.Join(dir, "program")
}

func TestStdio(t *testing.T) {
	in, say := io.Pipe()
	hear, out := io.Pipe()
	stderr := newWatched()
	status := make(chan int, 1)
	go func() {
		status <- run([]string{"sdm-master", "--connect", "stdio", "--secret-file", secretFile(t)}, nil, in, out, stderr)
		out.Close()
	}()
	const quit = `{"jsonrpc":"2.0","id":1,"method":"shutdown"}`
	if _, err := fmt.Fprintf(say, "Content-Length: %d\r\n\r\n%s", len(quit), quit); err != nil {
		t.Fatal(err)
	}
	heard, err := io.ReadAll(hear)
	if want := "Content-Length: 36\r\n\r\n" + `{"jsonrpc":"2.0","id":1,"result":{}}`; err != nil || string(heard) != want {
		t.Errorf("heard %q, %v", heard, err)
	}
	say.Close()
	if got := <-status; got != 0 || stderr.text() != "" {
		t.Errorf("exit status %d: %s", got, stderr.text())
	}
}

func TestInterrupted(t *testing.T) {
	file := secretFile(t)
	addr, accept := frontEnd(t, file)
	m := start(t, nil, "--connect", addr, "--secret-file", file, "--rendezvous", "127.0.0.1:0")
	c := newCrew(t, file)
	c.register(m.rendezvous(), 1, 0)
	client := accept()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := client.Initialize(ctx, rpc.Setup{}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	m.exit(exitInterrupted)
	for range client.Events() { // until the master has hung up
	}
	client.Cut()
	c.group.Wait()
	if c.ended != 1 {
		t.Errorf("%d servers ended well", c.ended)
	}
}
