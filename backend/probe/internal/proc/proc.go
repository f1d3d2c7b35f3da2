// Package proc reads what the kernel tells of processes in /proc: files, locks, pipes, sockets, children, how they
// ended. No function waits for a file system, and all that is read is bounded.
package proc

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// maxText bounds what Text reads of a file of /proc, in bytes.
const maxText = 1 << 20

// Text returns the contents of a file of /proc, at most 1 MiB; "": it cannot be read.
func Text(format string, args ...any) string {
	b, _ := ReadText(fmt.Sprintf(format, args...), nil, maxText)
	return string(b)
}

// ReadText returns the contents of a file of /proc, at most most bytes. It makes fewer system calls than os.ReadFile.
// It stores the contents in the memory of b if that suffices; nil: in new memory. If there is an error, what was read
// before is returned, too.
func ReadText(path string, b []byte, most int) ([]byte, error) {
	b = b[:0]
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return b, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	for len(b) < most {
		if len(b) == cap(b) {
			b = append(make([]byte, 0, 2*cap(b)+4096), b...)
		}
		n, err := unix.Read(fd, b[len(b):min(cap(b), most)])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return b, &os.PathError{Op: "read", Path: path, Err: err}
		case n <= 0:
			return b, nil
		default:
			b = b[:len(b)+n]
		}
	}
	return b, nil
}

// maxLine bounds what readLine returns, in bytes.
const maxLine = 4 << 10

// readLine returns the contents of a file of /proc that the kernel gives as a whole in one read, at most 4 KiB: stat,
// statm, comm, wchan, syscall. "": it cannot be read.
func readLine(format string, args ...any) string {
	fd, err := unix.Open(fmt.Sprintf(format, args...), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	return line(fd)
}

// Letter returns the state of a thread (proc(5), stat, field 3); 0: it has ended.
func Letter(pid, tid int) byte { return letterOf(readLine(statOf, pid, tid)) }

// statOf is the file of one thread: for the file of a whole process the kernel would look at each of its
// threads.
const statOf = "/proc/%d/task/%d/stat"

// letterOf returns the state in a text of stat; 0: there is none.
func letterOf(text string) byte {
	i := strings.LastIndex(text, ") ") // the name may contain anything
	if i < 0 || i+2 >= len(text) {
		return 0
	}
	return text[i+2]
}

// Numbers returns the names of a directory of /proc that are numbers.
func Numbers(path string) ([]int, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	return numbersIn(fd, math.MaxInt)
}

// numbersIn returns the names in an open directory that are numbers, at least most of them if there are so many.
func numbersIn(dir, most int) (all []int, err error) {
	var b [8 << 10]byte
	var names []string
	for len(all) < most {
		n, err := unix.ReadDirent(dir, b[:])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return all, err
		case n <= 0:
			return all, nil
		}
		_, _, names = unix.ParseDirent(b[:n], -1, names[:0])
		for _, name := range names {
			if i, err := strconv.Atoi(name); err == nil {
				all = append(all, i)
			}
		}
	}
	return all, nil
}

// Name returns the name of a process or thread (proc(5), comm); "": it cannot be read.
func Name(pid int) string { return strings.TrimSpace(readLine("/proc/%d/comm", pid)) }

// File returns what a file descriptor of a process refers to; "": not known.
func File(pid, fd int) string {
	link, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd))
	return link
}

// Directory returns the working directory of a process; "": not known.
func Directory(pid int) string {
	link, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	return link
}

// Kernel returns the function of the kernel in which a thread waits (proc(5), wchan); "": not known.
func Kernel(pid, tid int) string {
	s := readLine("/proc/%d/task/%d/wchan", pid, tid)
	if s == "0" {
		return ""
	}
	return s
}

// SignalName returns the name of a signal: "SIGUSR1"; as in gdb, "SIG34" for one without a name.
func SignalName(s unix.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return "SIG" + strconv.Itoa(int(s))
}

// Now returns the time of a clock (clock_gettime(2)); ok is false if there is none.
func Now(clock int) (t time.Duration, ok bool) {
	var now unix.Timespec
	err := unix.ClockGettime(int32(clock), &now)
	return time.Duration(now.Nano()), err == nil && clock >= 0
}

// Status is what /proc/PID/status says of a thread.
type Status struct {
	State           string // one letter
	Process, Tracer int    // IDs; Tracer is 0 if there is none
	Inner           int    // ID of the thread as its process knows it
	Namespaces      int    // number of namespaces of process IDs in which the thread has an ID, as far as they are seen
	Blocked, Caught uint64 // signals, bit n-1 for signal n
	Swapped         int    // memory that is swapped out, in KiB
	Switches        uint64 // how often the thread has left a processor
}

// StatusOf reads the status of a thread; its State is "" if there is none.
func StatusOf(pid, tid int) Status { return parseStatus(Text("/proc/%d/task/%d/status", pid, tid)) }

// HasEnded reports whether the thread has ended, or there is none.
func (s Status) HasEnded() bool { return s.State == "" || s.State == "Z" || s.State == "X" }

func parseStatus(s string) (out Status) {
	for line := range strings.Lines(s) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		n, _ := strconv.Atoi(f[1])
		mask, _ := strconv.ParseUint(f[1], 16, 64)
		switch f[0] {
		case "State:":
			out.State = f[1]
		case "Tgid:":
			out.Process = n
		case "TracerPid:":
			out.Tracer = n
		case "NSpid:":
			out.Inner, _ = strconv.Atoi(f[len(f)-1])
			out.Namespaces = len(f) - 1
		case "SigBlk:":
			out.Blocked = mask
		case "SigCgt:":
			out.Caught = mask
		case "VmSwap:":
			out.Swapped = n
		case "voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:":
			out.Switches += uint64(n)
		}
	}
	return out
}

// ProcessOf returns the ID of the process of a thread; 0: there is no such thread.
func ProcessOf(tid int) int { return parseStatus(Text("/proc/%d/status", tid)).Process }

// Children returns the IDs of the children of a process.
func Children(pid int) (all []int) {
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range names[:min(len(names), maxThreads)] {
		for _, f := range strings.Fields(Text("%s", name)) {
			if n, err := strconv.Atoi(f); err == nil && len(all) < maxChildren {
				all = append(all, n)
			}
		}
	}
	return all
}

// Bounds of what is looked at.
const (
	maxThreads     = 4096
	maxChildren    = 1024
	maxProcesses   = 8192
	maxDescriptors = 1 << 16 // of all processes
)

// Watched returns the file descriptors that an epoll of a process waits for.
func Watched(pid, fd int) []int { return parseWatched(Text("/proc/%d/fdinfo/%d", pid, fd)) }

func parseWatched(s string) (all []int) {
	for line := range strings.Lines(s) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "tfd:" && len(all) < maxChildren {
			if n, err := strconv.Atoi(f[1]); err == nil {
				all = append(all, n)
			}
		}
	}
	return all
}

// resolveCached is RESOLVE_CACHED of linux/openat2.h.
const resolveCached = 0x20

// IsFIFO reports whether a file is known to be a FIFO. The path is within the root directory of a process. Nothing is
// looked up that the kernel does not have in memory (openat2(2), RESOLVE_CACHED, from Linux 5.12 on).
func IsFIFO(pid int, path string) bool {
	root, err := unix.Open(fmt.Sprintf("/proc/%d/root", pid), unix.O_PATH|unix.O_CLOEXEC|unix.O_DIRECTORY, 0)
	if err != nil {
		return false
	}
	defer unix.Close(root)
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: resolveCached | unix.RESOLVE_IN_ROOT}
	fd, err := unix.Openat2(root, path, &how)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var st unix.Statx_t
	err = unix.Statx(fd, "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC, unix.STATX_TYPE, &st)
	return err == nil && st.Mask&unix.STATX_TYPE != 0 && st.Mode&unix.S_IFMT == unix.S_IFIFO
}

// Locks returns the text of /proc/locks, for LockHolder.
func Locks() string { return Text("/proc/locks") }

// LockHolder returns the process that holds the lock for which a process waits; 0: not known. A line of /proc/locks
// with "->" is a wait for the lock of the line before without it (proc(5)).
func LockHolder(locks string, pid int) int {
	holder := 0
	for line := range strings.Lines(locks) {
		f := strings.Fields(line)
		waits := len(f) > 1 && f[1] == "->"
		if waits {
			f = f[1:]
		}
		if len(f) < 5 {
			continue
		}
		n, err := strconv.Atoi(f[4])
		switch {
		case err != nil:
		case !waits:
			holder = n
		case n == pid:
			return max(holder, 0)
		}
	}
	return 0
}

// networkTypes are types of file systems whose files are on other hosts or in other processes.
var networkTypes = []string{"nfs", "lustre", "gpfs", "beegfs", "cifs", "smb", "ceph", "fuse", "9p", "afs", "panfs", "orangefs", "wekafs"}

// FileSystem returns the file system of a path of a process if it is one of networkTypes: "nfs4 of server:/export"; ""
// otherwise.
func FileSystem(pid int, path string) string {
	return fileSystem(Text("/proc/%d/mountinfo", pid), path)
}

// fileSystem finds a path in a text of /proc/PID/mountinfo (proc(5)). Of several mounts in one place the last counts.
func fileSystem(mounts, path string) (found string) {
	longest := -1
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(line, " - ")
		f, g := strings.Fields(before), strings.Fields(after)
		if len(f) < 5 || len(g) < 2 {
			continue
		}
		point := unescape.Replace(f[4])
		if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(point, "/")); !ok || rest != "" && rest[0] != '/' || len(point) < longest {
			continue
		}
		longest, found = len(point), ""
		for _, t := range networkTypes {
			if strings.HasPrefix(g[0], t) {
				found = g[0] + " of " + unescape.Replace(g[1])
			}
		}
	}
	return found
}

// unescape decodes the characters that mountinfo writes in octal.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
