package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sdm/cmd/internal/sessions"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// someSessions are sessions of every kind, and what they answer.
func someSessions() ([]sessions.Found, sessionAsker) {
	began := time.Date(2026, 11, 28, 10, 31, 0, 0, time.UTC)
	listed := func(n int, host string, l sessions.Liveness) sessions.Found {
		id := fmt.Sprintf("sdm-%d", n)
		return sessions.Found{Liveness: l, State: sessions.State{
			ID: id, Kind: sessions.Run, Host: host, PID: 100 + n, Socket: "@sdm/0/" + id, Program: "mpirun -n 4 ./app", Ranks: "0-3",
			Began: began, Keep: 30 * time.Minute,
		}}
	}
	found := []sessions.Found{
		listed(1, "login1", sessions.Live), listed(2, "login1", sessions.Live), listed(3, "login1", sessions.Live),
		listed(4, "login2", sessions.Elsewhere), listed(5, "login1", sessions.Gone), listed(6, "login1", sessions.Live),
	}
	found[0].State.Job = "slurm 12"
	found[1].State.Began = began.AddDate(0, 0, -1)
	found[3].State.Program, found[3].State.Job = "a\nsdm-9\tb\x1b[2J\u202e", "\x1b]0;x\a"
	answers := map[string]session.Summary{
		"sdm-1": {
			States: []session.StateRanks{{State: "stopped", Ranks: rank.Range(0, 2)}, {State: "running", Ranks: rank.Of(3)}},
			Fronts: []protocol.FrontEnd{{Number: 1, Name: "ann", Door: "console"}, {Number: 2, Name: "b\x1bob", Host: "login3"}},
		},
		"sdm-2": {},
	}
	return found, func(ctx context.Context, s sessions.State) (session.Summary, error) {
		switch answer, ok := answers[s.ID]; {
		case ok:
			return answer, nil
		case s.ID == "sdm-3":
			return session.Summary{}, errors.New("connection \x1b refused")
		case s.ID == "sdm-6": // says nothing
			<-ctx.Done()
			return session.Summary{}, ctx.Err()
		}
		panic(s.ID + " is asked")
	}
}

func TestListOfSessions(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	synctest.Test(t, func(t *testing.T) {
		found, ask := someSessions()
		rows, start := askSessions(t.Context(), found, ask), time.Now()
		if late := time.Since(start); late > maxAsk {
			t.Errorf("it took %v", late)
		}
		const want = `
ID     HOST    JOB       PROGRAM                RANKS                 SINCE             WHO
sdm-1  login1  slurm 12  mpirun -n 4 ./app      3 stopped, 1 running  10:31             ann (console), b^[ob on login3
sdm-2  login1  -         mpirun -n 4 ./app      0-3                   2026-11-27 10:31  nobody
sdm-3  login1  -         mpirun -n 4 ./app      0-3                   10:31             connection ^[ refused
sdm-4  login2  ^[]0;x^G  a^Jsdm-9 b^[[2J\u202e  0-3                   10:31             ask on login2
sdm-5  login1  -         mpirun -n 4 ./app      0-3                   10:31             it has ended
sdm-6  login1  -         mpirun -n 4 ./app      0-3                   10:31             no answer in 2s
`
		if got := "\n" + string(sessionTable(rows, now)); got != want {
			t.Errorf("got%swant%s", got, want)
		}
		lines := strings.Split(string(sessionLines(rows, now)), "\n")
		for n, want := range map[int]string{
			0: `{"event":"session","id":"sdm-1","liveness":"live","kind":"run","host":"login1","pid":101,"socket":"@sdm/0/sdm-1",` +
				`"job":"slurm 12","program":"mpirun -n 4 ./app","ranks":"0-3","began":"2026-11-28T10:31:00Z","keep":1800,` +
				`"states":[{"state":"stopped","ranks":"0-2"},{"state":"running","ranks":"3"}],` +
				`"fronts":[{"front":1,"name":"ann","door":"console"},{"front":2,"name":"bob","host":"login3"}]}`,
			3: `{"event":"session","id":"sdm-4","liveness":"elsewhere","kind":"run","host":"login2","pid":104,"socket":"@sdm/0/sdm-4",` +
				`"job":"^[]0;x^G","program":"a^Jsdm-9\tb^[[2J\\u202e","ranks":"0-3","began":"2026-11-28T10:31:00Z","keep":1800}`,
			5: `{"event":"session","id":"sdm-6","liveness":"live","kind":"run","host":"login1","pid":106,"socket":"@sdm/0/sdm-6",` +
				`"program":"mpirun -n 4 ./app","ranks":"0-3","began":"2026-11-28T10:31:00Z","keep":1800,"silent":"no answer in 2s"}`,
		} {
			if lines[n] != want {
				t.Errorf("line %d:\n%s\nwant\n%s", n, lines[n], want)
			}
		}
	})
}

func TestNoSessions(t *testing.T) {
	if got := string(sessionTable(nil, time.Time{})); got != "no sessions\n" {
		t.Errorf("got %q", got)
	}
}
