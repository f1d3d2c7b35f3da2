// Pipes, and the processes that have their ends.

package proc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Pipes are the open pipes of a host. The zero value looks for them when it is asked for the first time. One goroutine
// uses it at a time.
type Pipes struct {
	tables map[int]*table // by process ID
	ends   map[string][]*end
	looked bool // ends has the ends in all tables, by what /proc/PID/fd says
	all    bool // all processes could be read
}

// table is the file descriptors of a process that may be ends of pipes.
type table struct {
	ran     time.Duration // processor time of the process before they were read; 0: not known
	current bool          // they are those that the process has now
	ends    []*end
	fds     int  // number of its descriptors
	denied  bool // they could not be read
}

// end is a file descriptor of a process that may be an end of a pipe.
type end struct {
	pid           int
	fd, link      string
	asked         bool // the following are known
	reads, writes bool
}

// opens returns how the descriptor was opened, as the permissions of the link say (proc(5), fd).
func (e *end) opens() (reads, writes bool) {
	if !e.asked {
		var st unix.Stat_t
		e.asked = unix.Fstatat(unix.AT_FDCWD, fmt.Sprintf("/proc/%d/fd/%s", e.pid, e.fd), &st, unix.AT_SYMLINK_NOFOLLOW) == nil
		e.reads, e.writes = e.asked && st.Mode&unix.S_IRUSR != 0, e.asked && st.Mode&unix.S_IWUSR != 0
	}
	return e.reads, e.writes
}

// Ends returns the processes that have an end of a pipe or FIFO open, as File says its name; all is false if others may
// have it, too.
func (p *Pipes) Ends(name string, writers bool) (pids []int, all bool) {
	if !p.looked {
		p.look()
	}
	for _, e := range p.ends[name] {
		if reads, writes := e.opens(); (writers && writes || !writers && reads) && !slices.Contains(pids, e.pid) {
			pids = append(pids, e.pid)
		}
	}
	return pids, p.all
}

// Renew makes Ends look again. Descriptors of processes that have not run since they were read are those that were
// read; Renew asks for that, so it is to be called before processes are held, which makes them run. If Ends has not
// been called since the last time, everything is forgotten.
func (p *Pipes) Renew() {
	if !p.looked {
		*p = Pipes{}
		return
	}
	p.looked, p.ends = false, nil
	for pid, t := range p.tables {
		ran, err := CPUTime(pid)
		t.current = err == nil && t.ran != 0 && t.ran == ran
	}
}

// look finds the file descriptors of all processes.
func (p *Pipes) look() {
	pids, err := Numbers("/proc")
	before := p.tables
	*p = Pipes{tables: make(map[int]*table, len(pids)), ends: map[string][]*end{}, looked: true, all: err == nil && len(pids) <= maxProcesses}
	n := 0
	for _, pid := range pids {
		t := before[pid]
		if t == nil || !t.current {
			t = tableOf(pid)
		}
		p.tables[pid] = t
		if n += t.fds; t.denied || n > maxDescriptors {
			p.all = false
		}
		if n > maxDescriptors {
			return
		}
		for _, e := range t.ends {
			p.ends[e.link] = append(p.ends[e.link], e)
		}
	}
}

// tableOf reads the file descriptors of a process. They are none if it has ended.
func tableOf(pid int) *table {
	t := &table{}
	t.ran, _ = CPUTime(pid)
	dir, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.denied = !hasGone(err)
		return t
	}
	defer unix.Close(dir)
	fds, err := numbersIn(dir, maxDescriptors+1)
	t.fds, t.denied = len(fds), err != nil && !hasGone(err)
	var b [256]byte // longer names are no pipes, and FIFOs with longer ones are read as a whole
	for _, fd := range fds {
		name := strconv.Itoa(fd)
		n, err := unix.Readlinkat(dir, name, b[:])
		if err != nil || n == 0 || !mayBePipe(b[:n]) {
			continue
		}
		link := string(b[:n])
		if n == len(b) {
			link = File(pid, fd)
		}
		t.ends = append(t.ends, &end{pid: pid, fd: name, link: link})
	}
	return t
}

// hasGone reports whether an error says that there is no such process.
func hasGone(err error) bool { return err == unix.ENOENT || err == unix.ESRCH }

// mayBePipe reports whether a file descriptor with this link may refer to a pipe or FIFO.
func mayBePipe(link []byte) bool {
	s := string(link)
	if !strings.HasPrefix(s, "/") {
		return strings.HasPrefix(s, "pipe:")
	}
	for _, dir := range []string{"/dev/", "/proc/", "/usr/", "/lib", "/sys/"} {
		if strings.HasPrefix(s, dir) {
			return false
		}
	}
	return true
}
