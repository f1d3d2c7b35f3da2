// What is asked of a PMIx server for a new job, and what servers honour.

package pmix

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/protocol/pattern"
)

// Stop says where the ranks of a new job wait for the debugger.
type Stop string

// The places.
const (
	InInit Stop = "init" // in PMIx_Init, which MPI_Init calls
	InApp  Stop = "app"  // in MPI_Init or where the program waits itself
	OnExec Stop = "exec" // before the first instruction
)

// Stops lists all places. It is read only.
var Stops = []Stop{InInit, InApp, OnExec}

var stopKeys = map[Stop]Key{InInit: StopInInit, InApp: StopInApp, OnExec: StopOnExec}

// Directives request resources and places for the ranks of a job. The zero value leaves all to the
// server.
type Directives struct {
	MapBy, RankBy, BindTo string        // in PRRTE's words; "": the server's default
	Hosts                 string        // comma list of hosts; "": all of the server
	AllocNodes            int           // nodes of a new allocation; 0: none
	AllocTime             time.Duration // of it, whole seconds; 0: no limit asked for
}

// Refusal is the error that a server does not do what the user has asked for. It would not say so
// itself: no known server refuses an unknown directive that is marked as required.
type Refusal struct {
	What    string // flag or directive
	Version Version
	Hint    string
}

func (r *Refusal) Error() string {
	text := fmt.Sprintf("%s: a server with libpmix %s is not known to honour it", r.What, r.Version)
	if r.Hint != "" {
		text += " (" + r.Hint + ")"
	}
	return text
}

// Check returns a *Refusal if servers of a version do not do what is asked for, or an error that
// names a word that is wrong.
func (d Directives) Check(stop Stop, v Version) error {
	can := AbilitiesOf(v)
	switch {
	case stop == OnExec && !can.StopOnExec:
		return &Refusal{"stop on exec (" + string(StopOnExec) + ")", v, "there it hangs with two ranks or more; init holds ranks in MPI_Init"}
	case d.AllocNodes != 0 && !can.Allocation:
		return &Refusal{"--alloc-nodes (" + string(AllocNodes) + ")", v, "it would be ignored silently"}
	case d.AllocTime != 0 && !can.Allocation:
		return &Refusal{"--alloc-time (" + string(AllocTime) + ")", v, "it would be ignored silently"}
	}
	return d.CheckWords()
}

// places are the objects by which PRRTE maps and binds, and its other words for the three
// policies. An unknown word ends PRRTE 3.0.8 with all its jobs, so others are refused here.
var (
	places    = []string{"hwthread", "core", "l1cache", "l2cache", "l3cache", "numa", "package", "node"}
	mapWords  = append([]string{"slot", "seq"}, places...)
	mapMods   = []string{"oversubscribe", "nooversubscribe", "span", "nolocal", "hwtcpus", "corecpus", "inherit", "noinherit"}
	rankWords = []string{"slot", "node", "fill", "span"}
	bindWords = append([]string{"none"}, places[:len(places)-1]...)
	bindMods  = []string{"overload-allowed", "no-overload", "if-supported"}
)

// CheckWords validates the words of the policies and of hosts.
func (d Directives) CheckWords() error {
	if err := checkPolicy("map by", d.MapBy, mapWords, mapMods); err != nil {
		return err
	}
	if err := checkPolicy("rank by", d.RankBy, rankWords, nil); err != nil {
		return err
	}
	if err := checkPolicy("bind to", d.BindTo, bindWords, bindMods); err != nil {
		return err
	}
	if d.Hosts != "" {
		if err := checkHostList(d.Hosts); err != nil {
			return err
		}
	}
	if d.AllocNodes < 0 || d.AllocTime < 0 {
		return fmt.Errorf("an allocation of %d nodes for %v", d.AllocNodes, d.AllocTime)
	}
	return nil
}

var hostList = pattern.New(`^[A-Za-z0-9_][-A-Za-z0-9_.]*(:[0-9]{1,6})?(,[A-Za-z0-9_][-A-Za-z0-9_.]*(:[0-9]{1,6})?)*$`)

func checkHostList(text string) error {
	if !hostList.MatchString(text) {
		return fmt.Errorf("hosts %q: not a comma list of NAME or NAME:SLOTS", text)
	}
	return nil
}

// checkPolicy validates WORD[:MODIFIER...], where WORD may be ppr:N:PLACE for mapping.
func checkPolicy(name, policy string, words, mods []string) error {
	if policy == "" {
		return nil
	}
	parts := strings.Split(policy, ":")
	if parts[0] == "ppr" && name == "map by" {
		if len(parts) < 3 || !isCount(parts[1]) || !slices.Contains(places, parts[2]) {
			return fmt.Errorf("%s %q: ppr is written ppr:N:PLACE, with PLACE one of %s", name, policy, strings.Join(places, ", "))
		}
		parts = parts[2:]
	} else if !slices.Contains(words, parts[0]) {
		return fmt.Errorf("%s %q: give one of %s", name, policy, strings.Join(words, ", "))
	}
	for _, mod := range parts[1:] {
		n, isPE := strings.CutPrefix(mod, "pe=")
		if !slices.Contains(mods, mod) && !(isPE && name == "map by" && isCount(n)) {
			return fmt.Errorf("%s %q: unknown modifier %q (known: %s)", name, policy, mod, strings.Join(mods, ", "))
		}
	}
	return nil
}

func isCount(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n > 0 && n <= 1<<20
}

// Infos returns the directives for a spawn. What only counts for a program (hosts) is app.
func (d Directives) Infos() (job, app []Info) {
	for _, one := range []struct {
		key  Key
		text string
	}{{MapBy, d.MapBy}, {RankBy, d.RankBy}, {BindTo, d.BindTo}} {
		if one.text != "" {
			job = append(job, String(one.key, one.text))
		}
	}
	if d.AllocNodes != 0 {
		job = append(job, Number(AllocNodes, Uint64, int64(d.AllocNodes)))
	}
	if d.AllocTime != 0 {
		job = append(job, Number(AllocTime, Uint32, int64((d.AllocTime+time.Second-1)/time.Second)))
	}
	if d.Hosts != "" {
		app = append(app, String(Hosts, d.Hosts))
	}
	return job, app
}
