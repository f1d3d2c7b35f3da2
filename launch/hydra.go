// Jobs of MPICH's starter, found by the command lines of its children: a stripped mpiexec has no
// MPIR.

package launch

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
)

// Hydra is a running job of MPICH's mpiexec or of another starter that uses Hydra. Its proxies,
// one on each host, have started the ranks. The proxies were started by children of mpiexec: a
// remote shell (ssh or similar) for each other host, or one srun for all.
type Hydra struct {
	Control string      // --control-port of the proxies, HOST:PORT: it names the job on each host
	Proxies []HydraHost // in the order of their --proxy-id; none if one srun has started them all
	Srun    int         // the process of that srun; 0: there is none
}

// HydraHost is the host of one proxy.
type HydraHost struct {
	Host  string   // as mpiexec names it; "" is this host
	Shell []string // the remote shell that started it, with options; nil on this host
}

// Elsewhere reports whether proxies are on other hosts.
func (h Hydra) Elsewhere() bool {
	return h.Srun > 0 || slices.ContainsFunc(h.Proxies, func(p HydraHost) bool { return p.Host != "" })
}

// Hydra returns the job of Hydra below the process, if there is one.
func (f Family) Hydra() (h Hydra, found bool) { return f.ps.readHydra(f.below) }

// Family is a process and its descendants, as they were at one time. One goroutine may use it.
type Family struct {
	pid   int
	ps    processes        // all processes of this host with their parents; identify adds identities
	below map[int][]string // command lines of the descendants
}

// FamilyOf reads a process and its descendants.
func FamilyOf(pid int) Family {
	f := Family{pid, processes{}, map[int][]string{}}
	for p, parent := range Parents() {
		f.ps[p] = process{parent: parent, Identity: Identity{Number: Unknown}}
	}
	for p := range f.ps {
		if p != pid && f.ps.isBelow(p, pid) {
			f.below[p] = commandLine(p)
		}
	}
	return f
}

// lines returns the command lines of the process and its descendants.
func (f Family) lines() map[int][]string {
	lines := maps.Clone(f.below)
	lines[f.pid] = commandLine(f.pid)
	return lines
}

// Descendants returns the descendants of the process, nearest first.
func (f Family) Descendants() []int {
	children := map[int][]int{}
	for _, pid := range slices.Sorted(maps.Keys(f.below)) {
		parent := f.ps[pid].parent
		children[parent] = append(children[parent], pid)
	}
	var all []int
	for queue := []int{f.pid}; len(queue) > 0; queue = queue[1:] {
		all = append(all, children[queue[0]]...)
		queue = append(queue, children[queue[0]]...)
	}
	return all
}

// identify reads which ranks the process and its descendants are.
func (f Family) identify(from RankFrom) {
	for _, pid := range append(f.Descendants(), f.pid) {
		f.ps[pid] = process{parent: f.ps[pid].parent, Identity: from.identityOf(pid)}
	}
}

// Words in the command lines of Hydra (MPICH's src/pm/hydra, tools/bootstrap and pm/pmiserv).
const (
	hydraProxy   = "hydra_pmi_proxy"
	hydraControl = "--control-port"
	hydraNumber  = "--proxy-id"
)

// readHydra makes a job of the command lines below mpiexec. The line of a proxy's descendant
// repeats the proxy's and is skipped.
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
	// Of two jobs below a script, the one with the lowest process id is taken, all of it.
	slices.Sort(named)
	for _, pid := range named {
		argv := lines[pid]
		if slices.ContainsFunc(named, func(other int) bool { return ps.isBelow(pid, other) }) || h.Control != "" &&
			after(argv, hydraControl) != h.Control {
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

// proxyWord returns the index of the proxy's name in a command line, -1 if there is none: it is the
// program itself, or the program of a command for a remote shell, there in quotes.
func proxyWord(argv []string) int {
	if after(argv, hydraControl) == "" {
		return -1
	}
	return slices.IndexFunc(argv, func(w string) bool { return filepath.Base(strings.Trim(w, `"'`)) == hydraProxy })
}

func isHostWord(word string) bool {
	return protocol.CheckHost(word) == nil
}

// after returns the word that follows word, "" if there is none.
func after(words []string, word string) string {
	if i := slices.Index(words, word); i >= 0 && i+1 < len(words) {
		return words[i+1]
	}
	return ""
}

// RanksOfHydra returns the ranks of a job on this host, below the proxies with its control port.
// size is the size of the whole job.
func RanksOfHydra(control, host string) (ranks protocol.Proctable, size int, err error) {
	ps := RankFrom{}.scan()
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

// isOfOurNet reports whether a process has the network namespace of this host, as far as that can
// be read. A container, or a simulated host, has another one, but its processes are visible here.
func isOfOurNet(pid int) bool {
	own, err := os.Readlink("/proc/self/ns/net")
	its, unknown := os.Readlink(procOf(pid, "ns/net"))
	return err != nil || unknown != nil || own == its
}

// commandLine returns the words of a process's command line, at most maxCommandLine bytes of them;
// nil if it has none.
func commandLine(pid int) []string {
	b, err := os.ReadFile(procOf(pid, "cmdline"))
	b = bytes.TrimRight(b[:min(len(b), maxCommandLine)], "\x00") // a process that writes a title leaves many
	if err != nil || len(b) == 0 {
		return nil
	}
	return strings.Split(string(b), "\x00")
}

// maxCommandLine bounds what is read of a command line, in bytes.
const maxCommandLine = 64 << 10
