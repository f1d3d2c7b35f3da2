// Package peer tells who is at the other end of a connection within this host.
package peer

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// OfThisUser returns an error unless the other end of a Unix socket, or of a TCP connection within this
// host, belongs to the user of this process, or to the superuser, who can read the memory of this process
// anyway. Source: unix(7), SO_PEERCRED; proc(5), /proc/net/tcp.
func OfThisUser(c net.Conn) error {
	if u, ok := c.(*net.UnixConn); ok {
		return unixOfThisUser(u)
	}
	uid, found, err := User(c)
	switch {
	case err != nil:
		return err
	case !found:
		return fmt.Errorf("%s is not on this host", c.RemoteAddr())
	case uid != os.Geteuid() && uid != 0:
		return fmt.Errorf("the other end, %s, belongs to user %d, not to %d", c.RemoteAddr(), uid, os.Geteuid())
	}
	return nil
}

// unixOfThisUser is OfThisUser for a Unix socket.
func unixOfThisUser(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var cred *syscall.Ucred
	var sockErr error
	err = raw.Control(func(fd uintptr) {
		cred, sockErr = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	switch {
	case err != nil:
		return err
	case sockErr != nil:
		return sockErr
	case int(cred.Uid) != os.Geteuid() && cred.Uid != 0:
		return fmt.Errorf("the other end belongs to user %d, not to %d", cred.Uid, os.Geteuid())
	}
	return nil
}

// User returns the user who has the other end of a TCP connection; found is false if it is not on this
// host.
func User(c net.Conn) (uid int, found bool, err error) {
	local, err1 := netip.ParseAddrPort(c.LocalAddr().String())
	remote, err2 := netip.ParseAddrPort(c.RemoteAddr().String())
	err = errors.Join(err1, err2)
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		if !found && err == nil {
			uid, found, err = owner(table, remote, local)
		}
	}
	return uid, found, err
}

// owner finds the user of the socket that is bound to own and connected to other.
func owner(table string, own, other netip.AddrPort) (uid int, found bool, err error) {
	f, err := os.Open(table)
	if errors.Is(err, os.ErrNotExist) { // without IPv6
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 8 || !isAddress(fields[1], own) || !isAddress(fields[2], other) {
			continue
		}
		uid, err = strconv.Atoi(fields[7])
		return uid, err == nil, err
	}
	return 0, false, nil
}

// isAddress compares an address with one of the table: words of four bytes in the order of the host,
// and the port, in hexadecimal.
func isAddress(text string, a netip.AddrPort) bool {
	host, port, _ := strings.Cut(text, ":")
	n, err := strconv.ParseUint(port, 16, 16)
	b, bad := hex.DecodeString(host)
	if err != nil || bad != nil || len(b)%4 != 0 || uint16(n) != a.Port() {
		return false
	}
	for word := range slices.Chunk(b, 4) {
		binary.BigEndian.PutUint32(word, binary.NativeEndian.Uint32(word))
	}
	ip, ok := netip.AddrFromSlice(b)
	return ok && ip.Unmap() == a.Addr().Unmap()
}
