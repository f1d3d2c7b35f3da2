package master

import (
	"encoding/json"
	"strings"
	"testing"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// TestJobWatch feeds events of ranks 0-1 and records the reported states of the job.
func TestJobWatch(t *testing.T) {
	for _, c := range []struct{ name, events, want string }{
		{"from start to end", "started 0-1 {} | running 0-1 {} | stopped 0 {} | stopped 1 {} | running 1 {} | stopped 1 {} | running 0-1 {} | exited 0 {} | exited 1 {}",
			"held; running; ended 0"},
		{"statuses", `stopped 0-1 {} | running 0-1 {} | exited 0 {"code":3} | exited 1 {"code":2}`, "held; running; ended 3"},
		{"a signal", `stopped 0-1 {} | exited 0 {} | signalled 1 {"signal":"SIGSEGV"}`, "held; ended 1 1 ended by SIGSEGV"},
		{"one rank is lost", `stopped 0 {} | lost 1 {"cause":"x"} | running 0 {} | exited 0 {"code":7}`, "held; running; ended 7 1 lost"},
		{"all ranks are lost", `stopped 0-1 {} | lost 0-1 {"cause":"x"}`, "held"},
		{"one rank is detached", "stopped 0-1 {} | detached 0 {} | running 1 {} | exited 1 {}", "held; running"},
		{"never held", "started 0-1 {} | running 0-1 {} | exited 0-1 {}", "ended 0"},
		{"started again", "stopped 0-1 {} | exited 0-1 {} | started 0-1 {} | stopped 0-1 {} | running 0-1 {} | exited 0-1 {}", "held; ended 0; held; running; ended 0"},
		{"core files", `stopped 0-1 {"reason":"core","signal":"SIGSEGV"}`, ""},
	} {
		kinds := map[string]protocol.Kind{"started": protocol.KindStarted, "running": protocol.KindRunning, "stopped": protocol.KindStopped,
			"exited": protocol.KindExited, "signalled": protocol.KindSignalled, "detached": protocol.KindDetached, "lost": protocol.KindLost}
		states, tracker := session.NewStates(rank.Range(0, 1)), jobTracker{name: "4711"}
		var told []string
		for _, line := range strings.Split(c.events, " | ") {
			words := strings.SplitN(line, " ", 3)
			set, err := rank.Parse(words[1], rank.Env{All: rank.Range(0, 1)})
			if err != nil || kinds[words[0]] == 0 {
				t.Fatal(line, err)
			}
			states.Feed(session.NewEvent(protocol.Group{Kind: kinds[words[0]], Ranks: set, Body: []byte(words[2])}))
			j, news := tracker.after(kinds[words[0]], states)
			if !news {
				continue
			}
			word := j.State
			if j.Status != nil {
				status, _ := json.Marshal(j.Status)
				word += " " + string(status)
			}
			told = append(told, strings.TrimSpace(word+" "+j.Text))
			if j.Job != "4711" {
				t.Errorf("%s: of job %q", c.name, j.Job)
			}
		}
		if got := strings.Join(told, "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
