// Sockets of TCP.

package proc

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Socket describes a socket of a process, by its entry in the tables of TCP: "a connection to 10.0.0.1:5000", "port
// 5000"; "": it is not among them.
func Socket(pid, fd int) string {
	var inode uint64
	if _, err := fmt.Sscanf(File(pid, fd), "socket:[%d]", &inode); err != nil {
		return ""
	}
	for _, table := range []string{"tcp", "tcp6"} {
		if s := socketIn(Text("/proc/%d/net/%s", pid, table), inode); s != "" {
			return s
		}
	}
	return ""
}

// socketIn finds a socket in a table of TCP (proc(5), /proc/net/tcp) by its inode.
func socketIn(table string, inode uint64) string {
	const listens, connects = "0A", "02" // TCP_LISTEN, TCP_SYN_SENT
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 10 || f[9] != strconv.FormatUint(inode, 10) {
			continue
		}
		own, ok1 := parseAddress(f[1])
		peer, ok2 := parseAddress(f[2])
		switch {
		case !ok1 || !ok2:
			return ""
		case f[3] == listens:
			return "port " + strconv.Itoa(int(own.Port()))
		case f[3] == connects:
			return "a connection that is being made to " + peer.String()
		}
		return "a connection to " + peer.String()
	}
	return ""
}

// parseAddress parses "0100007F:1388": words of 32 bits in the order of the host, and the port.
func parseAddress(s string) (a netip.AddrPort, ok bool) {
	host, port, _ := strings.Cut(s, ":")
	b, err := hex.DecodeString(host)
	n, err2 := strconv.ParseUint(port, 16, 16)
	if err != nil || err2 != nil || len(b) != 4 && len(b) != 16 {
		return a, false
	}
	for i := 0; i < len(b); i += 4 {
		slices.Reverse(b[i : i+4]) // hosts are little-endian
	}
	addr, ok := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(addr.Unmap(), uint16(n)), ok
}
