package launch

import (
	"fmt"
	"net"
	"slices"
	"testing"
)

func TestListeners(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:6D7C 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 5001 1 0000000000000000 100 0 0 10 0
   1: 0100007F:6D7C 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 5002 1 0000000000000000 100 0 0 10 0
   2: 0100007F:6D7D 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 5003 1 0000000000000000 100 0 0 10 0
   3: 0100007F:6D7C 0100007F:8000 01 00000000:00000000 00:00000000 00000000  1000        0 5004 1 0000000000000000 100 0 0 10 0
   4: 0100007F:6D7C
`
	if got := listeners([]byte(table), 28028); !slices.Equal(got, []listener{{"5001", 1000}, {"5002", 1001}}) {
		t.Errorf("%v", got)
	}
}

// TestListening looks at a port at which only this process listens, which is left out.
func TestListening(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	f := Listening(port, "here")
	if want := fmt.Sprintf("no process of yours on here that may be looked at listens on port %d", port); f.Error != want || len(f.Ranks) > 0 {
		t.Errorf("%+v, want %q", f, want)
	}
	if len(f.Addresses) == 0 {
		t.Error("this host has no address")
	}
	l.Close()
	if f := Listening(port, "here"); f.Error != fmt.Sprintf("nobody listens on port %d of here", port) || len(f.Ranks) > 0 {
		t.Errorf("%+v", f)
	}
}
