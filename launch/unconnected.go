// Ranks that have not called MPI_Init.

package launch

import (
	"os"
	"strings"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// Unconnected returns those ranks of this host that have no socket, nor has a process below them: MPI_Init of Open MPI
// connects to the starter or its daemon. A rank whose descriptors cannot be read does not count.
func Unconnected(table protocol.Proctable) rank.Set {
	ps := processes{}
	for pid, parent := range Parents() {
		ps[pid] = process{parent: parent}
	}
	var without []rank.ID
	for _, p := range table {
		sockets := false
		for _, pid := range append(ps.below(p.PID), p.PID) {
			sockets = sockets || hasSocket(procOf(pid, "fd"))
		}
		if !sockets {
			without = append(without, p.Rank)
		}
	}
	return rank.Of(without...)
}

// hasSocket reports whether a directory of descriptors (proc(5), /proc/PID/fd) has a socket; true if it cannot be read.
func hasSocket(dir string) bool {
	files, err := os.ReadDir(dir)
	for _, f := range files {
		if to, err := os.Readlink(dir + "/" + f.Name()); err == nil && strings.HasPrefix(to, "socket:") {
			return true
		}
	}
	return err != nil
}
