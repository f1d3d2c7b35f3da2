// What the kernel tells of a process for kernelcall.

package sampler

import (
	"time"

	"sdm/backend/probe/internal/kernelcall"
	"sdm/backend/probe/internal/proc"
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
type asking struct{ *reading }

var _ kernelcall.Process = asking{}

func (a asking) Read(addr uint64, b []byte) bool { return a.shot.Memory().Read(addr, b) }
func (a asking) File(fd int) string              { return proc.File(a.pid, fd) }
func (a asking) Directory() string               { return proc.Directory(a.pid) }
func (a asking) IsFIFO(path string) bool         { return proc.IsFIFO(a.pid, path) }
func (a asking) FileSystem(path string) string   { return proc.FileSystem(a.pid, path) }
func (a asking) Socket(fd int) string            { return proc.Socket(a.pid, fd) }
func (a asking) Watched(fd int) []int            { return proc.Watched(a.pid, fd) }

func (a asking) Ends(name string, writers bool) (others []kernelcall.Peer, own, all bool) {
	pids, all := a.host.pipes.Ends(name, writers)
	for _, pid := range pids {
		if pid == a.id {
			own = true
			continue
		}
		others = append(others, a.host.peer(pid))
	}
	return others, own, all
}

func (a asking) LockHolder() (kernelcall.Peer, bool) {
	if a.host.locks == "" {
		a.host.locks = proc.Locks()
	}
	pid := proc.LockHolder(a.host.locks, a.id)
	if pid == 0 {
		return kernelcall.Peer{}, false
	}
	return a.host.peer(pid), true
}

// Peer implements kernelcall.Process. In a namespace of its own, the process knows other IDs than we do.
func (a asking) Peer(pid int) kernelcall.Peer {
	if proc.StatusOf(a.pid, a.pid).Namespaces > 1 {
		return kernelcall.Peer{PID: pid}
	}
	return a.host.peer(pid)
}

func (a asking) Children() (all []kernelcall.Peer) {
	for _, pid := range proc.Children(a.id) {
		all = append(all, a.host.peer(pid))
	}
	return all
}

func (a asking) Swapped() int { return proc.StatusOf(a.pid, a.pid).Swapped }

func (a asking) Now(clock int) (time.Duration, bool) { return proc.Now(clock) }
