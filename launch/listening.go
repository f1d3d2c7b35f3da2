// Processes of this host that listen on a port of TCP.

package launch

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol/rank"
)

// Listening returns the processes of the user that listen on a port of this host, in the order of their ids; there may
// be several (SO_REUSEPORT). Those that have inherited the socket are left out. Their numbers have no
// meaning. Found.Error says that another user listens there, or nobody.
func Listening(port int, host string) Found {
	f := Found{Host: host, Size: Unknown, Ranks: []FoundRank{}, Addresses: ownAddresses()}
	var all []listener
	for _, file := range []string{"net/tcp", "net/tcp6"} {
		text, _ := os.ReadFile("/proc/self/" + file) // empty without IPv6
		all = append(all, listeners(text, port)...)
	}
	stranger := slices.IndexFunc(all, func(l listener) bool { return l.user != os.Geteuid() && os.Geteuid() != 0 })
	switch {
	case len(all) == 0:
		f.Error = fmt.Sprintf("nobody listens on port %d of %s", port, host)
		return f
	case stranger >= 0:
		f.Error = fmt.Sprintf("port %d of %s is user %d's, not yours", port, host, all[stranger].user)
		return f
	}
	sockets := map[string]bool{}
	for _, l := range all {
		sockets["socket:["+l.inode+"]"] = true
	}
	parents, held := Parents(), map[int][]string{}
	for pid := range parents {
		if ownedByUs(procOf(pid, "")) || os.Geteuid() == 0 {
			held[pid] = holds(pid, sockets)
		}
	}
	inherited := func(pid int) bool {
		above := held[parents[pid]]
		return slices.ContainsFunc(held[pid], func(socket string) bool { return slices.Contains(above, socket) })
	}
	for pid, sockets := range held {
		if len(sockets) == 0 || inherited(pid) || RefuseOurselves(pid) != nil {
			continue
		}
		r := FoundRank{PID: pid}
		if ids := namespacePids(pid); len(ids) > 1 {
			r.Inner = ids[len(ids)-1]
		}
		f.Ranks = append(f.Ranks, r)
	}
	slices.SortFunc(f.Ranks, func(a, b FoundRank) int { return a.PID - b.PID })
	for i := range f.Ranks {
		f.Ranks[i].Rank = rank.ID(i)
	}
	if len(f.Ranks) == 0 {
		f.Error = fmt.Sprintf("no process of yours on %s that may be looked at listens on port %d", host, port)
	}
	return f
}

// listener is a socket that listens.
type listener struct {
	inode string
	user  int
}

// listeners reads those of a table of TCP (proc(5), /proc/net/tcp) that listen on a port.
func listeners(table []byte, port int) (all []listener) {
	const listens = "0A" // TCP_LISTEN
	for line := range bytes.Lines(table) {
		f := strings.Fields(string(line))
		if len(f) < 10 || f[3] != listens {
			continue
		}
		_, digits, _ := strings.Cut(f[1], ":")
		n, err := strconv.ParseUint(digits, 16, 16)
		user, bad := strconv.Atoi(f[7])
		if err == nil && bad == nil && int(n) == port {
			all = append(all, listener{f[9], user})
		}
	}
	return all
}

// holds returns which of some files a process has open.
func holds(pid int, files map[string]bool) (some []string) {
	fds, _ := os.ReadDir(procOf(pid, "fd")) // empty if it is gone
	for _, fd := range fds {
		if to, err := os.Readlink(procOf(pid, "fd/"+fd.Name())); err == nil && files[to] {
			some = append(some, to)
		}
	}
	return some
}

// ownAddresses returns the addresses of this host.
func ownAddresses() (all []netip.Addr) {
	mine, _ := net.InterfaceAddrs()
	for _, m := range mine {
		if prefix, err := netip.ParsePrefix(m.String()); err == nil {
			all = append(all, prefix.Addr().Unmap())
		}
	}
	return all
}
