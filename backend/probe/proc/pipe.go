// Pipes, and who has their ends.

package proc

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Pipes are the open pipes of a host. The zero value looks for them when it is asked for the first time.
type Pipes struct {
	read bool
	ends map[string][]end // by what /proc/PID/fd says
	all  bool             // all processes could be read
}

// end is a file descriptor of a process that may be an end of a pipe.
type end struct {
	pid int
	fd  string
}

// opens returns how the descriptor was opened.
func (e end) opens() (reads, writes bool) {
	return parseAccess(Text("/proc/%d/fdinfo/%s", e.pid, e.fd))
}

// Ends returns the processes that have an end of a pipe or FIFO open, as File says its name; all is false if others may
// have it, too.
func (p *Pipes) Ends(name string, writers bool) (pids []int, all bool) {
	if !p.read {
		p.look()
	}
	for _, e := range p.ends[name] {
		if reads, writes := e.opens(); (writers && writes || !writers && reads) && !slices.Contains(pids, e.pid) {
			pids = append(pids, e.pid)
		}
	}
	return pids, p.all
}

// look reads the file descriptors of all processes.
func (p *Pipes) look() {
	p.read, p.all, p.ends = true, true, map[string][]end{}
	names, _ := filepath.Glob("/proc/[0-9]*")
	n := 0
	for _, dir := range names {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		fds, err := os.ReadDir(dir + "/fd")
		if err != nil && !os.IsNotExist(err) || len(names) > mostProcesses {
			p.all = false
		}
		for _, fd := range fds {
			if n++; n > mostDescriptors {
				p.all = false
				return
			}
			link, err := os.Readlink(dir + "/fd/" + fd.Name())
			if err == nil && (strings.HasPrefix(link, "pipe:") || strings.HasPrefix(link, "/")) {
				p.add(pid, fd.Name(), link)
			}
		}
	}
}

// add records a file descriptor, unless it refers to a file that is surely no pipe.
func (p *Pipes) add(pid int, fd, link string) {
	for _, dir := range []string{"/dev/", "/proc/", "/usr/", "/lib", "/sys/"} {
		if strings.HasPrefix(link, dir) {
			return
		}
	}
	p.ends[link] = append(p.ends[link], end{pid, fd})
}

// parseAccess returns how a file was opened, by its flags (proc(5), fdinfo; open(2)).
func parseAccess(info string) (reads, writes bool) {
	for line := range strings.Lines(info) {
		if s, ok := strings.CutPrefix(line, "flags:"); ok {
			flags, err := strconv.ParseUint(strings.TrimSpace(s), 8, 64)
			if err != nil {
				return false, false
			}
			access := flags & 3
			return access == 0 || access == 2, access == 1 || access == 2
		}
	}
	return false, false
}
