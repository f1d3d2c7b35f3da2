// Memory and processor time of the ranks' processes.

package server

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/tree"
)

// usage answers with resident memory (column rss, in KiB) and processor time (column cpu, in
// seconds) of the ranks; ranks without a process are in no column. It runs in the queue.
func (s *Server) usage(d tree.Deliver, args protocol.Args) {
	rss, cpu := map[string]rank.Set{}, map[string]rank.Set{}
	for r := range d.Ranks.All() {
		u, ok := usageOf("/proc", s.pidOf(r))
		if !ok || s.cfg.SimulatedPID != nil {
			continue
		}
		memory, seconds := strconv.FormatInt(u.rss, 10), strconv.FormatFloat(u.cpu, 'f', 2, 64)
		rss[memory] = rss[memory].Union(rank.Of(r))
		cpu[seconds] = cpu[seconds].Union(rank.Of(r))
	}
	g := protocol.Group{Kind: protocol.KindResult, Ranks: d.Ranks, Body: canonical.JSON(struct{}{})}
	for name, values := range map[string]map[string]rank.Set{"cpu": cpu, "rss": rss} {
		if len(values) > 0 {
			g.Columns = append(g.Columns, column.OfValues(name, counted(values), args.Limit))
		}
	}
	if len(g.Columns) == 2 && g.Columns[0].Name > g.Columns[1].Name {
		g.Columns[0], g.Columns[1] = g.Columns[1], g.Columns[0]
	}
	s.up.reply(d.ID, g)
}

func counted(values map[string]rank.Set) []column.ValueCount {
	var all []column.ValueCount
	for v, ranks := range values {
		all = append(all, column.ValueCount{Value: v, Ranks: ranks})
	}
	return all
}

type processUsage struct {
	rss int64   // KiB
	cpu float64 // seconds
}

// ticks is USER_HZ of Linux, per second: the same on all processors that sdm runs on.
const ticks = 100

// usageOf reads the usage of a process (proc(5), statm and stat); ok is false if it is gone.
func usageOf(proc string, pid int) (processUsage, bool) {
	if pid <= 0 {
		return processUsage{}, false
	}
	statm, err := os.ReadFile(fmt.Sprintf("%s/%d/statm", proc, pid))
	stat, err2 := os.ReadFile(fmt.Sprintf("%s/%d/stat", proc, pid))
	// The name of the program, in parentheses, may contain spaces and parentheses.
	_, after, found := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	pages, fields := strings.Fields(string(statm)), strings.Fields(after)
	if err != nil || err2 != nil || !found || len(pages) < 2 || len(fields) < 13 {
		return processUsage{}, false
	}
	resident, err := strconv.ParseInt(pages[1], 10, 64)
	// utime is field 14 of stat. The first of fields is the third of stat, the state.
	user, err2 := strconv.ParseInt(fields[11], 10, 64)
	system, err3 := strconv.ParseInt(fields[12], 10, 64)
	if err != nil || err2 != nil || err3 != nil {
		return processUsage{}, false
	}
	return processUsage{rss: resident * int64(os.Getpagesize()) / 1024, cpu: float64(user+system) / ticks}, true
}
