package peer

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOfThisUser(t *testing.T) {
	for _, host := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", host)
		if err != nil {
			t.Logf("%s is not here: %v", host, err)
			continue
		}
		defer l.Close()
		out, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		in, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if err := OfThisUser(in); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestOwner(t *testing.T) {
	table := filepath.Join(t.TempDir(), "tcp")
	const text = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:3039 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 1
   1: 0100007F:D431 0100007F:3039 01 00000000:00000000 00:00000000 00000000  1001        0 2
`
	if err := os.WriteFile(table, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	own, other := netip.MustParseAddrPort("127.0.0.1:54321"), netip.MustParseAddrPort("127.0.0.1:12345")
	if uid, found, err := owner(table, own, other); uid != 1001 || !found || err != nil {
		t.Error(uid, found, err)
	}
	if _, found, _ := owner(table, own, own); found {
		t.Error("a connection that is not there is found")
	}
	if uid, found, err := owner(filepath.Join(t.TempDir(), "none"), own, other); found || err != nil {
		t.Error(uid, found, err)
	}
	if isAddress("0100007F:zz", own) || isAddress(strings.Repeat("0", 7)+":D431", own) {
		t.Error("what is no address is one")
	}
}
