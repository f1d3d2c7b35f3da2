// Jobs of PRRTE's starter, which is mpirun of Open MPI since release 5. It has no MPIR. Its ranks
// have the name of the job in their environment; its daemons run on the hosts to which it has
// connections.

package launch

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// PRRTE is a running job of prterun.
type PRRTE struct {
	PID       int
	Namespace string       // PMIX_NAMESPACE of its ranks
	Slurm     string       // the Slurm job in which one srun has started its daemons; "": none has
	Peers     []netip.Addr // other hosts to which it has connections
	Named     []string     // hosts named by its command line or hostfile
	Shell     string       // the remote shell that it uses in place of ssh; "": ssh
}

// Elsewhere reports whether daemons are on other hosts.
func (j PRRTE) Elsewhere() bool { return j.Slurm != "" || len(j.Peers) > 0 }

// PRRTERadix is the default limit of the number of daemons that connect to the starter itself
// (prte_rml_base_radix). Further daemons connect to these.
const PRRTERadix = 64

// PRRTE returns the job of prterun at the process or its descendants, if there is one. Of several
// it takes that with the lowest process id, as a rule the oldest.
func (f Family) PRRTE() (PRRTE, bool) {
	lines := f.lines()
	for _, p := range slices.Sorted(maps.Keys(lines)) {
		if isPRRTE(programOf(p), lines[p]) {
			f.identify(RankFrom{})
			return f.ps.readPRRTE(p, lines), true
		}
	}
	return PRRTE{}, false
}

// isPRRTE reports whether a process is prterun, which is another name of prte. A prte under its
// own name is a daemon that starts nothing until it is told to.
func isPRRTE(exe string, argv []string) bool {
	name := filepath.Base(exe)
	return (name == "prte" || name == "prterun") && len(argv) > 0 && filepath.Base(argv[0]) != "prte"
}

// readPRRTE describes the job of a prterun.
func (ps processes) readPRRTE(pid int, lines map[int][]string) PRRTE {
	vars := lookup(EnvironOf(pid))
	own, _ := os.Hostname()
	j := PRRTE{PID: pid, Peers: peersOf(pid), Shell: remoteShellOf(vars, lines[pid])}
	space := fmt.Sprintf("prterun-%s-%d", firstLabel(own), pid)
	for _, p := range slices.Sorted(maps.Keys(lines)) {
		if !ps.isBelow(p, pid) {
			continue
		}
		space = cmp.Or(daemonsSpace(lines[p]), space)
		if IsSrunOfHelpers(lines[p]) {
			j.Slurm = cmp.Or(vars["SLURM_JOB_ID"], jobidWord(lines[p]))
		}
	}
	j.Namespace = ps.firstJob(pid, space)
	j.Named = hostsOfLine(lines[pid], func(file string) []byte {
		if !filepath.IsAbs(file) {
			file = filepath.Join(procOf(pid, "cwd"), file)
		}
		text, _ := os.ReadFile(file) // ignored: there are still the addresses
		return text
	})
	return j
}

// firstJob returns the name of the first job of a starter: space, an @ and a number. PRRTE numbers
// jobs and connected tools in one series, so the number is above 1 if a tool connected before the
// job was started. Of the numbers that ranks on this host have in their environment the lowest is
// taken. Without such ranks it is 1: as a rule a starter starts its job before a tool can know
// where to connect.
func (ps processes) firstJob(starter int, space string) string {
	first := 0
	for pid, p := range ps {
		number, is := strings.CutPrefix(p.Job, space+"@")
		if n, err := strconv.Atoi(number); is && err == nil && n > 0 && (first == 0 || n < first) &&
			ps.isBelow(pid, starter) {
			first = n
		}
	}
	return fmt.Sprintf("%s@%d", space, max(first, 1))
}

// daemonsSpace returns the name of a job without its number, from the command line of a daemon; ""
// if there is none. The daemons have number 0, the first ranks 1.
func daemonsSpace(argv []string) string {
	space, isDaemons := strings.CutSuffix(strings.Trim(after(argv, "ess_base_nspace"), `"'`), "@0")
	if !isDaemons {
		return ""
	}
	return space
}

// jobidWord returns N from srun's --jobid=N.
func jobidWord(argv []string) string {
	for _, w := range argv {
		if id, is := strings.CutPrefix(w, "--jobid="); is {
			return id
		}
	}
	return ""
}

// remoteShellOf returns the remote shell that a starter of Open MPI was told to use in place of
// ssh. The setting is a list separated by colons; the result is its first entry.
func remoteShellOf(vars map[string]string, argv []string) string {
	list := cmp.Or(after(argv, "plm_ssh_agent"), after(argv, "plm_rsh_agent"), vars["PRTE_MCA_plm_ssh_agent"], vars["PRTE_MCA_plm_rsh_agent"], vars["OMPI_MCA_plm_rsh_agent"])
	shell, _, _ := strings.Cut(list, ":")
	return strings.TrimSpace(shell)
}

// hostsOfLine returns the hosts that a command line of mpirun names. read reads a hostfile.
func hostsOfLine(argv []string, read func(file string) []byte) (hosts []string) {
	add := func(word string) {
		name, _, _ := strings.Cut(word, ":")
		if isHostWord(name) && !strings.HasPrefix(name, "+") && !slices.Contains(hosts, name) {
			hosts = append(hosts, name)
		}
	}
	for i := range len(argv) - 1 {
		switch strings.TrimLeft(argv[i], "-") {
		case "host", "H":
			for _, word := range strings.Split(argv[i+1], ",") {
				add(word)
			}
		case "hostfile", "machinefile", "default-hostfile":
			for line := range strings.Lines(string(read(argv[i+1]))) {
				if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(words[0], "#") {
					add(words[0])
				}
			}
		}
	}
	return hosts
}

// peersOf returns the other hosts to which a process has connections.
func peersOf(pid int) []netip.Addr {
	open := map[string]bool{}
	fds, _ := os.ReadDir(procOf(pid, "fd")) // empty for processes of other users
	for _, fd := range fds {
		if to, err := os.Readlink(procOf(pid, "fd/"+fd.Name())); err == nil {
			open[to] = true
		}
	}
	own := map[netip.Addr]bool{}
	mine, _ := net.InterfaceAddrs()
	for _, m := range mine {
		if prefix, err := netip.ParsePrefix(m.String()); err == nil {
			own[prefix.Addr().Unmap()] = true
		}
	}
	var peers []netip.Addr
	for _, file := range []string{"net/tcp", "net/tcp6"} {
		text, _ := os.ReadFile(procOf(pid, file)) // empty for processes of other users
		for _, c := range connections(text) {
			if open["socket:["+c.inode+"]"] && !c.peer.IsLoopback() && !own[c.peer] && !slices.Contains(peers, c.peer) {
				peers = append(peers, c.peer)
			}
		}
	}
	return peers
}

// connection is an established TCP connection.
type connection struct {
	inode string
	peer  netip.Addr
}

// connections reads /proc/PID/net/tcp or tcp6 (proc(5)). Addresses are 32-bit words in the byte
// order of the machine, in hexadecimal; both supported architectures are little-endian.
func connections(table []byte) (all []connection) {
	const established = "01"
	for line := range bytes.Lines(table) {
		fields := strings.Fields(string(line))
		if len(fields) < 10 || fields[3] != established {
			continue
		}
		digits, _, _ := strings.Cut(fields[2], ":")
		if peer, good := parseWords(digits); good {
			all = append(all, connection{fields[9], peer})
		}
	}
	return all
}

func parseWords(digits string) (netip.Addr, bool) {
	var raw []byte
	for ; len(digits) >= 8; digits = digits[8:] {
		word, err := strconv.ParseUint(digits[:8], 16, 32)
		if err != nil {
			return netip.Addr{}, false
		}
		raw = append(raw, byte(word), byte(word>>8), byte(word>>16), byte(word>>24))
	}
	addr, good := netip.AddrFromSlice(raw)
	return addr.Unmap(), good
}

// firstLabel returns a host name without its domain, as in PRRTE's job names.
func firstLabel(host string) string {
	label, _, _ := strings.Cut(host, ".")
	return label
}
