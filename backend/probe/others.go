// Ranks that have ended, and ranks for which a rank waits outside of MPI.

package probe

import (
	"strconv"

	"sdm/backend/probe/internal/proc"
	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// dead returns what is known of the end of a rank.
func (b *Backend) dead(r rank.ID) wait.Rank {
	w := b.ranks[r]
	d := wait.Doing{State: wait.Dead, Does: proc.End(w.pid, w.memory)}
	switch {
	case w.exit.Unknown:
	case w.exit.Signal != "":
		d.Does = proc.KilledBy(w.exit.Signal, w.memory.Kills())
	default:
		d.Does = "has ended with status " + strconv.Itoa(w.exit.Code)
	}
	return wait.Rank{Doing: d}
}

// addPeer adds an edge if a rank of this host can end the wait of the first thread.
func (b *Backend) addPeer(r rank.ID, w *waits) {
	if w.peer == 0 {
		return
	}
	for other, x := range b.ranks {
		if x.pid == w.peer && other != r {
			w.Waits = append(w.Waits, wait.Message{Edge: wait.Edge{Object: w.object, Tag: wait.Unknown}, Peer: int(other)})
			w.Doing.Detail = "" // which has the process in place of the rank
		}
	}
}
