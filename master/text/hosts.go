// The rows of "info hosts".

package text

import (
	"fmt"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// hostRow writes a row of "info hosts": "node01: server 0, gdb 13.1, 2 stopped, /home/me/app, pid
// 4711-4712".
func hostRow(_ *Writer, _ Asked, g protocol.Group) []answer {
	var h protocol.HostInfo
	if !decode(g.Body, &h) {
		return []answer{raw(g)}
	}
	var words []string
	switch {
	case h.Servers == "":
		words = append(words, "no server")
	case strings.ContainsAny(h.Servers, ",-"):
		words = append(words, "servers "+h.Servers)
	default:
		words = append(words, "server "+h.Servers)
	}
	if h.Engine != "" {
		words = append(words, h.Engine)
	}
	for _, s := range h.States {
		if len(h.States) == 1 {
			words = append(words, s.State)
			continue
		}
		words = append(words, strconv.Itoa(s.N)+" "+s.State)
	}
	if h.Program != "" {
		words = append(words, h.Program)
	}
	if pids := pidText(columns(g)["pid"]); pids != "" {
		words = append(words, "pid "+pids)
	}
	return []answer{{ranks: g.Ranks, lines: []string{hostText(h.Hosts) + ": " + strings.Join(words, ", ")}}}
}

// hostText names hosts; if there are many, the first and the last.
func hostText(hosts []string) string {
	const most = 3
	if len(hosts) <= most {
		return strings.Join(hosts, ", ")
	}
	return fmt.Sprintf("%s to %s (%d hosts)", hosts[0], hosts[len(hosts)-1], len(hosts))
}

// pidText returns process IDs in the order of ranks; "" if they are too many.
func pidText(c view) string {
	const most = 8
	if len(c.values) > most || !c.Complete() {
		return ""
	}
	byRank := map[rank.ID]string{}
	var all rank.Set
	for _, v := range c.values {
		for r := range v.Ranks.All() {
			byRank[r] = v.Value
			all = all.Union(rank.Of(r))
		}
	}
	if all.Len() > most {
		return ""
	}
	var pids []string
	for r := range all.All() {
		pids = append(pids, byRank[r])
	}
	return strings.Join(pids, " ")
}
