package listen

import (
	"net"
	"strings"
	"testing"
)

var here = []string{"127.0.0.1", "127.0.0.2"}

func portOf(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

// The port must be free on all hosts, and all of them are listened on.
func TestNextPort(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	base := portOf(busy)
	l, err := All(here, base, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if port := portOf(l); port <= base || port >= base+100 {
		t.Errorf("port %d of 100 from %d on, which is in use", port, base)
	}
	for _, host := range here {
		_, port, _ := net.SplitHostPort(l.Addr().String())
		dialled, err := net.Dial("tcp", net.JoinHostPort(host, port))
		if err != nil {
			t.Fatal(err)
		}
		dialled.Close()
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
}

func TestRefusals(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for text, test := range map[string]struct {
		hosts []string
		base  int
	}{
		"are all in use": {here, portOf(busy)},
		"cannot assign":  {[]string{"192.0.2.1"}, 0}, // RFC 5737: an address of no host
	} {
		l, err := All(test.hosts, test.base, 1)
		if err == nil {
			l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v from %d: error %v, want %q", test.hosts, test.base, err, text)
		}
	}
	l, err := All([]string{"192.0.2.1", "127.0.0.1"}, 0, 1)
	if err != nil {
		t.Fatalf("one host of two is ours: %v", err)
	}
	l.Close()
}
