// Processes without a starter that knows them, found by their command lines on named hosts.

package job

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sdm/cmd/internal/servers"
	"sdm/launch"
	"sdm/launch/ssh"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// findMatch finds the processes of the user on the hosts of jobHosts whose command lines match. It
// numbers them as ranks in the order of host and process id.
func (f finder) findMatch(ctx context.Context, text string) (servers.Placement, error) {
	if _, err := launch.ParseMatch(text); err != nil {
		return servers.Placement{}, misused("--match: %w", err)
	}
	id, hosts, err := f.jobHosts(ctx)
	if err != nil {
		return servers.Placement{}, err
	}
	answers, err := f.list(ctx, id, hosts, "--match", text)
	if err != nil {
		return servers.Placement{}, err
	}
	table, troubles, err := numbered(answers)
	switch {
	case err != nil:
		return servers.Placement{}, err
	case len(table) == 0:
		return servers.Placement{}, fmt.Errorf("no process matches %q on %s: %s", text, strings.Join(hosts, ", "), strings.Join(troubles, "; "))
	case len(troubles) > 0:
		f.Remark("without some hosts: " + strings.Join(troubles, "; "))
	}
	return servers.Placement{Table: table, ID: cmp.Or(id, "match")}, nil
}

// numbered makes one table of what hosts have found, and tells which have found nothing.
func numbered(answers []ssh.Answer) (table protocol.Proctable, troubles []string, err error) {
	var seen []string // hosts: one command of a start tool may ask a host twice
	for _, one := range answers {
		found, err := launch.ReadFound(bytes.NewReader(one.Out))
		if err = errors.Join(err, one.Err); err != nil {
			troubles = append(troubles, err.Error()+" ("+servers.ShellHint+")")
		}
		for _, host := range found {
			if slices.Contains(seen, host.Host) {
				continue
			}
			seen = append(seen, host.Host)
			if host.Error != "" {
				troubles = append(troubles, host.Host+": "+host.Error)
			}
			for _, p := range host.Ranks {
				table = append(table, protocol.Process{Host: host.Host, PID: p.PID})
			}
		}
	}
	slices.SortFunc(table, func(a, b protocol.Process) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.PID, b.PID))
	})
	if len(table) > int(rank.MaxID) {
		return nil, nil, fmt.Errorf("%d processes match", len(table))
	}
	for i := range table {
		table[i].Rank = rank.ID(i)
		if i > 0 && table[i].Host == table[i-1].Host && table[i].PID == table[i-1].PID {
			return nil, nil, fmt.Errorf("%s has named process %d twice", table[i].Host, table[i].PID)
		}
	}
	if err := table.Check(); err != nil {
		return nil, nil, fmt.Errorf("the processes that the hosts have named: %w", err)
	}
	return table, troubles, nil
}
