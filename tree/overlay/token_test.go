package overlay

import (
	"io"
	"net"
	"testing"
	"time"
)

func TestWords(t *testing.T) {
	ours, theirs := &tokens{key: []byte("a")}, &tokens{key: []byte("b")}
	word := ours.fresh()
	for _, c := range []struct {
		name, word string
		want       bool
	}{
		{"of another secret", theirs.fresh(), false},
		{"empty", "", false},
		{"no word", "h2", false},
		{"changed", word[:len(word)-1] + "g", false},
		{"first use", word, true},
		{"second use", word, false},
		{"another one", ours.fresh(), true},
	} {
		if got := ours.accept(c.word); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	for range 3 * maxNonces {
		ours.accept(ours.fresh())
	}
	if len(ours.used) != maxNonces || len(ours.ring) != maxNonces {
		t.Errorf("%d and %d nonces are kept", len(ours.used), len(ours.ring))
	}
}

// recorder records the bytes written.
type recorder struct {
	net.Conn
	sent []byte
}

func (r *recorder) Write(p []byte) (int, error) {
	r.sent = append(r.sent, p...)
	return r.Conn.Write(p)
}

// A listener treats a replayed first packet as an unauthenticated one: it sends no
// byte, and the replay delays no peer.
func TestReplayedHello(t *testing.T) {
	secret := NewSecret()
	l := listenAs(t, secret, aChild)
	came := accepting(t, l)
	own, err := newCredentials(secret, forLinks)
	check(t, err)
	conn, err := net.Dial("tcp", l.Addr())
	check(t, err)
	defer conn.Close()
	recorded := &recorder{Conn: conn}
	s := dialled(recorded, own)
	check(t, s.tls.HandshakeContext(testContext(t)))
	check(t, s.out.settle(10*time.Second))
	hello := recorded.sent
	if n := int(hello[3])<<8 + int(hello[4]); len(hello) > 5+n {
		hello = hello[:5+n] // RFC 8446, section 5.1: the first record
	}
	for range 120 {
		replayed := knock(t, l.Addr(), hello)
		replayed.SetReadDeadline(time.Now().Add(10 * time.Second))
		if p, _ := io.ReadAll(replayed); len(p) > 0 {
			t.Fatalf("a replayed hello got %d bytes", len(p))
		}
	}
	link, _, err := Dial(testContext(t), []string{l.Addr()}, 1, secret, aParent, 5)
	check(t, err)
	defer link.Close()
	await(t, "the parent", came)
}
