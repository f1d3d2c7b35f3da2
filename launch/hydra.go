// Jobs of MPICH's starter, as the command lines of its children tell them: a
// stripped mpiexec offers no MPIR.

package launch

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
)

// Hydra is a running job of MPICH's mpiexec, or of another Hydra. Its proxies, one
// on each host, have started the ranks; the proxies were started by children of
// mpiexec: ssh and its like, one for each other host, or one srun for all.
type Hydra struct {
	Control string      // --control-port of the proxies, HOST:PORT: it names the job on each host
	Proxies []HydraHost // by their numbers; none where one srun has started them all
	Srun    int         // process of that srun; 0: there is none
}

// HydraHost is where a proxy is.
type HydraHost struct {
	Host  string   // as mpiexec calls it; "" is this host
	Shell []string // the remote shell that has reached it, with its options; nil on this host
}

// Elsewhere tells whether proxies are on other hosts.
func (h Hydra) Elsewhere() bool {
	return h.Srun > 0 || slices.ContainsFunc(h.Proxies, func(p HydraHost) bool { return p.Host != "" })
}

// HydraBelow looks for such a job at a process and what it has started.
func HydraBelow(pid int) (h Hydra, found bool) {
	ps, lines := linesBelow(pid)
	return ps.readHydra(lines)
}

// linesBelow are the command lines of what a process has started, and who is whose parent.
func linesBelow(pid int) (ps processes, lines map[int][]string) {
	ps, lines = processes{}, map[int][]string{}
	for p, parent := range parentsOf() {
		ps[p] = process{parent: parent}
	}
	for p := range ps {
		if p != pid && ps.isBelow(p, pid) {
			lines[p] = commandLine(p)
		}
	}
	return ps, lines
}

// The words of Hydra (MPICH's src/pm/hydra, tools/bootstrap and pm/pmiserv).
const (
	hydraProxy   = "hydra_pmi_proxy"
	hydraControl = "--control-port"
	hydraNumber  = "--proxy-id"
)

// readHydra makes a job of the command lines below mpiexec. What stands below a
// line of a proxy says the same again.
func (ps processes) readHydra(lines map[int][]string) (Hydra, bool) {
	type numbered struct {
		HydraHost
		number int
	}
	var h Hydra
	var all []numbered
	var named []int
	for pid, argv := range lines {
		if proxyWord(argv) >= 0 {
			named = append(named, pid)
		}
	}
	slices.Sort(named) // of two jobs below a script we take one whole
	for _, pid := range named {
		argv := lines[pid]
		if slices.ContainsFunc(named, func(other int) bool { return ps.isBelow(pid, other) }) || h.Control != "" && after(argv, hydraControl) != h.Control {
			continue
		}
		at := proxyWord(argv)
		h.Control = after(argv, hydraControl)
		number, err := strconv.Atoi(after(argv, hydraNumber))
		switch {
		case filepath.Base(argv[0]) == "srun":
			h.Srun = pid
		case at == 0:
			all = append(all, numbered{HydraHost{}, number})
		case err == nil && isHostWord(argv[at-1]):
			all = append(all, numbered{HydraHost{argv[at-1], argv[:at-1]}, number})
		}
	}
	slices.SortFunc(all, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
	for _, one := range all {
		h.Proxies = append(h.Proxies, one.HydraHost)
	}
	return h, h.Srun > 0 || len(h.Proxies) > 0
}

// proxyWord is where a command line names the proxy, -1 if it does not: as its
// program, or as that of a line for a remote shell, there in quotes.
func proxyWord(argv []string) int {
	if after(argv, hydraControl) == "" {
		return -1
	}
	return slices.IndexFunc(argv, func(w string) bool { return filepath.Base(strings.Trim(w, `"'`)) == hydraProxy })
}

func isHostWord(word string) bool {
	return protocol.CheckHost(word) == nil
}

// after gives the word behind another, "" if there is none.
func after(words []string, word string) string {
	if i := slices.Index(words, word); i >= 0 && i+1 < len(words) {
		return words[i+1]
	}
	return ""
}

// RanksOfHydra looks for the ranks of such a job on this host, below the proxies
// with its control port. size is that of the whole job.
func RanksOfHydra(control, host string) (ranks protocol.Proctable, size int, err error) {
	ps := scan()
	var proxies []int
	for pid := range ps {
		argv := commandLine(pid)
		if proxyWord(argv) == 0 && after(argv, hydraControl) == control && isOfOurNet(pid) {
			proxies = append(proxies, pid)
		}
	}
	if len(proxies) == 0 {
		return nil, 0, fmt.Errorf("no %s %s %s runs on %s", hydraProxy, hydraControl, control, host)
	}
	t := table{size: Unknown}
	for _, top := range proxies {
		if err := ps.addBelow(&t, host, top); err != nil {
			return nil, 0, err
		}
	}
	if len(t.rows) == 0 {
		return nil, 0, errors.New("the proxy on " + host + " has no processes that say which rank they are (are they yours?)")
	}
	return t.sorted(), t.size, nil
}

// isOfOurNet tells whether a process has the network of this host, as far as may
// be known: a container, or a simulated host, has one of its own, and its
// processes are seen here all the same.
func isOfOurNet(pid int) bool {
	own, err := os.Readlink("/proc/self/ns/net")
	its, unknown := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "ns/net"))
	return err != nil || unknown != nil || own == its
}

// commandLine reads the words of a process's command line, at most maxCommandLine
// bytes of them; nil if it has none.
func commandLine(pid int) []string {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	b = bytes.TrimSuffix(b[:min(len(b), maxCommandLine)], []byte{0})
	if err != nil || len(b) == 0 {
		return nil
	}
	return strings.Split(string(b), "\x00")
}

// maxCommandLine bounds what is read of a command line, in bytes.
const maxCommandLine = 64 << 10
