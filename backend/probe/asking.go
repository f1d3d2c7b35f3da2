// What the kernel tells of a process for kernelcall.

package probe

import (
	"time"

	"sdm/backend/probe/internal/kernelcall"
	"sdm/backend/probe/internal/proc"
	"sdm/backend/probe/internal/snapshot"
)

// host is what the kernel tells of all processes of the host, read at most once for a sample.
type host struct {
	pipes proc.Pipes
	locks string                  // proc.Locks; "": not read yet
	peers map[int]kernelcall.Peer // results of peer
}

// renew forgets what was read for the last sample. It is called before processes are held.
func (h *host) renew() {
	h.pipes.Renew()
	h.locks, h.peers = "", map[int]kernelcall.Peer{}
}

// peer returns a process by its ID on this host.
func (h *host) peer(pid int) kernelcall.Peer {
	p, known := h.peers[pid]
	if !known {
		p = kernelcall.Peer{PID: pid, Name: kernelcall.Shown(proc.Name(pid))}
		h.peers[pid] = p
	}
	return p
}

// asking implements kernelcall.Process for a thread.
type asking struct {
	p    *process
	shot *snapshot.Process
}

var _ kernelcall.Process = asking{}

func (a asking) Read(addr uint64, b []byte) bool { return a.shot.Memory().Read(addr, b) }
func (a asking) File(fd int) string              { return proc.File(a.p.pid, fd) }
func (a asking) Directory() string               { return proc.Directory(a.p.pid) }
func (a asking) IsFIFO(path string) bool         { return proc.IsFIFO(a.p.pid, path) }
func (a asking) FileSystem(path string) string   { return proc.FileSystem(a.p.pid, path) }
func (a asking) Socket(fd int) string            { return proc.Socket(a.p.pid, fd) }
func (a asking) Watched(fd int) []int            { return proc.Watched(a.p.pid, fd) }

func (a asking) Ends(name string, writers bool) (others []kernelcall.Peer, own, all bool) {
	pids, all := a.p.host.pipes.Ends(name, writers)
	for _, pid := range pids {
		if pid == a.p.id {
			own = true
			continue
		}
		others = append(others, a.p.host.peer(pid))
	}
	return others, own, all
}

func (a asking) LockHolder() (kernelcall.Peer, bool) {
	if a.p.host.locks == "" {
		a.p.host.locks = proc.Locks()
	}
	pid := proc.LockHolder(a.p.host.locks, a.p.id)
	if pid == 0 {
		return kernelcall.Peer{}, false
	}
	return a.p.host.peer(pid), true
}

// Peer implements kernelcall.Process. In a namespace of its own, the process knows other IDs than we do.
func (a asking) Peer(pid int) kernelcall.Peer {
	if proc.StatusOf(a.p.pid, a.p.pid).Namespaces > 1 {
		return kernelcall.Peer{PID: pid}
	}
	return a.p.host.peer(pid)
}

func (a asking) Children() (all []kernelcall.Peer) {
	for _, pid := range proc.Children(a.p.id) {
		all = append(all, a.p.host.peer(pid))
	}
	return all
}

func (a asking) Swapped() int { return proc.StatusOf(a.p.pid, a.p.pid).Swapped }

func (a asking) Now(clock int) (time.Duration, bool) { return proc.Now(clock) }
