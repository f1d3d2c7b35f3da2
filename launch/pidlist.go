// Lists of processes that a user gives.

package launch

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// maxPidLine bounds a line of a list of processes, in bytes: a rank, a host name of up to 255
// bytes, a process id.
const maxPidLine = 4 << 10

// ReadPids reads a list of processes, one "RANK HOST PID" a line; '#' begins a comment. It is for
// starters that sdm does not know: a script can make the list for any of them.
func ReadPids(r io.Reader) (protocol.Proctable, error) {
	var table protocol.Proctable
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxPidLine)
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 3 {
			return nil, fmt.Errorf("line %d: %q is not RANK HOST PID", n, protocol.Clip(strings.TrimSpace(line)))
		}
		number, err := strconv.ParseInt(fields[0], 10, 32)
		if err != nil || number < 0 || rank.ID(number) > rank.MaxID {
			return nil, fmt.Errorf("line %d: %q is not a rank", n, protocol.Clip(fields[0]))
		}
		pid, err := readPid(fields[2])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		table = append(table, protocol.Process{Rank: rank.ID(number), Host: fields[1], PID: pid})
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(table) == 0 {
		return nil, fmt.Errorf("no processes are listed (one RANK HOST PID a line)")
	}
	return table, checkPids(table)
}

// ParsePids reads "PID,PID,…" on one host: rank i is the i-th process.
func ParsePids(list, host string) (protocol.Proctable, error) {
	var table protocol.Proctable
	for i, word := range strings.Split(list, ",") {
		pid, err := readPid(strings.TrimSpace(word))
		if err != nil {
			return nil, err
		}
		table = append(table, protocol.Process{Rank: rank.ID(i), Host: host, PID: pid})
	}
	return table, checkPids(table)
}

// checkPids refuses a table in which one process has two ranks, which can only be a mistake.
func checkPids(table protocol.Proctable) error {
	type process struct {
		host string
		pid  int
	}
	ranks := map[process]rank.ID{}
	for _, p := range table {
		at := process{p.Host, p.PID}
		if other, twice := ranks[at]; twice && other != p.Rank {
			return fmt.Errorf("process %d of %s appears twice, as ranks %d and %d", p.PID, p.Host, other, p.Rank)
		}
		ranks[at] = p.Rank
	}
	return table.Check()
}

func readPid(word string) (int, error) {
	pid, err := strconv.ParseInt(word, 10, 32)
	if err != nil || pid <= 0 {
		return 0, fmt.Errorf("%q is not a process id", protocol.Clip(word))
	}
	return int(pid), nil
}
