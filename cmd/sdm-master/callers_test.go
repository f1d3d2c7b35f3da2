package main

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"sdm/master/frontend/rpc"
)

func TestCallers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &callers{Listener: l}
	defer c.Close()
	why := errors.New("none came")
	if err := c.with(why); err != why {
		t.Errorf("no call was made: %v", err)
	}
	for range 3 {
		out, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		in, err := c.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
	}
	c.letIn = 3
	if err := c.with(why); err != why {
		t.Errorf("all were let in: %v", err)
	}
	want := "none came; 2 of 3 calls came without our secret, or of another --session or version (from 127.0.0.1)"
	c.letIn = 1
	if err := c.with(why); !errors.Is(err, why) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	c.forget()
	if err := c.with(why); err != why {
		t.Errorf("forgotten: %v", err)
	}
}

// A server with another secret cannot register. The front end is told that somebody has called.
func TestServerWithAnotherSecretIsTold(t *testing.T) {
	file := secretFile(t)
	addr, accept := frontEnd(t, file)
	m := start(t, nil, "--connect", addr, "--secret-file", file, "--rendezvous", "127.0.0.1:0", "--servers", "1")
	client := accept()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	calling, hangUp := context.WithCancel(ctx)
	var strangers sync.WaitGroup
	strangers.Go(func() { callAgain(calling, m.rendezvous()) })
	defer strangers.Wait()
	defer hangUp()
	for { // until one has called during the registration: earlier calls are not counted
		_, err := client.Initialize(ctx, rpc.Setup{Wait: rpc.Wait(100 * time.Millisecond)})
		if err == nil || ctx.Err() != nil {
			t.Fatalf("error: %v", err)
		}
		if strings.Contains(err.Error(), "server 0 of 1 never registered: none came in 100ms; ") &&
			strings.Contains(err.Error(), "calls came without our secret") {
			break
		}
	}
	if err := client.Close(ctx); err != nil {
		t.Error(err)
	}
	m.exit(exitNoTree)
}

// callAgain repeatedly connects to an address, sends nothing, and disconnects.
func callAgain(ctx context.Context, addr string) {
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for ctx.Err() == nil {
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
		}
		select {
		case <-again.C:
		case <-ctx.Done():
		}
	}
}
