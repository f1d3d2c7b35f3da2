// Jobs of PRRTE's starter, which is mpirun of Open MPI from release 5 on. It offers no
// MPIR. Its ranks carry the name of its job; its daemons are on the hosts to which it is
// connected.

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
	Slurm     string       // the job of Slurm in which one srun has started its daemons; "": none has
	Peers     []netip.Addr // other hosts to which it is connected
	Named     []string     // hosts that its line or its file of hosts names
	Shell     string       // the remote shell that it uses in place of ssh; ""
}

// Elsewhere tells whether daemons are on other hosts.
func (j PRRTE) Elsewhere() bool { return j.Slurm != "" || len(j.Peers) > 0 }

// PRRTERadix is how many daemons at most are connected to the starter itself, by default
// (prte_rml_base_radix); those beyond are connected to these.
const PRRTERadix = 64

// PRRTEBelow looks for such a job at a process and what it has started. Of two we take the
// older.
func PRRTEBelow(pid int) (PRRTE, bool) {
	ps, lines := linesBelow(pid)
	lines[pid] = commandLine(pid)
	for _, p := range slices.Sorted(maps.Keys(lines)) {
		if isPRRTE(programOf(p), lines[p]) {
			return ps.readPRRTE(p, lines), true
		}
	}
	return PRRTE{}, false
}

// isPRRTE tells whether a process is prterun: that is a name of prte, which alone is a
// daemon that starts nothing until it is asked.
func isPRRTE(exe string, argv []string) bool {
	name := filepath.Base(exe)
	return (name == "prte" || name == "prterun") && len(argv) > 0 && filepath.Base(argv[0]) != "prte"
}

// readPRRTE says what can be known of the job of prterun.
func (ps processes) readPRRTE(pid int, lines map[int][]string) PRRTE {
	vars := lookup(environOf(pid))
	own, _ := os.Hostname()
	j := PRRTE{PID: pid, Peers: peersOf(pid), Shell: remoteShellOf(vars, lines[pid])}
	j.Namespace = fmt.Sprintf("prterun-%s-%d@1", firstLabel(own), pid)
	for _, p := range slices.Sorted(maps.Keys(lines)) {
		if !ps.isBelow(p, pid) {
			continue
		}
		if space := daemonsSpace(lines[p]); space != "" {
			j.Namespace = space + "@1"
		}
		if IsSrunOfHelpers(lines[p]) {
			j.Slurm = cmp.Or(vars["SLURM_JOB_ID"], jobidWord(lines[p]))
		}
	}
	j.Named = hostsOfLine(lines[pid], func(file string) []byte {
		if !filepath.IsAbs(file) {
			file = filepath.Join(procOf(pid, "cwd"), file)
		}
		text, _ := os.ReadFile(file) // without it there are addresses
		return text
	})
	return j
}

// daemonsSpace is the name of a job without its number, from the command line of a daemon:
// that of the daemons is 0, that of the first ranks 1. "" if there is none.
func daemonsSpace(argv []string) string {
	space, isDaemons := strings.CutSuffix(strings.Trim(after(argv, "ess_base_nspace"), `"'`), "@0")
	if !isDaemons {
		return ""
	}
	return space
}

// jobidWord is the number in srun's --jobid=N.
func jobidWord(argv []string) string {
	for _, w := range argv {
		if id, is := strings.CutPrefix(w, "--jobid="); is {
			return id
		}
	}
	return ""
}

// remoteShellOf is what a starter of Open MPI was told to use in place of ssh: a list
// with colons, of which it takes what is there.
func remoteShellOf(vars map[string]string, argv []string) string {
	list := cmp.Or(after(argv, "plm_ssh_agent"), after(argv, "plm_rsh_agent"), vars["PRTE_MCA_plm_ssh_agent"], vars["PRTE_MCA_plm_rsh_agent"], vars["OMPI_MCA_plm_rsh_agent"])
	shell, _, _ := strings.Cut(list, ":")
	return strings.TrimSpace(shell)
}

// hostsOfLine are the hosts that a line of mpirun names. read reads a file of hosts.
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

// peersOf are the other hosts to which a process is connected.
func peersOf(pid int) []netip.Addr {
	open := map[string]bool{}
	fds, _ := os.ReadDir(procOf(pid, "fd")) // of others: none
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
		text, _ := os.ReadFile(procOf(pid, file)) // of others: none
		for _, c := range connections(text) {
			if open["socket:["+c.inode+"]"] && !c.peer.IsLoopback() && !own[c.peer] && !slices.Contains(peers, c.peer) {
				peers = append(peers, c.peer)
			}
		}
	}
	return peers
}

// connection is one that stands.
type connection struct {
	inode string
	peer  netip.Addr
}

// connections reads /proc/PID/net/tcp or tcp6 (proc(5)): addresses are words of 32 bits
// as the machine has them, in hexadecimal; both machines that we run on are little-endian.
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

// firstLabel is the name of a host without its domain, as PRRTE has it in names of jobs.
func firstLabel(host string) string {
	label, _, _ := strings.Cut(host, ".")
	return label
}
