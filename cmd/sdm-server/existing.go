// Servers whose ranks run already: how they find them.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"time"

	"sdm/launch"
	"sdm/launch/slurm"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// findExisting finds the ranks of --attach, --jobid and --hydra. It also determines the size of
// their job, by which the master knows when all have registered.
func (p *program) findExisting() error {
	if !p.o.existing() {
		return nil
	}
	table, of, err := p.o.ranksHere(p.cfg.Host, p.number.Number)
	if p.jobSize = of.Size; err == nil && p.jobSize < 1 {
		if p.jobSize = p.o.size; p.jobSize < 1 {
			err = errors.New("how many ranks has the job? its ranks do not say (give --size N)")
		}
	}
	if err != nil {
		return err
	}
	p.cfg.Existing = map[rank.ID]int{}
	for _, r := range table {
		p.cfg.Existing[r.Rank] = r.PID
	}
	return nil
}

// existing reports whether the ranks run already.
func (o *options) existing() bool {
	return o.attach != "" || o.jobid != "" || o.hydra != "" || o.match != ""
}

// ranksHere returns the ranks on this host. self is the number of a single process of --attach whose
// environment does not tell its own.
func (o *options) ranksHere(host string, self int) (table protocol.Proctable, of launch.Whole, err error) {
	switch {
	case o.attach != "":
		if table, err = launch.ParsePids(o.attach, host); err != nil {
			return nil, of, err
		}
		table, of.Size, err = o.rankFrom.NumberPids(table, self)
		return table, of, err
	case o.match != "":
		m, err := launch.ParseMatch(o.match)
		if err != nil {
			return nil, of, fmt.Errorf("--match: %w", err)
		}
		table, err = m.Processes(host)
		return table, launch.Whole{Size: launch.Unknown}, err
	case o.jobid != "":
		table, of, err = o.rankFrom.RanksOfJob(o.jobid, host)
		if err != nil {
			if listed := listedBySlurm(o.jobid, host); len(listed) > 0 {
				return listed, launch.Whole{Name: o.jobid, Size: launch.Unknown}, nil
			}
		}
		return table, of, err
	}
	table, of.Size, err = launch.RanksOfHydra(o.hydra, host)
	return table, of, err
}

// slurmWait limits the time of Slurm's daemon on this host to list processes.
const slurmWait = 5 * time.Second

// listedBySlurm asks Slurm for the ranks of a step on this host. It serves ranks that are not found
// by their environment, because they have changed it or belong to another user. It returns nil if
// there are no ranks or there is no Slurm.
func listedBySlurm(id, host string) (table protocol.Proctable) {
	step, err := slurm.ParseStep(id)
	if err != nil || step.Step == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), slurmWait)
	defer cancel()
	line := step.ListPids()
	text, err := exec.CommandContext(ctx, line[0], line[1:]...).Output()
	if err != nil {
		return nil
	}
	pids, err := step.ReadPids(string(text))
	if err != nil {
		return nil
	}
	for _, number := range slices.Sorted(maps.Keys(pids)) {
		if number <= int(rank.MaxID) {
			table = append(table, protocol.Process{Rank: rank.ID(number), Host: host, PID: pids[number]})
		}
	}
	return table
}

// listRanks executes --list: it writes the ranks of the job on this host for the process that has
// started it, also if there are none.
func (o *options) listRanks(stdout io.Writer) error {
	host := o.host
	if host == "" {
		var err error
		if host, err = os.Hostname(); err != nil {
			return err
		}
	}
	if o.listens != 0 {
		_, err := stdout.Write(launch.Listening(o.listens, host).Append(nil))
		return err
	}
	table, of, trouble := o.ranksHere(host, launch.Unknown)
	_, err := stdout.Write(launch.AppendFound(nil, host, table, of, trouble))
	return err
}
