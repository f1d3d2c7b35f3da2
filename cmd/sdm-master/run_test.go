package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sdm/master/frontend/rpc"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

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

// Servers with all ranks of their node wait at the rendezvous until all ranks have one. A front end
// that has given up meanwhile finds them there when it tries again.
func TestNodesWaitForASecondInitialize(t *testing.T) {
	file := secretFile(t)
	addr, accept := frontEnd(t, file)
	m := start(t, nil, "--connect", addr, "--secret-file", file, "--rendezvous", "127.0.0.1:0", "--connect-wait", "1m")
	c := newCrew(t, file)
	c.registerNode(m.rendezvous(), 4, 2, 3)
	client := accept()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for { // until the server has registered
		_, err := client.Initialize(ctx, rpc.Setup{Wait: rpc.Wait(10 * time.Millisecond)})
		if err == nil || ctx.Err() != nil {
			t.Fatalf("initialized without half of the ranks: %v", err)
		}
		if strings.Contains(err.Error(), "the servers of ranks 0-1 of 4 never registered: none came in 10ms") {
			break
		}
	}
	c.registerNode(m.rendezvous(), 4, 0, 1)
	report, err := client.Initialize(ctx, rpc.Setup{})
	if err != nil || report.Partial || report.Servers != 2 || report.Ranks.String() != "0-3" {
		t.Fatalf("%+v, %v", report, err)
	}
	if err := client.Close(ctx); err != nil {
		t.Error(err)
	}
	m.exit(0)
	c.group.Wait()
	if len(c.errors) > 0 {
		t.Errorf("refused: %q", c.errors)
	}
}

// With partial a session starts with the servers that have registered. The ranks of the others are
// lost before anything else happens, and the rest can be used.
func TestPartialTree(t *testing.T) {
	file := secretFile(t)
	addr, accept := frontEnd(t, file)
	m := start(t, nil, "--connect", addr, "--secret-file", file, "--rendezvous", "127.0.0.1:0", "--servers", "4", "--connect-wait", "1m")
	c := newCrew(t, file)
	c.register(m.rendezvous(), 4, 1, 3)
	client := accept()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for { // until both have registered
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
	for range client.Events() { // until the master has closed the connection
	}
	client.Cut()
	c.group.Wait()
	if c.ended != 1 {
		t.Errorf("%d servers ended well", c.ended)
	}
}

// A master that is interrupted while it waits for its front end reports just that.
func TestInterruptedBeforeThereIsAFrontEnd(t *testing.T) {
	file := secretFile(t)
	for _, flags := range [][]string{{"--listen", "0"}, {"--connect", "unix:" + file + "x", "--log-level", "debug"}} {
		m := start(t, nil, append([]string{"--secret-file", file, "--connect-wait", "10m"}, flags...)...)
		m.stderr.after(t, "front end")
		if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		m.exit(exitInterrupted)
		if text := m.stderr.text(); !strings.HasSuffix(text, "sdm-master: interrupted\n") {
			t.Errorf("%s: said: %s", flags[0], text)
		}
	}
}

// A table with invalid numbers is an error of the call, which the front end may repeat with a
// correct one.
func TestTableWithWrongNumbers(t *testing.T) {
	file := secretFile(t)
	addr, accept := frontEnd(t, file)
	m := start(t, nil, "--connect", addr, "--secret-file", file)
	client := accept()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for number, want := range map[protocol.ServerID]string{
		0: "server 0 is listed twice: on a and on b", 2: "server 2 on b is beyond the 2", -5: "server -5 on b is beyond the 2", 1 << 40: "on b is beyond the 2",
	} {
		table := protocol.RouteTable{Routes: []protocol.Route{{Server: 0, Host: "a", Addrs: []string{"127.0.0.1:1"}}, {Server: number, Host: "b", Addrs: []string{"127.0.0.1:1"}}}}
		if _, err := client.Initialize(ctx, rpc.Setup{Table: &table}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("server %d: %v", number, err)
		}
	}
	if err := client.Close(ctx); err != nil {
		t.Error(err)
	}
	m.exit(exitNoTree)
}
