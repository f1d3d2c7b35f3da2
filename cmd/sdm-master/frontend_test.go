package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"

	"sdm/launch/secret"
	"sdm/master/frontend/rpc"
	"sdm/master/session"
	"sdm/protocol"
)

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
	if text := m.stderr.text(); !strings.Contains(text, "no front end came to 127.0.0.1:") || !strings.Contains(text, "none in 100ms") {
		t.Errorf("said: %s", text)
	}
}

// The example script, from which authors of IDEs start, must run to its end.
func TestPythonFrontEnd(t *testing.T) {
	for _, way := range []string{"listens", "dials"} {
		t.Run(way, func(t *testing.T) { drive(t, way == "dials") })
	}
}

// drive runs the script with three servers.
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
