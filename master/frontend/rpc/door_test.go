// Tests of the port for front ends, before a peer has proved the secret.

package rpc

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
)

func TestDoorWithoutASecret(t *testing.T) {
	if _, err := Listen("127.0.0.1:0", Options{}); err == nil {
		t.Error("a door over TCP without a secret was opened")
	}
	if _, err := Dial(context.Background(), "127.0.0.1:1", Options{}); err == nil || !strings.Contains(err.Error(), "Secret") {
		t.Errorf("dialled without a secret: %v", err)
	}
}

// Unauthenticated connections must not block the master.
func TestListenerSurvivesStrangers(t *testing.T) {
	var log bytes.Buffer // read when all goroutines have ended
	l, err := Listen("127.0.0.1:0", Options{Secret: secretOf("a"), Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	for range maxUnauthenticated + maxUnauthenticated/2 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	conn, client, err, frontErr := meetAt(t, l, l.Addr().String(), Options{Secret: secretOf("a")})
	if err != nil || frontErr != nil {
		t.Fatalf("master: %v, front end: %v", err, frontErr)
	}
	conn.Close()
	if err := client.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if n := strings.Count(log.String(), "refused a connection"); n > maxRefusals || strings.Contains(log.String(), "closed network connection") {
		t.Errorf("%d connections were told of: %s", n, log.String())
	}
}

// A stranger that comes a thousand times is shown only a few times.
func TestRefusalsAreBounded(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	c, other := net.Pipe()
	defer c.Close()
	defer other.Close()
	var r refusals
	for range 1000 {
		r.report(logger, c, errReplaced)
	}
	if log.Len() > 0 {
		t.Errorf("of those who said nothing: %s", log.String())
	}
	for range 1000 {
		r.report(logger, c, io.ErrUnexpectedEOF)
	}
	text := log.String()
	if strings.Count(text, "refused a connection") != maxRefusals || strings.Count(text, "\n") != maxRefusals+1 || !strings.Contains(text, "--log-level debug") {
		t.Errorf("said: %s", text)
	}
}
