// Package kernelcall tells what a thread waits for that waits in a system call: which file, lock, child or peer. It is
// pure: memory of the process and what the kernel tells of it are interfaces.
//
// Numbers and arguments are as on x86-64 (syscall(2); Linux, arch/x86/entry/syscalls/syscall_64.tbl).
package kernelcall

import (
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"sdm/backend/probe/internal/cfi"
)

// Call is a system call in which a thread waits.
type Call struct {
	Number int // or None, or Fault
	Args   [6]uint64
}

// Numbers of Call that are no system calls.
const (
	None  = -1 // the thread runs, or it is not known what it does
	Fault = -2 // the thread waits, but in no system call: for a page of its memory
)

// Restart is the number of a call that goes on after it was interrupted (restart_syscall(2)). Which one it was, the
// code tells.
const Restart = 219

// LoadSize is the size of the instructions that begin a system call: one that loads its number, and the call.
const LoadSize = 7

// Loaded returns the number that the instructions before an address load; None: they are not known.
func Loaded(code []byte) int {
	if len(code) == LoadSize && code[0] == 0xb8 && code[5] == 0x0f && code[6] == 0x05 { // movl $N, %eax; syscall
		return int(binary.LittleEndian.Uint32(code[1:]))
	}
	return None
}

// Restarted returns the number of the call that goes on by the functions of a thread, as in Futex; None: it is not
// known. From glibc 2.41 on, one instruction makes most calls. Only calls with a time limit that is relative to their
// begin go on as Restart.
func Restarted(functions []string) int {
	for _, f := range functions {
		switch name := Bare(f); {
		case !IsC(f) && !strings.HasPrefix(f, "??"):
			return None
		case name == "poll":
			return 7
		case name == "nanosleep":
			return 35
		case name == "clock_nanosleep":
			return 230
		case strings.Contains(name, "timed") || strings.Contains(name, "clock"):
			return FutexCall
		}
	}
	return None
}

// Peer is another process.
type Peer struct {
	PID  int
	Name string // "": not known
}

func (p Peer) String() string {
	if p.Name == "" {
		return "process " + strconv.Itoa(p.PID)
	}
	return "process " + strconv.Itoa(p.PID) + " (" + p.Name + ")"
}

// Process is what is known of the process of a thread. No method may wait for a file system.
type Process interface {
	cfi.Memory
	// File returns what a file descriptor refers to, as /proc/PID/fd says: "/tmp/x", "pipe:[123]"; "": not known.
	File(fd int) string
	// Directory returns the working directory; "": not known.
	Directory() string
	// IsFIFO reports whether a file is known to be a FIFO. A path that begins with / is within the
	// root directory of the process.
	IsFIFO(path string) bool
	// FileSystem returns the file system of a path if it is one of other hosts: "nfs4 of server:/export"; "":
	// it is not, or not known.
	FileSystem(path string) string
	// Ends returns the other processes that have an end of a pipe or FIFO open, for writing with writers. name is
	// what File returns. own: the process itself has the end open, too; all: no other process can have it open.
	Ends(name string, writers bool) (others []Peer, own, all bool)
	// Socket describes a socket: "a connection to 10.0.0.1:5000"; "": not known.
	Socket(fd int) string
	// Watched returns the file descriptors that an epoll waits for.
	Watched(fd int) []int
	// LockHolder returns the process that holds the lock of a file for which the process waits; ok is false if it is not
	// known.
	LockHolder() (holder Peer, ok bool)
	// Peer returns a process by its ID, as the process knows it.
	Peer(pid int) Peer
	// Children returns the children of the process, as far as they are known.
	Children() []Peer
	// Swapped returns how much memory of the process is swapped out, in KiB; 0 if it is not known.
	Swapped() int
	// Now returns the time of a clock (clock_gettime(2)) in seconds; ok is false if it is not known.
	Now(clock int) (t time.Duration, ok bool)
}

// Wait is what a thread waits for.
type Wait struct {
	// Does says it with a verb in the singular: "waits in open of /tmp/x"; "": not known. Detail is a clause
	// about it: "no process has opened the FIFO for writing"; "": none.
	Does, Detail string
	// Left is the longest time for which it goes on sleeping; 0: it does not sleep, or it is not known.
	Left time.Duration
	// For is the only process that can end the wait; 0: there are several, or none is known. Object is
	// what that one has: "lock of /tmp/x".
	For    int
	Object string
	Lock   bool // it waits for a lock
}

// Of returns what a thread waits for in a call. For Futex see Futex.Of.
func Of(c Call, p Process) Wait {
	if c.Number == Fault {
		w := Wait{Does: "waits for a page of memory"}
		if n := p.Swapped(); n > 0 {
			w.Detail = strconv.Itoa((n+1023)/1024) + " MiB of the process are swapped out"
		}
		return w
	}
	x, known := calls[c.Number]
	if !known {
		return Wait{}
	}
	return asked{Process: p, Call: c, name: x.name}.of(x.kind)
}

// Sleeps reports whether a call only lets time pass.
func Sleeps(c Call) bool {
	k := calls[c.Number].kind
	return k == sleeps || k == sleepsBy
}

// kind is what the arguments of a call mean.
type kind uint8

const (
	plain      kind = iota // nothing
	says                   // the name is what it does
	reads                  // the first is a file descriptor that is read
	writes                 // the first is a file descriptor that is written
	onFile                 // the first is a file descriptor
	atPath                 // the first is a path
	inDir                  // directory, path
	opens                  // path, flags
	opensAt                // directory, path, flags
	connects               // socket, address, length
	polls                  // descriptors, count
	selects                // number, three sets
	epolls                 // descriptor
	locks                  // descriptor
	controls               // descriptor, command
	children               // process
	childrenBy             // kind of number, number
	sleeps                 // time
	sleepsBy               // clock, flags, time
)

// calls are the system calls in which threads wait for long. Futexes are not among them.
var calls = map[int]struct {
	name string
	kind kind
}{
	0: {"read", reads}, 1: {"write", writes}, 2: {"open", opens}, 4: {"stat", atPath}, 5: {"fstat", onFile}, 6: {"lstat", atPath},
	7: {"poll", polls}, 16: {"ioctl", onFile}, 17: {"pread", reads}, 18: {"pwrite", writes}, 19: {"readv", reads}, 20: {"writev", writes},
	21: {"access", atPath}, 23: {"select", selects}, 26: {"msync", plain}, 34: {"waits for a signal", says}, 35: {"sleeps", sleeps},
	40: {"sendfile", writes}, 42: {"connect", connects}, 43: {"accept", onFile}, 44: {"send", writes}, 45: {"recv", reads},
	46: {"send", writes}, 47: {"recv", reads}, 58: {"waits until its child of vfork executes a program or ends", says},
	61: {"", children}, 65: {"waits for a System V semaphore", says}, 69: {"msgsnd", plain}, 70: {"msgrcv", plain},
	72: {"fcntl", controls}, 73: {"", locks}, 74: {"fsync", onFile}, 75: {"fdatasync", onFile}, 76: {"truncate", atPath},
	77: {"ftruncate", onFile}, 78: {"readdir", onFile}, 80: {"chdir", atPath}, 82: {"rename", atPath}, 83: {"mkdir", atPath},
	84: {"rmdir", atPath}, 85: {"open", atPath}, 87: {"unlink", atPath}, 89: {"readlink", atPath}, 128: {"waits for a signal", says},
	130: {"waits for a signal", says}, 162: {"sync", plain}, 208: {"waits for asynchronous input and output", says},
	217: {"readdir", onFile}, 220: {"waits for a System V semaphore", says}, 230: {"sleeps", sleepsBy}, 232: {"epoll_wait", epolls},
	242: {"mq_send", plain}, 243: {"mq_receive", plain}, 247: {"", childrenBy}, 257: {"open", opensAt}, 258: {"mkdir", inDir},
	262: {"stat", inDir}, 263: {"unlink", inDir}, 264: {"rename", inDir}, 270: {"select", selects}, 271: {"poll", polls},
	275: {"splice", onFile}, 277: {"sync_file_range", onFile}, 281: {"epoll_wait", epolls}, 285: {"fallocate", onFile},
	288: {"accept", onFile}, 295: {"preadv", reads}, 296: {"pwritev", writes}, 299: {"recv", reads}, 306: {"syncfs", onFile},
	326: {"copy_file_range", onFile}, 327: {"preadv", reads}, 328: {"pwritev", writes}, 332: {"stat", inDir},
	333: {"waits for asynchronous input and output", says}, 426: {"waits for asynchronous input and output", says},
	437: {"open", inDir}, 441: {"epoll_wait", epolls},
}

// asked is a call of a process.
type asked struct {
	Process
	Call
	name string
}

func (a asked) fd() int { return int(int32(a.Args[0])) }

func (a asked) of(k kind) Wait {
	switch k {
	case says:
		return Wait{Does: a.name}
	case reads, writes:
		return a.transfers(k == writes)
	case onFile:
		return a.at(a.file(a.fd()), a.File(a.fd()))
	case atPath:
		return a.at(a.path(a.Args[0], atCWD))
	case inDir:
		return a.at(a.path(a.Args[1], int(int32(a.Args[0]))))
	case opens:
		return a.opens(a.Args[0], atCWD, a.Args[1])
	case opensAt:
		return a.opens(a.Args[1], int(int32(a.Args[0])), a.Args[2])
	case connects:
		return Wait{Does: "waits in connect to " + address(a.Process, a.Args[1], a.Args[2])}
	case polls, selects, epolls:
		return a.several(k)
	case locks:
		return a.locks("")
	case controls:
		return a.controls()
	case children:
		return a.child(int(int32(a.Args[0])))
	case childrenBy:
		return a.childBy()
	case sleeps:
		return Wait{Does: a.name, Left: a.time(a.Args[0])}
	case sleepsBy:
		return a.sleepsBy()
	}
	return Wait{Does: "waits in " + a.name}
}

// time reads a timespec; 0: it cannot be read.
func (a asked) time(addr uint64) time.Duration {
	var b [16]byte
	if !a.Read(addr, b[:]) {
		return 0
	}
	const most = 1 << 31 // seconds
	s, ns := binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])
	if s > most || ns >= 1e9 {
		return 0
	}
	return time.Duration(s)*time.Second + time.Duration(ns)
}

// sleepsBy is clock_nanosleep(2).
func (a asked) sleepsBy() Wait {
	const absolute = 1 // TIMER_ABSTIME
	w := Wait{Does: a.name, Left: a.time(a.Args[2])}
	if a.Args[1]&absolute != 0 {
		now, ok := a.Now(int(int32(a.Args[0])))
		if w.Left -= now; !ok || w.Left < 0 {
			w.Left = 0
		}
	}
	return w
}

// child is wait4(2).
func (a asked) child(pid int) Wait {
	if pid > 0 {
		return Wait{Does: "waits for the end of " + a.Peer(pid).String()}
	}
	all := a.Children()
	w := Wait{Does: "waits for the end of a child"}
	if len(all) == 1 {
		w.Does = "waits for the end of its only child"
	}
	if len(all) > 0 {
		w.Detail = list(all)
	}
	return w
}

// childBy is waitid(2).
func (a asked) childBy() Wait {
	const byPID, byFD = 1, 3
	switch a.Args[0] {
	case byPID:
		return a.child(int(int32(a.Args[1])))
	case byFD:
		return Wait{Does: "waits for the end of a process"}
	}
	return a.child(-1)
}

// maxListed bounds the things of a list.
const maxListed = 3

// list lists processes, or at most maxListed of them.
func list(all []Peer) string {
	var parts []string
	for _, p := range all {
		parts = append(parts, p.String())
	}
	return join(parts)
}

// join joins texts with commas, at most maxListed of them.
func join(parts []string) string {
	if n := len(parts) - maxListed; n > 0 {
		parts = append(parts[:maxListed:maxListed], "and "+strconv.Itoa(n)+" more")
	}
	return strings.Join(parts, ", ")
}
