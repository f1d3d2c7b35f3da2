package registration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sdm/protocol"
	"sdm/tree/overlay"
)

// arrivals is a rendezvous at which servers register in the order of a test; then the wait is over.
type arrivals struct {
	coming  []overlay.Registration
	answers []string
}

func (a *arrivals) Accept(ctx context.Context) (overlay.Registration, func(overlay.Decision), error) {
	if len(a.coming) == 0 {
		return overlay.Registration{}, nil, tooLate(ctx)
	}
	r := a.coming[0]
	a.coming = a.coming[1:]
	return r, func(said overlay.Decision) { a.answers = append(a.answers, said.Refusal) }, nil
}

// tooLate returns the error of Accept when no more servers register.
func tooLate(ctx context.Context) error {
	if _, ok := ctx.Deadline(); ok { // Slots.Wait
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return context.DeadlineExceeded
}

func registrationOf(server, size, pid int) overlay.Registration {
	return overlay.Registration{
		Server: protocol.ServerID(server), Size: size, PID: pid,
		Host: fmt.Sprintf("node%02d", pid%10), Addrs: []string{fmt.Sprintf("10.0.0.%d:24000", pid)},
	}
}

func slot(r overlay.Registration) overlay.Registration {
	r.Slot = "./mpi"
	return r
}

func TestSlots(t *testing.T) {
	for _, tt := range []struct {
		name    string
		g       Slots
		coming  []overlay.Registration
		answers []string // "" if accepted, otherwise a part of the refusal
		err     string   // part of the error, or
		hosts   string   // of the table
	}{
		{"in any order", Slots{Servers: 2}, []overlay.Registration{registrationOf(1, 2, 11), registrationOf(0, 2, 12)},
			[]string{"", ""}, "", "node02 node01"},
		{"as many servers as the starter says", Slots{}, []overlay.Registration{registrationOf(1, 2, 11), registrationOf(0, 2, 12)},
			[]string{"", ""}, "", "node02 node01"},
		{"the master is a process of the job", Slots{OwnJob: true}, []overlay.Registration{registrationOf(1, 3, 11), registrationOf(0, 3, 12)},
			[]string{"", ""}, "", "node02 node01"},
		{"two processes with one number", Slots{Servers: 2}, []overlay.Registration{registrationOf(0, 2, 11), registrationOf(0, 2, 12), registrationOf(1, 2, 13)},
			[]string{"", "two processes have registered as server 0: process 11 on node01 and process 12 on node02", ""}, "", "node01 node03"},
		{"a repeated registration", Slots{Servers: 2}, []overlay.Registration{registrationOf(0, 2, 11), registrationOf(0, 2, 11), registrationOf(1, 2, 13)},
			[]string{"", "", ""}, "", "node01 node03"},
		{"a number that is too high", Slots{Servers: 2}, []overlay.Registration{registrationOf(2, 2, 11), registrationOf(0, 2, 12), registrationOf(1, 2, 13)},
			[]string{"server 2 on node01 is beyond the 2 that the master waits for, 0-1", "", ""}, "", "node02 node03"},
		{"servers are missing", Slots{Servers: 4}, []overlay.Registration{registrationOf(1, 4, 11)},
			[]string{""}, "servers 0,2-3 of 4 never registered: ", ""},
		{"servers are missing after the wait", Slots{Servers: 4, Wait: time.Millisecond}, []overlay.Registration{registrationOf(1, 4, 11)},
			[]string{""}, "servers 0,2-3 of 4 never registered: none came in 1ms", ""},
		{"partial: servers that have registered are enough", Slots{Servers: 4, Wait: time.Millisecond, Partial: true}, []overlay.Registration{registrationOf(2, 4, 11)},
			[]string{""}, "", "- - node01 -"},
		{"partial: one server is required", Slots{Servers: 4, Wait: time.Millisecond, Partial: true}, nil,
			nil, "servers 0-3 of 4 never registered: none came in 1ms", ""},
		{"partial: not before the wait is over", Slots{Servers: 4, Partial: true}, []overlay.Registration{registrationOf(2, 4, 11)},
			[]string{""}, "servers 0-1,3 of 4 never registered: ", ""},
		{"a duplicate explains a missing server", Slots{Servers: 3}, []overlay.Registration{registrationOf(0, 3, 11), registrationOf(1, 3, 12), registrationOf(1, 3, 13), registrationOf(1, 3, 13)},
			[]string{"", "", "two processes have registered as server 1", "two processes have registered as server 1"},
			"server 2 of 3 never registered: context deadline exceeded; two processes have registered as server 1: process 12 on node02 and process 13 on node03$", ""},
		{"a number that is too high explains a missing server", Slots{Servers: 2}, []overlay.Registration{registrationOf(0, 2, 11), registrationOf(7, 2, 12)},
			[]string{"", "server 7 on node02 is beyond the 2"},
			"server 1 of 2 never registered: context deadline exceeded; server 7 on node02 is beyond the 2 that the master waits for, 0-1 (is --servers right?)$", ""},
		{"no server has registered", Slots{}, nil, nil, "no server has registered: ", ""},
		{"an unknown number of servers", Slots{}, []overlay.Registration{registrationOf(0, 0, 11)},
			[]string{"give the master --servers N"}, "the starter says nothing (give the master --servers N)$", ""},
		{"the program is refused", Slots{Servers: 1, CheckProgram: func(string) error { return errors.New("it would hang") }},
			[]overlay.Registration{{Server: 0, Host: "node01", Addrs: []string{"x:1"}, Slot: "./mpi"}},
			[]string{"it would hang"}, "it would hang", ""},
		{"the program is refused, and each server is told", Slots{CheckProgram: func(string) error { return errors.New("it would hang") }},
			[]overlay.Registration{slot(registrationOf(1, 2, 11)), slot(registrationOf(1, 2, 12)), slot(registrationOf(0, 2, 13)), slot(registrationOf(0, 2, 14))},
			[]string{"it would hang", "two processes have registered as server 1", "it would hang"}, "it would hang", ""},
		{"a second attempt after a failure", Slots{Earlier: &Registered{byServer: map[protocol.ServerID]overlay.Registration{1: registrationOf(1, 2, 11)}}},
			[]overlay.Registration{registrationOf(1, 2, 11), registrationOf(0, 2, 12)},
			[]string{"", ""}, "", "node02 node01"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := &arrivals{coming: tt.coming}
			var progress []string
			tt.g.Progress = func(have, want int) { progress = append(progress, fmt.Sprintf("%d/%d", have, want)) }
			table, err := tt.g.Collect(context.Background(), l)
			var refused *Refused
			if errors.As(err, &refused) {
				refused.Report(context.Background(), l)
			}
			if len(l.answers) != len(tt.answers) {
				t.Fatalf("answers: %q", l.answers)
			}
			accepted := 0
			for i, want := range tt.answers {
				if got := l.answers[i]; (got == "") != (want == "") || !strings.Contains(got, want) {
					t.Errorf("answer %d: %q, want %q", i, got, want)
				}
				if want == "" {
					accepted++
				}
			}
			if len(progress) != accepted {
				t.Errorf("progress: %v", progress)
			}
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error()+"$", tt.err) {
					t.Errorf("error: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var hosts []string
			for i, r := range table.Routes {
				if r.Ranks.String() != fmt.Sprint(i) || int(r.Server) != i || (len(r.Addrs) == 1) != (r.Host != "") {
					t.Errorf("route %d: %+v", i, r)
				}
				hosts = append(hosts, cmp.Or(r.Host, "-"))
			}
			if got := strings.Join(hosts, " "); got != tt.hosts || table.Size != len(hosts) || table.Shape != "binomial" {
				t.Errorf("table: %+v", table)
			}
		})
	}
}

func TestRefuseLate(t *testing.T) {
	l := &arrivals{coming: []overlay.Registration{registrationOf(1, 2, 11), registrationOf(2, 2, 12)}}
	RefuseLate(context.Background(), l, 2)
	want := []string{
		"server 1 on node01 has registered too late: the tree is built",
		"server 2 on node02 is beyond the 2 that the master waits for, 0-1 (is --servers right?)",
	}
	if strings.Join(l.answers, "; ") != strings.Join(want, "; ") {
		t.Errorf("answers: %q", l.answers)
	}
}

func TestGenerate(t *testing.T) {
	table, err := Generate([]string{"a", " ", "b"}, 4, 24000, 1000, "flat")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range table.Routes {
		got = append(got, fmt.Sprintf("%d %s %v %d %s", r.Server, r.Host, r.Addrs, r.Ports, r.Ranks))
	}
	want := "0 a [a:24000] 1000 0; 1 a [a:24000] 1000 1; 2 b [b:24000] 1000 2; 3 b [b:24000] 1000 3"
	if text := strings.Join(got, "; "); text != want || table.Size != 4 || table.Shape != "flat" {
		t.Errorf("table: %s", text)
	}
	for name, bad := range map[string]func() (protocol.RouteTable, error){
		"no hosts":      func() (protocol.RouteTable, error) { return Generate(nil, 4, 24000, 1, "") },
		"no port":       func() (protocol.RouteTable, error) { return Generate([]string{"a"}, 4, 0, 1, "") },
		"minus one":     func() (protocol.RouteTable, error) { return Generate([]string{"a"}, -1, 1, 1, "") },
		"a port beyond": func() (protocol.RouteTable, error) { return Generate([]string{"a"}, 1, 65536, 1, "") },
	} {
		if _, err := bad(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
